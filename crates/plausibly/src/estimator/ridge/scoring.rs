//! What a ridge looks at: which actions of a set it scores, and how.

use super::super::contenders::{Moment, Seek};
use super::super::rough::Off;
use super::super::shortlist::Shortlist;
use super::super::{Contenders, Scores, Sought};
use super::{Ridge, Step};
use crate::actions::{Actions, SetId};
use crate::linalg::dot;

#[derive(Clone, Debug, Default)]
pub(super) struct Cache {
    /// Whose scores, after how many observations.
    pub(super) of: Option<(SetId, u64)>,
    pub(super) scores: Scores,
    /// How far off they can be.
    pub(super) off: Off,
}

impl Cache {
    /// Whose scores to the last bit, after how many observations.
    pub(super) fn exact(&self) -> Option<(SetId, u64)> {
        self.of.filter(|_| self.off == Off::NONE)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Means {
    /// Whose means, after how many observations.
    pub(super) of: Option<(SetId, u64)>,
    pub(super) values: Vec<f64>,
}

impl Ridge {
    /// Looks at a set for the first time; false if there is nothing better than to score all of it.
    fn sift(&mut self, seek: Seek<'_>) -> bool {
        let Self { isa, observations, theta_hat, gram_inverse, sieve, .. } = self;
        let now = Moment { isa: *isa, observations: *observations, theta_hat, gram_inverse };
        self.steady && sieve.worth_trying(seek.actions, now.observations) && sieve.sift(seek, now)
    }

    /// Keeps the list up to date, or makes the next one; false if none is worth having.
    #[inline]
    pub(super) fn list(&mut self, seek: Seek<'_>) -> bool {
        let Self { isa, observations, theta_hat, gram_inverse, last_step, shortlist, .. } = self;
        let now = Moment { isa: *isa, observations: *observations, theta_hat, gram_inverse };
        let covers = shortlist.covers(seek, now);
        shortlist.bring_up(now, last_step.valid.then_some((&*last_step.direction, last_step.gain)));
        covers || self.list_anew(seek)
    }

    #[inline(never)]
    fn list_anew(&mut self, seek: Seek<'_>) -> bool {
        let actions = seek.actions;
        let Self { isa, observations, theta_hat, gram_inverse, shortlist, .. } = self;
        let now = Moment { isa: *isa, observations: *observations, theta_hat, gram_inverse };
        if self.steady && shortlist.redraw(seek, now, |out| self.gram.rounded_into(out)) {
            return true;
        }
        shortlist.discard();
        let seen = self.cache.of.is_some_and(|(set, _)| set == actions.id());
        if !seen || !self.steady || !shortlist.worth_trying(actions.len(), now.observations) {
            return false;
        }
        // Scores that are off by little tell whether it is worth having them to the last bit.
        let gram = |out: &mut Vec<f64>| self.gram.rounded_into(out);
        if self.cache.exact().is_none() && !shortlist.try_all(seek, now, &self.cache.scores, gram) {
            return false;
        }
        self.score(actions);
        let Self { theta_hat, gram_inverse, shortlist, .. } = self;
        let now = Moment { isa: self.isa, observations: self.observations, theta_hat, gram_inverse };
        let worthwhile = shortlist.try_all(seek, now, &self.cache.scores, |out| self.gram.rounded_into(out));
        if worthwhile {
            shortlist.begin(seek, now, &self.cache.scores);
        }
        worthwhile
    }

    /// Scores all actions roughly and those among which the choice is to the last bit; false if there is nothing better than all of them to the last bit.
    #[inline(never)]
    pub(super) fn glance(&mut self, seek: Seek<'_>) -> bool {
        let (id, observations) = (seek.actions.id(), self.observations);
        let known = self.cache.exact() == Some((id, observations));
        if known || !self.steady || !self.rough.worth_trying(seek.actions, observations) {
            return false;
        }
        let Self { isa, theta_hat, gram_inverse, cache, rough, last_step: step, .. } = self;
        if cache.of != Some((id, observations)) {
            let one_behind = step.valid && cache.of == Some((id, observations.wrapping_sub(1)));
            let by = (&*step.direction, step.gain);
            if !one_behind || !rough.follow(seek.actions, by, &mut cache.scores, &mut cache.off) {
                return false;
            }
            cache.of = Some((id, observations));
        }
        let now = Moment { isa: *isa, observations, theta_hat, gram_inverse };
        // ‖θ̂‖²_V is ⟨θ̂, b⟩.
        let length = dot(self.moment.parts().0, theta_hat).max(0.0).sqrt();
        rough.seek(seek, now, length, &cache.scores, cache.off)
    }

    /// Brings the scores of all actions up to date, to the last bit.
    pub(super) fn score(&mut self, actions: Actions<'_>) {
        let Self { isa, observations, theta_hat, gram_inverse, last_step, shortlist, cache, .. } = self;
        let now = Moment { isa: *isa, observations: *observations, theta_hat, gram_inverse };
        bring_up(cache.exact(), &mut cache.scores, actions, now, last_step, shortlist);
        (cache.of, cache.off) = (Some((actions.id(), now.observations)), Off::NONE);
        self.rough.begin();
    }

    /// Whether what is sought is left in a sieve: sets offered again are not sieved.
    pub(super) fn is_sifted(&mut self, seek: Seek<'_>) -> bool {
        let again = self.offered.replace(seek.actions.id()) == Some(seek.actions.id());
        if again {
            return false;
        }
        self.shortlist.discard();
        self.sift(seek)
    }

    /// Contenders for the largest upper bound with a bound on what all others reach; `None` if that is not known of many.
    pub(crate) fn reaching(&mut self, actions: Actions<'_>, sqrt_beta: f64) -> Option<Contenders<'_>> {
        self.check_dim(actions);
        if !self.lists {
            return None;
        }
        let seek = Seek { actions, sought: Sought::LargestUpper, sqrt_beta };
        if self.offered == Some(actions.id()) && self.list(seek) {
            return Some(self.shortlist.contenders());
        }
        if self.is_sifted(seek) {
            return Some(self.sieve.contenders());
        }
        // The next try begins with them.
        self.score(actions);
        None
    }
}

/// Brings `scores`, which are those of `of`, to this set and this moment, the shortest way there is.
pub(super) fn bring_up(
    of: Option<(SetId, u64)>,
    scores: &mut Scores,
    actions: Actions<'_>,
    now: Moment<'_>,
    step: &Step,
    shortlist: &Shortlist,
) {
    let Moment { isa, observations, theta_hat, gram_inverse } = now;
    if of == Some((actions.id(), observations)) {
        return;
    }
    let one_behind = step.valid && of == Some((actions.id(), observations.wrapping_sub(1)));
    scores.mean.resize(actions.len(), 0.0);
    scores.width_sq.resize(actions.len(), 0.0);
    scores.anew = !one_behind;
    let (mean, width_sq) = (&mut scores.mean, &mut scores.width_sq);
    if one_behind {
        isa.refresh(actions.blocks(), &step.direction, step.gain, mean, width_sq);
    } else {
        isa.rebuild(actions.blocks(), theta_hat, gram_inverse, mean, width_sq);
    }
    if shortlist.is_scored(actions.id(), observations) {
        shortlist.overlay(scores);
    }
}
