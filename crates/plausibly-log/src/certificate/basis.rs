//! What the numbers of a decision are derived from: sums, settings and features, without names. A
//! state gives it directly, and grounds are read back into it, so that a decision and its check
//! derive from the same thing.

use super::{
    BellGrounds, Earned, ForecastGrounds, GlmGrounds, Grounds, GroundsError, PairsSharing, Phase,
    Sums, Unlisted,
};
use crate::policy::{self, PolicyRefusal, PolicyTable};
use crate::scale::Scale;
use plausibly::spec::{Facts, Model, PolicySpec, RadiusSpec, Setting};
use plausibly::{
    ActionSet, ActionSetError, ArmMeans, Earnings, Exclusion, Ridge, RidgeError, Tabled, Whole,
};
use std::sync::Arc;

/// The name of the feature that is 1 in every action, where there is one.
const INTERCEPT: &str = "intercept";

/// The settings that decisions have in common while neither the policy nor the features change.
#[derive(Debug)]
pub(crate) struct Terms {
    pub(crate) format: u32,
    /// The number of features d; zero for arms.
    pub(crate) dim: usize,
    pub(crate) reward_range: (f64, f64),
    pub(crate) as_given: bool,
    /// Whether the first feature is 1 in every action.
    pub(crate) has_intercept: bool,
    pub(crate) theta_norm_bound: f64,
    pub(crate) horizon: Option<u64>,
    pub(crate) seed: u64,
    /// The policy for scaled rewards.
    pub(crate) spec: PolicySpec,
}

impl Terms {
    /// Reads a policy for scaled rewards.
    pub(crate) fn read(
        policy: &PolicyTable,
        (dim, format): (usize, u32),
        horizon: Option<u64>,
        (reward_range, as_given): ((f64, f64), bool),
    ) -> Result<PolicySpec, PolicyRefusal> {
        let (spec, _) = policy::read_policy(policy, policy::setting(dim), horizon, format)?;
        Ok(policy::scaled(&spec, reward_range, as_given))
    }

    fn of(grounds: &Grounds) -> Result<Self, PolicyRefusal> {
        let &Grounds { format, reward_range, as_given, theta_norm_bound, horizon, seed, .. } =
            grounds;
        Ok(Self {
            format,
            dim: grounds.dim(),
            reward_range,
            as_given,
            has_intercept: !as_given && grounds.features.first().is_some_and(|f| f == INTERCEPT),
            theta_norm_bound,
            horizon,
            seed,
            spec: grounds.spec()?,
        })
    }

    pub(crate) fn setting(&self) -> Setting {
        policy::setting(self.dim)
    }

    pub(crate) fn scale(&self) -> Scale {
        Scale::new(self.reward_range, self.as_given)
    }

    /// A scaled reward in the user's units.
    pub(super) fn unscaled(&self, scaled: f64) -> f64 {
        self.scale().unscaled(scaled)
    }

    /// The length of the range of rewards.
    pub(super) fn range(&self) -> f64 {
        self.scale().length()
    }

    /// The radius by which intervals are shown.
    pub(crate) fn shown(&self) -> RadiusSpec {
        self.spec.shown_radius(self.setting(), policy::defaults(self.format))
    }

    /// Whether the sums of a decision are the same under both.
    pub(crate) fn has_sums_of(&self, other: &Self) -> bool {
        self.format == other.format && self.spec.ridge().to_bits() == other.spec.ridge().to_bits()
    }

    /// How actions are ruled out.
    pub(super) fn exclusion(&self) -> Exclusion {
        use plausibly::spec::PolicyKind::{Code, Insured};
        match self.spec.kind {
            Code { exclusion, .. } | Insured { exclusion, .. } => exclusion,
            // Logs of format 1 compare intervals only.
            _ if self.format < 2 || self.dim == 0 => Exclusion::Intervals,
            _ => Exclusion::Differences,
        }
    }
}

/// What the numbers of a decision are derived from.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    pub(crate) terms: Arc<Terms>,
    /// The number of the decision.
    pub(crate) decision: u64,
    /// The numbers of the actions listed.
    pub(crate) ids: Arc<[u64]>,
    /// Their features.
    pub(crate) set: Arc<ActionSet>,
    pub(crate) unlisted: Option<Unlisted>,
    pub(crate) arms_sharing: Option<u64>,
    pub(crate) pairs_sharing: Option<PairsSharing>,
    /// The sums over settled decisions.
    pub(crate) statistics: Arc<Sums>,
    /// The sums with pending decisions counted, if there are any.
    pub(crate) design: Option<Sums>,
    /// The sums that the policy has committed to, if it has.
    pub(crate) committed: Option<Sums>,
    pub(crate) forecasts: Option<ForecastGrounds>,
    pub(crate) earned: Vec<Earned>,
    pub(crate) bell: Option<BellGrounds>,
    pub(crate) glm: Option<GlmGrounds>,
    pub(crate) phase: Option<Phase>,
}

impl Basis {
    /// Reads grounds, which may come from anywhere.
    ///
    /// # Errors
    /// If no decision can have these grounds.
    pub(super) fn of(grounds: &Grounds) -> Result<Self, GroundsError> {
        grounds.well_formed()?;
        Ok(Self {
            terms: Arc::new(Terms::of(grounds)?),
            decision: grounds.decision,
            ids: grounds.actions.iter().map(|action| action.id).collect(),
            set: Arc::new(grounds.set()?),
            unlisted: grounds.unlisted,
            arms_sharing: grounds.arms_sharing,
            pairs_sharing: grounds.pairs_sharing,
            statistics: Arc::new(grounds.statistics.clone()),
            design: grounds.design.clone(),
            committed: grounds.committed.clone(),
            forecasts: grounds.forecasts,
            earned: grounds.earned.clone(),
            bell: grounds.bell.clone(),
            glm: grounds.glm.clone(),
            phase: grounds.phase.clone(),
        })
    }

    /// The number of features d; zero for arms.
    pub(super) fn dim(&self) -> usize {
        self.terms.dim
    }

    /// The features of the action at this place.
    pub(super) fn features(&self, at: usize) -> &[f64] {
        self.set.view().get(at).features()
    }

    /// The number of actions on offer, listed or not.
    pub(super) fn offered(&self) -> usize {
        offered(self.ids.len(), self.unlisted)
    }

    /// The facts that policies are built from.
    pub(super) fn facts(&self) -> Facts {
        let terms = &*self.terms;
        let facts = policy::scaled_facts(terms.dim, terms.theta_norm_bound);
        // A log that began with few actions and no context gives half of δ to pairs for good.
        let paired = self.pairs_sharing.filter(|_| terms.dim > 0);
        let (setting, actions) = match paired {
            Some(pairs) => (Setting::Fixed, usize::try_from(pairs.first).unwrap_or(usize::MAX)),
            None => (facts.setting, self.offered()),
        };
        Facts {
            setting,
            actions,
            horizon: terms.horizon.unwrap_or(1),
            reward_range: Some(terms.scale().ends()),
            ..facts
        }
    }

    /// The model of the settled decisions.
    pub(super) fn settled_model(&self, shown: &RadiusSpec) -> Result<Model, GroundsError> {
        if self.terms.spec.is_bell() {
            return Ok(self.bell_settled(shown)?);
        }
        if self.terms.spec.link().is_some() {
            return self.glm_settled(shown);
        }
        Ok(self.settled(self.terms.spec.ridge())?)
    }

    /// The model that also counts the pending decisions, if there are any.
    pub(super) fn design_model(
        &self,
        shown: &RadiusSpec,
        settled: &Model,
    ) -> Result<Option<Model>, GroundsError> {
        let Some(sums) = &self.design else { return Ok(None) };
        let counted = match settled {
            Model::Bell(_) | Model::BellTable(_) | Model::BellArms(_) => {
                self.bell_counted(shown, sums, settled)
            }
            Model::Glm(model) => return Ok(Some(self.glm_counted(model))),
            Model::GlmTable(model) => return Ok(Some(self.glm_counted(model.model()))),
            Model::Features(_) | Model::Table(_) | Model::Arms(_) => {
                self.model(sums, self.terms.spec.ridge())
            }
        };
        Ok(Some(counted?))
    }

    /// Whether the model of settled decisions is the same as that of another basis.
    pub(super) fn has_model_of(&self, other: &Self) -> bool {
        let (own, others) = (&*self.terms, &*other.terms);
        let is_ridge = |terms: &Terms| !terms.spec.is_bell() && terms.spec.link().is_none();
        let same_kind = is_ridge(own) && is_ridge(others) && own.has_sums_of(others);
        let same_terms = Arc::ptr_eq(&self.terms, &other.terms) && !own.spec.is_bell();
        (same_kind || same_terms)
            && Arc::ptr_eq(&self.statistics, &other.statistics)
            && self.earned == other.earned
            && self.offered() == other.offered()
            && self.arms_sharing == other.arms_sharing
            && self.pairs_sharing == other.pairs_sharing
    }

    /// The model of the settled decisions.
    fn settled(&self, ridge: f64) -> Result<Model, RidgeError> {
        let sums = &*self.statistics;
        if self.dim() == 0 {
            return self.model(sums, ridge);
        }
        let model = self.ridge(sums, ridge)?;
        let model = match sums.squares[..] {
            [squares] => model.with_squares(squares, self.forecasts.map(|forecasts| forecasts.sum)),
            _ => model,
        };
        if self.earned.is_empty() {
            return Ok(Model::Features(Box::new(model)));
        }
        let tabled = Tabled::from_statistics(model, &self.earnings(), self.whole(0));
        Ok(Model::Table(Box::new(tabled)))
    }

    /// What the listed actions with features have paid.
    pub(super) fn earnings(&self) -> Vec<Earnings> {
        let earnings = |one: &Earned| {
            let Earned { plays: count, paid: total, squares } = *one;
            Earnings { count, total, squares }
        };
        self.earned.iter().map(earnings).collect()
    }

    /// The model of other sums, such as those with pending decisions counted.
    pub(super) fn model(&self, sums: &Sums, ridge: f64) -> Result<Model, RidgeError> {
        if self.dim() > 0 {
            return Ok(Model::Features(Box::new(self.ridge(sums, ridge)?)));
        }
        let others = sums.observations.saturating_sub(sums.plays.iter().sum());
        let model =
            ArmMeans::from_statistics(&sums.plays, &sums.moment).part_of(self.whole(others));
        Ok(Model::Arms(match &sums.squares[..] {
            [] => model,
            squares => model.with_squares(squares),
        }))
    }

    fn ridge(&self, sums: &Sums, ridge: f64) -> Result<Ridge, RidgeError> {
        let Sums { gram, moment, observations, .. } = sums;
        Ridge::from_statistics(self.dim(), ridge, &gram.concat(), moment, *observations)
    }

    /// What the listed actions are part of; `others` is the number of outcomes of other actions.
    pub(super) fn whole(&self, other_observations: u64) -> Whole {
        let shares = self.arms_sharing.unwrap_or(1);
        let pairs = self.pairs_sharing;
        let first = pairs.filter(|pairs| pairs.changed).map(|pairs| pairs.first);
        Whole {
            arms: self.offered(),
            shares,
            ever: pairs.map_or(shares, |pairs| pairs.ever),
            other_observations,
            first: first.map(|first| usize::try_from(first).unwrap_or(usize::MAX)),
        }
    }
}

impl Grounds {
    /// The policy for scaled rewards.
    fn spec(&self) -> Result<PolicySpec, PolicyRefusal> {
        let scaled = (self.reward_range, self.as_given);
        Terms::read(&self.policy, (self.dim(), self.format), self.horizon, scaled)
    }

    /// The set of listed actions.
    fn set(&self) -> Result<ActionSet, ActionSetError> {
        if self.dim() == 0 {
            return ActionSet::arms(self.actions.len());
        }
        let rows: Vec<&[f64]> =
            self.actions.iter().map(|action| action.features.as_slice()).collect();
        ActionSet::from_rows(&rows)
    }
}

/// The number of actions on offer, of which this many are listed.
pub(super) fn offered(listed: usize, unlisted: Option<Unlisted>) -> usize {
    let unlisted = unlisted.map_or(0, |unlisted| unlisted.actions);
    listed.saturating_add(usize::try_from(unlisted).unwrap_or(usize::MAX))
}
