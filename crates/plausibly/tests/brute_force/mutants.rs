//! Mistakes that the comparison must notice.

use super::play;
use super::players::{Player, Variant, code_with, draw_radius};
use super::problem::{Kind, Problem, Rewards};
use plausibly::{
    Action, ActionIndex, Actions, Code, ConfidenceRadius, Evidence, Explain, Explanation, LinTs,
    Policy, Radius, Reach, Ridge, Stream,
};
use plausibly_testkit::{BruteModel, BrutePolicy, Rule};

/// On how many of these problems the choices of a player break the rule.
fn noticed(numbers: &[u64], make: impl Fn(&Problem, &mut Stream) -> Player) -> usize {
    let breaks = |number: &&u64| {
        let problem = Problem::draw(Kind::Features, **number);
        let mut rng = Stream::new(2026, problem.number, "mutants");
        play(&problem, &mut make(&problem, &mut rng)).is_err()
    };
    numbers.iter().filter(breaks).count()
}

/// The first problems with enough actions to make a mistake among, and these rewards.
fn problems(count: usize, fits: impl Fn(&Problem) -> bool) -> Vec<u64> {
    let fits = |number: &u64| {
        let problem = Problem::draw(Kind::Features, *number);
        problem.sets.iter().all(|set| set.len() > 10) && fits(&problem)
    };
    (0..).filter(fits).take(count).collect()
}

fn models(problem: &Problem) -> (Ridge, BruteModel) {
    let (dim, ridge) = (problem.dim, problem.ridge);
    (Ridge::new(dim, ridge).unwrap(), BruteModel::ridge(dim, ridge))
}

fn player(policy: Box<dyn Policy>, brute: BrutePolicy) -> Player {
    Player { name: "mutant", policy, brute, laps: 1, counts_pending: true }
}

/// A radius that is larger by a factor.
#[derive(Clone, Debug)]
struct Scaled(Radius, f64);

impl ConfidenceRadius for Scaled {
    fn sqrt_beta(&self, evidence: &Evidence) -> f64 {
        self.1 * self.0.sqrt_beta(evidence)
    }

    fn reach(&self, evidence: &Evidence) -> Reach {
        match self.0.reach(evidence) {
            Reach::Ellipsoid { sqrt_beta } => Reach::Ellipsoid { sqrt_beta: self.1 * sqrt_beta },
            other => other,
        }
    }
}

fn with_radius(factor: f64, variant: Variant) -> impl Fn(&Problem, &mut Stream) -> Player {
    move |problem, rng| {
        let ((model, brute), (radius, formula)) = (models(problem), draw_radius(problem, rng));
        let ours = (model, Scaled(radius, factor));
        let (policy, brute) = code_with(variant, problem, ours, (brute, formula), rng);
        player(policy, brute)
    }
}

#[test]
fn a_radius_that_is_off_by_two_percent() {
    let numbers = problems(100, |_| true);
    for (variant, least) in [(Variant::Plain, 10), (Variant::Tempered, 8)] {
        assert_eq!(noticed(&numbers, with_radius(1.0, variant)), 0, "{variant:?}");
        let found = noticed(&numbers, with_radius(1.02, variant));
        assert!(found >= least, "{variant:?}: {found} of 100");
    }
}

/// CODE that takes another action than it should, found from its explanation.
struct Astray {
    code: Code<Ridge, Radius>,
    explanation: Explanation,
    choose: fn(&Explanation) -> ActionIndex,
}

impl Policy for Astray {
    fn select(&mut self, actions: Actions<'_>, _: &mut Stream) -> ActionIndex {
        self.code.explain(
            actions,
            self.code.radius().unwrap(),
            self.code.exclusion(),
            &mut self.explanation,
        );
        (self.choose)(&self.explanation)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.code.update(action, reward);
    }
}

fn astray(choose: fn(&Explanation) -> ActionIndex) -> impl Fn(&Problem, &mut Stream) -> Player {
    move |problem, rng| {
        let ((model, brute), (radius, formula)) = (models(problem), draw_radius(problem, rng));
        let (greed, share, differences) = (0.0, 0.0, true);
        let rule = Rule::Code { radius: formula, greed, target: None, share, differences };
        let code = Code::new(model, radius);
        let policy = Astray { code, explanation: Explanation::new(), choose };
        player(Box::new(policy), BrutePolicy::new(brute, rule))
    }
}

/// The first of the widest.
fn widest(explanation: &Explanation, among: impl Iterator<Item = ActionIndex>) -> ActionIndex {
    let width_sq = explanation.width_sq();
    among.reduce(|best, next| if width_sq[next] > width_sq[best] { next } else { best }).unwrap()
}

fn right(explanation: &Explanation) -> ActionIndex {
    widest(explanation, explanation.plausible())
}

fn second_widest(explanation: &Explanation) -> ActionIndex {
    let first = right(explanation);
    let others: Vec<ActionIndex> = explanation.plausible().filter(|at| *at != first).collect();
    if others.is_empty() { first } else { widest(explanation, others.into_iter()) }
}

/// Takes an action for plausible if its mean, not its upper bound, reaches every lower bound.
fn plausible_by_mean(explanation: &Explanation) -> ActionIndex {
    let intervals = explanation.intervals();
    let best = intervals.iter().map(|interval| interval.lower).fold(f64::NEG_INFINITY, f64::max);
    widest(explanation, (0..intervals.len()).filter(|action| intervals[*action].mean >= best))
}

/// The last of the widest instead of the first.
fn last_of_equals(explanation: &Explanation) -> ActionIndex {
    let (width_sq, first) = (explanation.width_sq(), right(explanation));
    explanation.plausible().filter(|at| width_sq[*at] >= width_sq[first]).last().unwrap()
}

#[test]
fn a_choice_of_the_wrong_action() {
    let numbers = problems(60, |problem| problem.rewards == Rewards::AtOnce);
    assert_eq!(noticed(&numbers, astray(right)), 0);
    assert!(noticed(&numbers, astray(second_widest)) >= 55);
    assert!(noticed(&numbers, astray(plausible_by_mean)) >= 20);
    let copies = problems(30, |problem| {
        problem.rewards == Rewards::AtOnce && problem.style == super::problem::Style::Copies
    });
    assert_eq!(noticed(&copies, astray(right)), 0);
    assert!(noticed(&copies, astray(last_of_equals)) >= 25);
}

#[test]
fn pending_decisions_that_are_not_counted() {
    let numbers = problems(60, |problem| problem.rewards == Rewards::Late);
    let made = |variant| {
        move |problem: &Problem, rng: &mut Stream| {
            let ((model, brute), (radius, formula)) = (models(problem), draw_radius(problem, rng));
            let (policy, brute) =
                code_with(variant, problem, (model, radius), (brute, formula), rng);
            player(policy, brute)
        }
    };
    assert_eq!(noticed(&numbers, made(Variant::Plain)), 0);
    let found = noticed(&numbers, made(Variant::IgnoringPending));
    assert!(found >= 30, "{found} of 60");
}

#[test]
fn samples_that_are_two_percent_too_wide() {
    let numbers = problems(100, |_| true);
    let made = |factor: f64| {
        move |problem: &Problem, _: &mut Stream| {
            let ((model, brute), noise) = (models(problem), problem.noise);
            let policy = LinTs::new(model, factor * noise).unwrap();
            player(Box::new(policy), BrutePolicy::new(brute, Rule::LinTs(noise)))
        }
    };
    assert_eq!(noticed(&numbers, made(1.0)), 0);
    let found = noticed(&numbers, made(1.02));
    assert!(found >= 5, "{found} of 100");
}
