use crate::support::synthetic;
use plausibly_paper::{Claim, Verdict, claims};

/// An experiment on which every claim of the paper holds.
const AS_CLAIMED: [(&str, f64, f64); 6] = [
    ("CODE", 200.0, 50.0),
    ("LinUCB", 250.0, 130.0),
    ("LinTS", 60.0, 900.0),
    ("Elim", 3000.0, 110.0),
    ("ε-greedy", 1400.0, 200.0),
    ("EtC", 1300.0, 115.0),
];

/// The same with one policy's figures changed.
fn with(label: &str, regret: f64, model_error: f64) -> [(&'static str, f64, f64); 6] {
    AS_CLAIMED
        .map(|(name, r, e)| if name == label { (name, regret, model_error) } else { (name, r, e) })
}

fn verdict(study: &str, policies: &[(&str, f64, f64)], spread: f64, key: &str) -> Verdict {
    let found = claims(study, &synthetic(policies, 50, spread));
    found.iter().find(|claim| claim.key == key).map(|claim: &Claim| claim.verdict).unwrap()
}

#[test]
fn every_claim_holds_where_it_is_true() {
    for (study, keys) in [("linear", "a b c d e"), ("wine", "d"), ("heart", "h m")] {
        for key in keys.split(' ') {
            assert_eq!(verdict(study, &AS_CLAIMED, 0.2, key), Verdict::Holds, "{study} ({key})");
        }
    }
    // LinTS alone below CODE.
    assert_eq!(verdict("wine", &AS_CLAIMED, 0.2, "w"), Verdict::Holds);
}

#[test]
fn every_claim_fails_where_it_is_false() {
    let fails = |study: &str, key: &str, policies: [(&str, f64, f64); 6]| {
        assert_eq!(verdict(study, &policies, 0.2, key), Verdict::DoesNotHold, "{study} ({key})");
    };
    fails("linear", "a", with("CODE", 800.0, 50.0));
    fails("linear", "a", with("LinUCB", 20_000.0, 60.0));
    fails("linear", "b", with("EtC", 100.0, 80.0));
    fails("linear", "c", with("LinTS", 400.0, 900.0));
    fails("linear", "d", with("LinUCB", 250.0, 40.0));
    fails("linear", "e", with("ε-greedy", 1400.0, 75.0));
    // To the letter, among all methods, LinUCB must not come before them.
    fails("linear", "e′", with("LinUCB", 250.0, 60.0));
    fails("wine", "w", with("ε-greedy", 150.0, 120.0));
    fails("wine", "w", with("LinTS", 400.0, 900.0));
    fails("heart", "h", with("Elim", 500.0, 70.0));
    // Lowest, but not by a factor of two.
    fails("heart", "m", with("LinUCB", 250.0, 60.0));
}

#[test]
fn noise_leaves_claims_undecided_and_never_turned() {
    // The truth of every claim, under noise that hides it.
    for (study, key) in [
        ("linear", "a"),
        ("linear", "b"),
        ("linear", "d"),
        ("linear", "e"),
        ("wine", "w"),
        ("heart", "m"),
    ] {
        let found = claims(study, &synthetic(&AS_CLAIMED, 3, 3.0));
        let claim = found.iter().find(|claim| claim.key == key).unwrap();
        assert_eq!(claim.verdict, Verdict::Undecided, "{study} ({key})");
        assert!(claim.deciding().is_some_and(|evidence| evidence.verdict == Verdict::Undecided));
    }
}

#[test]
fn the_paper_states_nineteen_claims() {
    let count = |study: &str| {
        claims(study, &synthetic(&AS_CLAIMED, 5, 0.1)).iter().filter(|claim| claim.stated).count()
    };
    assert_eq!(
        ["linear", "changing", "movielens", "wine", "heart", "k-armed"].map(count),
        [5, 5, 5, 2, 2, 0]
    );
}

#[test]
fn policies_that_did_not_play_are_left_out_of_claims() {
    let found = claims("linear", &synthetic(&AS_CLAIMED[..2], 20, 0.1));
    let keys: Vec<&str> = found.iter().map(|claim| claim.key).collect();
    assert_eq!(keys, ["a", "d"]);
}
