//! Radii in a spec.

use super::error::{Complaint, Range};
use super::fields::Fields;
use super::node::{Node, Value};
use super::{Facts, Setting};
use crate::confidence::{
    Determinant, Fixed, Mixture, Paper, PerArm, Radius, RadiusError, Stitched, Union,
};

const LINEAR_KINDS: [&str; 3] = ["determinant", "paper", "fixed"];
const ARM_KINDS: [&str; 5] = ["mixture", "stitched", "union", "per-arm", "fixed"];
const ALL_KINDS: [&str; 7] =
    ["determinant", "paper", "mixture", "stitched", "union", "per-arm", "fixed"];

/// A radius. Constants that are not set come from the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RadiusSpec {
    /// See [`Paper`].
    Paper {
        /// δ.
        delta: f64,
        /// λ in the width.
        lambda: f64,
        /// R; else the noise of the problem.
        noise_scale: Option<f64>,
        /// S; else the bound of the problem.
        theta_norm_bound: Option<f64>,
        /// L; else the bound of the problem.
        action_norm_bound: Option<f64>,
    },
    /// See [`Determinant`].
    Determinant {
        /// δ.
        delta: f64,
        /// R; else the noise of the problem.
        noise_scale: Option<f64>,
        /// S; else the bound of the problem.
        theta_norm_bound: Option<f64>,
    },
    /// See [`Mixture`].
    Mixture {
        /// δ.
        delta: f64,
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`Stitched`].
    Stitched {
        /// δ.
        delta: f64,
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`Union`].
    Union {
        /// δ.
        delta: f64,
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`PerArm`].
    PerArm {
        /// δ.
        delta: f64,
        /// σ; else the noise of the problem.
        noise_scale: Option<f64>,
    },
    /// See [`Fixed`].
    Fixed {
        /// `√β` itself.
        sqrt_beta: f64,
    },
}

impl RadiusSpec {
    /// The radius of a spec that sets none: the determinant form for features, the normal mixture
    /// for arms, at δ = 0.05.
    pub fn default_for(setting: Setting) -> Self {
        match setting {
            Setting::Arms => Self::Mixture { delta: 0.05, noise_scale: None },
            Setting::Fixed | Setting::Changing => {
                Self::Determinant { delta: 0.05, noise_scale: None, theta_norm_bound: None }
            }
        }
    }

    /// Reads a radius table.
    pub fn read(fields: &mut Fields<'_>, setting: Setting) -> Self {
        let fitting: &[&'static str] =
            if setting == Setting::Arms { &ARM_KINDS } else { &LINEAR_KINDS };
        let kind = fields.choice("kind", "which radius", None, &ALL_KINDS);
        if let Some(kind) = kind
            && !fitting.contains(&kind)
        {
            let reason = if setting == Setting::Arms {
                "needs actions with features, and these have none; use mixture, stitched, union, \
                 per-arm or fixed"
            } else {
                "is for actions without features; use determinant, paper or fixed"
            };
            fields.object("kind", Complaint::Misfit { what: kind.into(), reason });
        }
        match kind {
            Some("paper") => Self::Paper {
                delta: read_delta(fields),
                lambda: fields.number(
                    "lambda",
                    "λ in the width; need not be the ridge",
                    1.0,
                    Range::POSITIVE,
                ),
                noise_scale: read_noise_scale(fields),
                theta_norm_bound: read_theta_norm_bound(fields),
                action_norm_bound: fields.number_or(
                    "action_norm_bound",
                    "L, a bound on the norms of the actions",
                    "the largest norm the environment offers",
                    Range::POSITIVE,
                ),
            },
            Some("determinant") => Self::Determinant {
                delta: read_delta(fields),
                noise_scale: read_noise_scale(fields),
                theta_norm_bound: read_theta_norm_bound(fields),
            },
            Some(kind @ ("mixture" | "stitched" | "union" | "per-arm")) => {
                let (delta, noise_scale) = (read_delta(fields), read_noise_scale(fields));
                match kind {
                    "mixture" => Self::Mixture { delta, noise_scale },
                    "stitched" => Self::Stitched { delta, noise_scale },
                    "union" => Self::Union { delta, noise_scale },
                    _ => Self::PerArm { delta, noise_scale },
                }
            }
            Some("fixed") => Self::Fixed {
                sqrt_beta: fields.number(
                    "sqrt_beta",
                    "√β itself, LinUCB's alpha",
                    1.0,
                    Range::POSITIVE,
                ),
            },
            _ => Self::default_for(setting),
        }
    }

    /// The probability that its intervals hold the truth at all times at once, over a model with
    /// this ridge; `None` for a width that has no such guarantee.
    pub fn confidence(&self, ridge: f64) -> Option<f64> {
        match *self {
            Self::Determinant { delta, .. }
            | Self::Mixture { delta, .. }
            | Self::Stitched { delta, .. }
            | Self::Union { delta, .. } => Some(1.0 - delta),
            Self::Paper { delta, lambda, .. } if lambda.to_bits() == ridge.to_bits() => {
                Some(1.0 - delta)
            }
            Self::Paper { .. } | Self::PerArm { .. } | Self::Fixed { .. } => None,
        }
    }

    /// The table that this radius is read from. Constants that come from the problem are left out.
    pub fn to_value(&self) -> Value {
        let (kind, constants): (&str, &[(&str, Option<f64>)]) = match *self {
            Self::Paper { delta, lambda, noise_scale, theta_norm_bound, action_norm_bound } => (
                "paper",
                &[
                    ("delta", Some(delta)),
                    ("lambda", Some(lambda)),
                    ("noise_scale", noise_scale),
                    ("theta_norm_bound", theta_norm_bound),
                    ("action_norm_bound", action_norm_bound),
                ],
            ),
            Self::Determinant { delta, noise_scale, theta_norm_bound } => (
                "determinant",
                &[
                    ("delta", Some(delta)),
                    ("noise_scale", noise_scale),
                    ("theta_norm_bound", theta_norm_bound),
                ],
            ),
            Self::Mixture { delta, noise_scale } => {
                ("mixture", &[("delta", Some(delta)), ("noise_scale", noise_scale)])
            }
            Self::Stitched { delta, noise_scale } => {
                ("stitched", &[("delta", Some(delta)), ("noise_scale", noise_scale)])
            }
            Self::Union { delta, noise_scale } => {
                ("union", &[("delta", Some(delta)), ("noise_scale", noise_scale)])
            }
            Self::PerArm { delta, noise_scale } => {
                ("per-arm", &[("delta", Some(delta)), ("noise_scale", noise_scale)])
            }
            Self::Fixed { sqrt_beta } => ("fixed", &[("sqrt_beta", Some(sqrt_beta))]),
        };
        let set =
            constants.iter().filter_map(|(name, value)| Some((*name, Value::Float((*value)?))));
        let entries = std::iter::once(("kind", Value::Text(kind.into()))).chain(set);
        Value::Table(entries.map(|(name, value)| (name.into(), Node { value, line: 0 })).collect())
    }

    /// The radius for a problem.
    ///
    /// # Errors
    /// If a constant is out of range.
    pub fn build(&self, facts: &Facts) -> Result<Radius, RadiusError> {
        let noise = |set: Option<f64>| set.unwrap_or(facts.noise_scale);
        let theta = |set: Option<f64>| set.unwrap_or(facts.theta_norm_bound);
        match *self {
            Self::Paper { .. } if facts.dim == 1 => return Err(RadiusError::OneDimension),
            Self::Paper { delta, lambda, noise_scale, theta_norm_bound, action_norm_bound } => {
                Radius::Paper(Paper {
                    delta,
                    lambda,
                    noise_scale: noise(noise_scale),
                    theta_norm_bound: theta(theta_norm_bound),
                    action_norm_bound: action_norm_bound.unwrap_or(facts.action_norm_bound),
                })
            }
            Self::Determinant { delta, noise_scale, theta_norm_bound } => {
                Radius::Determinant(Determinant {
                    delta,
                    noise_scale: noise(noise_scale),
                    theta_norm_bound: theta(theta_norm_bound),
                })
            }
            Self::Mixture { delta, noise_scale } => {
                Radius::Mixture(Mixture { delta, noise_scale: noise(noise_scale) })
            }
            Self::Stitched { delta, noise_scale } => {
                Radius::Stitched(Stitched { delta, noise_scale: noise(noise_scale) })
            }
            Self::Union { delta, noise_scale } => {
                Radius::Union(Union { delta, noise_scale: noise(noise_scale) })
            }
            Self::PerArm { delta, noise_scale } => {
                Radius::PerArm(PerArm { delta, noise_scale: noise(noise_scale) })
            }
            Self::Fixed { sqrt_beta } => Radius::Fixed(Fixed { sqrt_beta }),
        }
        .checked()
    }
}

fn read_delta(fields: &mut Fields<'_>) -> f64 {
    fields.number("delta", "δ, the chance of failure", 0.05, Range::between(0.0, 1.0))
}

pub(super) fn read_noise_scale(fields: &mut Fields<'_>) -> Option<f64> {
    fields.number_or(
        "noise_scale",
        "scale of the noise",
        "the environment's noise",
        Range::POSITIVE,
    )
}

fn read_theta_norm_bound(fields: &mut Fields<'_>) -> Option<f64> {
    fields.number_or(
        "theta_norm_bound",
        "S, a bound on the norm of θ*",
        "‖θ*‖ on problems from data; else √dim, which a drawn θ* exceeds in a third to a half \
         of the runs",
        Range::NOT_NEGATIVE,
    )
}
