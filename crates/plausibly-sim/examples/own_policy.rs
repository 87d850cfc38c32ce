//! A policy of your own, compared with CODE on the same problems.
//!
//! `cargo run -p plausibly-sim --example own_policy`
#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use plausibly::spec::{Defaults, Setting};
use plausibly::{Action, ActionIndex, Actions, Code, Estimator, Policy, Ridge, Scores, Stream};
use plausibly_sim::{Bandit, Comparison, Metric, Plan};
use std::num::NonZeroUsize;

/// Takes the best estimate, but a random action while the round is a power of two.
struct PowersOfTwo {
    model: Ridge,
    scores: Scores,
    round: u64,
}

impl Policy for PowersOfTwo {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        self.round += 1;
        if self.round.is_power_of_two() {
            return rng.index(actions.len());
        }
        self.model.means_into(actions, &mut self.scores);
        let means = self.scores.mean();
        (0..means.len()).fold(0, |best, next| if means[next] > means[best] { next } else { best })
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let metric = Metric::default_for(Setting::Fixed, Defaults::Current);
    let problem = |rng: &mut Stream| Box::new(Bandit::random_linear(4, 30, 0.5, rng)) as _;
    let summary = Comparison::new(problem, metric, Plan { runs: 40, horizon: 2000, seed: 1 })
        .enter("CODE", move |facts| {
            Ok(Box::new(Code::new(Ridge::new(facts.dim, 1.0)?, metric.radius.build(facts)?)))
        })
        .enter("powers of two", |facts| {
            Ok(Box::new(PowersOfTwo {
                model: Ridge::new(facts.dim, 1.0)?,
                scores: Scores::new(),
                round: 0,
            }))
        })
        .run(NonZeroUsize::MIN, &())?;
    for policy in &summary.policies {
        let last = policy.last();
        let (regret, error) = (last.regret.mean(), last.model_error.mean());
        println!("{:14} regret {regret:8.1}   model error {error:8.1}", policy.label);
    }
    Ok(())
}
