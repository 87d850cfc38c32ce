//! Radii in a spec.
//!
//! All kinds draw on the same constants, so a radius is its kind and one set of constants;
//! [`RadiusKind::constants`] says which of them a kind reads and writes.

use super::error::{Complaint, Range};
use super::fields::Fields;
use super::node::{Node, Value};
use super::{Defaults, Facts, Setting};
use crate::confidence::{
    Additive, Bell, Determinant, Fixed, Forecast, Likelihood, Mixture, Paper, PerArm, Radius,
    RadiusError, Stitched, TwoPoint, Union,
};
use crate::model::{GlmPrior, Link};

/// The kinds of radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RadiusKind {
    /// See [`Additive`].
    Additive,
    /// See [`Forecast`].
    Forecast,
    /// See [`Bell`].
    Bell,
    /// See [`Determinant`].
    Determinant,
    /// See [`Paper`].
    Paper,
    /// See [`Mixture`].
    Mixture,
    /// See [`TwoPoint`].
    TwoPoint,
    /// See [`Stitched`].
    Stitched,
    /// See [`Union`].
    Union,
    /// See [`PerArm`].
    PerArm,
    /// See [`Fixed`].
    Fixed,
    /// The set of a [`Glm`](crate::Glm), which is the model, with [`Link::Logistic`].
    Logistic,
    /// The set of a [`Glm`](crate::Glm), which is the model, with [`Link::Poisson`].
    Poisson,
}

use RadiusKind as Kind;

const KINDS: [(&str, RadiusKind); 13] = [
    ("additive", Kind::Additive),
    ("forecast", Kind::Forecast),
    ("bell", Kind::Bell),
    ("determinant", Kind::Determinant),
    ("paper", Kind::Paper),
    ("mixture", Kind::Mixture),
    ("two-point", Kind::TwoPoint),
    ("stitched", Kind::Stitched),
    ("union", Kind::Union),
    ("per-arm", Kind::PerArm),
    ("fixed", Kind::Fixed),
    ("logistic", Kind::Logistic),
    ("poisson", Kind::Poisson),
];

impl RadiusKind {
    /// As specs name it.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// The constants it depends on, in the order of a spec.
    fn constants(self) -> &'static [&'static str] {
        match self {
            Self::Additive | Self::Determinant => &["delta", "noise_scale", "theta_norm_bound"],
            Self::Forecast => &[
                "delta",
                "noise_scale",
                "theta_norm_bound",
                "lowest_reward",
                "highest_reward",
                "pairs",
            ],
            Self::Bell => &["delta", "pairs", "own_scales"],
            Self::Paper => {
                &["delta", "lambda", "noise_scale", "theta_norm_bound", "action_norm_bound"]
            }
            Self::Mixture | Self::Stitched | Self::Union | Self::PerArm => {
                &["delta", "noise_scale"]
            }
            Self::TwoPoint => &["delta", "lowest_reward", "highest_reward", "pairs"],
            Self::Fixed => &["sqrt_beta"],
            Self::Logistic => {
                &["delta", "usual", "factor", "theta_norm_bound", "action_norm_bound", "pairs"]
            }
            Self::Poisson => &["delta", "usual", "factor", "theta_norm_bound", "action_norm_bound"],
        }
    }

    /// Of the kinds that have a generalised linear model.
    pub fn link(self) -> Option<Link> {
        match self {
            Self::Logistic => Some(Link::Logistic),
            Self::Poisson => Some(Link::Poisson),
            _ => None,
        }
    }

    /// Whether it is for actions of this kind.
    fn fits(self, setting: Setting) -> bool {
        match self {
            Self::Additive
            | Self::Forecast
            | Self::Determinant
            | Self::Paper
            | Self::Logistic
            | Self::Poisson => setting != Setting::Arms,
            Self::Mixture | Self::TwoPoint | Self::Stitched | Self::Union | Self::PerArm => {
                setting == Setting::Arms
            }
            Self::Bell | Self::Fixed => true,
        }
    }
}

/// A radius. Constants that are not set come from the problem; those that its kind does not depend
/// on are ignored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RadiusSpec {
    /// Which.
    pub kind: RadiusKind,
    /// δ.
    pub delta: f64,
    /// R or σ; else the noise of the problem.
    pub noise_scale: Option<f64>,
    /// S; else the bound of the problem.
    pub theta_norm_bound: Option<f64>,
    /// L; else the bound of the problem.
    pub action_norm_bound: Option<f64>,
    /// The least and the largest reward; else the range of the problem.
    pub reward_range: (Option<f64>, Option<f64>),
    /// Whether half of δ goes to verdicts between pairs of actions.
    pub pairs: bool,
    /// Whether the noise of each action has a scale of its own, for [`Bell`].
    pub own_scales: bool,
    /// λ in the width of [`Paper`].
    pub lambda: f64,
    /// `√β` of [`Fixed`].
    pub sqrt_beta: f64,
    /// The mean reward that is usual, for generalised linear models; else the middle of the range,
    /// or 1 for counts.
    pub usual: Option<f64>,
    /// By what factor one feature can change the odds (the rate, for counts), for these models;
    /// else 1000. Not with a `theta_norm_bound`.
    pub factor: Option<f64>,
}

/// The factor of a generalised linear model where none is said: one feature alone can make chances
/// of 0.1 to 99.9 %, or rates of 0.001 to 1,000. A larger factor costs little, since the set
/// depends on its logarithm; too small a one costs validity.
const FACTOR: f64 = 1000.0;

impl RadiusSpec {
    /// By what factor one feature can change the odds (the rate, for counts), for generalised
    /// linear models; 1000 where none is said.
    pub fn factor(&self) -> f64 {
        self.factor.unwrap_or(FACTOR)
    }

    /// This kind at δ = 0.05, with everything else from the problem.
    pub const fn new(kind: RadiusKind) -> Self {
        Self {
            kind,
            delta: 0.05,
            noise_scale: None,
            theta_norm_bound: None,
            action_norm_bound: None,
            reward_range: (None, None),
            pairs: true,
            own_scales: false,
            lambda: 1.0,
            sqrt_beta: 1.0,
            usual: None,
            factor: None,
        }
    }

    /// The radius where none is set, at δ = 0.05. Features: the additive form, the forecast set in
    /// logs and in programs where rewards have a range, and the determinant form in logs of the
    /// first format. Arms: the two-point mixture if
    /// rewards have a range, else the normal one.
    pub fn default_for(setting: Setting, defaults: Defaults) -> Self {
        Self::new(match (setting, defaults) {
            (
                Setting::Arms,
                Defaults::Ranged | Defaults::Logged | Defaults::InUse { ranged: true },
            ) => Kind::TwoPoint,
            (Setting::Arms, _) => Kind::Mixture,
            (_, Defaults::Recorded) => Kind::Determinant,
            (_, Defaults::Logged | Defaults::InUse { ranged: true }) => Kind::Forecast,
            _ => Kind::Additive,
        })
    }

    /// Reads a radius table.
    pub fn read(fields: &mut Fields<'_>, setting: Setting) -> Self {
        let name = fields.choice("kind", "which radius", None, &KINDS.map(|(name, _)| name));
        let kind = KINDS.iter().find(|(known, _)| Some(*known) == name).map(|(_, kind)| *kind);
        if let (Some(kind), Some(name)) = (kind, name)
            && !kind.fits(setting)
        {
            let reason = if setting == Setting::Arms {
                "needs actions with features, and these have none; \
                 use two-point, bell, mixture, stitched, union, per-arm or fixed"
            } else {
                "is for actions without features; use additive, forecast, logistic, poisson, \
                 bell, determinant, paper or fixed"
            };
            fields.object("kind", Complaint::Misfit { what: name.into(), reason });
        }
        // Without a known kind there is an error already, and this value is not used.
        let mut radius = Self::new(kind.unwrap_or(Kind::Fixed));
        for constant in kind.map_or(&[][..], Kind::constants) {
            radius.read_constant(constant, fields);
        }
        if radius.factor.is_some() && radius.theta_norm_bound.is_some() {
            let reason = "says the same as factor; leave out one of the two";
            let what = "a theta_norm_bound".into();
            fields.object("theta_norm_bound", Complaint::Misfit { what, reason });
        }
        radius
    }

    /// Reads the radius of a log of the first format. Like
    /// [`RadiusSpec::read`], and refuses kinds that depend on sums which are not kept there.
    pub fn read_recorded(fields: &mut Fields<'_>, setting: Setting) -> Self {
        let radius = Self::read_logged(fields, setting);
        let reason = match radius.kind {
            Kind::TwoPoint => {
                "needs the squares of rewards, which are not kept here; use mixture, stitched or \
                 union"
            }
            Kind::Forecast => {
                "needs forecasts of rewards, which are not kept here; use determinant or additive"
            }
            Kind::Bell => {
                "needs the squares of rewards, which are not kept here; use mixture for arms, \
                 determinant or additive for features"
            }
            Kind::Logistic | Kind::Poisson => {
                "needs the rewards of each row, which are not kept here; use determinant or \
                 additive"
            }
            _ => return radius,
        };
        fields.object("kind", Complaint::Misfit { what: radius.kind.name().into(), reason });
        radius
    }

    /// Reads the radius of a log. Its range of rewards is that of the log.
    pub fn read_logged(fields: &mut Fields<'_>, setting: Setting) -> Self {
        let radius = Self::read(fields, setting);
        if radius.reward_range != (None, None) {
            let reason = "has the range of rewards of the log; \
                          leave out lowest_reward and highest_reward";
            fields.object("kind", Complaint::Misfit { what: radius.kind.name().into(), reason });
        }
        radius
    }

    fn read_constant(&mut self, name: &'static str, fields: &mut Fields<'_>) {
        match name {
            "delta" => {
                let meaning = "δ, the chance of failure";
                self.delta = fields.number(name, meaning, self.delta, Range::between(0.0, 1.0));
            }
            "lambda" => {
                let meaning = "λ in the width; need not be the ridge";
                self.lambda = fields.number(name, meaning, self.lambda, Range::POSITIVE);
            }
            "noise_scale" => self.noise_scale = read_noise_scale(fields),
            "theta_norm_bound" if self.kind.link().is_some() => {
                let meaning = "S, a bound on the norm of θ*, in logits (logarithms, of counts)";
                let derived = "√dim·log(factor)/action_norm_bound";
                self.theta_norm_bound =
                    fields.number_or(name, meaning, derived, Range::from_to(1e-50, 1e50));
            }
            "usual" => {
                let derived = "the middle of the range of rewards; 1 for counts";
                let range = Range::from_to(-1e50, 1e50);
                self.usual = fields.number_or(name, USUAL, derived, range);
            }
            "factor" => {
                let derived = "1000, unless theta_norm_bound is set";
                self.factor = fields.number_or(name, FACTOR_OF, derived, Range::between(1.0, 1e50));
            }
            "theta_norm_bound" => {
                self.theta_norm_bound = fields.number_or(
                    name,
                    "S, a bound on the norm of θ*",
                    "‖θ*‖ on problems from data; else √dim, which a drawn θ* exceeds in a third \
                     to a half of the runs",
                    Range::NOT_NEGATIVE,
                );
            }
            "action_norm_bound" => {
                self.action_norm_bound = fields.number_or(
                    name,
                    "L, a bound on the norms of the actions",
                    "the largest norm the environment offers",
                    Range::POSITIVE,
                );
            }
            "lowest_reward" => {
                let meaning = "the least reward; a reward below is refused";
                self.reward_range.0 = read_end(fields, name, meaning);
            }
            "highest_reward" => {
                let meaning = "the largest reward; a reward above is refused";
                self.reward_range.1 = read_end(fields, name, meaning);
            }
            "pairs" => self.pairs = fields.boolean(name, PAIRS, self.pairs),
            "own_scales" => {
                let meaning = "whether the noise of each action has a scale of its own; if so, \
                               only verdicts between pairs rule actions out";
                self.own_scales = fields.boolean(name, meaning, self.own_scales);
            }
            "sqrt_beta" => {
                let meaning = "√β itself, LinUCB's alpha";
                self.sqrt_beta = fields.number(name, meaning, self.sqrt_beta, Range::POSITIVE);
            }
            other => unreachable!("{other} is no constant of a radius"),
        }
    }

    /// The probability that its intervals hold the truth at all times at once, over a model with
    /// this ridge; `None` for a width that has no such guarantee.
    pub fn confidence(&self, ridge: f64) -> Option<f64> {
        match self.kind {
            Kind::Paper if self.lambda.to_bits() != ridge.to_bits() => None,
            Kind::PerArm | Kind::Fixed => None,
            _ => Some(1.0 - self.delta),
        }
    }

    /// The table that this radius is read from. Constants that come from the problem are left out.
    pub fn to_value(&self) -> Value {
        let value = |name: &str| match name {
            "pairs" => Some(Value::Bool(self.pairs)),
            "own_scales" => Some(Value::Bool(self.own_scales)),
            "delta" => Some(Value::Float(self.delta)),
            "lambda" => Some(Value::Float(self.lambda)),
            "noise_scale" => self.noise_scale.map(Value::Float),
            "theta_norm_bound" => self.theta_norm_bound.map(Value::Float),
            "action_norm_bound" => self.action_norm_bound.map(Value::Float),
            "lowest_reward" => self.reward_range.0.map(Value::Float),
            "highest_reward" => self.reward_range.1.map(Value::Float),
            "usual" => self.usual.map(Value::Float),
            "factor" => self.factor.map(Value::Float),
            _ => Some(Value::Float(self.sqrt_beta)),
        };
        let set = self.kind.constants().iter();
        let set = set.filter_map(|name| Some((*name, value(name)?)));
        let entries = std::iter::once(("kind", Value::Text(self.kind.name().into()))).chain(set);
        Value::Table(entries.map(|(name, value)| (name.into(), Node { value, line: 0 })).collect())
    }

    /// The constants that come from the problem.
    pub fn unset(&self) -> impl Iterator<Item = &'static str> {
        let Self { noise_scale, theta_norm_bound, action_norm_bound, reward_range, .. } = *self;
        self.kind.constants().iter().copied().filter(move |name| match *name {
            "noise_scale" => noise_scale.is_none(),
            "theta_norm_bound" => theta_norm_bound.is_none(),
            "action_norm_bound" => action_norm_bound.is_none(),
            "lowest_reward" => reward_range.0.is_none(),
            "highest_reward" => reward_range.1.is_none(),
            _ => false,
        })
    }

    /// What a generalised linear model is told before the first reward; `None` for kinds that have
    /// another model.
    ///
    /// # Errors
    /// If rewards of the problem are not of the model's kind, or a constant is out of range.
    pub fn glm_prior(&self, facts: &Facts) -> Result<Option<GlmPrior>, RadiusError> {
        let Some(link) = self.kind.link() else { return Ok(None) };
        let rewards = link.rewards_in(facts.reward_range);
        let rewards = rewards.ok_or(RadiusError::KindOfReward { kind: self.kind.name() })?;
        let usual = if link == Link::Poisson { 1.0 } else { 0.5 * (rewards.0 + rewards.1) };
        let delta = self.ellipsoid_delta(facts);
        let usual = self.usual.unwrap_or(usual);
        let length = match self.theta_norm_bound {
            // The factor counts over this length; with S itself neither is needed.
            Some(_) => 1.0,
            None => self.action_norm_bound.unwrap_or(facts.action_norm_bound),
        };
        let factor = self.factor();
        let shape = (facts.dim, length);
        let mut prior = GlmPrior::around(link, rewards, usual, factor, shape, delta)?;
        prior.theta_norm_bound = self.theta_norm_bound.unwrap_or(prior.theta_norm_bound);
        prior.check()?;
        Ok(Some(prior))
    }

    /// R or σ.
    pub(super) fn noise_scale_in(&self, facts: &Facts) -> f64 {
        self.noise_scale.unwrap_or(facts.noise_scale)
    }

    /// S.
    pub(super) fn theta_norm_bound_in(&self, facts: &Facts) -> f64 {
        self.theta_norm_bound.unwrap_or(facts.theta_norm_bound)
    }

    /// The least and the largest reward.
    fn reward_range_in(&self, facts: &Facts) -> Result<(f64, f64), RadiusError> {
        let known = facts.reward_range;
        let low = self.reward_range.0.or(known.map(|(low, _)| low));
        let high = self.reward_range.1.or(known.map(|(_, high)| high));
        low.zip(high).ok_or(RadiusError::NoRange { kind: self.kind.name() })
    }

    /// Whether the model also keeps what each action has paid: on one set of at most 64 actions
    /// with features, and for arms whose set is an ellipsoid.
    pub(super) fn compares_pairs(&self, facts: &Facts) -> bool {
        let known = match facts.setting {
            Setting::Fixed => facts.actions <= MOST_PAIRED,
            Setting::Arms => true,
            Setting::Changing => false,
        };
        let judged = matches!(self.kind, Kind::Forecast | Kind::Bell | Kind::Logistic);
        judged && self.pairs && known
    }

    /// δ of the ellipsoid where pairs have a share.
    pub(super) fn ellipsoid_delta(&self, facts: &Facts) -> f64 {
        if self.compares_pairs(facts) && !self.own_scales { 0.5 * self.delta } else { self.delta }
    }

    /// The radius for a problem.
    ///
    /// # Errors
    /// If a constant is out of range.
    pub fn build(&self, facts: &Facts) -> Result<Radius, RadiusError> {
        let (delta, noise_scale) = (self.delta, self.noise_scale_in(facts));
        let theta_norm_bound = self.theta_norm_bound_in(facts);
        match self.kind {
            Kind::Paper if facts.dim == 1 => return Err(RadiusError::OneDimension),
            Kind::Paper => Radius::Paper(Paper {
                delta,
                lambda: self.lambda,
                noise_scale,
                theta_norm_bound,
                action_norm_bound: self.action_norm_bound.unwrap_or(facts.action_norm_bound),
            }),
            Kind::Additive => Radius::Additive(Additive { delta, noise_scale, theta_norm_bound }),
            Kind::Forecast => {
                let (low, high) = self.reward_range_in(facts)?;
                let pairs = self.compares_pairs(facts);
                Radius::Forecast(Forecast {
                    delta,
                    noise_scale,
                    theta_norm_bound,
                    low,
                    high,
                    pairs,
                })
            }
            Kind::Bell => {
                let delta = self.ellipsoid_delta(facts);
                let pairs = self.compares_pairs(facts).then_some(delta);
                Radius::Bell(Bell { pairs, own_scales: self.own_scales })
            }
            Kind::Determinant => {
                Radius::Determinant(Determinant { delta, noise_scale, theta_norm_bound })
            }
            Kind::Mixture => Radius::Mixture(Mixture { delta, noise_scale }),
            Kind::TwoPoint => {
                let (low, high) = self.reward_range_in(facts)?;
                Radius::TwoPoint(TwoPoint { delta, low, high, pairs: self.pairs })
            }
            Kind::Stitched => Radius::Stitched(Stitched { delta, noise_scale }),
            Kind::Union => Radius::Union(Union { delta, noise_scale }),
            Kind::PerArm => Radius::PerArm(PerArm { delta, noise_scale }),
            Kind::Fixed => Radius::Fixed(Fixed { sqrt_beta: self.sqrt_beta }),
            Kind::Logistic | Kind::Poisson => {
                let range = facts.reward_range.filter(|_| self.compares_pairs(facts));
                let pairs = range.map(|range| (self.ellipsoid_delta(facts), range));
                Radius::Likelihood(Likelihood { pairs })
            }
        }
        .checked()
    }
}

/// With more actions a share of δ for pairs costs more than it gains.
pub const MOST_PAIRED: usize = 64;

const PAIRS: &str = "whether half of δ goes to verdicts between pairs of actions (one is better \
                     than the other), which need fewer rewards than intervals that do not overlap; \
                     for actions with features this needs one fixed set of at most 64 actions";

const USUAL: &str = "the mean reward that is usual (the share of people who click, say); the \
                     model measures actions against it";

const FACTOR_OF: &str = "the most by which one feature, over the length of an action, changes the \
                         odds (the rate, for counts): up to this many times, down to this part";

fn read_end(fields: &mut Fields<'_>, name: &'static str, meaning: &'static str) -> Option<f64> {
    fields.number_or(
        name,
        meaning,
        "that of the environment's rewards",
        Range::from_to(-1e50, 1e50),
    )
}

pub(super) fn read_noise_scale(fields: &mut Fields<'_>) -> Option<f64> {
    fields.number_or(
        "noise_scale",
        "scale of the noise",
        "the environment's noise",
        Range::POSITIVE,
    )
}
