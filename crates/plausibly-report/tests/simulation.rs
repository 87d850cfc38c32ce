use crate::decisions::xml;
use crate::support::{assert_sound, synthetic, words};
use plausibly_report::Simulation;
use plausibly_sim::Summary;

fn shown<'a>(summary: &'a Summary, name: &'a str) -> Simulation<'a> {
    Simulation {
        name,
        spec: "name = \"two & more\" # <not a tag>\n",
        spec_file: "two.toml",
        command: "plausibly simulate two.toml --seed 3",
        seed: 3,
        horizon: 100,
        summary,
    }
}

#[test]
fn a_comparison_is_a_page_that_explains_itself() {
    let summary = synthetic(&[("CODE", 200.0, 50.0), ("LinTS <b>", 60.0, 900.0)], 40, 0.2);
    let page = shown(&summary, "two & more").html();
    assert_sound(&page);
    assert!(
        page.contains("<title>two &amp; more – Plausibly</title>")
            && page.contains("&lt;not a tag&gt;")
    );
    insta::assert_snapshot!("simulation_words", words(&page));
    assert_eq!(page, shown(&summary, "two & more").html(), "the same contents, the same bytes");
}

#[test]
fn pictures_are_files_of_their_own() {
    let summary = synthetic(&[("CODE", 200.0, 50.0), ("a & <b> \"c\"", 60.0, 900.0)], 40, 0.2);
    let shown = shown(&summary, "two & more");
    for svg in [shown.regret_svg(), shown.model_error_svg()] {
        xml::well_formed(&svg);
        assert!(
            svg.starts_with(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" data-generator=\"plausibly "
            )
        );
        assert!(!svg.contains("var(") && !svg.contains("<script"), "drawing programs know neither");
    }
}

#[test]
fn many_policies_one_run_and_figures_of_zero_are_drawn() {
    let labels: Vec<String> = (0..60).map(|i| format!("policy {i} of a very long name")).collect();
    let policies: Vec<(&str, f64, f64)> =
        labels.iter().map(|label| (label.as_str(), 0.0, 1.0)).collect();
    for (count, runs) in [(60, 1), (19, 3), (1, 2)] {
        let summary = synthetic(&policies[..count], runs, 0.2);
        let shown = shown(&summary, "many");
        assert_sound(&shown.html());
        xml::well_formed(&shown.regret_svg());
    }
}

#[test]
fn the_table_for_papers_is_escaped() {
    let summary =
        synthetic(&[("ε-greedy, 5 %", 12_345.0, 0.002), ("A_1 & \\B", 60.0, 900.0)], 40, 0.2);
    insta::assert_snapshot!(
        "latex",
        shown(&summary, "two\nlines").latex().replace(env!("CARGO_PKG_VERSION"), "VERSION")
    );
}
