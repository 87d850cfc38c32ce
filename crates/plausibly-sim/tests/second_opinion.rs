//! The first experiment of the paper against an implementation that shares no code with this one
//! (NumPy, other seeds).

use crate::workspace;
use plausibly::spec::PolicyKind;
use plausibly_sim::{Experiment, Overrides};
use std::num::NonZeroUsize;

/// Label, then regret and model error at the horizon, each with its standard error, over 200 runs.
const SECOND_OPINION: [(&str, [f64; 4]); 6] = [
    ("CODE", [223.6, 10.3, 47.8, 1.6]),
    ("LinUCB", [289.2, 7.2, 50.9, 1.6]),
    ("LinTS", [48.0, 3.7, 1823.0, 276.0]),
    ("Elim", [3198.0, 50.0, 72.9, 3.0]),
    ("ε-greedy", [1428.0, 33.0, 106.3, 4.8]),
    ("EtC", [1451.0, 34.0, 91.7, 3.4]),
];

/// Joint standard errors between two estimates.
fn z(ours: (f64, f64), theirs: (f64, f64)) -> f64 {
    (ours.0 - theirs.0) / ours.1.hypot(theirs.1)
}

// Twelve comparisons of means that would agree: |z| ≤ 4 fails by chance with probability 12·6e-5 =
// 8e-4 over the choice of seed; the seed is that of the example and was not chosen for the outcome.
#[test]
fn the_first_experiment_agrees_with_an_independent_implementation() {
    let text = std::fs::read_to_string(workspace("examples/first-experiment.toml")).unwrap();
    let experiment = Experiment::from_toml(&text, Overrides::default(), &()).unwrap();
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let summary = experiment.comparison().run(threads, &()).unwrap();
    println!(
        "| policy | regret | ± s.e. | z | model error | ± s.e. | z |\n\
         | --- | --- | --- | --- | --- | --- | --- |"
    );
    for (policy, (label, figures)) in summary.policies.iter().zip(SECOND_OPINION) {
        assert_eq!(policy.label, label);
        let last = policy.last();
        let regret = (last.regret.mean(), last.regret.standard_error().unwrap());
        let error = (last.model_error.mean(), last.model_error.standard_error().unwrap());
        let (z_regret, z_error) =
            (z(regret, (figures[0], figures[1])), z(error, (figures[2], figures[3])));
        println!(
            "| {label} | {:.1} | {:.1} | {z_regret:+.2} | {:.1} | {:.1} | {z_error:+.2} |",
            regret.0, regret.1, error.0, error.1
        );
        assert!(z_regret.abs() <= 4.0 && z_error.abs() <= 4.0, "{label}: {z_regret}, {z_error}");
    }
}

#[test]
fn a_wrong_width_would_not_agree() {
    // LinUCB with CODE's narrow width instead of its own: its regret falls several times over.
    let text = std::fs::read_to_string(workspace("examples/first-experiment.toml")).unwrap();
    let mut experiment =
        Experiment::from_toml(&text, Overrides { runs: Some(30), seed: None }, &()).unwrap();
    let narrow = experiment.metric;
    experiment.policies.retain(|policy| policy.label == "LinUCB");
    experiment.policies[0].kind = PolicyKind::LinUcb { ridge: narrow.ridge, radius: narrow.radius };
    let summary = experiment.comparison().run(NonZeroUsize::MIN, &()).unwrap();
    let regret = summary.policies[0].last().regret;
    let distance = z((regret.mean(), regret.standard_error().unwrap()), (289.2, 7.2));
    assert!(distance.abs() > 4.0, "{distance}");
}
