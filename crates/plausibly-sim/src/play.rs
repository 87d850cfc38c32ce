//! The run loop: all policies play each round on the same problem and noise.

use crate::delay::{Delay, Outstanding, Waiting};
use crate::environment::Environment;
use crate::observer::{Decided, Observer, Rewarded};
use plausibly::{Action, Policy, Stream};
use std::ops::ControlFlow;

/// A policy in a run, with its observer.
#[derive(Debug)]
pub struct Player<P, O> {
    /// The policy.
    pub policy: P,
    /// Sees every decision and reward.
    pub observer: O,
    /// The policy's own randomness.
    pub choices: Stream,
}

/// The randomness of a problem, shared by all players.
#[derive(Debug)]
pub struct Draws {
    /// For the actions offered.
    pub offers: Stream,
    /// For the luck of every round.
    pub noise: Stream,
}

/// Plays `horizon` rounds, all players in step: every player plays a round, then `after` is called
/// with its number and may end the run.
///
/// The observer sees a decision before the policy learns its reward. Besides the players' work, a
/// round costs one [`Environment::advance`] and one [`Environment::luck`].
///
/// # Panics
/// If a policy chooses an action that was not offered.
///
/// # Example
/// An observer of your own, watching a policy on a problem:
/// ```
/// use plausibly::{ArmMeans, Stream, Thompson};
/// use plausibly_sim::{Bandit, Decided, Draws, Observer, Player, play};
/// use std::ops::ControlFlow;
///
/// /// How often the best arm was taken.
/// struct Hits(u64);
///
/// impl<P: ?Sized> Observer<P> for Hits {
///     fn decided(&mut self, decided: &Decided<'_, P>) {
///         self.0 += u64::from(decided.means[decided.chosen] == decided.best_mean);
///     }
/// }
///
/// let stream = |role| Stream::new(1, 0, role);
/// let mut problem = Bandit::arms(vec![0.1, 0.9, 0.5], 0.3);
/// let policy = Thompson::new(3, 0.3)?;
/// let mut players = [Player { policy, observer: Hits(0), choices: stream("policy") }];
/// let mut draws = Draws { offers: stream("actions"), noise: stream("noise") };
/// let flow = play(&mut problem, 500, &mut draws, &mut players, |_, _| ControlFlow::Continue(()));
/// assert!(flow.is_continue() && players[0].observer.0 > 400);
/// # Ok::<(), plausibly::PolicyError>(())
/// ```
pub fn play<P: Policy, O: Observer<P>>(
    environment: &mut dyn Environment,
    horizon: u64,
    draws: &mut Draws,
    players: &mut [Player<P, O>],
    after: impl FnMut(u64, &[Player<P, O>]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let at_once = |_, player: &mut Player<P, O>, round, action: Action<'_>, reward, _| {
        player.policy.update(action, reward);
        player.observer.rewarded(&Rewarded { round, action, reward });
    };
    rounds(environment, horizon, draws, players, at_once, after)
}

/// Like [`play`], with delayed rewards.
///
/// Each player has a copy of `lateness`, so that all wait equally long. A policy learns a reward at
/// the end of the round in which it arrives, rewards of one round in the order of their decisions;
/// rewards outstanding at the horizon are lost. For a reward that never comes, [`Policy::dropped`]
/// is called and [`Observer::rewarded`] is not.
///
/// # Panics
/// If a policy chooses an action that was not offered.
pub fn play_late<P: Policy, O: Observer<P>>(
    environment: &mut dyn Environment,
    horizon: u64,
    draws: &mut Draws,
    players: &mut [Player<P, O>],
    (delay, lateness): (Delay, &Stream),
    after: impl FnMut(u64, &[Player<P, O>]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut late: Vec<(Outstanding, Stream)> =
        players.iter().map(|_| (Outstanding::default(), lateness.clone())).collect();
    let when_it_comes =
        |index: usize, player: &mut Player<P, O>, round, action: Action<'_>, reward, surplus| {
            let (outstanding, lateness) = &mut late[index];
            let arrival = delay.arrival(round, reward, surplus, lateness);
            let features = action.features().to_vec();
            outstanding.push(Waiting { arrival, round, index: action.index(), features });
            for Waiting { arrival, round, index, features } in outstanding.arrived(round) {
                let action = Action::new(index, &features);
                match arrival.reward {
                    Some(reward) => {
                        player.policy.update(action, reward);
                        player.observer.rewarded(&Rewarded { round, action, reward });
                    }
                    None => player.policy.dropped(action),
                }
            }
        };
    rounds(environment, horizon, draws, players, when_it_comes, after)
}

/// The loop of both functions. `settle` receives the player's position, the player, the round, the
/// action, its reward, and the reward minus its mean.
fn rounds<P: Policy, O: Observer<P>>(
    environment: &mut dyn Environment,
    horizon: u64,
    draws: &mut Draws,
    players: &mut [Player<P, O>],
    mut settle: impl FnMut(usize, &mut Player<P, O>, u64, Action<'_>, f64, f64),
    mut after: impl FnMut(u64, &[Player<P, O>]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    for round in 1..=horizon {
        environment.advance(&mut draws.offers);
        let environment = &*environment;
        let bandit = environment.bandit();
        let (actions, means, theta_star) = (bandit.actions(), bandit.means(), bandit.theta_star());
        let (best_mean, luck) = (bandit.best_mean(), environment.luck(&mut draws.noise));
        for (index, player) in players.iter_mut().enumerate() {
            let Player { policy, observer, choices } = player;
            let chosen = policy.select(actions, choices);
            assert!(chosen < actions.len(), "a policy chose action {chosen} of {}", actions.len());
            observer.decided(&Decided {
                round,
                actions,
                means,
                best_mean,
                theta_star,
                chosen,
                policy,
            });
            let (action, reward) = (actions.get(chosen), environment.reward(chosen, luck));
            policy.decided(action);
            settle(index, player, round, action, reward, reward - means[chosen]);
        }
        after(round, players)?;
    }
    ControlFlow::Continue(())
}
