use crate::report::reproduction;
use crate::support::{assert_sound, synthetic, words};
use plausibly_paper::{
    CONFIDENCE, DelayFinding, Late, Measure, Measured, Paired, Reproduction, Rule, Verdict,
    delay_findings,
};

/// A comparison in which counting divides regret and model error by these; with no spread every run
/// is the same.
fn late_by(
    rounds: u64,
    (study, variant, spec_name): (&'static str, &'static str, &'static str),
    (regret, model_error): (f64, f64),
    spread: f64,
) -> Late {
    let policies = [
        ("CODE, counting", 200.0, 50.0),
        ("CODE, ignoring", 200.0 * regret, 50.0 * model_error),
        ("c=0.3, counting", 100.0, 60.0),
        ("c=0.3, ignoring", 100.0 * regret, 60.0 * model_error),
        ("LinUCB", 250.0, 130.0),
    ];
    let spec = format!("name = \"{spec_name}\"\n");
    let summary = synthetic(&policies, 40, spread);
    Late {
        rounds,
        measured: Measured {
            study,
            variant: Some(variant),
            spec_name,
            spec,
            horizon: 100,
            summary,
        },
    }
}

/// One problem where counting helps, and one where it does harm to one figure and nothing certain
/// to the other.
pub(crate) fn late() -> Vec<Late> {
    let (linear, changing) = ("the reproduction’s width", "a valid radius");
    vec![
        late_by(1, ("linear", linear, "delay-linear-1"), (1.0, 1.0), 0.0),
        late_by(10, ("linear", linear, "delay-linear-10"), (1.5, 3.0), 0.1),
        late_by(100, ("linear", linear, "delay-linear-100"), (1.05, 2.0), 0.1),
        late_by(1, ("changing", changing, "delay-changing-valid-1"), (1.0, 1.0), 0.0),
        late_by(10, ("changing", changing, "delay-changing-valid-10"), (0.7, 1.0), 0.1),
    ]
}

fn found<'a>(findings: &'a [DelayFinding], spec_name: &str, measure: Measure) -> &'a DelayFinding {
    let wanted = |finding: &&DelayFinding| {
        (finding.spec_name, finding.policy, finding.measure) == (spec_name, "CODE", measure)
    };
    findings.iter().find(wanted).unwrap()
}

#[test]
fn verdicts_are_known_where_the_truth_is() {
    let findings = delay_findings(&late());
    // Five comparisons, two policies, two figures.
    assert_eq!(findings.len(), 20);
    for (spec_name, measure, same, verdict, large) in [
        ("delay-linear-1", Measure::Regret, true, Verdict::DoesNotHold, false),
        ("delay-linear-1", Measure::ModelError, true, Verdict::DoesNotHold, false),
        ("delay-linear-10", Measure::Regret, false, Verdict::Holds, true),
        ("delay-linear-10", Measure::ModelError, false, Verdict::Holds, true),
        ("delay-linear-100", Measure::Regret, false, Verdict::Holds, false),
        ("delay-changing-valid-10", Measure::Regret, false, Verdict::DoesNotHold, true),
        ("delay-changing-valid-10", Measure::ModelError, false, Verdict::Undecided, false),
    ] {
        let finding = found(&findings, spec_name, measure);
        let what = (finding.same, finding.verdict, finding.large());
        assert_eq!(what, (same, verdict, large), "{spec_name}, {measure:?}: {finding:?}");
        assert_eq!(finding.evidence.verdict, verdict);
    }
    let same = found(&findings, "delay-linear-1", Measure::Regret).evidence.ratio;
    assert_eq!((same.low.to_bits(), same.high.to_bits()), (1.0_f64.to_bits(), 1.0_f64.to_bits()));
}

#[test]
fn the_intervals_of_all_late_comparisons_hold_together() {
    let late = late();
    let findings = delay_findings(&late);
    // Three delays above one round, two policies, two figures; at one round there is nothing to
    // find out.
    let confidence = 1.0 - (1.0 - CONFIDENCE) / 12.0;
    for one in late.iter().filter(|one| one.rounds > 1) {
        let summary = &one.measured.summary;
        let labels: Vec<String> =
            summary.policies.iter().map(|policy| policy.label.clone()).collect();
        let alone = Paired { labels: &labels, moments: &summary.final_regret }
            .judge_at(&[("CODE, ignoring", "CODE, counting", Rule::Above(1.0))], confidence);
        assert_eq!(found(&findings, one.measured.spec_name, Measure::Regret).evidence, alone[0]);
    }
    assert!(delay_findings(&[]).is_empty());
}

#[test]
fn policies_that_did_not_play_both_ways_are_passed_over() {
    let mut late = late();
    for one in &mut late {
        one.measured.summary.policies[3].label = "c=0.3, otherwise".into();
    }
    let findings = delay_findings(&late);
    assert!(findings.len() == 10 && findings.iter().all(|finding| finding.policy == "CODE"));
}

#[test]
fn a_report_on_late_rewards_alone_answers_its_own_question() {
    let report = Reproduction {
        experiments: Vec::new(),
        skipped: Vec::new(),
        policy_readings: None,
        ruler_reading: None,
        problem_readings: Vec::new(),
        frontier: Vec::new(),
        differences: Vec::new(),
        arms_theory: Vec::new(),
        linear_theory: None,
        ..reproduction()
    };
    let page = report.html();
    assert_sound(&page);
    assert_eq!(page, report.html(), "the same contents, the same bytes");
    assert_eq!(page.matches("<svg class=\"levels\"").count(), 4);
    let words = words(&page);
    assert!(
        !words.contains("Does the paper hold up?") && !words.contains("How the paper was read")
    );
    insta::assert_snapshot!("delay_words", words);
}

#[test]
fn what_is_said_follows_the_numbers() {
    // Counting harms everywhere: no sentence may say that it helps.
    let name = |spec_name| ("linear", "a valid radius", spec_name);
    let delay = vec![
        late_by(10, name("delay-linear-valid-10"), (0.5, 0.5), 0.1),
        late_by(100, name("delay-linear-valid-100"), (0.6, 0.6), 0.1),
    ];
    let page = words(&Reproduction { delay, ..reproduction() }.html()).replace('\n', "");
    assert!(page.contains(
        "Of 2 comparisons with late rewards, counting pending decisions lowered CODE’s regret in \
         none, raised it in 2 (by more than a tenth in 2) and left none undecided."
    ));
    assert!(page.contains("Counting lowers the regret nowhere for certain."));
    assert!(page.contains(
        "Counting raises the regret most for CODE, Linear, a valid radius, 10 \
                           rounds late: ignoring / counting = 0.5"
    ));
    assert!(
        !page.contains("At a delay of one round nothing is pending"),
        "nothing was played one round late"
    );
}
