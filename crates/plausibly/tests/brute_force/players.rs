//! Policies with random parameters, each beside the brute force with the same ones.

use crate::brute_force::problem::{Kind, Offers, Problem};
use plausibly::{
    Additive, ArmMeans, ArmRidges, Code, ConfidenceRadius, Determinant, Elimination, EpsilonGreedy,
    Estimator, Exclusion, Exploration, ExploreThenCommit, Fixed, Isa, LinTs, LinUcb, Mixture,
    Paper, PerArm, Policy, Radius, RandomisedCode, Ridge, SharedDraws, Stitched, Stream, Target,
    Thompson, Ucb1, Union,
};
use plausibly_testkit::{BruteModel, BrutePolicy, BruteRadius, BruteTarget, Exploring, Rule};

/// A policy, and the brute force that judges it.
pub(crate) struct Player {
    pub(crate) name: &'static str,
    pub(crate) policy: Box<dyn Policy>,
    pub(crate) brute: BrutePolicy,
    /// How many times the schedule is played.
    pub(crate) laps: usize,
    /// Decisions are announced to the brute force too.
    pub(crate) counts_pending: bool,
}

/// The variants of CODE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Variant {
    Plain,
    Tempered,
    Kappa,
    Accuracy,
    Deadline,
    Randomised,
    IgnoringPending,
}

pub(crate) const VARIANTS: [(&str, Variant); 7] = [
    ("code", Variant::Plain),
    ("code, tempered", Variant::Tempered),
    ("code, to a kappa", Variant::Kappa),
    ("code, to an accuracy", Variant::Accuracy),
    ("code, to a deadline", Variant::Deadline),
    ("code, randomised", Variant::Randomised),
    ("code, ignoring pending decisions", Variant::IgnoringPending),
];

/// A radius that fits the problem, and its formula.
pub(crate) fn draw_radius(problem: &Problem, rng: &mut Stream) -> (Radius, BruteRadius) {
    let delta = [0.05, 0.3, 0.9][rng.index(3)];
    let noise_scale = problem.noise * 10.0_f64.powf(1.3 * rng.uniform() - 1.0);
    let theta_norm_bound = problem.noise * rng.uniform();
    let fixed = (Radius::Fixed(Fixed { sqrt_beta: noise_scale }), BruteRadius::Fixed(noise_scale));
    let kind = rng.index(5);
    if problem.kind == Kind::Arms {
        return match kind {
            0 => fixed,
            1 => (
                Radius::PerArm(PerArm { delta, noise_scale }),
                BruteRadius::PerArm { delta, noise_scale },
            ),
            2 => (
                Radius::Mixture(Mixture { delta, noise_scale }),
                BruteRadius::Mixture { delta, noise_scale },
            ),
            3 => (
                Radius::Stitched(Stitched { delta, noise_scale }),
                BruteRadius::Stitched { delta, noise_scale },
            ),
            _ => (
                Radius::Union(Union { delta, noise_scale }),
                BruteRadius::Union { delta, noise_scale },
            ),
        };
    }
    match kind {
        0 => fixed,
        1 | 2 if problem.dim > 1 => {
            let (lambda, action_norm_bound) = (problem.ridge, problem.largest_norm());
            let paper = Paper { delta, lambda, noise_scale, theta_norm_bound, action_norm_bound };
            let Paper { delta, lambda, noise_scale, theta_norm_bound, action_norm_bound } = paper;
            let formula = BruteRadius::Paper {
                delta,
                lambda,
                noise_scale,
                theta_norm_bound,
                action_norm_bound,
            };
            (Radius::Paper(paper), formula)
        }
        3 => (
            Radius::Additive(Additive { delta, noise_scale, theta_norm_bound }),
            BruteRadius::Additive { delta, noise_scale, theta_norm_bound },
        ),
        _ => (
            Radius::Determinant(Determinant { delta, noise_scale, theta_norm_bound }),
            BruteRadius::Determinant { delta, noise_scale, theta_norm_bound },
        ),
    }
}

/// The parameters of a variant of CODE.
struct Settings {
    greed: f64,
    target: Option<(Target, BruteTarget)>,
    share: f64,
}

fn draw_settings(variant: Variant, problem: &Problem, rng: &mut Stream) -> Settings {
    let plain = Settings { greed: 0.0, target: None, share: 0.0 };
    let accuracy = problem.noise * 10.0_f64.powf(2.0 * rng.uniform() - 1.5);
    let to = |target, brute| Some((target, brute));
    match variant {
        Variant::Plain | Variant::IgnoringPending => plain,
        Variant::Tempered => {
            let greed = if rng.index(4) == 0 { 1.0 } else { rng.uniform() };
            Settings { greed, ..plain }
        }
        Variant::Kappa => {
            let kappa = 10.0_f64.powf(2.0 * rng.uniform() - 0.5);
            Settings { target: to(Target::Kappa(kappa), BruteTarget::Kappa(kappa)), ..plain }
        }
        Variant::Accuracy => {
            let target = to(Target::Accuracy(accuracy), BruteTarget::Accuracy(accuracy));
            Settings { target, ..plain }
        }
        Variant::Deadline => {
            let by_round = 3 + rng.below(problem.schedule.len() as u64);
            let target = Target::Deadline { accuracy, by_round };
            Settings { target: to(target, BruteTarget::Deadline { accuracy, by_round }), ..plain }
        }
        Variant::Randomised => {
            let share = 0.1 + 0.8 * rng.uniform();
            let greed = if rng.index(2) == 0 { 0.0 } else { 0.9 * rng.uniform() };
            Settings { greed, share, ..plain }
        }
    }
}

/// A variant of CODE over a model.
pub(crate) fn code<E: Estimator + Clone + 'static>(
    variant: Variant,
    problem: &Problem,
    model: E,
    brute: BruteModel,
    rng: &mut Stream,
) -> (Box<dyn Policy>, BrutePolicy) {
    let (radius, formula) = draw_radius(problem, rng);
    code_with(variant, problem, (model, radius), (brute, formula), rng)
}

/// The same with a radius at hand.
pub(crate) fn code_with<E: Estimator + Clone + 'static, R: ConfidenceRadius + Clone + 'static>(
    variant: Variant,
    problem: &Problem,
    (model, radius): (E, R),
    (brute, formula): (BruteModel, BruteRadius),
    rng: &mut Stream,
) -> (Box<dyn Policy>, BrutePolicy) {
    let Settings { greed, target, share } = draw_settings(variant, problem, rng);
    let exclusion = [Exclusion::Differences, Exclusion::Intervals][rng.index(2)];
    let mut code = Code::new(model, radius).excluding(exclusion).tempered(greed).unwrap();
    if let Some((target, _)) = target {
        code = code.to_target(target).unwrap();
    }
    if variant == Variant::IgnoringPending {
        code = code.ignoring_pending();
    }
    let target = target.map(|(_, brute)| brute);
    let differences = exclusion == Exclusion::Differences;
    let rule = Rule::Code { radius: formula, greed, target, share, differences };
    let judge = BrutePolicy::new(brute, rule);
    if share > 0.0 {
        (Box::new(RandomisedCode::new(code, share).unwrap()), judge)
    } else {
        (Box::new(code), judge)
    }
}

/// Every policy that can play a problem.
pub(crate) fn players(problem: &Problem) -> Vec<Player> {
    players_on(problem, Isa::detect())
}

/// Every policy that can play a problem, with models of features on this instruction set.
pub(crate) fn players_on(problem: &Problem, isa: Isa) -> Vec<Player> {
    let mut rng = Stream::new(2026, problem.number, "players");
    let (dim, ridge, arms) = (problem.dim, problem.ridge, problem.count());
    match problem.kind {
        Kind::Features => {
            let model = Ridge::new(dim, ridge).unwrap().with_isa(isa);
            let brute = BruteModel::ridge(dim, ridge);
            let mut all = general(problem, &model, &brute, &mut rng);
            all.extend(features_only(problem, model, &brute, &mut rng));
            all
        }
        Kind::Arms => {
            let (model, brute) = (ArmMeans::new(arms), BruteModel::arm_means(arms));
            let mut all = general(problem, &model, &brute, &mut rng);
            let noise = problem.noise * (0.2 + rng.uniform());
            let ucb1 = Rule::LargestUpper(BruteRadius::LogRound(noise));
            all.push(player("ucb1", Ucb1::new(arms, noise).unwrap(), &brute, ucb1));
            let thompson = Thompson::new(arms, noise).unwrap();
            all.push(player("thompson", thompson, &brute, Rule::Thompson(noise)));
            all
        }
        Kind::Contexts => {
            let model = ArmRidges::new(arms, dim, ridge).unwrap();
            let brute = BruteModel::arm_ridges(arms, dim, ridge);
            let mut all = general(problem, &model, &brute, &mut rng);
            let noise = problem.noise * (0.2 + rng.uniform());
            let thompson = Thompson::over(model.clone(), noise).unwrap();
            all.push(player("thompson", thompson, &brute, Rule::Thompson(noise)));
            let shared = SharedDraws::over(model, noise).unwrap();
            all.push(player("shared draws", shared, &brute, Rule::SharedDraws(noise)));
            all
        }
    }
}

fn player(
    name: &'static str,
    policy: impl Policy + 'static,
    model: &BruteModel,
    rule: Rule,
) -> Player {
    let brute = BrutePolicy::new(model.clone(), rule);
    Player { name, policy: Box::new(policy), brute, laps: 1, counts_pending: true }
}

/// Policies over any model.
fn general<E: Estimator + Clone + 'static>(
    problem: &Problem,
    model: &E,
    brute: &BruteModel,
    rng: &mut Stream,
) -> Vec<Player> {
    let mut all = Vec::new();
    for (name, variant) in VARIANTS {
        let (policy, brute) = code(variant, problem, model.clone(), brute.clone(), rng);
        let counts_pending = variant != Variant::IgnoringPending;
        all.push(Player { name, policy, brute, laps: 1, counts_pending });
    }
    let (radius, formula) = draw_radius(problem, rng);
    let upper = LinUcb::new(model.clone(), radius);
    all.push(player("lin-ucb", upper, brute, Rule::LargestUpper(formula)));

    let (epsilon, horizon) = (0.3 + 0.3 * rng.uniform(), problem.schedule.len() as u64);
    // A design is computed for each set, so only where sets and designs are few and small.
    let by_design = problem.kind == Kind::Features
        && problem.offers != Offers::Changing
        && problem.dim <= 6
        && problem.count() <= 60
        && rng.index(2) == 0;
    let (exploration, exploring) = if by_design {
        (Exploration::Design, Exploring::ByDesign)
    } else {
        (Exploration::Uniform, Exploring::Uniformly)
    };
    let falling = EpsilonGreedy::new(model.clone(), epsilon, horizon).unwrap();
    let rule = Rule::EpsilonGreedy { epsilon, horizon: Some(horizon), exploring };
    all.push(player("epsilon-greedy", falling.exploring(exploration), brute, rule));
    let constant = EpsilonGreedy::constant(model.clone(), epsilon).unwrap();
    let rule = Rule::EpsilonGreedy { epsilon, horizon: None, exploring };
    all.push(player("epsilon-greedy, constant", constant.exploring(exploration), brute, rule));
    let commits = ExploreThenCommit::new(model.clone(), epsilon, horizon).unwrap();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small, positive")]
    let rounds = (epsilon * horizon as f64).round() as u64;
    let rule = Rule::ExploreThenCommit { rounds, exploring };
    all.push(player("explore-then-commit", commits.exploring(exploration), brute, rule));
    all
}

/// Policies over features alone.
fn features_only(
    problem: &Problem,
    model: Ridge,
    brute: &BruteModel,
    rng: &mut Stream,
) -> Vec<Player> {
    let noise = problem.noise * 10.0_f64.powf(1.5 * rng.uniform() - 1.0);
    let lin_ts = LinTs::new(model.clone(), noise).unwrap();
    let mut all = vec![player("lin-ts", lin_ts, brute, Rule::LinTs(noise))];
    // It is defined on fixed sets, and its phases are long in many dimensions.
    if problem.offers == Offers::Fixed && problem.dim <= 6 && problem.same_count() {
        let delta = [0.1, 0.9][rng.index(2)];
        let elimination = Elimination::new(model, delta).unwrap();
        let rule = Rule::Elimination(delta);
        all.push(Player { laps: 10, ..player("elimination", elimination, brute, rule) });
    }
    all
}
