//! The problems of a spec.

use super::glm;
use super::own_table::{self, OwnTable};
use crate::environment::{
    ARM_REWARDS, ArmProblems, Bandit, ChangingLinear, Contexts, DRAWN_DIM, DRAWN_NORM_BOUND, Days,
    Environment, GlmProblems, Pool, Rewards, Rule, Spacing, TABLE_REWARDS, TableProblems,
    TableRows,
};
use plausibly::spec::{Complaint, Fields, Range, Setting};
use plausibly::{Link, Stream};
use std::sync::Arc;

/// The kinds of environment that are made here.
const DRAWN_KINDS: [&str; 10] = [
    "linear", "changing", "contexts", "k-armed", "arms", "table", "logistic", "clicks", "poisson",
    "csv",
];
const ACTIONS: &str = "K, actions offered per round";

/// Kinds of environment whose problems come from outside the simulator, for example from data.
pub trait Pools {
    /// Their kinds.
    fn kinds(&self) -> &'static [&'static str];

    /// Default number of actions of a kind.
    fn default_actions(&self, kind: &str) -> i64;

    /// Reads the options of a kind, and returns a function that makes its pool or says why it is
    /// not available.
    fn read(&self, kind: &str, fields: &mut Fields<'_>) -> Box<LoadPool<'_>>;

    /// Reads the actions of a table in a file, for the kind `csv`, with the means in a column, or
    /// says why they are not available. By default no file is read.
    ///
    /// # Errors
    /// What is wrong, where, and how to correct it.
    fn table(&self, path: &str, mean_column: Option<&str>) -> Result<TableRows, String> {
        let _ = (path, mean_column);
        Err("this program reads no tables for specs; run this spec with the command `plausibly \
             simulate`"
            .into())
    }
}

/// Makes a pool, or says why it is not available and what to do. Specs with the same options share
/// a pool.
pub type LoadPool<'a> = dyn FnOnce() -> Result<Arc<Pool>, String> + 'a;

/// No such kinds.
impl Pools for () {
    fn kinds(&self) -> &'static [&'static str] {
        &[]
    }

    fn default_actions(&self, _: &str) -> i64 {
        1
    }

    fn read(&self, kind: &str, _: &mut Fields<'_>) -> Box<LoadPool<'_>> {
        let reason = format!("there are no problems of kind {kind}");
        Box::new(move || Err(reason))
    }
}

/// Largest number of features in a set: 80 MB per copy. A larger number is more likely a typing
/// error.
pub(super) const LARGEST_SET: u64 = 10_000_000;

/// A kind of problem.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvironmentSpec(Problems);

#[derive(Clone, Debug, PartialEq)]
enum Problems {
    Drawn { setting: Setting, dim: usize, actions: usize, noise: f64 },
    Contexts { features: usize, arms: usize, noise: f64 },
    Arms(ArmProblems),
    Table(TableProblems),
    Glm(GlmProblems),
    Own(OwnTable),
    Pooled { pool: Arc<Pool>, actions: usize },
}

impl EnvironmentSpec {
    pub(super) fn read(fields: &mut Fields<'_>, pools: &dyn Pools) -> Option<Self> {
        let kinds = [&DRAWN_KINDS, pools.kinds()].concat();
        let kind = fields.choice("kind", "which problems", None, &kinds)?;
        let setting = match kind {
            "linear" => Setting::Fixed,
            "changing" => Setting::Changing,
            "k-armed" => Setting::Arms,
            "contexts" => return Some(Self(read_contexts(fields))),
            "arms" => return Some(Self(Problems::Arms(read_arms(fields)))),
            "table" => return Some(Self(Problems::Table(read_table(fields)))),
            "logistic" => return Some(Self(Problems::Glm(glm::read_logistic(fields)))),
            "clicks" => return Some(Self::read_glm(fields, Link::Logistic)),
            "poisson" => return Some(Self::read_glm(fields, Link::Poisson)),
            "csv" => return own_table::read(fields, pools).map(|own| Self(Problems::Own(own))),
            pooled => return Self::read_pooled(pooled, fields, pools),
        };
        let dim = match setting {
            Setting::Arms => 0,
            _ => fields.integer("dim", "d, features of an action", None, (1, 1024)),
        };
        let actions = read_actions(fields, None, dim);
        let noise = read_noise(fields);
        Some(Self(Problems::Drawn { setting, dim: size(dim), actions, noise }))
    }

    fn read_glm(fields: &mut Fields<'_>, link: Link) -> Self {
        Self(Problems::Glm(glm::read_between(fields, link)))
    }

    fn read_pooled(kind: &str, fields: &mut Fields<'_>, pools: &dyn Pools) -> Option<Self> {
        let actions = read_pool_size(kind, fields, pools);
        let load = pools.read(kind, fields);
        match load() {
            Ok(pool) => Some(Self(Problems::Pooled { pool, actions: size(actions) })),
            Err(reason) => {
                fields.object("kind", Complaint::Unavailable { reason });
                None
            }
        }
    }

    /// The kind of its action sets.
    pub fn setting(&self) -> Setting {
        match &self.0 {
            Problems::Drawn { setting, .. } => *setting,
            Problems::Contexts { .. } => Setting::Changing,
            Problems::Arms(_) => Setting::Arms,
            Problems::Glm(problems) if problems.hidden => Setting::Arms,
            Problems::Own(own) => own.setting(),
            Problems::Table(_) | Problems::Glm(_) | Problems::Pooled { .. } => Setting::Fixed,
        }
    }

    /// The least and the largest reward, if rewards have a range.
    pub(super) fn reward_range(&self) -> Option<(f64, f64)> {
        match &self.0 {
            Problems::Arms(problems) => problems.rewards.range(ARM_REWARDS),
            Problems::Table(problems) => problems.rewards.range(TABLE_REWARDS),
            Problems::Glm(problems) => problems.reward_range(),
            Problems::Own(own) => own.reward_range(),
            Problems::Drawn { .. } | Problems::Contexts { .. } | Problems::Pooled { .. } => None,
        }
    }

    /// Draws a problem of this kind.
    pub fn draw(&self, rng: &mut Stream) -> Box<dyn Environment> {
        match &self.0 {
            &Problems::Drawn { setting, dim, actions, noise } => match setting {
                Setting::Fixed => Box::new(Bandit::random_linear(dim, actions, noise, rng)),
                Setting::Changing => Box::new(ChangingLinear::random(dim, actions, noise, rng)),
                Setting::Arms => Box::new(Bandit::random_arms(actions, noise, rng)),
            },
            &Problems::Contexts { features, arms, noise } => {
                Box::new(Contexts::random(features, arms, noise, rng))
            }
            Problems::Arms(problems) => Box::new(problems.draw(rng)),
            Problems::Table(problems) => Box::new(problems.draw(rng)),
            Problems::Glm(problems) => Box::new(problems.draw(rng)),
            Problems::Own(own) => own.draw(rng),
            Problems::Pooled { pool, actions } => Box::new(pool.draw(*actions, rng)),
        }
    }
}

fn read_noise(fields: &mut Fields<'_>) -> f64 {
    fields.number("noise", "standard deviation of the Gaussian noise", 1.0, Range::POSITIVE)
}

/// Largest number of features of all arms together.
const LARGEST_DIM: u64 = 1024;

fn read_contexts(fields: &mut Fields<'_>) -> Problems {
    let meaning = "p, features of a context";
    let features = fields.integer("features", meaning, None, (1, 1024));
    let arms = fields.integer("actions", ACTIONS, None, (1, 1_000_000));
    if features.saturating_mul(arms) > LARGEST_DIM {
        let found = format!("{arms} arms with a model of {features} features each");
        let allowed = format!("at most {LARGEST_DIM} features in all models together");
        fields.object("actions", Complaint::OutOfRange { found, allowed });
    }
    Problems::Contexts { features: size(features), arms: size(arms), noise: read_noise(fields) }
}

pub(super) fn read_pool_size(kind: &str, fields: &mut Fields<'_>, pools: &dyn Pools) -> u64 {
    fields.integer("actions", ACTIONS, Some(pools.default_actions(kind)), (1, 1_000_000))
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// K, where each action has `dim` features.
pub(super) fn read_actions(fields: &mut Fields<'_>, default: Option<i64>, dim: u64) -> usize {
    let actions = fields.integer("actions", ACTIONS, default, (1, 1_000_000));
    if dim.saturating_mul(actions) > LARGEST_SET {
        let found = format!("{actions} actions of {dim} features");
        let allowed = format!("at most {LARGEST_SET} features in all");
        fields.object("actions", Complaint::OutOfRange { found, allowed });
    }
    size(actions)
}

const NOISE: &str = "standard deviation of a reward, unless rewards are yes-no";

/// The law of the rewards, and their noise, which yes-no rewards do not have.
fn read_rewards(fields: &mut Fields<'_>, meaning: &'static str) -> (Rewards, f64) {
    match fields.choice("rewards", meaning, Some("bounded"), &["yes-no", "bounded", "normal"]) {
        Some("yes-no") => (Rewards::YesNo, 0.0),
        Some("normal") => (Rewards::Normal, read_reward_noise(fields)),
        _ => (Rewards::Bounded, read_reward_noise(fields)),
    }
}

pub(super) fn read_reward_noise(fields: &mut Fields<'_>) -> f64 {
    fields.number("noise", NOISE, 0.03, Range::from_to(1e-6, 1e6))
}

fn read_arms(fields: &mut Fields<'_>) -> ArmProblems {
    let actions = read_actions(fields, Some(6), 0);
    let unit = Range::from_to(0.0, 1.0);
    let lowest = fields.number("lowest", "least mean", 0.2, unit);
    let highest = fields.number("highest", "largest mean", 0.34, unit);
    if highest < lowest {
        let (found, allowed) = (highest.to_string(), format!("at least lowest, {lowest}"));
        fields.object("highest", Complaint::OutOfRange { found, allowed });
    }
    let spacing = read_spacing(fields, lowest);
    let meaning = "yes-no: 0 or 1; bounded: uniform about the mean, in [0, 1]; normal: Gaussian";
    let (rewards, noise) = read_rewards(fields, meaning);
    let noise_by_action = if rewards == Rewards::YesNo {
        1.0
    } else {
        let meaning = "the noisiest action has this many times the noise of the quietest; the \
                       others lie between at equal ratios, in a random order";
        fields.number("noise_by_action", meaning, 1.0, Range::from_to(1.0, 1e6))
    };
    let meaning = "day effects: a day multiplies all means by a number uniform on 1 ± this";
    let largest = fields.number("days", meaning, 0.0, Range::from_to(0.0, 1.0));
    let meaning = "rounds per day";
    let length = fields.integer("day_length", meaning, Some(100), (1, 1_000_000_000));
    let days = (largest > 0.0).then_some(Days { largest, length });
    let problems =
        ArmProblems { actions, lowest, highest, spacing, rewards, noise, noise_by_action, days };
    let excess = problems.excess();
    if excess > 0.0 && lowest <= highest {
        let field = if rewards == Rewards::Bounded { "noise" } else { "days" };
        let found = format!("with it rewards of these means are up to {excess:.2} out of range");
        let allowed = "small enough for rewards to stay in [0, 1]: a mean, times 1 ± days, with \
                       √3·noise·noise_by_action on both sides";
        fields.object(field, Complaint::OutOfRange { found, allowed: allowed.into() });
    }
    problems
}

fn read_spacing(fields: &mut Fields<'_>, lowest: f64) -> Spacing {
    let meaning = "means at equal distances (even) or at equal ratios in a random order, or drawn \
                   uniformly";
    match fields.choice("spread", meaning, Some("even"), &["even", "ratios", "uniform"]) {
        Some("ratios") => {
            if lowest <= 0.0 {
                let allowed = "even or uniform, where the least mean is 0".into();
                fields.object("spread", Complaint::OutOfRange { found: "ratios".into(), allowed });
            }
            Spacing::Ratios
        }
        Some("uniform") => Spacing::Uniform,
        _ => Spacing::Even,
    }
}

fn read_table(fields: &mut Fields<'_>) -> TableProblems {
    let actions = read_actions(fields, Some(40), DRAWN_DIM as u64);
    let meaning = "yes-no: −0.5 or 0.5; bounded: uniform about the mean, in [−0.5, 0.5]; normal: \
                   Gaussian";
    let rewards = read_rewards(fields, meaning);
    read_rule(fields, actions, rewards, DRAWN_NORM_BOUND)
}

/// The rule that means follow from features by, for rewards of this law and noise.
pub(super) fn read_rule(
    fields: &mut Fields<'_>,
    actions: usize,
    (rewards, noise): (Rewards, f64),
    theta_norm_bound: f64,
) -> TableProblems {
    let centre = fields.number("centre", "mean of the means", -0.2, Range::from_to(-0.45, 0.45));
    let meaning = "standard deviation of the means (of the scores, if the rule is logistic), \
                   less if they would not fit";
    let spread = fields.number("spread", meaning, 0.1, Range::from_to(0.0, 0.5));
    let meaning = "how means follow from features: ⟨x, θ*⟩, or ½·tanh(2·⟨x, θ*⟩), the logistic \
                   function of 4·⟨x, θ*⟩ minus ½";
    let rule = match fields.choice("rule", meaning, Some("linear"), &["linear", "logistic"]) {
        Some("logistic") => Rule::Logistic,
        _ => Rule::Linear,
    };
    let meaning = "how far each mean lies above or below the rule";
    let misspecified = fields.number("misspecified", meaning, 0.0, Range::from_to(0.0, 0.5));
    let problems = TableProblems {
        actions,
        theta_norm_bound,
        centre,
        spread,
        rule,
        misspecified,
        rewards,
        noise,
    };
    let largest = problems.largest_centre();
    if centre.abs() > largest {
        let found = centre.to_string();
        let allowed = if largest < 0.0 {
            "such that rewards stay in [−0.5, 0.5], but misspecified and √3·noise leave no room \
             for any mean; make them smaller"
                .into()
        } else {
            format!(
                "within ±{largest:.3}, so that rewards stay in [−0.5, 0.5] with this noise and \
                 ‖θ*‖ at most {theta_norm_bound:.3}"
            )
        };
        fields.object("centre", Complaint::OutOfRange { found, allowed });
    }
    problems
}
