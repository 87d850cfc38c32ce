//! The sentences of a certificate agree with one another, and a reader can check their arithmetic.

use super::{Memory, open, plan, play};
use plausibly_log::certificate::{Certificate, Reason};

/// What the sentences cover.
#[derive(Default)]
struct Covered {
    cut: usize,
    whole: usize,
    one_pending: usize,
    reached: usize,
    reached_with_pending: usize,
}

/// The text between two others.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(before)?;
    Some(rest.split_once(after)?.0)
}

/// A number as it is printed; rates and their differences have a unit.
fn number(text: &str) -> f64 {
    text.trim_end_matches(" %").trim_end_matches(" points").parse().unwrap()
}

impl Covered {
    fn counts(&self) -> [usize; 5] {
        [self.cut, self.whole, self.one_pending, self.reached, self.reached_with_pending]
    }

    /// The printed numbers of the fall that would put the chosen action out of the race add up.
    fn check_fall(&mut self, change: &str) {
        let Some(by) = between(change, "fall by more than ", ", to below ") else { return };
        let below = between(change, ", to below ", ", the highest").unwrap();
        let whole = between(change, "Its \"at most\" (", ")");
        let upper = whole.or_else(|| between(change, "Its \"at most\", ", " before")).unwrap();
        *(if whole.is_some() { &mut self.whole } else { &mut self.cut }) += 1;
        let [upper, by, below] = [upper, by, below].map(number);
        assert!((upper - by - below).abs() < 1e-9, "{change}");
    }

    /// The reason for the choice and the statement about the target say the same.
    fn check_target(&mut self, certificate: &Certificate) {
        let Some(target) = &certificate.findings.target else { return };
        let (why, sure) =
            (certificate.words().why().join(" "), certificate.words().how_sure().join(" "));
        let promising = certificate.findings.chosen.reason == Reason::MostPromising;
        let kappa = certificate.grounds.policy["target"].get("kappa").is_some();
        let name =
            if kappa { "the target you set (kappa" } else { "the accuracy you asked for (±" };
        assert!(sure.contains(name) && why.contains(name) == promising, "{why} {sure}");
        match (promising, target.met) {
            (true, true) => {
                self.reached += 1;
                assert!(why.starts_with("At present") && sure.contains("At present"), "{why}");
                assert!(why.contains(") is reached") && sure.contains(") is reached"), "{sure}");
            }
            (true, false) => {
                self.reached_with_pending += 1;
                assert!(why.starts_with("Counting tries with pending outcomes"), "{why}");
                assert!(sure.contains("counting tries with pending outcomes, it is"), "{sure}");
            }
            (false, met) => {
                let said = if met { ") is reached." } else { ") is not reached." };
                assert!(sure.contains(said), "{sure}");
            }
        }
    }

    fn check(&mut self, certificate: &Certificate) {
        let words = certificate.words();
        self.check_fall(&words.change());
        self.check_target(certificate);
        let text = words.to_string();
        for wrong in ["; 1 more are", " 1 outcomes", " 1 tries", " 1 more tries"] {
            assert!(!text.contains(wrong), "{text}");
        }
        self.one_pending += usize::from(text.contains("1 more is still to come"));
    }
}

#[test]
fn sentences_agree_and_their_numbers_add_up() {
    let mut covered = Covered::default();
    // Longer, if a kind of sentence is rare.
    for seed in 0..4000 {
        if seed >= 400 && covered.counts().iter().all(|count| *count > 0) {
            break;
        }
        let plan = plan(seed, (10, 8), 40);
        for certificate in play(&mut open(&Memory::default()), &plan) {
            covered.check(&certificate);
        }
    }
    let counts = covered.counts();
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
}
