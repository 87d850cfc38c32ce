//! Watching a policy without touching it.

use plausibly::{Action, ActionIndex, Actions};

/// Sees every decision and every reward of one policy; what it does not care about, it ignores.
///
/// Observers are lent the moment, not sent a log of it: one that wants more asks the policy, and
/// one that wants nothing costs nothing. Those of this crate work for any policy, because they keep
/// their own model of its history.
pub trait Observer<P: ?Sized> {
    /// A decision was taken; its reward is not known yet.
    fn decided(&mut self, _: &Decided<'_, P>) {}

    /// Its reward came.
    fn rewarded(&mut self, _: &Rewarded<'_>) {}
}

/// A decision, and the truth it was taken against.
#[derive(Debug)]
pub struct Decided<'a, P: ?Sized> {
    /// t, from 1.
    pub round: u64,
    /// What was offered.
    pub actions: Actions<'a>,
    /// The true mean of each.
    pub means: &'a [f64],
    /// The largest of them.
    pub best_mean: f64,
    /// `θ*`.
    pub theta_star: &'a [f64],
    /// What was taken.
    pub chosen: ActionIndex,
    /// Who took it.
    pub policy: &'a P,
}

/// A reward.
#[derive(Clone, Copy, Debug)]
pub struct Rewarded<'a> {
    /// The round of the decision, from 1; the reward may come later.
    pub round: u64,
    /// What was taken.
    pub action: Action<'a>,
    /// What it paid.
    pub reward: f64,
}

impl<P: ?Sized> Observer<P> for () {}

impl<P: ?Sized, A: Observer<P>, B: Observer<P>> Observer<P> for (A, B) {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        self.0.decided(decided);
        self.1.decided(decided);
    }

    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        self.0.rewarded(rewarded);
        self.1.rewarded(rewarded);
    }
}

impl<P: ?Sized, O: Observer<P>> Observer<P> for Vec<O> {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        for observer in self {
            observer.decided(decided);
        }
    }

    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        for observer in self {
            observer.rewarded(rewarded);
        }
    }
}

impl<P: ?Sized, O: Observer<P> + ?Sized> Observer<P> for &mut O {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        (**self).decided(decided);
    }

    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        (**self).rewarded(rewarded);
    }
}

impl<P: ?Sized, O: Observer<P> + ?Sized> Observer<P> for Box<O> {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        (**self).decided(decided);
    }

    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        (**self).rewarded(rewarded);
    }
}
