//! Observers watch a policy without changing it.

use plausibly::{Action, ActionIndex, Actions};

/// Sees every decision and every reward of one policy; both methods do nothing by default.
///
/// Observers borrow the state of the round instead of receiving a log: one that needs more asks the
/// policy, and one that needs nothing costs nothing. Those of this crate work for any policy,
/// because they keep their own model of its history.
pub trait Observer<P: ?Sized> {
    /// Called after a decision, before its reward is known.
    fn decided(&mut self, _: &Decided<'_, P>) {}

    /// Called when a reward arrives.
    fn rewarded(&mut self, _: &Rewarded<'_>) {}
}

/// A decision, and the truth about its round.
#[derive(Debug)]
pub struct Decided<'a, P: ?Sized> {
    /// t, from 1.
    pub round: u64,
    /// The actions offered.
    pub actions: Actions<'a>,
    /// The true mean of each.
    pub means: &'a [f64],
    /// The largest of them.
    pub best_mean: f64,
    /// `θ*`.
    pub theta_star: &'a [f64],
    /// The chosen action.
    pub chosen: ActionIndex,
    /// The policy that chose.
    pub policy: &'a P,
}

/// A reward.
#[derive(Clone, Copy, Debug)]
pub struct Rewarded<'a> {
    /// The round of the decision, from 1; the reward may come later.
    pub round: u64,
    /// The chosen action.
    pub action: Action<'a>,
    /// The reward.
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
