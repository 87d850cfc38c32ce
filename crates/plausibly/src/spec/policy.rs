//! Policies in a spec.

use super::error::{Complaint, Range};
use super::fields::{FieldDefault, Fields};
use super::radius::{RadiusKind, RadiusSpec, read_noise_scale};
use super::{Facts, Setting};
use crate::confidence::{ConfidenceRadius, Exclusion, RadiusError};
use crate::model::{ArmMeans, Ridge, RidgeError};
use crate::policy::{
    BetaThompson, Code, Elimination, EpsilonGreedy, Exploration, ExploreThenCommit, LinTs, LinUcb,
    PolicyError, RandomisedCode, Target, Thompson, Ucb1, exploring_rounds,
};
use crate::state::{Durable, DurableModel};
use thiserror::Error;

const GREED: &str = "c: how much a plausible action's estimate counts beside its width; \
                     0 is CODE, 1 is LinUCB with this radius";

const EXCLUSION: &str = "what rules an action out. differences: its mean is below that of the \
                         action with the largest mean, or with the largest lower bound, by more \
                         than the half-width of the difference. intervals: its interval lies \
                         below another one, as in the paper";

const NATURAL_RIDGE: &str = "d·R²/S² with the radius additive, else 1";

const RANDOMISE: &str =
    "p: the share of rounds drawn uniformly from the plausible set, for exact propensities";

const COUNT_PENDING: &str = "whether a decision counts in the design before its reward comes; \
                             it never counts in the confidence set before that";

/// The kinds of policy, as specs name them.
pub const POLICY_KINDS: [&str; 9] = [
    "code",
    "lin-ucb",
    "lin-ts",
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PolicyKind {
    /// See [`Code`].
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
    /// See [`LinUcb`].
    LinUcb {
        /// λ in V; else the natural one of the radius.
        ridge: Option<f64>,
        /// √β.
        radius: RadiusSpec,
    },
    /// See [`LinTs`].
    LinTs {
        /// λ in V.
        ridge: f64,
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`Elimination`].
    Elimination {
        /// λ in V, for explanations.
        ridge: f64,
        /// δ.
        delta: f64,
    },
    /// See [`EpsilonGreedy`].
    EpsilonGreedy {
        /// λ in V.
        ridge: f64,
        /// ε.
        epsilon: f64,
        /// How it explores.
        exploration: Exploration,
    },
    /// See [`ExploreThenCommit`].
    ExploreThenCommit {
        /// λ in V.
        ridge: f64,
        /// ε.
        epsilon: f64,
        /// How it explores.
        exploration: Exploration,
    },
    /// See [`Ucb1`].
    Ucb1 {
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`Thompson`].
    Thompson {
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`BetaThompson`].
    BetaThompson,
}

/// Why a policy could not be built for a problem.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum BuildError {
    /// Its radius.
    #[error(transparent)]
    Radius(#[from] RadiusError),
    /// Its model.
    #[error(transparent)]
    Ridge(#[from] RidgeError),
    /// Its parameters.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A kind that cannot go on from such statistics: its next choice depends on more than them.
    #[error(
        "this kind of policy cannot go on from these statistics; use code, lin-ucb, lin-ts, \
         elimination, epsilon-greedy or explore-then-commit for actions with features, and code, \
         ucb1, thompson, epsilon-greedy or explore-then-commit for arms"
    )]
    Unresumable,
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
    pub fn read_recorded(fields: &mut Fields<'_>, setting: Setting) -> Option<Self> {
        Self::read_with(fields, setting, Defaults::Recorded)
    }

    fn read_with(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> Option<Self> {
        let kind = fields.choice("kind", "which policy", None, &POLICY_KINDS)?;
        let label = fields.text_or("label", "its name in results", "the kind", kind);
        if let Some(reason) = misfit(kind, setting) {
            fields.object("kind", Complaint::Misfit { what: kind.into(), reason });
        }
        let kind = match kind {
            "code" => read_code(fields, setting, defaults),
            "lin-ucb" => PolicyKind::LinUcb {
                ridge: read_natural_ridge(fields, setting, defaults),
                radius: read_radius(fields, setting, defaults),
            },
            "lin-ts" => PolicyKind::LinTs {
                ridge: read_ridge(fields, setting),
                noise_scale: read_noise_scale(fields),
            },
            "elimination" => PolicyKind::Elimination {
                ridge: read_ridge(fields, setting),
                delta: fields.number(
                    "delta",
                    "δ, the chance of failure",
                    0.05,
                    Range::between(0.0, 1.0),
                ),
            },
            "epsilon-greedy" => PolicyKind::EpsilonGreedy {
                ridge: read_ridge(fields, setting),
                epsilon: read_epsilon(fields),
                exploration: read_exploration(fields, setting),
            },
            "explore-then-commit" => PolicyKind::ExploreThenCommit {
                ridge: read_ridge(fields, setting),
                epsilon: read_epsilon(fields),
                exploration: read_exploration(fields, setting),
            },
            "ucb1" => PolicyKind::Ucb1 { noise_scale: read_noise_scale(fields) },
            "thompson" => PolicyKind::Thompson { noise_scale: read_noise_scale(fields) },
            "beta-thompson" => PolicyKind::BetaThompson,
            other => unreachable!("{other} is in POLICY_KINDS"),
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

    /// A fresh policy for a problem.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn build(&self, facts: &Facts) -> Result<Box<dyn Durable + Send>, BuildError> {
        let arms = facts.setting == Setting::Arms;
        let means = || ArmMeans::new(facts.actions);
        let noise = |set: Option<f64>| set.unwrap_or(facts.noise_scale);
        Ok(match self.kind {
            PolicyKind::Code { radius, .. } if arms => {
                self.code_on(means(), radius.build(facts)?, None)?
            }
            PolicyKind::Code { radius, .. } => {
                let model = Ridge::new(facts.dim, self.ridge_in(facts))?;
                self.code_on(model, radius.build(facts)?, None)?
            }
            PolicyKind::LinUcb { radius, .. } => {
                let model = Ridge::new(facts.dim, self.ridge_in(facts))?;
                Box::new(LinUcb::new(model, radius.build(facts)?))
            }
            PolicyKind::LinTs { ridge, noise_scale } => {
                Box::new(LinTs::new(Ridge::new(facts.dim, ridge)?, noise(noise_scale))?)
            }
            PolicyKind::Elimination { ridge, delta } => {
                Box::new(Elimination::new(Ridge::new(facts.dim, ridge)?, delta)?)
            }
            PolicyKind::EpsilonGreedy { epsilon, .. } if arms => {
                Box::new(EpsilonGreedy::new(means(), epsilon, facts.horizon)?)
            }
            PolicyKind::EpsilonGreedy { ridge, epsilon, exploration } => {
                let model = Ridge::new(facts.dim, ridge)?;
                Box::new(EpsilonGreedy::new(model, epsilon, facts.horizon)?.exploring(exploration))
            }
            PolicyKind::ExploreThenCommit { epsilon, .. } if arms => {
                Box::new(ExploreThenCommit::new(means(), epsilon, facts.horizon)?)
            }
            PolicyKind::ExploreThenCommit { ridge, epsilon, exploration } => {
                let model = Ridge::new(facts.dim, ridge)?;
                Box::new(
                    ExploreThenCommit::new(model, epsilon, facts.horizon)?.exploring(exploration),
                )
            }
            PolicyKind::Ucb1 { noise_scale } => {
                Box::new(Ucb1::new(facts.actions, noise(noise_scale))?)
            }
            PolicyKind::Thompson { noise_scale } => {
                Box::new(Thompson::new(facts.actions, noise(noise_scale))?)
            }
            PolicyKind::BetaThompson => Box::new(BetaThompson::new(facts.actions)),
        })
    }
}

impl RadiusSpec {
    /// The ridge that suits this radius: `d·R²/S²` for the additive form, which balances its terms;
    /// else 1.
    pub fn natural_ridge(&self, facts: &Facts) -> f64 {
        if self.kind != RadiusKind::Additive {
            return 1.0;
        }
        let (noise, bound) = (self.noise_scale_in(facts), self.theta_norm_bound_in(facts));
        let ridge = facts.dim as f64 * (noise / bound) * (noise / bound);
        // A bound of zero, or extreme constants.
        if ridge.is_nan() { 1.0 } else { ridge.clamp(1e-50, 1e50) }
    }
}

impl PolicySpec {
    /// λ in V for a problem; 1 for kinds that are for arms only.
    pub fn ridge_in(&self, facts: &Facts) -> f64 {
        match self.kind {
            PolicyKind::Code { ridge: None, radius, .. }
            | PolicyKind::LinUcb { ridge: None, radius } => radius.natural_ridge(facts),
            _ => self.ridge(),
        }
    }

    /// Reads the fields of the target of a `code` policy.
    pub fn read_target(fields: &mut Fields<'_>) -> Option<Target> {
        let kappa = "κ: squared widths at most κ times those of an optimal design over all actions";
        let kappa = fields.number_or("kappa", kappa, "unset", Range::POSITIVE);
        let accuracy = "ε: every plausible action known to within ±ε";
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

    /// CODE with this model and radius and, if decisions are pending, with the model that counts
    /// them as `design`.
    pub(super) fn code_on<
        E: DurableModel + Send + 'static,
        R: ConfidenceRadius + Clone + Send + 'static,
    >(
        &self,
        model: E,
        radius: R,
        design: Option<E>,
    ) -> Result<Box<dyn Durable + Send>, BuildError> {
        let PolicyKind::Code { exclusion, greed, target, randomise, count_pending, .. } = self.kind
        else {
            unreachable!("only called for a code policy");
        };
        let code = Code::new(model, radius).excluding(exclusion).tempered(greed)?;
        let code = if let Some(design) = design { code.with_design(design) } else { code };
        let code = if let Some(target) = target { code.to_target(target)? } else { code };
        let code = if count_pending { code } else { code.ignoring_pending() };
        Ok(if randomise > 0.0 {
            Box::new(RandomisedCode::new(code, randomise)?)
        } else {
            Box::new(code)
        })
    }
}

/// What a policy does where its table says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// As in simulations: differences rule actions out, and models of features have the additive
    /// radius with its natural ridge.
    Current,
    /// As in logs: intervals rule actions out, and models of features have the determinant radius
    /// and ridge 1. There is no field `exclusion`.
    Recorded,
}

/// Why a kind of policy does not fit a setting; `None` if it does.
fn misfit(kind: &str, setting: Setting) -> Option<&'static str> {
    match (kind, setting) {
        ("lin-ucb" | "lin-ts" | "elimination", Setting::Arms) => Some(
            "needs actions with features, and these have none; use code, ucb1, thompson, \
             epsilon-greedy or explore-then-commit",
        ),
        ("ucb1" | "thompson" | "beta-thompson", Setting::Changing) => Some(
            "knows actions by index alone, and here an index can mean another action each time; \
             use code or lin-ucb",
        ),
        _ => None,
    }
}

/// The ridges that [`Ridge::new`] takes.
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
        (_, Defaults::Current) => {
            fields.number_or("ridge", "λ in V = λI + Σ x·xᵀ", NATURAL_RIDGE, RIDGES)
        }
    }
}

fn read_radius(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> RadiusSpec {
    let fallback = match defaults {
        Defaults::Current => RadiusSpec::default_for(setting),
        Defaults::Recorded => RadiusSpec::recorded_for(setting),
    };
    let default = FieldDefault::Derived(match fallback.kind {
        RadiusKind::Mixture => "{ kind = \"mixture\" }",
        RadiusKind::Determinant => "{ kind = \"determinant\" }",
        _ => "{ kind = \"additive\" }",
    });
    let read =
        fields.table("radius", "√β, the confidence radius", default, |radius| match defaults {
            Defaults::Current => RadiusSpec::read(radius, setting),
            Defaults::Recorded => RadiusSpec::read_recorded(radius, setting),
        });
    let radius = read.unwrap_or(fallback);
    fields.fill("radius", radius.to_value());
    radius
}

/// What rules actions out. Arms are known separately, so there is no choice to make.
fn read_exclusion(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> Exclusion {
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

fn read_epsilon(fields: &mut Fields<'_>) -> f64 {
    fields.number(
        "epsilon",
        "ε, the share of rounds spent exploring",
        0.05,
        Range::above_to(0.0, 1.0),
    )
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

fn read_code(fields: &mut Fields<'_>, setting: Setting, defaults: Defaults) -> PolicyKind {
    let ridge = read_natural_ridge(fields, setting, defaults);
    let radius = read_radius(fields, setting, defaults);
    let exclusion = read_exclusion(fields, setting, defaults);
    let greed = fields.number("greed", GREED, 0.0, Range::from_to(0.0, 1.0));
    let target = read_target(fields);
    if target.is_some() && greed > 0.0 {
        let reason = "decides the greed of every round by itself; leave out greed or the target";
        fields.object("greed", Complaint::Misfit { what: "a target".into(), reason });
    }
    let randomise = fields.number("randomise", RANDOMISE, 0.0, Range::from_to(0.0, 0.99));
    let count_pending = fields.boolean("count_pending", COUNT_PENDING, true);
    PolicyKind::Code { ridge, radius, exclusion, greed, target, randomise, count_pending }
}
