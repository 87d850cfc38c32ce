//! What is looked at by what a ridge has learned: which actions of a set are scored, and how.

use super::super::contenders::Seek;
use super::super::rough::{Off, Rough};
use super::super::shortlist::Shortlist;
use super::super::sieve::Sieve;
use super::super::{Contenders, Scores, Sought};
use super::belief::Belief;
use crate::actions::{Actions, SetId};
use crate::confidence::Reach;
use crate::linalg::dot;

/// Everything that looking at actions changes, and nothing that was learned. One belief can be
/// looked at by several, each by a radius of its own.
#[derive(Clone, Debug)]
pub(super) struct Looks {
    pub(super) cache: Cache,
    pub(super) means: Means,
    pub(super) shortlist: Shortlist,
    pub(super) sieve: Sieve,
    pub(super) rough: Rough,
    /// Whether few actions may be looked at.
    pub(super) lists: bool,
    /// The set whose contenders were last asked for.
    pub(super) offered: Option<SetId>,
}

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
    fn exact(&self) -> Option<(SetId, u64)> {
        self.of.filter(|_| self.off == Off::NONE)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Means {
    /// Whose means, after how many observations.
    of: Option<(SetId, u64)>,
    values: Vec<f64>,
}

impl Default for Looks {
    fn default() -> Self {
        Self {
            cache: Cache::default(),
            means: Means::default(),
            shortlist: Shortlist::default(),
            sieve: Sieve::default(),
            rough: Rough::default(),
            lists: true,
            offered: None,
        }
    }
}

impl Looks {
    /// See [`super::Ridge`]'s `contenders`.
    #[inline]
    pub(super) fn contenders(
        &mut self,
        belief: &Belief,
        actions: Actions<'_>,
        reach: Reach,
        sought: Sought,
    ) -> Contenders<'_> {
        let Reach::Ellipsoid { sqrt_beta } = reach else {
            panic!("a radius for arms was asked about a model of features");
        };
        belief.check_dim(actions);
        // A list of the plausible is one of the widest of them.
        let listed = if sought == Sought::Widest { Sought::Plausible } else { sought };
        let listed = Seek { actions, sought: listed, sqrt_beta };
        if self.lists {
            // Of a set that was not offered last there is no list.
            if self.offered == Some(actions.id()) && self.list(belief, listed) {
                return self.shortlist.contenders();
            }
            if self.is_sifted(belief, listed) {
                return self.sieve.contenders();
            }
        }
        if sought == Sought::Plausible {
            return Contenders::all(self.scores(belief, actions));
        }
        if Rough::suits(actions) && self.glance(belief, Seek { sought, ..listed }) {
            return self.rough.contenders();
        }
        self.score(belief, actions);
        Contenders::all(&self.cache.scores)
    }

    /// Of all actions, to the last bit.
    pub(super) fn scores(&mut self, belief: &Belief, actions: Actions<'_>) -> &Scores {
        if self.cache.off != Off::NONE {
            self.rough.wait(belief.observations);
        }
        self.score(belief, actions);
        &self.cache.scores
    }

    /// The same, where nothing may be kept.
    pub(super) fn score_into(&self, belief: &Belief, actions: Actions<'_>, out: &mut Scores) {
        out.copy_from(&self.cache.scores);
        bring_up(self.cache.exact(), out, actions, belief, &self.shortlist);
    }

    /// O(K·d), or nothing if neither set nor model has changed.
    pub(super) fn means(&mut self, belief: &Belief, actions: Actions<'_>) -> &[f64] {
        let now = Some((actions.id(), belief.observations));
        if self.means.of != now {
            belief.check_dim(actions);
            self.means.values.resize(actions.len(), 0.0);
            belief.isa.dots(actions.blocks(), &belief.theta_hat, &mut self.means.values);
            self.means.of = now;
        }
        &self.means.values
    }

    /// Looks at a set for the first time; false if there is nothing better than to score all of it.
    fn sift(&mut self, belief: &Belief, seek: Seek<'_>) -> bool {
        let sieve = &mut self.sieve;
        belief.steady
            && sieve.worth_trying(seek.actions, belief.observations)
            && sieve.sift(seek, belief.now())
    }

    /// Keeps the list up to date, or makes the next one; false if none is worth having.
    #[inline]
    fn list(&mut self, belief: &Belief, seek: Seek<'_>) -> bool {
        let now = belief.now();
        let covers = self.shortlist.covers(seek, now);
        self.shortlist.bring_up(now, belief.last_step.to_follow());
        covers || self.list_anew(belief, seek)
    }

    #[inline(never)]
    fn list_anew(&mut self, belief: &Belief, seek: Seek<'_>) -> bool {
        let (actions, now) = (seek.actions, belief.now());
        let gram = |out: &mut Vec<f64>| belief.gram.rounded_into(out);
        let shortlist = &mut self.shortlist;
        if belief.steady && shortlist.redraw(seek, now, gram) {
            return true;
        }
        shortlist.discard();
        let seen = self.cache.of.is_some_and(|(set, _)| set == actions.id());
        if !seen || !belief.steady || !shortlist.worth_trying(actions.len(), now.observations) {
            return false;
        }
        // Scores that are off by little tell whether it is worth having them to the last bit.
        if self.cache.exact().is_none() && !shortlist.try_all(seek, now, &self.cache.scores, gram) {
            return false;
        }
        self.score(belief, actions);
        let Self { shortlist, cache, .. } = self;
        let worthwhile = shortlist.try_all(seek, now, &cache.scores, gram);
        if worthwhile {
            shortlist.begin(seek, now, &cache.scores);
        }
        worthwhile
    }

    /// Scores all actions roughly and those among which the choice is to the last bit; false if
    /// there is nothing better than all of them to the last bit.
    #[inline(never)]
    fn glance(&mut self, belief: &Belief, seek: Seek<'_>) -> bool {
        let (id, observations) = (seek.actions.id(), belief.observations);
        let known = self.cache.exact() == Some((id, observations));
        if known || !belief.steady || !self.rough.worth_trying(seek.actions, observations) {
            return false;
        }
        let Self { cache, rough, .. } = self;
        if cache.of != Some((id, observations)) {
            let one_behind = cache.of == Some((id, observations.wrapping_sub(1)));
            let Some(step) = belief.last_step.to_follow().filter(|_| one_behind) else {
                return false;
            };
            if !rough.follow(seek.actions, step, &mut cache.scores, &mut cache.off) {
                return false;
            }
            cache.of = Some((id, observations));
        }
        // ‖θ̂‖²_V is ⟨θ̂, b⟩.
        let length = dot(belief.moment.parts().0, &belief.theta_hat).max(0.0).sqrt();
        rough.seek(seek, belief.now(), length, &cache.scores, cache.off)
    }

    /// Brings the scores of all actions up to date, to the last bit.
    fn score(&mut self, belief: &Belief, actions: Actions<'_>) {
        let Self { shortlist, cache, .. } = self;
        bring_up(cache.exact(), &mut cache.scores, actions, belief, shortlist);
        (cache.of, cache.off) = (Some((actions.id(), belief.observations)), Off::NONE);
        self.rough.begin();
    }

    /// Whether what is sought is left in a sieve: sets offered again are not sieved.
    fn is_sifted(&mut self, belief: &Belief, seek: Seek<'_>) -> bool {
        let again = self.offered.replace(seek.actions.id()) == Some(seek.actions.id());
        if again {
            return false;
        }
        self.shortlist.discard();
        self.sift(belief, seek)
    }

    /// See [`super::Ridge::reaching`].
    pub(super) fn reaching(
        &mut self,
        belief: &Belief,
        actions: Actions<'_>,
        sqrt_beta: f64,
    ) -> Option<Contenders<'_>> {
        belief.check_dim(actions);
        if !self.lists {
            return None;
        }
        let seek = Seek { actions, sought: Sought::LargestUpper, sqrt_beta };
        if self.offered == Some(actions.id()) && self.list(belief, seek) {
            return Some(self.shortlist.contenders());
        }
        if self.is_sifted(belief, seek) {
            return Some(self.sieve.contenders());
        }
        // The next try begins with them.
        self.score(belief, actions);
        None
    }
}

/// Brings `scores`, which are those of `of`, to this set and to what is believed now, the shortest
/// way there is.
fn bring_up(
    of: Option<(SetId, u64)>,
    scores: &mut Scores,
    actions: Actions<'_>,
    belief: &Belief,
    shortlist: &Shortlist,
) {
    let Belief { isa, observations, theta_hat, gram_inverse, last_step, .. } = belief;
    if of == Some((actions.id(), *observations)) {
        return;
    }
    let one_behind = of == Some((actions.id(), observations.wrapping_sub(1)));
    let step = last_step.to_follow().filter(|_| one_behind);
    scores.mean.resize(actions.len(), 0.0);
    scores.width_sq.resize(actions.len(), 0.0);
    scores.anew = step.is_none();
    let (mean, width_sq) = (&mut scores.mean, &mut scores.width_sq);
    match step {
        Some((direction, gain)) => isa.refresh(actions.blocks(), direction, gain, mean, width_sq),
        None => isa.rebuild(actions.blocks(), theta_hat, gram_inverse, mean, width_sq),
    }
    if shortlist.is_scored(actions.id(), *observations) {
        shortlist.overlay(scores);
    }
}
