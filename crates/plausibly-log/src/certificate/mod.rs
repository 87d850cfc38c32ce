//! Certificates: the grounds of a decision, and the findings that follow from them.
//!
//! A certificate has two halves. Its *grounds* are the statistics, the settings and the actions
//! that a decision was taken from; only the log shows whether they are true. Its *findings* are
//! every number and statement shown, and follow from the grounds alone: anyone can derive them
//! again, and [`Certificate::check`] does.

mod basis;
mod bell;
mod between;
mod canonical;
mod certify;
mod choice;
mod derive;
mod findings;
mod likelihood;
mod numbers;
mod phase;
mod rule_out;
mod verify;
mod well_formed;

pub(crate) use basis::{Basis, Terms};
pub(crate) use bell::ENOUGH_VALUES;
pub use bell::{BellGrounds, PaidArm};
pub(crate) use between::Between;
use canonical::canonical;
pub use certify::{certificate, certify};
pub(crate) use certify::{certificate_of_step, certified};
pub use derive::two_digits;
pub use findings::{
    Alarm, BudgetFinding, Chosen, Comparison, Finding, Findings, InsuranceFinding,
    LikelihoodFinding, Outlook, Reason, RuledOut, Share, Standing, TargetFinding,
};
pub(crate) use likelihood::bounded;
pub use likelihood::{GlmGrounds, PaidRow};
pub(crate) use numbers::{Choice, Numbers};
pub use phase::{Frozen, Phase, Played};
pub use rule_out::RuleOut;
pub use verify::{Flaw, first_difference};

use crate::event::{FIRST_FORMAT, Outcomes};
use crate::journal::LineHash;
use crate::json::{self, JsonError};
use crate::policy::{PolicyRefusal, PolicyTable};
use crate::scale::Scale;
use plausibly::{ActionSetError, RidgeError};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::fmt::Display;
use thiserror::Error;

/// The version of new certificates. A log of format 1 has certificates of version 1.
pub const VERSION: u32 = 2;
/// The name of the format.
pub const FORMAT: &str = "plausibly certificate";

/// The certificate of a decision.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`], or 1 for a log of the first format.
    pub version: u32,
    /// The grounds of the decision: only the log shows whether they are true.
    pub grounds: Grounds,
    /// The findings that follow from the grounds.
    pub findings: Findings,
    /// SHA-256, in hexadecimal, of this document without this field: in the canonical form of RFC
    /// 8785, and in version 1 as compact JSON in the order of the fields. It detects damage, not
    /// forgery: anyone can compute a seal.
    pub seal: String,
}

/// The grounds of a decision: everything it depends on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Grounds {
    /// The format of the log.
    #[serde(skip_serializing_if = "is_first_format", default = "first_format")]
    pub format: u32,
    /// The log, and the last line before the decision.
    pub log: Position,
    /// The number of the decision, from 1.
    pub decision: u64,
    /// When it was taken, in UTC.
    pub at: String,
    /// The policy, in the units of the rewards.
    pub policy: PolicyTable,
    /// The smallest and the largest reward there can be.
    pub reward_range: (f64, f64),
    /// What an outcome is, unless it is any number in the range.
    #[serde(skip_serializing_if = "Outcomes::is_default", default)]
    pub outcomes: Outcomes,
    /// Whether any decision has had a count of outcomes instead of one.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub counted: bool,
    /// How often outcomes were taken back, replaced or given up; from format 2 on.
    #[serde(skip_serializing_if = "Amended::is_none", default)]
    pub amended: Amended,
    /// The number of decisions expected in all, for policies that need it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub horizon: Option<u64>,
    /// The seed; with the number of the decision it fixes all randomness.
    pub seed: u64,
    /// S, a bound on the norm of θ* for rewards scaled to an interval of length one.
    pub theta_norm_bound: f64,
    /// Whether features are vectors as given: rewards are then scaled but not centred, and S was
    /// declared.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub as_given: bool,
    /// The number of actions that share δ; only where actions are judged by what each has paid.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub arms_sharing: Option<u64>,
    /// How verdicts between pairs of actions share δ; only where actions are judged by what each
    /// has paid, from format 2 on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pairs_sharing: Option<PairsSharing>,
    /// The context of the decision.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub context: Map<String, Json>,
    /// The names of the features; empty for plain arms.
    pub features: Vec<String>,
    /// The sums over settled decisions.
    pub statistics: Sums,
    /// The sums with pending decisions counted, if there are any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub design: Option<Sums>,
    /// The sums that the policy has committed to, if it has.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub committed: Option<Sums>,
    /// The sums over forecasts of rewards; for actions with features, from format 2 on.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub forecasts: Option<ForecastGrounds>,
    /// What each listed action has paid; for few actions with features and without context, from
    /// format 2 on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub earned: Vec<Earned>,
    /// What the radius `bell` needs beside the sums.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bell: Option<BellGrounds>,
    /// What a generalised linear model needs beside the sums.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub glm: Option<GlmGrounds>,
    /// The phase of phased elimination.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub phase: Option<Phase>,
    /// SHA-256 of the exact sums, in hexadecimal.
    pub digest: String,
    /// The actions listed, in the order they were offered.
    pub actions: Vec<Offered>,
    /// The actions offered but not listed, in a partial certificate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unlisted: Option<Unlisted>,
}

/// A place in a log: everything up to and including this line.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The hash of the first line, which identifies the log.
    pub id: String,
    /// The number of the last line before the decision.
    pub seq: u64,
    /// The hash of that line.
    pub hash: String,
}

/// The sums of a model. With features: `V` with its ridge, row by row, and `b`, each entry rounded
/// to the double nearest to the exact sum. For arms: plays and sums of rewards, by listed action.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Sums {
    /// The number of decisions in the sums.
    pub observations: u64,
    /// `V = λI + Σ x·xᵀ`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub gram: Vec<Vec<f64>>,
    /// `b = Σ x·y`, or the sum of rewards of each arm; rewards are scaled to `[−½, ½]`, or only
    /// divided by the range for vectors as given.
    pub moment: Vec<f64>,
    /// How often each arm was taken.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub plays: Vec<u64>,
    /// `Σ y²`, or the sum of squared rewards of each arm; from format 2 on.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub squares: Vec<f64>,
}

impl Sums {
    /// The sums that a log of this format shows.
    pub(crate) fn of_format(self, format: u32) -> Self {
        if format < 2 { Self { squares: Vec::new(), ..self } } else { self }
    }
}

/// How often outcomes were taken back, replaced or given up. Statements stay valid only if that did
/// not depend on what the outcomes were, or the new ones are true.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Amended {
    /// Rewards retracted.
    pub retracted: u64,
    /// Rewards replaced.
    pub corrected: u64,
    /// Decisions that are dropped.
    pub dropped: u64,
}

impl Amended {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Sums over the forecasts of rewards. Each forecast stood in the log before its reward did.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ForecastGrounds {
    /// `D = Σ ŷ·(ŷ − 2y)` over the forecasts that counted.
    pub sum: f64,
    /// `Σ (y − ŷ)²` of each of the three candidates: the smallest decides which one counts next.
    pub errors: [f64; 3],
}

/// What an action with features has paid, on the scale of the statistics.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Earned {
    /// The number of its outcomes.
    pub plays: u64,
    /// Their sum.
    pub paid: f64,
    /// The sum of their squares.
    pub squares: f64,
}

/// How verdicts between pairs of actions share δ. While every decision is about the first set, only
/// pairs with its best action count; once another set is offered, every pair does.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PairsSharing {
    /// The number of actions of the first set.
    pub first: u64,
    /// The number of actions ever added.
    pub ever: u64,
    /// Whether another set was ever offered.
    pub changed: bool,
}

fn first_format() -> u32 {
    FIRST_FORMAT
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_first_format(format: &u32) -> bool {
    *format == FIRST_FORMAT
}

/// An action on offer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Offered {
    /// Its number in the log.
    pub id: u64,
    /// Its name.
    pub label: String,
    /// Its features in this context.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub features: Vec<f64>,
}

/// Actions that a partial certificate does not list.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Unlisted {
    /// How many actions are not listed.
    pub actions: u64,
    /// How many of them could still be best.
    pub plausible: u64,
    /// The chosen action, if the choice does not follow from the listed actions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub chosen: Option<u64>,
}

/// Why no decision can have these grounds.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum GroundsError {
    /// The policy.
    #[error(transparent)]
    Policy(#[from] PolicyRefusal),
    /// The sums do not describe a model.
    #[error("the statistics do not describe a model: {0}")]
    Ridge(#[from] RidgeError),
    /// The actions.
    #[error("the actions are not a set: {0}")]
    Actions(#[from] ActionSetError),
    /// A policy that cannot be built.
    #[error("the policy cannot be built: {0}")]
    Build(#[from] plausibly::spec::BuildError),
    /// A radius that cannot be built.
    #[error("the radius cannot be built: {0}")]
    Radius(#[from] plausibly::RadiusError),
    /// Parts that do not fit together.
    #[error("{path}: {what}")]
    Misfit {
        /// The path of the part, such as `grounds.actions`.
        path: String,
        /// What is wrong.
        what: String,
    },
}

/// The error for a part of the grounds, given by its path within them.
fn misfit(path: impl Display, what: impl Display) -> GroundsError {
    GroundsError::Misfit { path: format!("grounds.{path}"), what: what.to_string() }
}

/// Refuses grounds with a part for which a requirement does not hold.
fn require(holds: bool, path: impl Display, what: impl Display) -> Result<(), GroundsError> {
    if holds { Ok(()) } else { Err(misfit(path, what)) }
}

impl Certificate {
    /// The certificate of these grounds.
    ///
    /// # Errors
    /// If no decision can have these grounds.
    pub fn new(grounds: Grounds) -> Result<Self, GroundsError> {
        let findings = Findings::derive(&grounds)?;
        Ok(Self::sealed(grounds, findings))
    }

    pub(crate) fn sealed(grounds: Grounds, findings: Findings) -> Self {
        let unsealed = Self {
            format: FORMAT.into(),
            version: grounds.format,
            grounds,
            findings,
            seal: String::new(),
        };
        Self { seal: unsealed.expected_seal(), ..unsealed }
    }

    /// What the seal must be.
    ///
    /// # Panics
    /// Never: a certificate can always be written as JSON.
    pub fn expected_seal(&self) -> String {
        #[derive(Serialize)]
        struct Unsealed<'a> {
            format: &'a str,
            version: u32,
            grounds: &'a Grounds,
            findings: &'a Findings,
        }
        let Self { format, version, grounds, findings, seal: _ } = self;
        let unsealed = Unsealed { format, version: *version, grounds, findings };
        let document =
            if self.version < 2 { serde_json::to_vec(&unsealed) } else { canonical(&unsealed) };
        LineHash::of(&document.expect("a certificate is JSON")).to_string()
    }

    /// Reads a certificate from its text. [`Certificate::check`] then tells whether it is right.
    ///
    /// # Errors
    /// If it is not a certificate, or an object in it has a key twice.
    pub fn from_json(text: &str) -> Result<Self, JsonError> {
        json::read(text)
    }

    /// The certificate as compact JSON: the form of files and streams, and of what the seal covers.
    ///
    /// # Panics
    /// Never: a certificate can always be written as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a certificate is JSON")
    }
}

impl Grounds {
    /// The number of features d; zero for arms.
    pub fn dim(&self) -> usize {
        self.features.len()
    }

    /// The number of actions on offer, listed or not.
    pub fn offered(&self) -> usize {
        basis::offered(self.actions.len(), self.unlisted)
    }

    /// The length of the range of rewards.
    pub fn range(&self) -> f64 {
        self.reward_range.1 - self.reward_range.0
    }

    /// A scaled reward in the user's units.
    pub fn unscaled(&self, scaled: f64) -> f64 {
        Scale::new(self.reward_range, self.as_given).unscaled(scaled)
    }
}
