//! The paper's bounds where they say something, and mutants of them that must fail.

use plausibly_paper::{ArmsTheory, LinearTheory, TheoryError};
use plausibly_sim::{Experiment, Overrides};
use std::num::NonZeroUsize;

/// The theory is about the paper's plausible sets.
const INTERVALS: &str = "exclusion = \"intervals\"\n";

/// A spec with this environment and these policies.
fn experiment(head: &str, environment: &str, policies: &[&str]) -> Experiment {
    let text = format!(
        "{head}\n[environment]\n{environment}\n[[policy]]\n{}\n",
        policies.join("\n[[policy]]\n")
    );
    Experiment::from_toml(&text, Overrides::default(), &()).unwrap()
}

fn arms(runs: u64, horizon: u64, delta: f64) -> ArmsTheory {
    let head = format!("runs = {runs}\nhorizon = {horizon}\nseed = 3");
    let code = format!("kind = \"code\"\nradius = {{ kind = \"per-arm\", delta = {delta} }}");
    let experiment = experiment(&head, "kind = \"k-armed\"\nactions = 5", &[&code]);
    ArmsTheory::check(&experiment, NonZeroUsize::MIN, &()).unwrap()
}

/// Failures among `runs` that a true rate of at most `rate` exceeds with probability below 1e-6: a
/// Chernoff bound, `P(X ≥ k) ≤ exp(−runs·KL(k/runs ‖ rate))`.
fn most_failures(runs: u64, rate: f64) -> u64 {
    let unlikely = |k: &u64| {
        let share = *k as f64 / runs as f64;
        let divergence = share * (share / rate).ln()
            + if share < 1.0 { (1.0 - share) * ((1.0 - share) / (1.0 - rate)).ln() } else { 0.0 };
        share > rate && runs as f64 * divergence > 13.9
    };
    (0..=runs).find(unlikely).unwrap_or(runs + 1)
}

#[test]
fn lemma_1_holds_where_it_says_something() {
    let theory = arms(4000, 200, 1e-5);
    let [loosest, vacuous, strongest] = theory.failure_bounds();
    assert!((strongest - 0.02).abs() < 1e-12 && vacuous > 1.0 && loosest < 1.0);
    assert!(theory.left < most_failures(4000, strongest), "{}", theory.left);
    // Intervals at δ = 0.05 fail far more often than the bound for 1e-5 allows.
    assert!(arms(400, 200, 0.05).left >= most_failures(400, strongest));
}

#[test]
fn the_corrected_bounds_hold_on_every_run_that_kept_its_intervals() {
    let theory = arms(300, 2000, 1e-9);
    assert_eq!(theory.left, 0, "2Knδ is 2e-5");
    assert_eq!(theory.theorem_1_corrected.exceeded, 0);
    assert_eq!(theory.gap_free_corrected.exceeded, 0);
    assert_eq!(theory.model_error_corrected.exceeded, 0);
    // A proof that dropped log(1/δ) for log n is caught.
    assert!(theory.theorem_1_log_n.exceeded > 30, "{}", theory.theorem_1_log_n.exceeded);
    // Arms come back: the premise of Section 4.2 fails.
    assert!(theory.premise_failed > 30, "{}", theory.premise_failed);
}

#[test]
fn bounds_that_say_nothing_are_called_vacuous() {
    let theory = arms(50, 200, 0.05);
    assert_eq!(theory.theorem_1_corrected.vacuous, 50);
    assert_eq!(theory.model_error_corrected.vacuous, 50);
}

#[test]
fn theorem_2_corrected_holds_with_a_valid_radius() {
    let spec = |radius: &str| {
        let environment = "kind = \"linear\"\ndim = 3\nactions = 30\nnoise = 0.5";
        let code = format!("kind = \"code\"\n{INTERVALS}radius = {radius}");
        experiment("runs = 40\nhorizon = 1500\nseed = 4", environment, &[&code])
    };
    let valid = spec("{ kind = \"determinant\", delta = 0.01, theta_norm_bound = 5.0 }");
    let theory = LinearTheory::check(&valid, NonZeroUsize::MIN, &()).unwrap();
    assert_eq!((theory.runs, theory.norm_exceeded, theory.rounds_above_corrected), (40, 0, 0));
    assert_eq!(theory.theorem_2_corrected.exceeded + theory.potential_corrected.exceeded, 0);
    assert_eq!(theory.model_error_bound.exceeded, 0);
    // The same runs, the same bits, on more threads.
    assert_eq!(theory, LinearTheory::check(&valid, NonZeroUsize::new(3).unwrap(), &()).unwrap());
    // It plays what the comparison plays.
    let summary = valid.comparison().run(NonZeroUsize::MIN, &()).unwrap();
    assert_eq!(summary.policies[0].last().regret, theory.regret);
    assert_eq!(summary.policies[0].last().model_error, theory.model_error);

    // A radius built on a bound that ‖θ*‖ exceeds is noticed.
    let invalid = spec("{ kind = \"determinant\", theta_norm_bound = 0.1 }");
    assert!(LinearTheory::check(&invalid, NonZeroUsize::MIN, &()).unwrap().norm_exceeded > 30);
}

#[test]
fn tempered_code_keeps_its_bounds_at_any_greed() {
    for greed in ["0.0", "0.3", "0.9", "1.0"] {
        let environment = "kind = \"linear\"\ndim = 3\nactions = 30\nnoise = 0.5";
        let radius = "{ kind = \"determinant\", delta = 0.01, theta_norm_bound = 5.0 }";
        let code = format!("kind = \"code\"\n{INTERVALS}greed = {greed}\nradius = {radius}");
        let experiment = experiment("runs = 30\nhorizon = 1000\nseed = 6", environment, &[&code]);
        let theory = LinearTheory::check(&experiment, NonZeroUsize::MIN, &()).unwrap();
        assert_eq!((theory.left, theory.norm_exceeded), (0, 0), "the good event");
        assert_eq!(theory.rounds_above_corrected, 0, "greed {greed}");
        assert_eq!(
            theory.theorem_2_corrected.exceeded + theory.model_error_bound.exceeded,
            0,
            "greed {greed}"
        );
        // At greed 1 there is no bound on the model error.
        assert_eq!(theory.model_error_bound.vacuous, if greed == "1.0" { 30 } else { 0 });
        // The bound bites: at greed 0 some rounds are above half of it.
        assert_eq!(theory.rounds_above_printed > 0, greed == "0.0", "greed {greed}");
    }
}

#[test]
fn targets_keep_their_bounds() {
    for target in ["kappa = 1.0", "kappa = 4.0", "kappa = 16.0", "accuracy = 2.0", "accuracy = 0.5"]
    {
        let environment = "kind = \"linear\"\ndim = 3\nactions = 30\nnoise = 0.5";
        let radius = "{ kind = \"determinant\", delta = 0.01, theta_norm_bound = 5.0 }";
        let code =
            format!("kind = \"code\"\n{INTERVALS}target = {{ {target} }}\nradius = {radius}");
        let experiment = experiment("runs = 30\nhorizon = 2000\nseed = 6", environment, &[&code]);
        let theory = LinearTheory::check(&experiment, NonZeroUsize::MIN, &()).unwrap();
        assert_eq!((theory.left, theory.norm_exceeded), (0, 0), "the good event");
        assert_eq!(theory.rounds_above_corrected, 0, "{target}");
        let exceeded = theory.theorem_2_corrected.exceeded + theory.model_error_bound.exceeded;
        assert_eq!(exceeded + theory.exploring_bound.exceeded, 0, "{target}");
        let share = theory.exploring.mean() / 2000.0;
        assert!(share > 0.0 && share < 1.0, "{target}: explored in {share} of the rounds");
    }
}

#[test]
fn theory_says_what_it_does_not_speak_of() {
    let environment = "kind = \"linear\"\ndim = 2\nactions = 3";
    let other = experiment("horizon = 10", environment, &["kind = \"lin-ucb\""]);
    for field in ["greed = 0.5", "target = { kappa = 2.0 }", "randomise = 0.1"] {
        let code = format!("kind = \"code\"\n{field}\nradius = {{ kind = \"per-arm\" }}");
        let arms = experiment("horizon = 10", "kind = \"k-armed\"\nactions = 3", &[&code]);
        assert!(
            matches!(
                ArmsTheory::check(&arms, NonZeroUsize::MIN, &()),
                Err(TheoryError::Unsuited(_))
            ),
            "{field}"
        );
    }
    for error in [
        ArmsTheory::check(&other, NonZeroUsize::MIN, &()).unwrap_err(),
        LinearTheory::check(&other, NonZeroUsize::MIN, &()).unwrap_err(),
    ] {
        assert!(matches!(error, TheoryError::Unsuited(_)), "{error}");
    }
}
