use crate::workspace;
use plausibly::{Action, Policy, Stream};
use plausibly_sim::{Draws, Experiment, Observer, Overrides, Player, Regret, Rewarded, play};
use plausibly_testkit::assert_golden;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;

/// Every choice with its reward.
#[derive(Default)]
struct Trace(String);

impl<P> Observer<P> for Trace {
    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        writeln!(self.0, "{} {:?}", rewarded.action.index(), rewarded.reward).unwrap();
    }
}

/// The Python package, or any other user of the policies, must reproduce these choices.
/// Changing them is a decision, and needs a line in CHANGELOG.md.
#[test]
fn first_runs_are_traced_choice_by_choice() {
    for name in ["linear", "arms", "yes-no", "table", "clicks", "counts"] {
        let spec =
            std::fs::read_to_string(workspace(&format!("testdata/traces/{name}.toml"))).unwrap();
        let experiment = Experiment::from_toml(&spec, Overrides::default(), &()).unwrap();
        let summary = experiment.comparison().run(NonZeroUsize::MIN, &()).unwrap();
        let stream = |role: &str| Stream::new(experiment.seed, 0, role);
        let mut environment = experiment.environment.draw(&mut stream("problem"));
        let facts = environment.bandit().facts(experiment.horizon);
        let mut text =
            format!("norms {:?} {:?}\n", facts.theta_norm_bound, facts.action_norm_bound);
        for action in environment.bandit().actions().iter().map(Action::features) {
            let features: Vec<String> = action.iter().map(|x| format!(" {x:?}")).collect();
            writeln!(text, "action{}", features.concat()).unwrap();
        }
        let player = |policy: &plausibly::spec::PolicySpec| Player {
            policy: Box::new(policy.build(&facts).unwrap()) as Box<dyn Policy>,
            observer: (Regret::new(), Trace::default()),
            choices: stream(&format!("policy/{}", policy.label)),
        };
        let mut players: Vec<_> = experiment.policies.iter().map(player).collect();
        let mut draws = Draws { offers: stream("actions"), noise: stream("noise") };
        let on = |_, _: &[_]| ControlFlow::Continue(());
        assert!(
            play(&mut *environment, experiment.horizon, &mut draws, &mut players, on).is_continue()
        );
        for (player, policy) in players.iter().zip(&summary.policies) {
            let (regret, trace) = &player.observer;
            let compared = policy.last().regret.mean();
            assert_eq!(
                regret.total().to_bits(),
                compared.to_bits(),
                "this is not the run that was compared"
            );
            write!(text, "policy {}\n{}", policy.label, trace.0).unwrap();
        }
        assert_golden(&workspace(&format!("testdata/traces/{name}.txt")), &text);
    }
}
