//! A list as data.

use super::super::Sought;
use super::{Base, CEILINGS, Origin, Shortlist};
use crate::actions::{Actions, SetId};
use crate::state::{
    ListState, OriginState, ScoresState, ShortlistState, StateError, at, holds, numbers, place,
};

/// Written down and read back.
impl Shortlist {
    pub(in super::super) fn is_of(&self, set: SetId) -> bool {
        self.of.is_some_and(|(of, _)| of == set)
    }

    pub(in super::super) fn state(&self, sets: &[Actions<'_>]) -> ShortlistState {
        // A list and its base are of one set, and come and go together.
        let list = self.of.and_then(|(id, sought)| Some((place(sets, id)?, sought)));
        let list = list.map(|(set, sought)| ListState {
            scores: ScoresState {
                set,
                observations: self.scored_at,
                mean: self.scores.mean.clone(),
                width_sq: self.scores.width_sq.clone(),
                mean_off: 0.0,
                width_sq_off: 0.0,
            },
            largest_upper: sought == Sought::LargestUpper,
            actions: self.indices.clone(),
            made_at: self.made_at,
            origin: self.origin.state(),
            ceiling: self.ceiling,
            leeway: self.leeway.is_finite().then_some(self.leeway),
            beyond: self.beyond,
            drift: self.drift,
            base_origin: self.base.origin.state(),
            base_mean: self.base.mean.clone(),
            base_width: self.base.width.clone(),
        });
        ShortlistState { ratio: self.ratio, not_before: self.not_before, list }
    }

    pub(in super::super) fn restored(
        &self,
        state: ShortlistState,
        sets: &[Actions<'_>],
        dim: usize,
    ) -> Result<Self, StateError> {
        let ShortlistState { ratio, not_before, list } = state;
        holds("shortlist.ratio", (0.0..=CEILINGS.1).contains(&ratio))?;
        let mut restored = Self { ratio, not_before, ..Self::default() };
        let Some(list) = list else { return Ok(restored) };
        let actions = at(sets, list.scores.set)?;
        if actions.dim() != dim {
            return Err(StateError::Kind { what: "the number of features of a set" });
        }
        numbers("shortlist.mean", &list.scores.mean, list.actions.len())?;
        numbers("shortlist.width_sq", &list.scores.width_sq, list.actions.len())?;
        numbers("shortlist.base_mean", &list.base_mean, actions.len())?;
        numbers("shortlist.base_width", &list.base_width, actions.len())?;
        let increasing = list.actions.is_sorted_by(|a, b| a < b);
        holds(
            "shortlist.actions",
            increasing && list.actions.last().is_some_and(|last| *last < actions.len()),
        )?;
        let bounds = [list.ceiling, list.leeway.unwrap_or(0.0), list.beyond, list.drift];
        holds("shortlist.ceiling", bounds.iter().all(|x| x.is_finite()))?;
        let sought = if list.largest_upper { Sought::LargestUpper } else { Sought::Plausible };
        restored.of = Some((actions.id(), sought));
        restored.indices = list.actions;
        actions.gather_into(&restored.indices, &mut restored.blocks);
        (restored.scores.mean, restored.scores.width_sq) = (list.scores.mean, list.scores.width_sq);
        restored.scores.isa = self.scores.isa;
        (restored.scored_at, restored.made_at) = (list.scores.observations, list.made_at);
        restored.origin = Origin::restored(list.origin, dim)?;
        (restored.ceiling, restored.drift) = (list.ceiling, list.drift);
        restored.leeway = list.leeway.unwrap_or(f64::INFINITY);
        restored.beyond = list.beyond;
        let origin = Origin::restored(list.base_origin, dim)?;
        restored.base =
            Base { of: Some(actions.id()), origin, mean: list.base_mean, width: list.base_width };
        Ok(restored)
    }
}

impl Origin {
    fn state(&self) -> OriginState {
        OriginState { theta_hat: self.theta_hat.clone(), gram: self.gram.clone() }
    }

    fn restored(state: OriginState, dim: usize) -> Result<Self, StateError> {
        numbers("shortlist.origin.theta_hat", &state.theta_hat, dim)?;
        numbers("shortlist.origin.gram", &state.gram, dim * dim)?;
        Ok(Self { theta_hat: state.theta_hat, gram: state.gram, ..Self::default() })
    }
}
