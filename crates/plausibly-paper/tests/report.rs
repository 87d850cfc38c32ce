use crate::support::{assert_sound, synthetic, words};
use plausibly_paper::{
    ArmsTheory, Checked, LinearTheory, Measured, Reading, Reproduction, Skipped, YesNo,
};
use plausibly_sim::{Experiment, Overrides};
use std::num::NonZeroUsize;

fn measured(
    study: &'static str,
    variant: Option<&'static str>,
    spec_name: &'static str,
    extra: &[(&str, f64, f64)],
) -> Measured {
    let mut policies = vec![
        ("CODE", 200.0, 50.0),
        ("LinUCB", 250.0, 130.0),
        ("LinTS", 60.0, 900.0),
        ("Elim", 3000.0, 110.0),
        ("ε-greedy", 1400.0, 75.0),
        ("EtC", 1300.0, 115.0),
    ];
    policies.extend_from_slice(extra);
    let spec = format!("name = \"{spec_name}\" # <not a tag> & \"quoted\"\n");
    Measured {
        study,
        variant,
        spec_name,
        spec,
        horizon: 100,
        summary: synthetic(&policies, 40, 0.2),
    }
}

fn experiment(text: &str) -> Experiment {
    Experiment::from_toml(text, Overrides::default(), &()).unwrap()
}

/// A reproduction with something of everything.
pub(crate) fn reproduction() -> Reproduction {
    let arms = |horizon: u64, delta: &str| {
        let spec = format!(
            "runs = 20\nhorizon = {horizon}\n[environment]\nkind = \"k-armed\"\nactions = 4\n\
             [[policy]]\nkind = \"code\"\nradius = {{ kind = \"per-arm\", delta = {delta} }}"
        );
        ArmsTheory::check(&experiment(&spec), NonZeroUsize::MIN, &()).unwrap()
    };
    let linear = "runs = 10\nhorizon = 300\n[environment]\nkind = \"linear\"\ndim = 2\nactions = \
                  8\n[[policy]]\nkind = \"code\"\nexclusion = \"intervals\"\n\
                  ridge = 1.0\nradius = { kind = \"determinant\", \
                  theta_norm_bound = 5.0 }";
    let linear = LinearTheory::check(&experiment(linear), NonZeroUsize::MIN, &()).unwrap();
    let readings = [
        ("CODE, literal", 9000.0, 20_000.0),
        ("LinUCB, CODE’s width", 50.0, 900.0),
        ("LinTS, scale 1", 80.0, 100.0),
        ("ε-greedy, by design", 1400.0, 60.0),
        ("EtC, by design", 1300.0, 62.0),
    ];
    let frontier = [("c=0.3", 120.0, 52.0), ("c=1", 60.0, 400.0), ("κ=4", 70.0, 90.0)];
    let checked = |spec_name, theory| Checked { spec_name, spec: "# spec\n".into(), theory };
    Reproduction {
        version: "0.0.0",
        command: "plausibly reproduce --seed 1".into(),
        seed: 1,
        quick: true,
        reading: Reading::Adopted,
        experiments: vec![
            measured("linear", None, "linear", &[]),
            measured("heart", None, "heart", &[]),
        ],
        skipped: vec![Skipped {
            study: "wine",
            reason: "Its data are missing: <no server> answered.".into(),
            remedy: "Try again.".into(),
        }],
        policy_readings: Some(measured("linear", Some("policies"), "linear-readings", &readings)),
        ruler_reading: Some(measured("linear", Some("another ruler"), "linear-ruler", &[])),
        problem_readings: vec![measured(
            "heart",
            Some("survival as the reward"),
            "heart-survival",
            &[],
        )],
        delay: crate::delay::late(),
        differences: crate::differences::ruled(),
        verdicts: Vec::new(),
        yes_no: YesNo::default(),
        frontier: vec![measured("linear", Some("a valid radius"), "frontier-linear", &frontier)],
        arms_theory: vec![
            checked("theory-arms", arms(2000, "1e-9")),
            checked("theory-lemma-1", arms(100, "1e-4")),
        ],
        linear_theory: Some(Checked {
            spec_name: "theory-linear",
            spec: "# spec\n".into(),
            theory: linear,
        }),
    }
}

#[test]
fn the_page_says_what_was_found() {
    let page = reproduction().html();
    insta::assert_snapshot!("words", words(&page));
}

#[test]
fn the_page_is_sound_and_asks_nobody() {
    let page = reproduction().html();
    assert_eq!(page, reproduction().html(), "the same contents, the same bytes");
    assert_sound(&page);
    assert!(
        page.contains("&lt;no server&gt; answered")
            && page.contains("# &lt;not a tag&gt; &amp; &quot;quoted&quot;")
    );
}

#[test]
fn a_report_on_nothing_still_says_so() {
    let empty = Reproduction {
        experiments: Vec::new(),
        policy_readings: None,
        ruler_reading: None,
        problem_readings: Vec::new(),
        frontier: Vec::new(),
        delay: Vec::new(),
        differences: Vec::new(),
        arms_theory: Vec::new(),
        linear_theory: None,
        reading: Reading::Literal,
        ..reproduction()
    };
    let words = words(&empty.html());
    assert!(
        words.contains("makes no claims about what was run here")
            && words.contains("White wine was skipped.")
    );
}

/// A reproduction of nothing, to add to.
pub(crate) fn nothing() -> Reproduction {
    Reproduction {
        experiments: Vec::new(),
        skipped: Vec::new(),
        policy_readings: None,
        ruler_reading: None,
        problem_readings: Vec::new(),
        frontier: Vec::new(),
        delay: Vec::new(),
        differences: Vec::new(),
        arms_theory: Vec::new(),
        linear_theory: None,
        ..reproduction()
    }
}

#[test]
fn a_report_on_the_frontier_alone_is_about_the_frontier() {
    for delay in [Vec::new(), crate::delay::late()] {
        let page = Reproduction { frontier: reproduction().frontier, delay, ..nothing() }.html();
        assert_sound(&page);
        assert!(page.contains("<title>Between CODE and LinUCB – Plausibly</title>"));
        let words = words(&page);
        assert!(words.contains("Is there something better between CODE and LinUCB?"), "{words}");
        for of_the_paper in ["Does the paper hold up?", "How the paper was read", "makes no claims"]
        {
            assert!(!words.contains(of_the_paper), "{of_the_paper}");
        }
    }
}

#[test]
fn every_part_of_a_report_stands_by_itself() {
    let whole = reproduction();
    let experiments = |study| vec![measured(study, None, study, &[])];
    for part in [
        Reproduction { experiments: experiments("changing"), ..nothing() },
        Reproduction { experiments: experiments("k-armed"), ..nothing() },
        Reproduction {
            experiments: experiments("linear"),
            ruler_reading: whole.ruler_reading.clone(),
            policy_readings: whole.policy_readings.clone(),
            ..nothing()
        },
        Reproduction {
            experiments: experiments("wine"),
            problem_readings: vec![measured("wine", Some("raw"), "wine-raw", &[])],
            ..nothing()
        },
        Reproduction { delay: crate::delay::late(), ..nothing() },
        Reproduction { yes_no: crate::yes_no::measured(), ..nothing() },
        Reproduction {
            delay: crate::delay::late(),
            differences: crate::differences::ruled(),
            ..nothing()
        },
        Reproduction { experiments: experiments("linear"), reading: Reading::Literal, ..nothing() },
    ] {
        let page = part.html();
        assert_sound(&page);
        assert!(
            !words(&page).trim_end().ends_with("These are the others:"),
            "and then there are none"
        );
    }
}

#[test]
fn the_claim_that_chose_the_reading_is_not_counted() {
    let of = |reading| {
        let part = Reproduction {
            experiments: vec![measured("linear", None, "linear", &[])],
            reading,
            ..nothing()
        };
        (part.tally(), words(&part.html()))
    };
    let (adopted, page) = of(Reading::Adopted);
    let (literal, _) = of(Reading::Literal);
    assert!(adopted.chose_reading && !literal.chose_reading);
    // (a) holds here, and is the difference.
    assert_eq!(
        (adopted.hold + 1, adopted.fail, adopted.open),
        (literal.hold, literal.fail, literal.open)
    );
    assert_eq!((adopted.counted(), literal.counted()), (4, 5));
    assert!(page.contains("Not counted: (a) on Linear."), "{page}");
}

#[test]
fn the_first_table_says_that_d_depends_on_the_ruler() {
    let mut whole = reproduction();
    // By the valid ruler CODE comes last.
    whole.ruler_reading = Some(measured("linear", Some("another ruler"), "linear-ruler", &[]));
    let mut turned = synthetic(
        &[
            ("CODE", 200.0, 990.0),
            ("LinUCB", 250.0, 130.0),
            ("LinTS", 60.0, 900.0),
            ("Elim", 3000.0, 110.0),
            ("ε-greedy", 1400.0, 75.0),
            ("EtC", 1300.0, 115.0),
        ],
        40,
        0.2,
    );
    std::mem::swap(&mut whole.ruler_reading.as_mut().unwrap().summary, &mut turned);
    let page = whole.html();
    let (_, table) = page.split_once("<table class=\"matrix\">").unwrap();
    let (table, _) = table.split_once("</table>").unwrap();
    assert!(
        table.contains("(d) depends on the ruler.") && table.contains("Linear, valid ruler"),
        "{table}"
    );
    assert!(
        !reproduction().html().contains("(d) depends on the ruler."),
        "unless it does not turn"
    );
}
