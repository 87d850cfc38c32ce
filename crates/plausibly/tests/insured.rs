//! Insurance: the bounds of `docs/concepts/insurance.md` in every round around any rule, and
//! mistakes that they must notice.

use plausibly::state::Durable as _;
use plausibly::{
    Action, ActionIndex, ActionSet, Actions, Additive, ArmMeans, BetaThompson, Code,
    ConfidenceRadius, Decider, EpsilonGreedy, Estimator, Exclusion, Explain, Explanation, Fixed,
    Insured, LinTs, LinUcb, Misfit, Mixture, Policy, PolicyError, Ridge, Stream, Target, Thompson,
    TwoPoint,
};

const KAPPA: f64 = 2.0;
const HORIZON: u32 = 1500;
const NOISE: f64 = 0.3;

/// A rule from elsewhere: it knows nothing but the order in which it likes actions.
#[derive(Clone)]
enum Foreign {
    /// Takes the worst allowed action, by the truth.
    Worst(Vec<f64>),
    /// Takes the first it draws.
    Random,
}

impl Policy for Foreign {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        match self {
            Self::Worst(truth) => least(truth, 0..actions.len()),
            Self::Random => rng.index(actions.len()),
        }
    }

    fn select_among(
        &mut self,
        _: Actions<'_>,
        among: &[ActionIndex],
        _: &mut Stream,
    ) -> Option<ActionIndex> {
        match self {
            Self::Worst(truth) => Some(least(truth, among.iter().copied())),
            // It does not rank actions.
            Self::Random => None,
        }
    }

    fn update(&mut self, _: Action<'_>, _: f64) {}
}

fn least(truth: &[f64], among: impl Iterator<Item = usize>) -> usize {
    among.reduce(|worst, next| if truth[next] < truth[worst] { next } else { worst }).unwrap()
}

/// What is done wrong on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mutant {
    None,
    /// The target is tested over all actions.
    OverAll,
    /// The wrapped rule may take any action.
    Anywhere,
    /// The target is `κ·d` over the rewards of the widest action alone.
    OtherCount,
}

/// A problem: actions with their true means, and the parameter behind them if they have features.
struct Problem {
    set: ActionSet,
    truth: Vec<f64>,
    theta: Vec<f64>,
}

impl Problem {
    /// One long action that is soon ruled out and never well known again, beside short ones that
    /// are close.
    fn linear(run: u64) -> Self {
        let mut rng = Stream::new(31, run, "problem");
        let theta: Vec<f64> = (0..3).map(|_| rng.normal()).collect();
        let mut rows: Vec<Vec<f64>> =
            (0..12).map(|_| (0..3).map(|_| rng.normal()).collect()).collect();
        rows.push(theta.iter().map(|x| -2.0 * x + 0.3 * rng.normal()).collect());
        let dot = |row: &Vec<f64>| row.iter().zip(&theta).map(|(x, t)| x * t).sum();
        Self {
            truth: rows.iter().map(dot).collect(),
            set: ActionSet::from_rows(&rows).unwrap(),
            theta,
        }
    }

    fn arms(run: u64) -> Self {
        let mut rng = Stream::new(32, run, "problem");
        let truth: Vec<f64> = (0..6).map(|_| rng.uniform()).collect();
        Self { set: ActionSet::arms(6).unwrap(), truth, theta: Vec::new() }
    }
}

/// What a run adds up to.
#[derive(Debug, Default)]
struct Sums {
    regret: f64,
    model_error: f64,
    explored: f64,
    potential: f64,
    largest_beta: f64,
    refused: u32,
    /// Rounds in which a bound of the theorem does not hold.
    broken: u32,
    /// Rounds in which the choice of who decides is not the one that is stated.
    misstated: u32,
}

/// Plays a wrapped rule for a run and checks the theorem in every round. `radius` must be one under
/// which the truth is always inside; `half_width` gives the half-width of a squared width.
fn play<P: Policy, E: Estimator + Clone, R: ConfidenceRadius + Copy>(
    problem: &Problem,
    inside: P,
    model: E,
    radius: R,
    exclusion: Exclusion,
    mutant: Mutant,
    run: u64,
) -> Sums {
    let Problem { set, truth, .. } = problem;
    let mut policy = Insured::new(inside, model, radius, KAPPA).unwrap().excluding(exclusion);
    let (mut rng, mut noise) = (Stream::new(33, run, "policy"), Stream::new(33, run, "noise"));
    let best = truth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sums, mut shown) = (Sums::default(), Explanation::new());
    let mut plays = vec![0_u32; truth.len()];
    let mut foreign = Stream::new(34, run, "policy");
    for round in 1..=HORIZON {
        policy.explain(set.view(), &radius, exclusion, &mut shown);
        let evidence = policy.model().evidence();
        let reach = radius.reach(&evidence);
        let wanted = KAPPA * evidence.dim as f64 / f64::from(round);
        let plausible: Vec<usize> = shown.plausible().collect();
        let width_sq = |a: usize| shown.width_sq()[a];
        let widest = |among: &[usize]| among.iter().map(|a| width_sq(*a)).fold(0.0, f64::max);
        let all: Vec<usize> = (0..truth.len()).collect();
        let chosen = policy.select(set.view(), &mut rng);
        let (mut taken, mut explores) = (chosen, policy.last_decision() == Some(Decider::Explored));
        sums.misstated += u32::from(explores != shown.insurance().unwrap().explores());
        sums.misstated += u32::from(explores != (widest(&plausible) > wanted));
        sums.misstated += u32::from(!plausible.contains(&chosen));
        sums.refused += u32::from(matches!(
            policy.last_decision(),
            Some(Decider::WrappedAmongPlausible { wanted }) if !plausible.contains(&wanted)
        ));
        let at = |among: &[usize]| {
            among
                .iter()
                .copied()
                .reduce(|a, b| if width_sq(b) > width_sq(a) { b } else { a })
                .unwrap()
        };
        match mutant {
            Mutant::None => {}
            // The widest of all actions, while it is above the target.
            Mutant::OverAll => {
                explores = widest(&all) > wanted;
                taken = if explores { at(&all) } else { least(truth, plausible.iter().copied()) };
            }
            Mutant::Anywhere => {
                taken = if explores { chosen } else { foreign.index(truth.len()) };
            }
            Mutant::OtherCount => {
                let count = f64::from(plays[at(&plausible)] + 1);
                explores = widest(&plausible) > KAPPA * evidence.dim as f64 / count;
                taken =
                    if explores { at(&plausible) } else { least(truth, plausible.iter().copied()) };
            }
        }
        let regret = best - truth[taken];
        let wrong = |a: &usize| (shown.intervals()[*a].mean - truth[*a]).powi(2);
        let error = plausible.iter().map(wrong).fold(0.0, f64::max);
        // An arm never taken has no estimate, and no bound either.
        let bounded = if explores { width_sq(taken) } else { wanted };
        let half = reach.half_width(bounded);
        sums.broken += u32::from(regret > 4.0 * half + 1e-9 || error > half * half + 1e-9);
        sums.regret += regret;
        if half.is_finite() {
            sums.model_error += error;
        }
        sums.explored += f64::from(u8::from(explores));
        sums.potential += if explores { width_sq(taken).min(1e9) } else { 0.0 };
        sums.largest_beta = sums.largest_beta.max(shown.sqrt_beta().powi(2));
        plays[taken] += 1;
        policy.update(set.view().get(taken), truth[taken] + NOISE * noise.normal());
    }
    sums
}

fn additive() -> Additive {
    Additive { delta: 1e-9, noise_scale: NOISE, theta_norm_bound: 6.0 }
}

fn ridge() -> Ridge {
    Ridge::new(3, 1.0).unwrap()
}

/// The rules that are insured on linear problems.
fn rules(problem: &Problem) -> Vec<(&'static str, Box<dyn Policy>)> {
    vec![
        ("worst", Box::new(Foreign::Worst(problem.truth.clone()))),
        ("random", Box::new(Foreign::Random)),
        ("greedy", Box::new(EpsilonGreedy::constant(ridge(), 0.0).unwrap())),
        ("thompson", Box::new(LinTs::new(ridge(), NOISE).unwrap())),
        ("mean + σ‖a‖", Box::new(LinUcb::new(ridge(), Fixed { sqrt_beta: NOISE }))),
    ]
}

/// δ = 1e-9 over 6 runs of 5 rules and 2 exclusions: the good event fails with probability below
/// 1e-7, so no round may break a bound.
#[test]
fn the_theorem_holds_in_every_round_around_any_rule() {
    let (mut refused, mut decided_inside) = (0, 0.0);
    for run in 0..6 {
        let problem = Problem::linear(run);
        for exclusion in [Exclusion::Differences, Exclusion::Intervals] {
            for (name, rule) in rules(&problem) {
                let sums = play(&problem, rule, ridge(), additive(), exclusion, Mutant::None, run);
                let what = format!("{name}, {exclusion:?}, run {run}: {sums:?}");
                assert_eq!((sums.broken, sums.misstated), (0, 0), "{what}");
                let ell = problem.set.view().largest_norm().powi(2);
                sums_hold(
                    &sums,
                    3.0,
                    ell / ell.ln_1p(),
                    3.0 * (f64::from(HORIZON) * ell / 3.0).ln_1p(),
                    &what,
                );
                refused += sums.refused;
                decided_inside += f64::from(HORIZON) - sums.explored;
            }
        }
        assert!(problem.theta.iter().map(|x| x * x).sum::<f64>() < 36.0, "the bound on θ*");
    }
    // Both parts are tested: rules are refused what is ruled out, and decide in most rounds.
    assert!(refused > 1000 && decided_inside > 40_000.0, "{refused} {decided_inside}");
}

/// `Q_n`, `R_n` and `N_E`, with `C·Λ_n` a bound on the squared widths of the actions taken.
fn sums_hold(sums: &Sums, dim: f64, c: f64, lambda: f64, what: &str) {
    let (n, beta) = (f64::from(HORIZON), sums.largest_beta);
    let kd = KAPPA * dim;
    assert!(sums.potential <= c * lambda, "Σ‖A‖²: {what}");
    assert!(sums.explored <= c * lambda * n / kd, "N_E: {what}");
    assert!(sums.model_error <= beta * (c * lambda + kd * (1.0 + n.ln())), "Q_n: {what}");
    let regret = 8.0 * (beta * kd * n).sqrt() + 4.0 * (beta * c * lambda * sums.explored).sqrt();
    assert!(sums.regret <= regret, "R_n: {what}");
}

/// For arms half-widths are a function of the squared width, so rounds are checked; a κ-target
/// explores until each plausible arm has its share of plays.
#[test]
fn the_theorem_holds_for_arms() {
    let radius = Mixture { delta: 1e-9, noise_scale: NOISE };
    let means = || ArmMeans::new(6);
    for run in 0..6 {
        let problem = Problem::arms(run);
        let rules: Vec<(&str, Box<dyn Policy>)> = vec![
            ("worst", Box::new(Foreign::Worst(problem.truth.clone()))),
            ("random", Box::new(Foreign::Random)),
            ("greedy", Box::new(EpsilonGreedy::constant(means(), 0.0).unwrap())),
            ("thompson", Box::new(Thompson::new(6, NOISE).unwrap())),
        ];
        for (name, rule) in rules {
            let exclusion = Exclusion::Intervals;
            let sums = play(&problem, rule, means(), radius, exclusion, Mutant::None, run);
            assert_eq!((sums.broken, sums.misstated), (0, 0), "{name}, run {run}: {sums:?}");
            assert!(sums.explored > 6.0 && sums.explored < f64::from(HORIZON), "{sums:?}");
        }
    }
}

/// How many rounds break a bound, and how many explore, over all runs with a mutant.
fn with(mutant: Mutant) -> (u32, f64) {
    let of = |run: u64| {
        let problem = Problem::linear(run);
        let rule = Foreign::Worst(problem.truth.clone());
        play(&problem, rule, ridge(), additive(), Exclusion::Differences, mutant, run)
    };
    (0..6).map(of).fold((0, 0.0), |(b, e), sums| (b + sums.broken, e + sums.explored))
}

#[test]
fn mistakes_are_noticed() {
    let (broken, explored) = with(Mutant::None);
    assert_eq!(broken, 0);
    // Outside the plausible set a rule can lose more than the bound.
    assert!(with(Mutant::Anywhere).0 > 100);
    // With `t` the rewards of one action, the target is too easy: plausible actions stay unknown.
    assert!(with(Mutant::OtherCount).0 > 100);
    // Over all actions the target is missed more often. Exploring among all of them then takes
    // actions that are ruled out, whose regret has no bound.
    let (over_all, explored_over_all) = with(Mutant::OverAll);
    assert!(over_all > 10 && explored_over_all > explored, "{over_all} {explored_over_all}");
}

/// A foreign rule that wants what is ruled out gets the leader, and it is said so.
#[test]
fn a_rule_without_an_order_gets_the_leader() {
    struct Always(ActionIndex);
    impl Policy for Always {
        fn select(&mut self, _: Actions<'_>, _: &mut Stream) -> ActionIndex {
            self.0
        }

        // Not one of those it was offered.
        fn select_among(
            &mut self,
            _: Actions<'_>,
            _: &[ActionIndex],
            _: &mut Stream,
        ) -> Option<ActionIndex> {
            Some(self.0)
        }

        fn update(&mut self, _: Action<'_>, _: f64) {}
    }
    let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
    let radius = Fixed { sqrt_beta: 0.1 };
    let mut policy = Insured::new(Always(0), Ridge::new(2, 1.0).unwrap(), radius, 4.0).unwrap();
    let mut rng = Stream::new(1, 0, "policy");
    assert_eq!(policy.last_decision(), None);
    for _ in 0..20 {
        let chosen = policy.select(set.view(), &mut rng);
        policy.update(set.view().get(chosen), [0.0, 1.0][chosen]);
    }
    assert_eq!(policy.select(set.view(), &mut rng), 1);
    assert_eq!(policy.last_decision(), Some(Decider::WrappedAmongPlausible { wanted: 0 }));
    assert!(matches!(
        Insured::new(Always(0), Ridge::new(2, 1.0).unwrap(), radius, 0.0).map(|_| ()),
        Err(PolicyError::Target { .. })
    ));
}

/// Policies of ours name the best of what they may take, by the scores of the round.
#[test]
fn the_best_of_a_part_is_the_best_if_the_rest_is_not_there() {
    let problem = Problem::linear(3);
    let view = problem.set.view();
    let among = [1, 4, 5, 9];
    let part: Vec<&[f64]> = among.iter().map(|action| view.get(*action).features()).collect();
    let part = ActionSet::from_rows(&part).unwrap();
    let radius = Fixed { sqrt_beta: 0.7 };
    let pairs: Vec<[Box<dyn Policy>; 2]> = vec![
        [(); 2].map(|()| Box::new(LinUcb::new(ridge(), radius)) as _),
        [(); 2].map(|()| Box::new(LinTs::new(ridge(), NOISE).unwrap()) as _),
        [(); 2].map(|()| Box::new(EpsilonGreedy::constant(ridge(), 0.0).unwrap()) as _),
        [(); 2].map(|()| Box::new(Code::new(ridge(), radius).tempered(1.0).unwrap()) as _),
    ];
    for [mut whole, mut alone] in pairs {
        let mut noise = Stream::new(5, 0, "noise");
        let (mut one, mut other) = (Stream::new(6, 0, "policy"), Stream::new(6, 0, "policy"));
        for round in 0..200 {
            whole.select(view, &mut one);
            let named = whole.select_among(view, &among, &mut one).unwrap();
            assert_eq!(among[alone.select(part.view(), &mut other)], named, "round {round}");
            let (action, reward) = (view.get(noise.index(13)), noise.normal());
            whole.update(action, reward);
            alone.update(action, reward);
        }
    }
}

/// With decisions on their way the statement counts them, as the next choice does.
#[test]
fn what_is_said_before_a_round_is_what_happens() {
    let problem = Problem::linear(1);
    let (view, radius) = (problem.set.view(), additive());
    let inside = LinTs::new(ridge(), NOISE).unwrap();
    let mut policy = Insured::new(inside, ridge(), radius, KAPPA).unwrap();
    let (mut rng, mut noise) = (Stream::new(7, 0, "policy"), Stream::new(7, 0, "noise"));
    let (mut shown, mut waiting) = (Explanation::new(), Vec::new());
    let (mut explored, mut by_rewards_alone) = (0, 0);
    for round in 0..600 {
        policy.explain(view, &radius, policy.exclusion(), &mut shown);
        let insurance = shown.insurance().unwrap();
        by_rewards_alone += u32::from(insurance.explores() == shown.target().unwrap().met());
        let chosen = policy.select(view, &mut rng);
        let explores = policy.last_decision() == Some(Decider::Explored);
        assert_eq!(explores, insurance.explores(), "round {round}: {insurance:?}");
        explored += u32::from(explores);
        policy.decided(view.get(chosen));
        waiting.push(chosen);
        if round % 20 == 19 {
            for chosen in waiting.drain(..) {
                if noise.uniform() < 0.1 {
                    policy.dropped(view.get(chosen));
                } else {
                    policy.update(view.get(chosen), problem.truth[chosen] + NOISE * noise.normal());
                }
            }
        }
    }
    assert!(explored > 20 && explored < 580, "{explored}");
    assert!(by_rewards_alone > 5, "pending decisions make no difference: {by_rewards_alone}");
    let plain = Code::new(ridge(), radius).to_target(Target::Kappa(KAPPA)).unwrap();
    plain.explain(view, &radius, plain.exclusion(), &mut shown);
    assert_eq!(shown.insurance(), None);
}

/// The policy inside must be of the kind that was written down.
#[test]
fn a_state_names_the_policy_inside() {
    let insured = |inside| Insured::new(inside, ridge(), additive(), 4.0).unwrap();
    let state = insured(LinUcb::new(ridge(), Fixed { sqrt_beta: 1.0 })).state();
    let greedy = EpsilonGreedy::constant(ridge(), 0.0).unwrap();
    let mut other = Insured::new(greedy, ridge(), additive(), 4.0).unwrap();
    let error = other.restore(&state).unwrap_err();
    assert!(error.to_string().contains("the policy inside"), "{error}");
}

/// What the policy inside cannot learn is refused before the insurance learns it.
#[test]
fn a_reward_that_either_part_refuses_changes_neither() {
    let arms = ActionSet::arms(2).unwrap();
    let radius = TwoPoint { delta: 0.05, low: -1.0, high: 0.5, pairs: true };
    let mut policy = Insured::new(BetaThompson::new(2), ArmMeans::new(2), radius, 4.0).unwrap();
    policy.update(arms.view().get(0), 0.25);
    let before = policy.state();
    for reward in [-0.5, 0.75] {
        let refused = policy.try_update(arms.view().get(0), reward);
        assert_eq!(refused, Err(Misfit::RewardRange { reward, low: 0.0, high: 0.5 }));
    }
    assert_eq!(policy.state(), before);
    assert_eq!(policy.try_update(arms.view().get(1), 0.5), Ok(()));
    assert_ne!(policy.state(), before);
}
