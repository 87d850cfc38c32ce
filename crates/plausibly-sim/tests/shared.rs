//! A metric that looks at what the policy has learned measures what one with a model of its own
//! does.

use crate::experiment;
use plausibly::spec::{RadiusSpec, Setting};
use plausibly::{Action, ActionIndex, Actions, Estimator, Policy, Ridge, Stream};
use plausibly_sim::{
    Bandit, ChangingLinear, Comparison, Delay, Environment, Metric, Plan, Summary,
};
use std::num::NonZeroUsize;

const KINDS: [&str; 6] =
    ["code", "lin-ucb", "lin-ts", "elimination", "epsilon-greedy", "explore-then-commit"];

/// What a policy shows of what it has learned.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// As it is.
    All,
    Nothing,
    /// One reward in a hundred learned twice.
    Wrong,
}

/// A policy that shows something else than it has learned.
struct Masked {
    policy: Box<dyn Policy>,
    mask: Option<Ridge>,
    rewards: u64,
}

impl Policy for Masked {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.policy.select(actions, rng)
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.policy.update(action, reward);
        self.rewards += 1;
        if let Some(mask) = &mut self.mask {
            mask.update(action, reward);
            if self.rewards.is_multiple_of(100) {
                mask.update(action, reward);
            }
        }
    }

    fn learned(&self) -> Option<&Ridge> {
        self.mask.as_ref()
    }
}

fn problem(setting: Setting) -> impl Fn(&mut Stream) -> Box<dyn Environment> {
    move |rng: &mut Stream| match setting {
        Setting::Changing => Box::new(ChangingLinear::random(8, 64, 0.5, rng)),
        _ => Box::new(Bandit::random_linear(4, 40, 0.5, rng)),
    }
}

fn measured(setting: Setting, kind: &str, ridge: f64, delay: Delay, shown: Shown) -> Summary {
    let metric = Metric { ridge, radius: RadiusSpec::default_for(setting) };
    let policies = [format!("kind = '{kind}'")];
    let environment = if setting == Setting::Changing { "changing" } else { "linear" };
    let environment = format!("kind = '{environment}'\ndim = 3\nactions = 5");
    let spec =
        experiment("runs = 1\nhorizon = 400", &environment, &[&policies[0]]).policies[0].clone();
    Comparison::new(problem(setting), metric, Plan { runs: 6, horizon: 400, seed: 5 })
        .late(delay)
        .enter(kind, move |facts| {
            let policy: Box<dyn Policy> = spec.build(facts)?;
            let mask = if shown == Shown::Wrong { Some(Ridge::new(facts.dim, 1.0)?) } else { None };
            Ok(if shown == Shown::All {
                policy
            } else {
                Box::new(Masked { policy, mask, rewards: 0 })
            })
        })
        .run(NonZeroUsize::MIN, &())
        .unwrap()
}

#[test]
fn a_shared_estimate_is_one_of_its_own_to_the_last_bit() {
    for (setting, kind) in
        [Setting::Fixed, Setting::Changing].into_iter().flat_map(|s| KINDS.map(|k| (s, k)))
    {
        let measured = |ridge, shown| measured(setting, kind, ridge, Delay::None, shown);
        let own = measured(1.0, Shown::Nothing);
        assert!(own == measured(1.0, Shown::All), "{kind}, {setting:?}");
        // Shown something wrong, the metric goes wrong: so it is looked at.
        assert!(own != measured(1.0, Shown::Wrong), "{kind}, {setting:?}");
        // With another ridge the policy's estimate is not the metric's, and is left alone.
        assert!(
            measured(2.0, Shown::Nothing) == measured(2.0, Shown::Wrong),
            "{kind}, {setting:?}"
        );
    }
}

#[test]
fn nothing_is_shared_where_rewards_come_late() {
    let measured =
        |shown| measured(Setting::Fixed, "lin-ucb", 1.0, Delay::Fixed { rounds: 3 }, shown);
    assert!(measured(Shown::Nothing) == measured(Shown::Wrong));
    assert!(measured(Shown::Nothing) == measured(Shown::All));
}
