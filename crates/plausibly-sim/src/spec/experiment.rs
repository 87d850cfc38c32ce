//! A comparison written down: environment, metric, policies.

use super::environment::{EnvironmentSpec, Pools};
use super::toml;
use crate::comparison::{Comparison, Metric, Plan};
use crate::delay::Delay;
use plausibly::spec::{
    Complaint, Defaults, FieldDefault, FieldError, Fields, Node, PolicyKind, PolicySpec, RIDGES,
    RadiusSpec, Range, Setting, Value,
};
use plausibly::{Exclusion, Stream};
use std::fmt;

/// All errors of a spec.
#[derive(Clone, Debug, PartialEq)]
pub struct SpecError {
    /// In the order of the text; never empty.
    pub problems: Vec<FieldError>,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, problem) in self.problems.iter().enumerate() {
            f.write_str(if position == 0 { "" } else { "\n" })?;
            // A spec that was never text has no lines.
            if problem.line > 0 {
                write!(f, "line {}: ", problem.line)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for SpecError {}

/// Values that replace those in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Runs.
    pub runs: Option<u64>,
    /// Seed.
    pub seed: Option<u64>,
}

/// A comparison, fully specified.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Its name in results.
    pub name: String,
    /// Seed of all its randomness.
    pub seed: u64,
    /// Independent problems.
    pub runs: u64,
    /// Rounds per run.
    pub horizon: u64,
    /// The problems.
    pub environment: EnvironmentSpec,
    /// When rewards come.
    pub delay: Delay,
    /// What the model error is measured with.
    pub metric: Metric,
    /// The policies, in order; labels differ.
    pub policies: Vec<PolicySpec>,
    /// The spec with defaults filled in, as data.
    pub resolved: Value,
}

/// Parses the text of a spec into data, for callers that change it before reading it.
///
/// # Errors
/// If it is not TOML.
pub fn parse_spec(text: &str) -> Result<Node, SpecError> {
    toml::parse(text).map_err(|problem| SpecError { problems: vec![problem] })
}

impl Experiment {
    /// Reads a spec; `pools` are the kinds of environment from outside, `&()` for none.
    /// `docs/reference/spec.md` lists every field.
    ///
    /// # Errors
    /// Lists all errors, by line.
    pub fn from_toml(
        text: &str,
        overrides: Overrides,
        pools: &dyn Pools,
    ) -> Result<Self, SpecError> {
        Self::from_node(parse_spec(text)?, overrides, pools)
    }

    /// Reads a spec that is data already.
    ///
    /// # Errors
    /// As [`Experiment::from_toml`].
    pub fn from_node(
        mut root: Node,
        overrides: Overrides,
        pools: &dyn Pools,
    ) -> Result<Self, SpecError> {
        overrides.apply(&mut root);
        let mut problems = Vec::new();
        let mut fields = Fields::new("", &root, &mut problems);
        let read = Self::read(&mut fields, pools);
        let resolved = fields.finish();
        problems.sort_by_key(|problem| problem.line);
        match read {
            Some(experiment) if problems.is_empty() => Ok(Self { resolved, ..experiment }),
            _ => Err(SpecError { problems }),
        }
    }

    pub(super) fn read(fields: &mut Fields<'_>, pools: &dyn Pools) -> Option<Self> {
        let name = fields.text_or("name", "its name in results", "\"experiment\"", "experiment");
        let seed = fields.integer("seed", "seed of all random numbers", Some(0), (0, i64::MAX));
        let runs = fields.integer(
            "runs",
            "number of runs, each on a new problem",
            Some(100),
            (1, 1_000_000_000),
        );
        let horizon = fields.integer("horizon", "rounds per run", Some(10_000), (1, 1_000_000_000));
        let environment = fields
            .table("environment", "the problems to play on", FieldDefault::Required, |fields| {
                EnvironmentSpec::read(fields, pools)
            })
            .flatten();
        let delay = read_delay(fields);
        // Checks the policies even without an environment, assuming a linear one, as most specs
        // have.
        let setting = environment.as_ref().map_or(Setting::Fixed, EnvironmentSpec::setting);
        let range = environment.as_ref().and_then(EnvironmentSpec::reward_range);
        let ranged = range.is_some_and(|(_, high)| high.is_finite());
        let defaults = if ranged { Defaults::Ranged } else { Defaults::Current };
        let policies = read_policies(fields, setting, defaults, environment.as_ref());
        let metric = read_metric(fields, setting, defaults, &policies);
        let policies: Option<Vec<_>> = policies.into_iter().collect();
        let (environment, policies) = (environment?, policies?);
        Some(Self {
            name,
            seed,
            runs,
            horizon,
            environment,
            delay,
            metric,
            policies,
            resolved: Value::Table(Vec::new()),
        })
    }

    /// Whether this and another can be [played together](Comparison::run_together): they have seed,
    /// horizon, delay and problems in common, and no label with two meanings.
    pub fn plays_with(&self, other: &Self) -> bool {
        let common = |each: &Self| (each.seed, each.horizon, each.delay);
        let clash = |policy: &PolicySpec| {
            other.policies.iter().any(|theirs| theirs.label == policy.label && theirs != policy)
        };
        common(self) == common(other)
            && self.environment == other.environment
            && !self.policies.iter().any(clash)
    }

    /// The comparison it describes, ready to run.
    pub fn comparison(&self) -> Comparison {
        let environment = self.environment.clone();
        let problem = move |rng: &mut Stream| environment.draw(rng);
        let plan = Plan { runs: self.runs, horizon: self.horizon, seed: self.seed };
        let start = Comparison::new(problem, self.metric, plan).late(self.delay);
        self.policies.iter().fold(start, |comparison, policy| {
            let spec = policy.clone();
            comparison.enter(&policy.label, move |facts| Ok(spec.build(facts)? as _))
        })
    }
}

impl Overrides {
    /// Replaces values before the spec is read, so that an override is checked and recorded like
    /// the text.
    fn apply(self, root: &mut Node) {
        let Value::Table(entries) = &mut root.value else { return };
        for (name, set) in [("runs", self.runs), ("seed", self.seed)] {
            if let Some(value) = set {
                entries.retain(|(key, _)| key != name);
                let value = Value::Integer(i64::try_from(value).unwrap_or(i64::MAX));
                entries.push((name.into(), Node { value, line: 0 }));
            }
        }
    }
}

/// When rewards come; at once by default.
fn read_delay(fields: &mut Fields<'_>) -> Delay {
    let none = FieldDefault::Derived("`{ kind = \"none\" }`: at once");
    fields.table("delay", "when rewards come", none, read_delay_fields).unwrap_or_default()
}

const DELAYS: [&str; 6] = ["none", "fixed", "random", "batches", "never", "by-reward"];

/// Reads what is inside a `delay`.
pub(super) fn read_delay_fields(fields: &mut Fields<'_>) -> Delay {
    let count = |fields: &mut Fields<'_>, name, meaning| {
        fields.integer(name, meaning, Some(100), (1, 1_000_000_000))
    };
    match fields.choice("kind", "which delay", None, &DELAYS) {
        Some("fixed") => Delay::Fixed {
            rounds: count(fields, "rounds", "rounds until the reward comes; 1 means at once"),
        },
        Some("random") => Delay::Random {
            mean: fields.number(
                "mean",
                "mean of the geometric delay, in rounds",
                100.0,
                Range::from_to(1.0, 1e9),
            ),
        },
        Some("batches") => Delay::Batches { size: count(fields, "size", "decisions in a batch") },
        Some("never") => Delay::Never {
            share: fields.number(
                "share",
                "share of the rewards that never come",
                0.1,
                Range::from_to(0.0, 0.999),
            ),
            told_after: count(
                fields,
                "told_after",
                "rounds until the policy learns that a reward will not come",
            ),
        },
        Some("by-reward") => Delay::ByReward {
            rounds: count(
                fields,
                "rounds",
                "rounds until a reward below its mean comes; others come at once",
            ),
        },
        _ => Delay::None,
    }
}

/// The policies; `None` for an unknown kind.
fn read_policies(
    fields: &mut Fields<'_>,
    setting: Setting,
    defaults: Defaults,
    environment: Option<&EnvironmentSpec>,
) -> Vec<Option<PolicySpec>> {
    let mut labels: Vec<(String, usize)> = Vec::new();
    fields.tables("policy", "the policies to compare", |fields| {
        let policy = PolicySpec::read(fields, setting, defaults)?;
        let line = fields.line_of("kind");
        let counts = policy.kind == PolicyKind::BetaThompson;
        if counts && environment.is_some_and(|problems| problems.reward_range() != Some((0.0, 1.0)))
        {
            let reason = "counts rewards from 0 to 1, and those of this environment are others; \
                          use it with kind arms and yes-no or bounded rewards, or use thompson";
            fields.object("kind", Complaint::Misfit { what: "beta-thompson".into(), reason });
        }
        let link = policy.link();
        let range = environment.and_then(EnvironmentSpec::reward_range);
        if link.is_some_and(|link| environment.is_some() && link.rewards_in(range).is_none()) {
            let reason = "is for rewards in a range (logistic) or counts (poisson), and those of \
                          this environment are others; use an environment with such rewards, or \
                          another radius";
            let what = "a generalised linear model".into();
            fields.object("radius", Complaint::Misfit { what, reason });
        }
        match labels.iter().find(|(label, _)| *label == policy.label) {
            Some((_, first)) => {
                fields.object(
                    "label",
                    Complaint::DuplicateLabel { label: policy.label.clone(), first: *first },
                );
            }
            None => labels.push((policy.label.clone(), line)),
        }
        Some(policy)
    })
}

/// The metric. Unset parts come from the first `code` policy, or are the defaults.
fn read_metric(
    fields: &mut Fields<'_>,
    setting: Setting,
    defaults: Defaults,
    policies: &[Option<PolicySpec>],
) -> Metric {
    let first_code = policies.iter().flatten().find_map(|policy| match policy.kind {
        PolicyKind::Code { ridge, radius, exclusion, .. } => {
            Some(Metric { ridge, radius, exclusion })
        }
        _ => None,
    });
    let fallback = first_code.unwrap_or(Metric::default_for(setting, defaults));
    let default = FieldDefault::Derived(
        "that of the first code policy, else the default ridge, radius and exclusion of `code`",
    );
    let meaning = "defines the plausible set that the model error is measured on";
    let read = fields.table("metric", meaning, default, |fields| {
        let derived = "that of the first code policy, else its default";
        let arms = setting == Setting::Arms;
        let ridge =
            (!arms).then(|| fields.number_or("ridge", "λ in the metric's V", derived, RIDGES));
        let radius = fields.table(
            "radius",
            "√β of the metric",
            FieldDefault::Derived(derived),
            |fields| RadiusSpec::read(fields, setting),
        );
        let exclusion =
            if arms { fallback.exclusion } else { Exclusion::read(fields, fallback.exclusion) };
        Metric {
            // The ridge of the first code policy goes with its radius.
            ridge: ridge.flatten().or(fallback.ridge),
            radius: radius.unwrap_or(fallback.radius),
            exclusion,
        }
    });
    let metric = read.unwrap_or(fallback);
    let arms = setting == Setting::Arms;
    let entries = [
        ("ridge", metric.ridge.filter(|_| !arms).map(Value::Float)),
        ("radius", Some(metric.radius.to_value())),
        ("exclusion", (!arms).then(|| Value::Text(metric.exclusion.name().into()))),
    ];
    let entries = entries
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_string(), Node { value: value?, line: 0 })));
    fields.fill("metric", Value::Table(entries.collect()));
    metric
}
