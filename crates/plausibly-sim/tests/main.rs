//! The simulator: fairness of comparisons, threads, metrics against brute force, whole runs by
//! golden file.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(clippy::print_stdout, reason = "measurements are shown")]

mod comparison; // threads, order and rivals change nothing; policies from outside the crate
mod delay; // delayed rewards
mod examples; // every spec in examples/ runs
mod golden; // whole runs, byte for byte
mod metrics; // regret and model error against brute force
mod parts; // a comparison divided into parts has the same outcome
mod second_opinion; // the first experiment against an independent implementation
mod spec; // reading specs
mod traces; // first runs choice by choice, for other languages to reproduce
mod trial; // how many outcomes a verdict takes, asked beforehand
mod verdicts; // when actions are ruled out, and whether rightly

use std::path::{Path, PathBuf};

/// A path in the workspace.
fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A spec with this environment and these policies.
fn experiment(head: &str, environment: &str, policies: &[&str]) -> plausibly_sim::Experiment {
    let text = format!(
        "{head}\n[environment]\n{environment}\n[[policy]]\n{}\n",
        policies.join("\n[[policy]]\n")
    );
    plausibly_sim::Experiment::from_toml(&text, plausibly_sim::Overrides::default(), &()).unwrap()
}
