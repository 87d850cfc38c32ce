//! What a caller said about outcomes: what they can be, and how they scatter.

use crate::errors::{self, raise, refuse};
use crate::value;
use plausibly::MAX_MAGNITUDE;
use plausibly::spec::{Complaint, FieldError, Node, Value};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

/// A count has at most this many outcomes, because each of them is learned.
const MOST_COUNTED: u64 = 1_000_000;

/// What outcomes can be, and how they scatter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Outcomes {
    pub(crate) kind: Kind,
    /// The least and the largest; `None` if nothing was said.
    pub(crate) range: Option<(f64, f64)>,
    pub(crate) noise: Option<Noise>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Kind {
    #[default]
    Number,
    YesNo,
    Counts,
}

/// How outcomes of the same action scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Noise {
    /// By at most this scale.
    Scale(f64),
    /// Like a bell curve, by an unknown scale.
    Bell,
}

/// What came of a decision, as a caller reported it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reward {
    One(f64),
    Counted { successes: u64, of: u64 },
}

const OUTCOMES: &str = "\"yes/no\", \"counts\" or a pair of numbers, the least and the largest";
const NOISE: &str = "a number, \"bell\" or None";

impl Outcomes {
    /// Takes the fields `outcomes` and `noise` out of the facts.
    pub(crate) fn take(facts: &mut Node, problems: &mut Vec<FieldError>) -> Self {
        let mut field = |name: &str| {
            let Value::Table(entries) = &mut facts.value else { return None };
            let place = entries.iter().position(|(field, _)| field == name)?;
            Some(entries.remove(place).1.value)
        };
        let (outcomes, noise) = (field("outcomes"), field("noise"));
        let mut complain = |path: &str, complaint| {
            problems.push(FieldError { line: 0, path: path.into(), complaint });
        };
        let mut said = match outcomes.map_or(Ok(Self::default()), |value| Self::read(&value)) {
            Ok(said) => said,
            Err(complaint) => {
                complain("outcomes", complaint);
                Self::default()
            }
        };
        let noise = noise.map(|value| Noise::read(&value)).transpose();
        match noise {
            Ok(Some(_)) if said.kind != Kind::Number => complain(
                "noise",
                Complaint::Misfit {
                    what: "yes and no".into(),
                    reason: "scatter by as much as the share of yes says, so there is nothing to \
                             set; leave noise out",
                },
            ),
            Ok(noise) => said.noise = noise,
            Err(complaint) => complain("noise", complaint),
        }
        said
    }

    fn read(value: &Value) -> Result<Self, Complaint> {
        let zero_to_one = Some((0.0, 1.0));
        match value {
            Value::Text(text) if text == "yes/no" => {
                Ok(Self { kind: Kind::YesNo, range: zero_to_one, noise: None })
            }
            Value::Text(text) if text == "counts" => {
                Ok(Self { kind: Kind::Counts, range: zero_to_one, noise: None })
            }
            Value::Text(text) => {
                Err(Complaint::Type { expected: OUTCOMES.into(), found: format!("{text:?}") })
            }
            Value::List(ends) => {
                let ends: Vec<Option<f64>> = ends.iter().map(|end| number(&end.value)).collect();
                let &[Some(low), Some(high)] = ends.as_slice() else {
                    return Err(Complaint::Type {
                        expected: OUTCOMES.into(),
                        found: "a list".into(),
                    });
                };
                let allowed = low < high && low.abs().max(high.abs()) <= 1e50;
                if !allowed {
                    return Err(Complaint::OutOfRange {
                        found: format!("({low}, {high})"),
                        allowed: "the least outcome and a larger one, both from -1e50 to 1e50"
                            .into(),
                    });
                }
                Ok(Self { kind: Kind::Number, range: Some((low, high)), noise: None })
            }
            other => Err(Complaint::Type { expected: OUTCOMES.into(), found: kind_of(other) }),
        }
    }

    /// The scale of the noise that follows from what was said: half the range, if there is one.
    pub(crate) fn noise_scale(&self) -> Option<f64> {
        match self.noise {
            Some(Noise::Scale(scale)) => Some(scale),
            _ => self.range.map(|(low, high)| 0.5 * (high - low)),
        }
    }

    /// Checks one outcome; errors name it `argument`.
    pub(crate) fn check(&self, reward: f64, argument: &str) -> PyResult<()> {
        if self.kind == Kind::YesNo && ![0.0, 1.0].contains(&reward) {
            refuse!(
                "{argument}: outcomes are yes or no, so 1 or 0 (or True or False), got {reward}; \
                 make the policy with outcomes=(0, 1) for numbers between"
            );
        }
        match self.range {
            Some((low, high)) if !(low..=high).contains(&reward) => refuse!(
                "{argument}: outcomes are from {low} to {high}, got {reward}; make a policy with a \
                 wider range for it"
            ),
            _ => Ok(()),
        }
    }

    /// Reads what update was given.
    pub(crate) fn read_update(
        &self,
        reward: Option<&Bound<'_, PyAny>>,
        successes: Option<&Bound<'_, PyAny>>,
        of: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Reward> {
        match (reward, successes, of) {
            (Some(reward), None, None) => self.read_one(reward, "reward"),
            (None, Some(successes), Some(of)) => {
                if self.kind != Kind::Counts {
                    refuse!(
                        "successes: this policy takes single rewards; make it with \
                         outcomes=\"counts\", which Code, Insured, LinUCB, LaplaceTS, \
                         EpsilonGreedy and Thompson take"
                    );
                }
                count(successes, of, "successes", "of")
            }
            (None, None, None) => {
                raise!(
                    PyTypeError,
                    "reward: expected a number, or successes and of where outcomes are counts"
                )
            }
            (None, Some(_), None) => {
                raise!(PyTypeError, "of: missing; say how many outcomes there were in all")
            }
            (None, None, Some(_)) => {
                raise!(PyTypeError, "successes: missing; say how many outcomes were yes")
            }
            (Some(_), ..) => {
                raise!(PyTypeError, "reward: pass either a reward or successes and of, not both")
            }
        }
    }

    /// Reads one of many rewards: a number or, where outcomes are counts, a pair.
    pub(crate) fn read_one(&self, reward: &Bound<'_, PyAny>, argument: &str) -> PyResult<Reward> {
        if self.kind != Kind::Counts {
            let read = read_number(reward, argument)?;
            self.check(read, argument)?;
            return Ok(Reward::One(read));
        }
        let is_pair = reward.is_instance_of::<PyTuple>() || reward.is_instance_of::<PyList>();
        if argument != "reward" && is_pair && reward.len()? == 2 {
            let (successes, of) = (reward.get_item(0)?, reward.get_item(1)?);
            return count(&successes, &of, argument, argument);
        }
        let instead = if argument == "reward" { "successes=21, of=100" } else { "(21, 100)" };
        refuse!(
            "{argument}: outcomes are counts; pass how many of how many were yes, as in {instead}, \
             or make the policy with outcomes=\"yes/no\" for single ones"
        )
    }
}

impl Noise {
    fn read(value: &Value) -> Result<Self, Complaint> {
        match value {
            Value::Text(text) if text == "bell" => Ok(Self::Bell),
            Value::Text(text) => {
                Err(Complaint::Type { expected: NOISE.into(), found: format!("{text:?}") })
            }
            value => match number(value) {
                Some(scale) if (1e-50..=1e50).contains(&scale) => Ok(Self::Scale(scale)),
                Some(scale) => Err(Complaint::OutOfRange {
                    found: scale.to_string(),
                    allowed: "from 1e-50 to 1e50".into(),
                }),
                None => Err(Complaint::Type { expected: NOISE.into(), found: kind_of(value) }),
            },
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    match *value {
        #[expect(clippy::cast_precision_loss, reason = "as Python converts it")]
        Value::Integer(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
}

fn kind_of(value: &Value) -> String {
    let found = match value {
        Value::Bool(_) => "true or false",
        Value::Integer(_) | Value::Float(_) => "a number",
        Value::Table(_) => "a table",
        Value::List(_) => "a list",
        Value::Text(_) => "text",
        Value::Other(name) => name,
    };
    found.into()
}

/// Reads how many of how many outcomes were yes.
fn count(
    successes: &Bound<'_, PyAny>,
    of: &Bound<'_, PyAny>,
    first: &str,
    second: &str,
) -> PyResult<Reward> {
    let read = |number: &Bound<'_, PyAny>, argument: &str| {
        if !value::is_whole(number)? {
            return Err(errors::expected("a whole number", argument, number));
        }
        match number.extract::<u64>() {
            Ok(read) if read <= MOST_COUNTED => Ok(read),
            _ => refuse!(
                "{argument}: must be from 0 to {MOST_COUNTED}, got {}; enter larger counts in \
                 parts",
                number.repr()?
            ),
        }
    };
    let (successes, of) = (read(successes, first)?, read(of, second)?);
    if of == 0 {
        refuse!("{second}: there must be at least one outcome; call dropped if none will come");
    }
    if successes > of {
        refuse!("{first}: {successes} of {of} outcomes cannot be yes");
    }
    Ok(Reward::Counted { successes, of })
}

/// Reads a number that a model can learn from; errors name it `argument`.
fn read_number(reward: &Bound<'_, PyAny>, argument: &str) -> PyResult<f64> {
    let read = reward.extract::<f64>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(reward.py()) {
            return PyValueError::new_err(format!("{argument}: too large for a number"));
        }
        errors::expected("a number", argument, reward)
    })?;
    if read.is_nan() || read.abs() > MAX_MAGNITUDE {
        refuse!("{argument}: must be finite and at most 1e100 in magnitude, got {read}");
    }
    Ok(read)
}
