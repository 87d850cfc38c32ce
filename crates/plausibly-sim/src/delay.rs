//! Rewards that come late, in batches, or never.

use plausibly::{ActionIndex, Stream};
use std::collections::VecDeque;

/// When the reward of a decision arrives. A delay of one round means before the next decision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Delay {
    /// At once.
    #[default]
    None,
    /// After a fixed number of rounds.
    Fixed {
        /// At least one.
        rounds: u64,
    },
    /// After a random number of rounds, geometric with this mean, the same for every policy and
    /// every choice.
    Random {
        /// At least one.
        mean: f64,
    },
    /// Together with the rest of its batch, when the batch is full.
    Batches {
        /// Decisions in a batch, at least one.
        size: u64,
    },
    /// At once or, for a random share of decisions, never; the policy learns that after
    /// `told_after` rounds.
    Never {
        /// The share that never comes, in [0, 1).
        share: f64,
        /// Rounds until the policy learns that no reward will come.
        told_after: u64,
    },
    /// At once if the reward is above its mean, otherwise after `rounds` rounds. Delays that depend
    /// on rewards break confidence sets; this one exists to show it.
    ByReward {
        /// Delay of the rewards below their mean.
        rounds: u64,
    },
}

/// What a decision yields, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Arrival {
    /// At the end of this round.
    pub(crate) round: u64,
    /// `None` if the reward never comes.
    pub(crate) reward: Option<f64>,
}

impl Delay {
    /// The arrival of the reward of a decision in this round; `noise` is its distance above the
    /// mean. Draws exactly once for every kind, so that copies of a stream stay in step.
    pub(crate) fn arrival(
        &self,
        round: u64,
        reward: f64,
        noise: f64,
        lateness: &mut Stream,
    ) -> Arrival {
        let uniform = lateness.uniform();
        let late = |rounds: u64| round.saturating_add(rounds.max(1) - 1);
        let (round, reward) = match *self {
            Self::Fixed { rounds } => (late(rounds), Some(reward)),
            Self::Random { mean } => (late(geometric(mean, uniform)), Some(reward)),
            Self::Batches { size } => (round.div_ceil(size.max(1)) * size.max(1), Some(reward)),
            Self::Never { share, told_after } if uniform < share => (late(told_after), None),
            Self::None | Self::Never { .. } => (round, Some(reward)),
            Self::ByReward { rounds } => {
                (if noise > 0.0 { round } else { late(rounds) }, Some(reward))
            }
        };
        Arrival { round, reward }
    }
}

/// Geometric on 1, 2, … with this mean, from a uniform number.
fn geometric(mean: f64, uniform: f64) -> u64 {
    if mean <= 1.0 {
        return 1;
    }
    let rounds = libm::floor(libm::log1p(-uniform) / libm::log1p(-1.0 / mean));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "not negative; saturates"
    )]
    let rounds = rounds as u64;
    rounds.saturating_add(1)
}

/// Decisions of one policy that wait for their rewards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outstanding {
    /// In the order of the decisions.
    waiting: VecDeque<Waiting>,
    /// Whether a later decision may arrive before an earlier one. If not, as with a fixed delay, a
    /// round costs time only for what arrives, not for what waits.
    overtaken: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) arrival: Arrival,
    /// Round of the decision.
    pub(crate) round: u64,
    pub(crate) index: ActionIndex,
    /// A copy, because the action set may have changed when the reward arrives.
    pub(crate) features: Vec<f64>,
}

impl Outstanding {
    pub(crate) fn push(&mut self, waiting: Waiting) {
        let earlier = |last: &Waiting| waiting.arrival.round < last.arrival.round;
        self.overtaken = self.waiting.back().is_some_and(|last| self.overtaken || earlier(last));
        self.waiting.push_back(waiting);
    }

    /// Removes and returns what arrives by the end of this round, in the order of the decisions.
    pub(crate) fn arrived(&mut self, round: u64) -> Vec<Waiting> {
        let due = |waiting: &Waiting| waiting.arrival.round <= round;
        if self.overtaken {
            let (arrived, waiting): (VecDeque<_>, VecDeque<_>) =
                std::mem::take(&mut self.waiting).into_iter().partition(due);
            self.waiting = waiting;
            return Vec::from(arrived);
        }
        let arrived = self.waiting.iter().take_while(|waiting| due(waiting)).count();
        self.waiting.drain(..arrived).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrivals_are_what_their_names_say() {
        let mut lateness = Stream::new(1, 0, "lateness");
        let mut at = |delay: Delay, round, noise| delay.arrival(round, 2.0, noise, &mut lateness);
        let comes = |round| Arrival { round, reward: Some(2.0) };
        assert_eq!(at(Delay::None, 5, 0.1), comes(5));
        assert_eq!(at(Delay::Fixed { rounds: 1 }, 5, 0.1), comes(5));
        assert_eq!(at(Delay::Fixed { rounds: 10 }, 5, 0.1), comes(14));
        assert_eq!(at(Delay::Batches { size: 4 }, 5, 0.1), comes(8));
        assert_eq!(at(Delay::Batches { size: 4 }, 8, 0.1), comes(8));
        assert_eq!(at(Delay::ByReward { rounds: 100 }, 5, 0.1), comes(5));
        assert_eq!(at(Delay::ByReward { rounds: 100 }, 5, -0.1), comes(104));
        let mut never = 0;
        for _ in 0..10_000 {
            let arrival = at(Delay::Never { share: 0.3, told_after: 7 }, 5, 0.0);
            match arrival.reward {
                None => {
                    never += 1;
                    assert_eq!(arrival.round, 11);
                }
                Some(_) => assert_eq!(arrival.round, 5),
            }
        }
        // Binomial(10,000, 0.3): 5 sd is 229, passed with probability 6e-7.
        assert!(i32::abs(never - 3000) < 229, "{never}");
    }

    #[test]
    fn what_is_overtaken_arrives_all_the_same_and_in_the_order_of_decisions() {
        let mut outstanding = Outstanding::default();
        let mut decide = |round, arrives| {
            let arrival = Arrival { round: arrives, reward: Some(0.0) };
            outstanding.push(Waiting { arrival, round, index: 0, features: Vec::new() });
            let arrived = outstanding.arrived(round);
            arrived.into_iter().map(|waiting| waiting.round).collect::<Vec<_>>()
        };
        let nothing: [u64; 0] = [];
        assert_eq!(decide(1, 2), nothing);
        assert_eq!(decide(2, 4), [1]);
        // Overtakes the one before it, and comes with the next.
        assert_eq!(decide(3, 3), [3]);
        assert_eq!(decide(4, 9), [2]);
        assert_eq!(decide(5, 7), nothing);
        assert_eq!(decide(6, 7), nothing);
        assert_eq!(decide(7, 7), [5, 6, 7]);
        assert_eq!(decide(9, 9), [4, 9]);
        // In order again, nothing being left that was overtaken.
        assert_eq!(
            (decide(10, 11), decide(11, 12), decide(12, 12)),
            (vec![], vec![10], vec![11, 12])
        );
    }

    #[test]
    fn random_delays_have_their_mean() {
        let mut lateness = Stream::new(2, 0, "lateness");
        let mut total = 0;
        for _ in 0..20_000 {
            let arrival = Delay::Random { mean: 8.0 }.arrival(1, 0.0, 0.0, &mut lateness);
            assert!(arrival.round >= 1);
            total += arrival.round;
        }
        // Geometric with mean 8: sd √56 = 7.48, of the mean 0.053; 5 sd.
        let mean = total as f64 / 20_000.0;
        assert!((mean - 8.0).abs() < 0.27, "{mean}");
    }
}
