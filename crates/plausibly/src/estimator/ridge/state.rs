//! A ridge estimator as data.

use super::super::rough::{Off, Rough};
use super::super::sieve::Sieve;
use super::super::{LogDet, Scores};
use super::Ridge;
use super::belief::{Belief, Step, Unscored};
use super::looks::{Cache, Looks, Means};
use crate::actions::{ActionIndex, Actions, MAX_MAGNITUDE, SetId};
use crate::linalg::{Compensated, CompensatedGram};
use crate::state::{
    DurableModel, ModelState, RidgeState, ScoresState, StateError, StepState, SumState,
    UnscoredState, at, counts, holds, numbers, place,
};

impl Ridge {
    fn cached(&self, scores: ScoresState, sets: &[Actions<'_>]) -> Result<Cache, StateError> {
        let set = at(sets, scores.set)?;
        if set.dim() != self.dim() {
            return Err(StateError::Kind { what: "the number of features of a set" });
        }
        numbers("scores.mean", &scores.mean, set.len())?;
        numbers("scores.width_sq", &scores.width_sq, set.len())?;
        holds("scores.width_sq", scores.width_sq.iter().all(|width_sq| *width_sq >= 0.0))?;
        let ScoresState { observations, mean, width_sq, mean_off, width_sq_off, .. } = scores;
        let sane = |off: f64| off.is_finite() && off >= 0.0;
        holds("scores.mean_off", sane(mean_off) && sane(width_sq_off))?;
        Ok(Cache {
            of: Some((set.id(), observations)),
            off: Off { mean: mean_off, width_sq: width_sq_off },
            scores: Scores { isa: self.isa(), mean, width_sq, anew: false },
        })
    }
}

impl DurableModel for Ridge {
    fn state(&self, sets: &[Actions<'_>]) -> ModelState {
        let sums = |sums: &Compensated| {
            let (sum, carry) = sums.parts();
            SumState { sum: sum.to_vec(), carry: carry.to_vec() }
        };
        let Self { belief, looks } = self;
        let (log_det_at_refactor, det_growth) = belief.log_det.parts();
        let Unscored { growth, trace, trace_inverse, condition } = belief.unscored;
        let cached =
            looks.cache.of.and_then(|(id, observations)| Some((place(sets, id)?, observations)));
        ModelState::Features(Box::new(RidgeState {
            observations: belief.observations,
            since_refactor: belief.since_refactor as u64,
            gram: sums(belief.gram.entries()),
            moment: sums(&belief.moment),
            gram_inverse: belief.gram_inverse.clone(),
            theta_hat: belief.theta_hat.clone(),
            log_det_at_refactor,
            det_growth,
            floor: Some(belief.floor.clone()),
            unscored: UnscoredState {
                growth: growth.min(f64::MAX),
                trace,
                trace_inverse,
                condition,
            },
            steady: belief.steady,
            shortlist: looks.shortlist.state(sets),
            sieve: looks.sieve.state(),
            rough: looks.rough.state(cached.is_some()),
            offered: looks.offered.and_then(|id| place(sets, id)),
            step: belief
                .last_step
                .to_follow()
                .map(|(direction, gain)| StepState { direction: direction.to_vec(), gain }),
            scores: cached.map(|(set, observations)| ScoresState {
                set,
                observations,
                mean: looks.cache.scores.mean.clone(),
                width_sq: looks.cache.scores.width_sq.clone(),
                mean_off: looks.cache.off.mean,
                width_sq_off: looks.cache.off.width_sq,
            }),
        }))
    }

    fn restored(&self, state: ModelState, sets: &[Actions<'_>]) -> Result<Self, StateError> {
        let ModelState::Features(state) = state else {
            return Err(StateError::Kind { what: "a model of arms" });
        };
        let RidgeState {
            observations,
            since_refactor,
            gram,
            moment,
            gram_inverse,
            theta_hat,
            floor,
            ..
        } = *state;
        let Self { belief, looks } = self;
        let dim = belief.dim;
        numbers("gram.sum", &gram.sum, dim * dim)?;
        numbers("gram.carry", &gram.carry, dim * dim)?;
        numbers("moment.sum", &moment.sum, dim)?;
        numbers("moment.carry", &moment.carry, dim)?;
        numbers("gram_inverse", &gram_inverse, dim * dim)?;
        numbers("theta_hat", &theta_hat, dim)?;
        let (at_refactor, det_growth) = (state.log_det_at_refactor, state.det_growth);
        // Without a ridge there is nothing to compare a determinant with.
        holds("log_det_at_refactor", at_refactor.is_finite() || belief.ridge == 0.0)?;
        holds("det_growth", det_growth.is_finite() && det_growth >= 1.0)?;
        let UnscoredState { growth, trace, trace_inverse, condition } = state.unscored;
        holds("unscored", [growth, trace, trace_inverse, condition].iter().all(|x| x.is_finite()))?;
        counts("observations", [observations])?;
        let since = usize::try_from(since_refactor).ok().filter(|_| since_refactor <= observations);
        let since_refactor = since.ok_or(StateError::Number { what: "since_refactor" })?;
        let last_step = match state.step {
            Some(StepState { direction, gain }) => {
                numbers("step.direction", &direction, dim)?;
                holds("step.gain", gain.is_finite())?;
                Step { direction, gain, length: f64::INFINITY, valid: true }
            }
            None => Step::none(dim),
        };
        let gram =
            CompensatedGram::from_entries(Compensated::from_parts(gram.sum, gram.carry), dim);
        let floor = match floor {
            Some(floor) => floor,
            None if state.steady => Vec::new(),
            // Written before floors were: today's is no smaller than the one it had.
            None => gram.floor(),
        };
        if !floor.is_empty() {
            numbers("floor", &floor, dim)?;
            holds("floor", floor.iter().all(|entry| *entry >= 0.0))?;
        }
        let cache =
            state.scores.map_or(Ok(Cache::default()), |scores| self.cached(scores, sets))?;
        let belief = Belief {
            observations,
            since_refactor,
            gram,
            moment: Compensated::from_parts(moment.sum, moment.carry),
            gram_inverse,
            theta_hat,
            log_det: LogDet::from_parts(at_refactor, det_growth),
            floor,
            unscored: Unscored { growth, trace, trace_inverse, condition },
            last_step,
            steady: state.steady,
            ..*belief
        };
        let looks = Looks {
            shortlist: looks.shortlist.restored(state.shortlist, sets, dim)?,
            sieve: Sieve::restored(state.sieve, dim)?,
            offered: state.offered.map(|set| at(sets, set)).transpose()?.map(Actions::id),
            rough: Rough::restored(state.rough, cache.scores.mean.len())?,
            cache,
            means: Means::default(),
            ..*looks
        };
        Ok(Self { belief, looks })
    }

    fn remembers(&self, set: SetId) -> bool {
        let Looks { offered, cache, shortlist, .. } = &self.looks;
        *offered == Some(set) || cache.of.is_some_and(|(id, _)| id == set) || shortlist.is_of(set)
    }

    fn takes(&self, _: ActionIndex, features: &[f64]) -> bool {
        features.len() == self.dim() && features.iter().all(|x| x.abs() <= MAX_MAGNITUDE)
    }
}
