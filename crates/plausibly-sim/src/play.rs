//! The run loop: policies side by side on one problem.

use crate::environment::Environment;
use crate::observer::{Decided, Observer, Rewarded};
use plausibly::{Policy, SetId, Stream};
use std::ops::ControlFlow;

/// A policy at play, with what watches it.
#[derive(Debug)]
pub struct Player<P, O> {
    /// The policy.
    pub policy: P,
    /// Sees every decision and reward.
    pub observer: O,
    /// The policy's own randomness.
    pub choices: Stream,
    /// Draws its rewards. Give every player a copy of one stream: rewards draw the same number of times whatever is
    /// chosen, so the copies stay in step and all players see the same noise.
    pub noise: Stream,
}

/// Plays `horizon` rounds, all players in step: each round is offered to every player, then `after` is called with its
/// number, and may end the play.
///
/// A player's decision is observed before its reward is learned from. Besides what the players do, a round costs one
/// [`Environment::advance`] and, for a new set, one look for its best mean.
pub fn play<P: Policy, O: Observer<P>>(
    environment: &mut dyn Environment,
    horizon: u64,
    offers: &mut Stream,
    players: &mut [Player<P, O>],
    mut after: impl FnMut(u64, &[Player<P, O>]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut best: Option<(SetId, f64)> = None;
    for round in 1..=horizon {
        environment.advance(offers);
        let environment = &*environment;
        let (actions, means) = (environment.actions(), environment.means());
        let best_mean = match best {
            Some((set, mean)) if set == actions.id() => mean,
            _ => means.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        best = Some((actions.id(), best_mean));
        for Player { policy, observer, choices, noise } in &mut *players {
            let chosen = policy.select(actions, choices);
            let theta_star = environment.theta_star();
            observer.decided(&Decided { round, actions, means, best_mean, theta_star, chosen, policy });
            let (action, reward) = (actions.get(chosen), environment.reward(chosen, noise));
            policy.update(action, reward);
            observer.rewarded(&Rewarded { round, action, reward });
        }
        after(round, players)?;
    }
    ControlFlow::Continue(())
}
