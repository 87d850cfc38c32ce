use crate::report::nothing;
use crate::support::{assert_sound, synthetic, words};
use plausibly_paper::{Measured, Reproduction, Ruled, Verdict, differences_findings};

/// A pair in which differences multiply regret by the first factor, and model error by the others:
/// by intervals, and by differences.
fn pair(
    (study, variant): (&'static str, &'static str),
    spec_names: [&'static str; 2],
    (regret, errors): (f64, [f64; 2]),
) -> Vec<Ruled> {
    let one = |ruler, spec_name, error: f64| {
        let policies = [("CODE, differences", 200.0 * regret, 50.0 * error), ("CODE", 200.0, 50.0)];
        let spec = format!("name = \"{spec_name}\"\n");
        let summary = synthetic(&policies, 40, 0.1);
        let measured =
            Measured { study, variant: Some(variant), spec_name, spec, horizon: 100, summary };
        Ruled { ruler, measured }
    };
    vec![one("intervals", spec_names[0], errors[0]), one("differences", spec_names[1], errors[1])]
}

/// The first problem with both widths, and another one on which differences do harm.
pub(crate) fn ruled() -> Vec<Ruled> {
    let (same, valid) = ("the reproduction’s width", "a valid radius");
    [
        pair(("linear", same), ["differences-linear-i", "differences-linear-d"], (0.5, [1.2, 0.9])),
        pair(("linear", valid), ["differences-valid-i", "differences-valid-d"], (0.5, [1.6, 1.0])),
        pair(("heart", valid), ["differences-heart-i", "differences-heart-d"], (1.5, [1.3, 1.0])),
    ]
    .concat()
}

#[test]
fn verdicts_are_known_where_the_truth_is() {
    use Verdict::{DoesNotHold, Holds, Undecided};
    let findings = differences_findings(&ruled());
    let verdicts: Vec<Verdict> = findings.iter().map(|finding| finding.evidence.verdict).collect();
    // Regret, model error by intervals, model error by differences. Half the regret is little
    // enough for one width, and too much for the valid radii of the first experiment.
    assert_eq!(
        verdicts,
        [Holds, Holds, Holds, DoesNotHold, DoesNotHold, Holds, DoesNotHold, Undecided, Holds]
    );
    assert!(findings[3].statement.contains("0.35") && !findings[6].statement.contains("0.35"));
}

#[test]
fn a_report_on_differences_alone_answers_its_own_question() {
    let report = Reproduction { differences: ruled(), ..nothing() };
    let page = report.html();
    assert_sound(&page);
    assert_eq!(page, report.html(), "the same contents, the same bytes");
    assert_eq!(page.matches("<svg class=\"curves\"").count(), 9);
    let words = words(&page);
    assert!(!words.contains("Does the paper hold up?"));
    insta::assert_snapshot!("differences_words", words);
}
