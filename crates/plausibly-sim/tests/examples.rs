use crate::workspace;
use plausibly::spec::Node;
use plausibly_sim::{Experiment, Overrides};
use std::num::NonZeroUsize;

#[test]
fn every_example_spec_runs() {
    let mut seen = 0;
    for entry in std::fs::read_dir(workspace("examples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let text = std::fs::read_to_string(&path).unwrap();
            // Tables are read by the command; a guide runs this example.
            if text.contains("kind = \"csv\"") {
                continue;
            }
            let overrides = Overrides { runs: Some(1), ..Overrides::default() };
            let experiment = Experiment::from_toml(&text, overrides, &())
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            // A resolved spec reads as the same spec.
            let root = Node { value: experiment.resolved.clone(), line: 0 };
            let again = Experiment::from_node(root, Overrides::default(), &()).unwrap();
            assert_eq!(again, experiment, "{}", path.display());
            let summary = experiment.comparison().run(NonZeroUsize::MIN, &()).unwrap();
            assert_eq!(summary.policies.len(), experiment.policies.len());
            seen += 1;
        }
    }
    assert!(seen >= 4, "only {seen} examples found");
}
