//! Confidence sets must hold the truth as often as they promise: at all times at once, under
//! choices that depend on rewards. Mutants must fail.
//!
//! The null hypothesis is "the truth leaves the set, at any time, in at most δ of the runs". An
//! exact binomial bound rejects it, with a false-alarm rate of at most 1e-6 per case.

mod bell;
mod bounded;
mod compared;
mod curved;
mod forecast;
mod joining;
mod late;
mod tabled;

use plausibly::{
    Action, ActionSet, ArmMeans, Code, ConfidenceRadius, Determinant, Estimator, Evidence, Mixture,
    Paper, PerArm, Policy, Quantised, Ridge, Stitched, Stream, Union, quantise,
};
use plausibly_testkit::{most_events, tail_above};

const FALSE_ALARM: f64 = 1e-6;

/// How actions are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Chooser {
    /// By CODE, with the radius under test.
    Code,
    /// By an adversary that knows the truth and plays the action that corrects the present error
    /// least, so that errors persist.
    Adversary,
}

/// A radius times a constant; ½ makes a mutant.
#[derive(Clone, Copy, Debug)]
struct Scaled<R>(R, f64);

impl<R: ConfidenceRadius> ConfidenceRadius for Scaled<R> {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        self.1 * self.0.sqrt_beta(evidence)
    }
}

/// The paper's form at R = L = λ = 1 and S = 0, without its refusal of one dimension.
#[derive(Clone, Copy, Debug)]
struct PaperForm {
    delta: f64,
}

impl ConfidenceRadius for PaperForm {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        let (t, d) = (evidence.observations as f64, evidence.dim as f64);
        (d * ((1.0 + t) / self.delta).ln()).sqrt()
    }
}

/// One problem: `θ*` of norm `norm` along the diagonal, actions of norm at most one, unit noise.
#[derive(Clone, Copy, Debug)]
struct Linear {
    dim: usize,
    actions: usize,
    ridge: f64,
    norm: f64,
    horizon: u64,
    chooser: Chooser,
    /// Whether features and rewards are rounded to the grid of exact statistics.
    rounded: bool,
}

impl Linear {
    /// The truth is zero, so the estimate has no bias and a radius without a bias term is tight.
    fn tight(dim: usize, chooser: Chooser) -> Self {
        Self { dim, actions: 8, ridge: 1.0, norm: 0.0, horizon: 300, chooser, rounded: false }
    }

    /// The actions of a run.
    fn set(&self, run: u64) -> ActionSet {
        let mut rng = Stream::new(41, run, "problem");
        let rows: Vec<Vec<f64>> = (0..self.actions)
            .map(|_| {
                let row: Vec<f64> = (0..self.dim).map(|_| rng.normal()).collect();
                let norm = row.iter().map(|x| x * x).sum::<f64>().sqrt();
                row.iter().map(|x| x / norm).collect()
            })
            .collect();
        ActionSet::from_rows(&rows).unwrap()
    }

    /// Whether the truth ever leaves the set in this run.
    fn misses<R: ConfidenceRadius + Copy>(&self, radius: R, run: u64) -> bool {
        let theta_star = vec![self.norm / (self.dim as f64).sqrt(); self.dim];
        let grid = |x: &f64| if self.rounded { quantise(*x).unwrap() } else { *x };
        let exact = self.set(run);
        let rows: Vec<&[f64]> = (0..self.actions).map(|i| exact.view().get(i).features()).collect();
        let truth: Vec<f64> = rows.iter().map(|row| dot(row, &theta_star)).collect();
        let rounded: Vec<Vec<f64>> =
            rows.iter().map(|row| row.iter().map(grid).collect()).collect();
        let set = ActionSet::from_rows(&rounded).unwrap();
        let mut model = Ridge::new(self.dim, self.ridge).unwrap();
        let mut code = Code::new(model.clone(), radius);
        let mut noise = Stream::new(41, run, "noise");
        for _ in 0..self.horizon {
            if !model.holds(&theta_star, radius.reach(&model.evidence())) {
                return true;
            }
            let chosen = match self.chooser {
                Chooser::Code => code.select(set.view(), &mut noise.clone()),
                Chooser::Adversary => {
                    let scores = crate::scores(&model, set.view());
                    let means = scores.mean();
                    let miss = |i: &usize| (means[*i] - truth[*i]).abs();
                    (0..rows.len()).min_by(|a, b| miss(a).total_cmp(&miss(b))).unwrap()
                }
            };
            let reward = grid(&(truth[chosen] + noise.normal()));
            model.update(set.view().get(chosen), reward);
            if self.chooser == Chooser::Code {
                code.update(set.view().get(chosen), reward);
            }
        }
        !model.holds(&theta_star, radius.reach(&model.evidence()))
    }
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Arms with equal means, the hardest to tell apart, unit noise.
#[derive(Clone, Copy, Debug)]
struct Arms {
    arms: usize,
    horizon: u64,
}

impl Arms {
    fn misses<R: ConfidenceRadius + Copy>(&self, radius: R, run: u64) -> bool {
        let set = ActionSet::arms(self.arms).unwrap();
        let truth = vec![0.3; self.arms];
        let mut code = Code::new(ArmMeans::new(self.arms), radius);
        let mut model = ArmMeans::new(self.arms);
        let mut noise = Stream::new(43, run, "noise");
        for _ in 0..self.horizon {
            let chosen = code.select(set.view(), &mut noise.clone());
            let reward = truth[chosen] + noise.normal();
            let action = Action::new(chosen, &[]);
            model.update(action, reward);
            code.update(action, reward);
            if !model.holds(&truth, radius.reach(&model.evidence())) {
                return true;
            }
        }
        false
    }
}

/// Counts the runs that miss.
fn count(runs: u64, misses: impl Fn(u64) -> bool) -> u64 {
    (0..runs).filter(|run| misses(*run)).count() as u64
}

/// The number of runs at this δ, and how many of them may miss.
fn plan(delta: f64, full: bool) -> (u64, u64) {
    let runs = match (full, delta < 0.03) {
        (true, true) => 10_000,
        (true, false) | (false, true) => 4000,
        (false, false) => 1500,
    };
    (runs, most_events(runs, delta, FALSE_ALARM))
}

/// One case: a radius that must keep its promise, and mutants that must not.
fn case(
    name: &str,
    delta: f64,
    full: bool,
    misses: impl Fn(u64) -> bool,
    mutants: &[(&str, &dyn Fn(u64) -> bool)],
) {
    let (runs, limit) = plan(delta, full);
    let missed = count(runs, misses);
    let power = tail_above(runs, 2.0 * delta, limit);
    println!(
        "| {name} | {delta} | {missed} of {runs} ({:.2} %) | {limit} | {:.0} % | {} |",
        100.0 * missed as f64 / runs as f64,
        100.0 * power,
        mutants
            .iter()
            .map(|(mutant, misses)| {
                let caught = count(runs, misses);
                assert!(
                    caught > limit,
                    "{name}: the mutant \"{mutant}\" missed only {caught} times of {runs}"
                );
                format!("{mutant}: {:.1} %", 100.0 * caught as f64 / runs as f64)
            })
            .collect::<Vec<_>>()
            .join(", ")
    );
    assert!(
        missed <= limit,
        "{name}: {missed} misses of {runs} at δ = {delta}; at most {limit} are allowed"
    );
}

fn linear_radii(full: bool) {
    for delta in [0.05, 0.01] {
        let by_code = [1, 2, 5].map(|dim| (dim, Chooser::Code));
        let by_adversary = [2, 5].map(|dim| (dim, Chooser::Adversary));
        for (dim, chooser) in by_code.into_iter().chain(by_adversary) {
            let tight = Linear::tight(dim, chooser);
            // A large truth that the ridge shrinks: only the bias term keeps it in the set.
            let biased = Linear { norm: 6.0, ridge: 4.0, ..tight };
            let at = |norm| Determinant { delta, noise_scale: 1.0, theta_norm_bound: norm };
            case(
                &format!("determinant, d = {dim}, chosen by {chooser:?}"),
                delta,
                full,
                |run| tight.misses(at(0.0), run),
                &[("halved", &|run| tight.misses(Scaled(at(0.0), 0.5), run))],
            );
            case(
                &format!("determinant, d = {dim}, S = 6, chosen by {chooser:?}"),
                delta,
                full,
                |run| biased.misses(at(6.0), run),
                &[("without its bias term", &|run| biased.misses(at(0.0), run))],
            );
            let rounded = Linear { rounded: true, ..tight };
            let quantised =
                |scale| Quantised { radius: Scaled(at(0.0), scale), theta_norm_bound: 0.0 };
            case(
                &format!("determinant, quantised, d = {dim}, chosen by {chooser:?}"),
                delta,
                full,
                |run| rounded.misses(quantised(1.0), run),
                &[("halved", &|run| rounded.misses(quantised(0.5), run))],
            );
            let paper = |run| tight.misses(PaperForm { delta }, run);
            if dim == 1 {
                // This is why the radius refuses one dimension.
                let (runs, limit) = plan(delta, full);
                let missed = count(runs, paper);
                println!(
                    "| *the paper's form, d = 1, chosen by {chooser:?}* | {delta} \
                     | {missed} of {runs} | {limit} | | |"
                );
                assert!(
                    missed > limit,
                    "the paper's form at d = 1 missed only {missed} times of {runs}"
                );
            } else {
                case(
                    &format!("paper, d = {dim}, chosen by {chooser:?}"),
                    delta,
                    full,
                    paper,
                    &[("halved", &|run| tight.misses(Scaled(PaperForm { delta }, 0.5), run))],
                );
                let with_bias = |norm| Paper {
                    delta,
                    lambda: 4.0,
                    noise_scale: 1.0,
                    theta_norm_bound: norm,
                    action_norm_bound: 1.0,
                };
                case(
                    &format!("paper, d = {dim}, S = 6, chosen by {chooser:?}"),
                    delta,
                    full,
                    |run| biased.misses(with_bias(6.0), run),
                    &[("without its bias term", &|run| biased.misses(with_bias(0.0), run))],
                );
            }
        }
    }
}

#[test]
fn the_papers_form_is_the_papers() {
    let mut model = Ridge::new(3, 1.0).unwrap();
    for step in 0..5_u32 {
        let paper = Paper {
            delta: 0.05,
            lambda: 1.0,
            noise_scale: 1.0,
            theta_norm_bound: 0.0,
            action_norm_bound: 1.0,
        };
        let (form, evidence) = (PaperForm { delta: 0.05 }, model.evidence());
        assert!(
            (paper.sqrt_beta(&evidence) - form.sqrt_beta(&evidence)).abs() < 1e-12,
            "step {step}"
        );
        model.update(Action::new(0, &[1.0, 0.0, 0.0]), 0.0);
    }
}

fn arm_radii(full: bool) {
    for delta in [0.05, 0.01] {
        for arms in [1, 5] {
            let problem = Arms { arms, horizon: if full { 2000 } else { 500 } };
            let per_arm = PerArm { delta, noise_scale: 1.0 };
            let used_anytime: (&str, &dyn Fn(u64) -> bool) =
                ("the paper's radius", &|run| problem.misses(per_arm, run));
            let mixture = Mixture { delta, noise_scale: 1.0 };
            let half = Mixture { noise_scale: 0.5, ..mixture };
            case(
                &format!("mixture, K = {arms}"),
                delta,
                full,
                |run| problem.misses(mixture, run),
                &[("halved", &|run| problem.misses(half, run)), used_anytime],
            );
            let stitched = Stitched { delta, noise_scale: 1.0 };
            let half = Stitched { noise_scale: 0.5, ..stitched };
            case(
                &format!("stitched, K = {arms}"),
                delta,
                full,
                |run| problem.misses(stitched, run),
                &[("halved", &|run| problem.misses(half, run))],
            );
            let union = Union { delta, noise_scale: 1.0 };
            let half = Union { noise_scale: 0.5, ..union };
            case(
                &format!("union, K = {arms}"),
                delta,
                full,
                |run| problem.misses(union, run),
                &[("halved", &|run| problem.misses(half, run))],
            );
        }
    }
}

#[test]
fn linear_radii_keep_their_promise_and_mutants_do_not() {
    linear_radii(false);
}

#[test]
fn curved_sets_keep_their_promise_and_mutants_do_not() {
    curved::curved_sets(false);
}

#[test]
fn sets_hold_when_rewards_are_late_and_mutants_do_not() {
    late::late_rewards(false);
}

#[test]
fn arm_radii_keep_their_promise_and_mutants_do_not() {
    arm_radii(false);
}

#[test]
fn bounded_arms_keep_their_promise_and_mutants_do_not() {
    bounded::by_own_choice(0.05, false);
    bounded::by_own_choice(0.01, false);
}

#[test]
fn bounded_arms_hold_when_rewards_are_late_or_sorted() {
    bounded::by_arrival(false);
}

#[test]
fn forecast_sets_keep_their_promise_and_mutants_do_not() {
    forecast::forecast_sets(false);
}

#[test]
fn the_best_of_a_part_of_the_arms_is_kept() {
    bounded::of_a_set(false);
}

#[test]
fn tables_by_forecasts_keep_their_promise_and_mutants_do_not() {
    tabled::forecasts(false);
}

#[test]
fn tables_and_arms_by_bell_curves_keep_their_promise_and_mutants_do_not() {
    tabled::bells(false);
}

#[test]
fn arms_that_join_and_leave_keep_their_promise_and_mutants_do_not() {
    joining::joining_arms(false);
}

#[test]
fn two_arms_picked_after_looking_are_not_called_different_and_by_a_mutant_they_are() {
    compared::picked_after_looking(false);
}

/// The numbers of runs that are published.
mod full {
    #[test]
    fn two_arms_picked_after_looking() {
        super::compared::picked_after_looking(true);
    }

    #[test]
    fn bounded_arms_at_five_percent() {
        super::bounded::by_own_choice(0.05, true);
    }

    #[test]
    fn bounded_arms_at_one_percent() {
        super::bounded::by_own_choice(0.01, true);
    }

    #[test]
    fn bounded_arrivals() {
        super::bounded::by_arrival(true);
    }

    #[test]
    fn curved_sets() {
        super::curved::curved_sets(true);
    }

    #[test]
    fn forecast_sets() {
        super::forecast::forecast_sets(true);
    }

    #[test]
    fn tables_by_forecasts() {
        super::tabled::forecasts(true);
    }

    #[test]
    fn tables_and_arms_by_bell_curves() {
        super::tabled::bells(true);
    }

    #[test]
    fn joining_arms() {
        super::joining::joining_arms(true);
    }

    #[test]
    fn parts_of_the_arms() {
        super::bounded::of_a_set(true);
    }

    #[test]
    fn linear_radii() {
        super::linear_radii(true);
    }

    #[test]
    fn late_rewards() {
        super::late::late_rewards(true);
    }

    #[test]
    fn arm_radii() {
        super::arm_radii(true);
    }
}
