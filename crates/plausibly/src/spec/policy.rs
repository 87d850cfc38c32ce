//! Policies in a spec.

use super::Setting;
use super::error::{Complaint, Range};
use super::fields::{FieldDefault, Fields};
use super::radius::{RadiusKind, RadiusSpec, read_noise_scale};
use crate::confidence::Exclusion;
use crate::model::Link;
use crate::policy::{Exploration, Target, exploring_rounds};

const GREED: &str = "c: how much a plausible action's estimate counts beside its width; \
                     0 is CODE, 1 is LinUCB with this radius";

const EXCLUSION: &str = "what rules an action out. differences: its mean is below that of the \
                         action with the largest mean, or with the largest lower bound, by more \
                         than the half-width of the difference. intervals: its interval lies \
                         below another one, as in the paper";

const NATURAL_RIDGE: &str =
    "d·R²/S² with the radius additive, 1/(10·S²) with the radius forecast, else 1";

const GLM: &str = "the model, with the set of its explanations: logistic or poisson";

const RANDOMISE: &str =
    "p: the share of rounds drawn uniformly from the plausible set, for exact propensities";

const COUNT_PENDING: &str = "whether a decision counts in the design before its reward comes; \
                             it never counts in the confidence set before that";

const KAPPA: &str = "κ: CODE explores while a plausible action's squared width is above κ·d/t; use \
                     values near 1 to rule actions out soon, 10 to 30 for more reward, 4 for a \
                     compromise";

const INSIDE: &str = "the policy that decides where CODE does not explore, among the plausible \
                      actions: a table of any kind but insured, without a label; the epsilon of \
                      epsilon-greedy may be 0 here";

/// The kinds of policy, as specs name them.
pub const POLICY_KINDS: [&str; 11] = [
    "code",
    "insured",
    "lin-ucb",
    "lin-ts",
    "laplace-ts",
    "elimination",
    "epsilon-greedy",
    "explore-then-commit",
    "ucb1",
    "thompson",
    "beta-thompson",
];

/// A policy of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicySpec {
    /// What to call it in results.
    pub label: String,
    /// What it is.
    pub kind: PolicyKind,
}

/// A policy with its parameters. K-armed models ignore the ridge.
#[derive(Clone, Debug, PartialEq)]
pub enum PolicyKind {
    /// See [`crate::Code`].
    Code {
        /// λ in V; else the natural one of the radius.
        ridge: Option<f64>,
        /// √β.
        radius: RadiusSpec,
        /// What rules actions out.
        exclusion: Exclusion,
        /// c.
        greed: f64,
        /// What it explores for.
        target: Option<Target>,
        /// p: the share of rounds drawn uniformly from the plausible set.
        randomise: f64,
        /// Whether decisions whose rewards are outstanding count in the design.
        count_pending: bool,
    },
    /// See [`crate::Insured`].
    Insured {
        /// κ.
        kappa: f64,
        /// λ in V; else the natural one of the radius.
        ridge: Option<f64>,
        /// √β.
        radius: RadiusSpec,
        /// What rules actions out.
        exclusion: Exclusion,
        /// Whether decisions whose rewards are outstanding count in the test of κ.
        count_pending: bool,
        /// What decides in rounds that do not explore; not insured itself.
        inside: Box<Self>,
    },
    /// See [`crate::LinUcb`].
    LinUcb {
        /// λ in V; else the natural one of the radius.
        ridge: Option<f64>,
        /// √β.
        radius: RadiusSpec,
    },
    /// See [`crate::LinTs`].
    LinTs {
        /// λ in V.
        ridge: f64,
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`crate::LaplaceTs`].
    LaplaceTs {
        /// The model, and the set of its explanations: one of a generalised linear model.
        radius: RadiusSpec,
    },
    /// See [`crate::Elimination`].
    Elimination {
        /// λ in V, for explanations.
        ridge: f64,
        /// δ.
        delta: f64,
    },
    /// See [`crate::EpsilonGreedy`].
    EpsilonGreedy {
        /// λ in V.
        ridge: f64,
        /// ε; may be 0 inside an insured policy.
        epsilon: f64,
        /// How it explores.
        exploration: Exploration,
        /// The set of a generalised linear model, in place of a ridge.
        radius: Option<RadiusSpec>,
    },
    /// See [`crate::ExploreThenCommit`].
    ExploreThenCommit {
        /// λ in V.
        ridge: f64,
        /// ε.
        epsilon: f64,
        /// How it explores.
        exploration: Exploration,
    },
    /// See [`crate::Ucb1`].
    Ucb1 {
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`crate::Thompson`].
    Thompson {
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`BetaThompson`](crate::BetaThompson).
    BetaThompson,
}

impl PolicySpec {
    /// Reads a policy table; `None`, with an error recorded, if its kind is not known.
    pub fn read(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> Option<Self> {
        let spec = Self::read_with(fields, setting, defaults)?;
        if let Some(reason) = spec.unproved() {
            fields.object(
                "randomise",
                Complaint::Misfit { what: "a share of uniform rounds".into(), reason },
            );
        }
        Some(spec)
    }

    /// Reads the policy of a log. Like [`PolicySpec::read`] with the defaults of logs, and also
    /// accepts what earlier versions accepted, so that old logs stay readable.
    pub fn read_of_log(
        fields: &mut Fields<'_>,
        setting: Setting,
        defaults: Defaults,
    ) -> Option<Self> {
        Self::read_with(fields, setting, defaults)
    }

    /// The link of its generalised linear model, if it has one.
    pub fn link(&self) -> Option<Link> {
        match self.kind {
            PolicyKind::Code { radius, .. }
            | PolicyKind::Insured { radius, .. }
            | PolicyKind::LinUcb { radius, .. }
            | PolicyKind::LaplaceTs { radius }
            | PolicyKind::EpsilonGreedy { radius: Some(radius), .. } => radius.kind.link(),
            _ => None,
        }
    }

    /// Whether λ in V is left to the radius.
    pub fn has_natural_ridge(&self) -> bool {
        let unset = matches!(
            self.kind,
            PolicyKind::Code { ridge: None, .. }
                | PolicyKind::Insured { ridge: None, .. }
                | PolicyKind::LinUcb { ridge: None, .. }
        );
        unset && self.link().is_none()
    }

    fn read_with(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> Option<Self> {
        let kind = fields.choice("kind", "which policy", None, &POLICY_KINDS)?;
        let label = fields.text_or("label", "its name in results", "the kind", kind);
        let kind = match kind {
            "insured" => read_insured(fields, setting, defaults),
            kind => read_kind(fields, kind, setting, defaults, Range::above_to(0.0, 1.0)),
        };
        Some(Self { label, kind })
    }

    /// Why no bound is known for this combination of settings; `None` if one is known. Proofs are
    /// in `docs/concepts/randomised.md`.
    pub fn unproved(&self) -> Option<&'static str> {
        let PolicyKind::Code { greed, target, randomise, .. } = self.kind else { return None };
        if randomise == 0.0 {
            return None;
        }
        match target {
            Some(Target::Deadline { .. }) => Some(
                "spends rounds that a deadline counts on for exploring, so the deadline could not \
                 be promised; leave out by_round or randomise",
            ),
            None if greed >= 1.0 => Some(
                "has no bound on its regret at greed 1, where plausible actions may stay unknown \
                 for good; use a greed below 1 or leave out randomise",
            ),
            _ => None,
        }
    }

    /// Whether it has a confidence set, by which it can say what is ruled out.
    pub fn has_set(&self) -> bool {
        match self.kind {
            PolicyKind::Code { .. }
            | PolicyKind::Insured { .. }
            | PolicyKind::LinUcb { .. }
            | PolicyKind::LaplaceTs { .. }
            | PolicyKind::EpsilonGreedy { radius: Some(_), .. }
            | PolicyKind::Ucb1 { .. } => true,
            PolicyKind::LinTs { .. }
            | PolicyKind::Elimination { .. }
            | PolicyKind::EpsilonGreedy { radius: None, .. }
            | PolicyKind::ExploreThenCommit { .. }
            | PolicyKind::Thompson { .. }
            | PolicyKind::BetaThompson => false,
        }
    }

    /// Why a new policy would not explore in this many decisions; `None` if it would.
    pub fn never_explores(&self, horizon: u64) -> Option<&'static str> {
        match self.kind {
            PolicyKind::EpsilonGreedy { .. } if horizon == 0 => Some(
                "a horizon of 0 decisions leaves epsilon-greedy nothing to explore in; use the \
                 number of decisions you expect",
            ),
            PolicyKind::ExploreThenCommit { epsilon, .. }
                if exploring_rounds(epsilon, horizon) == 0 =>
            {
                Some(
                    "epsilon times the horizon rounds to 0 decisions, so explore-then-commit would \
                     commit to the first action unseen; use a larger horizon or epsilon",
                )
            }
            _ => None,
        }
    }
}

impl PolicySpec {
    /// Reads the fields of the target of a `code` policy.
    pub fn read_target(fields: &mut Fields<'_>) -> Option<Target> {
        let kappa = "κ: squared widths at most κ times those of an optimal design over all actions";
        let kappa = fields.number_or("kappa", kappa, "unset", Range::POSITIVE);
        let accuracy = "ε: half of every plausible interval is at most ε";
        let accuracy = fields.number_or("accuracy", accuracy, "unset", Range::POSITIVE);
        let by_round = "with accuracy: the round in which the accuracy must be reached";
        let by_round = fields.integer_or("by_round", by_round, "unset", (1, 1_000_000_000_000));
        match (kappa, accuracy, by_round) {
            (Some(kappa), None, None) => Some(Target::Kappa(kappa)),
            (None, Some(accuracy), None) => Some(Target::Accuracy(accuracy)),
            (None, Some(accuracy), Some(by_round)) => Some(Target::Deadline { accuracy, by_round }),
            (Some(_), None, Some(_)) => {
                let reason = "is one for every round, and a deadline goes with accuracy; \
                              leave out by_round or ask for an accuracy";
                fields.object(
                    "by_round",
                    Complaint::Misfit { what: "a target of kappa".into(), reason },
                );
                None
            }
            _ => {
                let reason = "needs either kappa or accuracy, and not both";
                fields.object("kappa", Complaint::Misfit { what: "a target".into(), reason });
                None
            }
        }
    }
}

/// What a policy does where its table says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// As in simulations: differences rule actions out, and models of features have the additive
    /// radius with its natural ridge.
    Current,
    /// As [`Defaults::Current`], where rewards have a range: arms have the two-point radius, which
    /// needs no scale of the noise.
    Ranged,
    /// As [`Defaults::Ranged`], in logs: models of features have the forecast radius, CODE has
    /// greed 0.3 unless it has a target, and kinds of radius that need sums which logs do not keep
    /// are refused.
    Logged,
    /// In a program that decides without a log, such as one in Python: as [`Defaults::Logged`] with
    /// every kind of radius. Where rewards have no range, the radii of [`Defaults::Current`].
    InUse {
        /// Whether rewards have a range.
        ranged: bool,
    },
    /// As in logs of the first format: intervals rule actions out, and models of features have the
    /// determinant radius and ridge 1. There is no field `exclusion`.
    Recorded,
}

/// Why a kind of policy does not fit a setting; `None` if it does.
fn misfit(kind: &str, setting: Setting) -> Option<&'static str> {
    match (kind, setting) {
        ("lin-ucb" | "lin-ts" | "laplace-ts" | "elimination", Setting::Arms) => Some(
            "needs actions with features, and these have none; use code, ucb1, thompson, \
             beta-thompson, epsilon-greedy or explore-then-commit",
        ),
        ("ucb1" | "thompson" | "beta-thompson", Setting::Changing) => Some(
            "knows actions by index alone, and here an index can mean another action each time; \
             use code or lin-ucb",
        ),
        _ => None,
    }
}

/// The ridges that [`Ridge::new`](crate::Ridge::new) takes.
pub const RIDGES: Range = Range::from_to(1e-100, 1e100);

fn read_ridge(fields: &mut Fields<'_>, setting: Setting) -> f64 {
    // Arms have no ridge. The field is not read, so that setting it is an error and not ignored.
    if setting == Setting::Arms {
        1.0
    } else {
        fields.number("ridge", "λ in V = λI + Σ x·xᵀ", 1.0, RIDGES)
    }
}

/// `None` if the spec leaves it to the radius.
fn read_natural_ridge(
    fields: &mut Fields<'_>,
    setting: Setting,
    defaults: Defaults,
) -> Option<f64> {
    match (setting, defaults) {
        (Setting::Arms, _) => None,
        (_, Defaults::Recorded) => Some(read_ridge(fields, setting)),
        _ => fields.number_or("ridge", "λ in V = λI + Σ x·xᵀ", NATURAL_RIDGE, RIDGES),
    }
}

fn read_radius(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> RadiusSpec {
    let fallback = RadiusSpec::default_for(setting, defaults);
    let default = FieldDefault::Derived(match fallback.kind {
        RadiusKind::Mixture => "{ kind = \"mixture\" }",
        RadiusKind::TwoPoint => "{ kind = \"two-point\" }",
        RadiusKind::Determinant => "{ kind = \"determinant\" }",
        RadiusKind::Forecast => "{ kind = \"forecast\" }",
        _ => "{ kind = \"additive\" }",
    });
    let read =
        fields.table("radius", "√β, the confidence radius", default, |radius| match defaults {
            Defaults::Recorded => RadiusSpec::read_recorded(radius, setting),
            Defaults::Logged => RadiusSpec::read_logged(radius, setting),
            _ => RadiusSpec::read(radius, setting),
        });
    let radius = read.unwrap_or(fallback);
    fields.fill("radius", radius.to_value());
    radius
}

/// What rules actions out. Arms are known separately, so there is no choice to make but for the set
/// `bell`, which is one ellipsoid for all of them.
fn read_exclusion(
    fields: &mut Fields<'_>,
    setting: Setting,
    defaults: Defaults,
    radius: RadiusKind,
) -> Exclusion {
    if setting == Setting::Arms && radius == RadiusKind::Bell {
        return Exclusion::Differences;
    }
    if defaults == Defaults::Recorded || setting == Setting::Arms {
        return Exclusion::Intervals;
    }
    Exclusion::read(fields, Exclusion::default())
}

impl Exclusion {
    /// Reads the field `exclusion`.
    pub fn read(fields: &mut Fields<'_>, default: Self) -> Self {
        let names = [Self::Differences, Self::Intervals].map(Self::name);
        match fields.choice("exclusion", EXCLUSION, Some(default.name()), &names) {
            Some("intervals") => Self::Intervals,
            _ => Self::Differences,
        }
    }
}

/// A ridge beside a generalised linear model would be ignored.
fn refuse_ridge(fields: &mut Fields<'_>, radius: &RadiusSpec) {
    if radius.kind.link().is_some() && fields.has("ridge") {
        let reason = "has the ridge d/S² of its own; leave out ridge";
        let what = format!("the radius `{}`", radius.kind.name());
        fields.object("ridge", Complaint::Misfit { what, reason });
    }
}

/// The model and set of a policy that has a generalised linear model or none of its own.
fn read_glm(
    fields: &mut Fields<'_>,
    setting: Setting,
    default: FieldDefault,
) -> Option<RadiusSpec> {
    let radius =
        fields.table("radius", GLM, default, |radius| RadiusSpec::read(radius, setting))?;
    if radius.kind.link().is_none() {
        let reason = "is no generalised linear model; use logistic or poisson";
        let what = format!("the radius `{}`", radius.kind.name());
        fields.object("radius", Complaint::Misfit { what, reason });
    }
    fields.fill("radius", radius.to_value());
    Some(radius)
}

fn read_epsilon_greedy(fields: &mut Fields<'_>, setting: Setting, epsilons: Range) -> PolicyKind {
    // Of a generalised linear model the ridge follows, so it is not recorded.
    let has_own = fields.has("radius") && !fields.has("ridge");
    let ridge = if has_own { 1.0 } else { read_ridge(fields, setting) };
    let epsilon = read_epsilon(fields, epsilons);
    let exploration = read_exploration(fields, setting);
    let none = FieldDefault::Derived("none: the model is a ridge");
    let radius = if setting == Setting::Arms { None } else { read_glm(fields, setting, none) };
    if let Some(radius) = &radius {
        refuse_ridge(fields, radius);
    }
    PolicyKind::EpsilonGreedy { ridge, epsilon, exploration, radius }
}

fn read_epsilon(fields: &mut Fields<'_>, range: Range) -> f64 {
    fields.number("epsilon", "ε, the share of rounds spent exploring", 0.05, range)
}

fn read_exploration(fields: &mut Fields<'_>, setting: Setting) -> Exploration {
    // The optimal design over arms is uniform, so there is no choice to make.
    if setting == Setting::Arms {
        return Exploration::Uniform;
    }
    let meaning = "how exploring rounds draw: uniformly, or by the D-optimal design over the set";
    match fields.choice("exploration", meaning, Some("uniform"), &["uniform", "design"]) {
        Some("design") => Exploration::Design,
        _ => Exploration::Uniform,
    }
}

/// Reads the table `target`, if it is there.
fn read_target(fields: &mut Fields<'_>) -> Option<Target> {
    let meaning = "explore only while a plausible action is not known well enough: \
                   { kappa = κ } asks for squared widths of at most κ·d/t, { accuracy = ε } for \
                   intervals of at most ±ε; with by_round, this must hold by that round";
    let none = FieldDefault::Derived("none: explore in every round");
    fields.table("target", meaning, none, PolicySpec::read_target).flatten()
}

/// Reads a policy of this kind, which is any but `insured`.
fn read_kind(
    fields: &mut Fields<'_>,
    kind: &'static str,
    setting: Setting,
    defaults: Defaults,
    epsilons: Range,
) -> PolicyKind {
    if let Some(reason) = misfit(kind, setting) {
        fields.object("kind", Complaint::Misfit { what: kind.into(), reason });
    }
    match kind {
        "code" => read_code(fields, setting, defaults),
        "lin-ucb" => {
            let ridge = read_natural_ridge(fields, setting, defaults);
            let radius = read_radius(fields, setting, defaults);
            refuse_ridge(fields, &radius);
            PolicyKind::LinUcb { ridge, radius }
        }
        "lin-ts" => PolicyKind::LinTs {
            ridge: read_ridge(fields, setting),
            noise_scale: read_noise_scale(fields),
        },
        "laplace-ts" => {
            let default = RadiusSpec::new(RadiusKind::Logistic);
            let words = FieldDefault::Derived("{ kind = \"logistic\" }");
            let radius = read_glm(fields, setting, words).unwrap_or(default);
            fields.fill("radius", radius.to_value());
            PolicyKind::LaplaceTs { radius }
        }
        "elimination" => PolicyKind::Elimination {
            ridge: read_ridge(fields, setting),
            delta: fields.number(
                "delta",
                "δ, the chance of failure",
                0.05,
                Range::between(0.0, 1.0),
            ),
        },
        "epsilon-greedy" => read_epsilon_greedy(fields, setting, epsilons),
        "explore-then-commit" => PolicyKind::ExploreThenCommit {
            ridge: read_ridge(fields, setting),
            epsilon: read_epsilon(fields, Range::above_to(0.0, 1.0)),
            exploration: read_exploration(fields, setting),
        },
        "ucb1" => PolicyKind::Ucb1 { noise_scale: read_noise_scale(fields) },
        "thompson" => PolicyKind::Thompson { noise_scale: read_noise_scale(fields) },
        "beta-thompson" => PolicyKind::BetaThompson,
        other => unreachable!("{other} is in POLICY_KINDS"),
    }
}

fn read_insured(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> PolicyKind {
    let kappa = fields.number("kappa", KAPPA, 4.0, Range::POSITIVE);
    let ridge = read_natural_ridge(fields, setting, defaults);
    let radius = read_radius(fields, setting, defaults);
    refuse_ridge(fields, &radius);
    let exclusion = read_exclusion(fields, setting, defaults, radius.kind);
    let count_pending = fields.boolean("count_pending", COUNT_PENDING, true);
    let (fallback, default) = if radius.kind.link().is_some() {
        (PolicyKind::LaplaceTs { radius }, "{ kind = \"laplace-ts\" } with the same radius")
    } else if setting == Setting::Arms {
        (PolicyKind::Thompson { noise_scale: None }, "{ kind = \"thompson\" }")
    } else {
        (PolicyKind::LinTs { ridge: 1.0, noise_scale: None }, "{ kind = \"lin-ts\" }")
    };
    // A policy inside has a plain model, which makes no forecasts.
    let defaults = match defaults {
        Defaults::InUse { .. } if setting != Setting::Arms => Defaults::InUse { ranged: false },
        other => other,
    };
    let read = fields.table("inside", INSIDE, FieldDefault::Derived(default), |fields| {
        let kinds: Vec<&str> = POLICY_KINDS.into_iter().filter(|kind| *kind != "insured").collect();
        let kind = fields.choice("kind", "which policy", None, &kinds)?;
        // CODE explores, so that greed alone will do here.
        Some(read_kind(fields, kind, setting, defaults, Range::from_to(0.0, 1.0)))
    });
    let inside = read.flatten().unwrap_or(fallback);
    let has_glm = matches!(
        inside,
        PolicyKind::LaplaceTs { .. } | PolicyKind::EpsilonGreedy { radius: Some(_), .. }
    );
    if radius.kind.link().is_some() && !has_glm {
        let reason = "must have such a model too inside: use laplace-ts, or epsilon-greedy with \
                      that radius";
        let what = format!("an insured policy with the radius {}", radius.kind.name());
        fields.object("inside", Complaint::Misfit { what, reason });
    }
    fields.fill("inside", inside.to_value(setting));
    let inside = Box::new(inside);
    PolicyKind::Insured { kappa, ridge, radius, exclusion, count_pending, inside }
}

fn read_code(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> PolicyKind {
    let ridge = read_natural_ridge(fields, setting, defaults);
    let radius = read_radius(fields, setting, defaults);
    refuse_ridge(fields, &radius);
    let exclusion = read_exclusion(fields, setting, defaults, radius.kind);
    // A target decides the greed of every round by itself.
    let tempered = matches!(defaults, Defaults::Logged | Defaults::InUse { .. });
    let usual = if tempered && !fields.has("target") { 0.3 } else { 0.0 };
    let greed = fields.number("greed", GREED, usual, Range::from_to(0.0, 1.0));
    let target = read_target(fields);
    if target.is_some() && greed > 0.0 {
        let reason = "decides the greed of every round by itself; leave out greed or the target";
        fields.object("greed", Complaint::Misfit { what: "a target".into(), reason });
    }
    let randomise = fields.number("randomise", RANDOMISE, 0.0, Range::from_to(0.0, 0.99));
    let count_pending = fields.boolean("count_pending", COUNT_PENDING, true);
    PolicyKind::Code { ridge, radius, exclusion, greed, target, randomise, count_pending }
}
