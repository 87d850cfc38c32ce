//! Results whose truth is known, and checks of any page. The tests of `plausibly-paper` use this
//! file too.

use plausibly_sim::{JointMoments, Moments, Point, PolicySummary, Summary};
use std::collections::BTreeSet;

/// A summary of policies whose regret and model error at the only round are drawn around these
/// means: labels with `(regret, model error)`, and a relative spread between runs.
pub(crate) fn synthetic(policies: &[(&str, f64, f64)], runs: u32, spread: f64) -> Summary {
    let mut final_regret = JointMoments::new(policies.len());
    let mut final_model_error = JointMoments::new(policies.len());
    let mut points = vec![Point::default(); policies.len()];
    for run in 0..runs {
        // Deterministic, centred, different for every policy, with a shared part that pairing
        // removes.
        let shared = (f64::from(run) * 2.4).sin();
        let draw = |mean: f64, policy: usize| {
            let own = (f64::from(run) * (3.1 + policy as f64)).sin();
            mean * (1.0 + spread * (shared + 0.3 * own))
        };
        let of = |pick: fn(&(&str, f64, f64)) -> f64, offset: usize| -> Vec<f64> {
            policies.iter().enumerate().map(|(i, policy)| draw(pick(policy), i + offset)).collect()
        };
        let (regrets, errors) = (of(|policy| policy.1, 0), of(|policy| policy.2, 10));
        final_regret.add(&regrets);
        final_model_error.add(&errors);
        let add = |moments: &mut Moments, value: f64| moments.add(value);
        for ((point, regret), error) in points.iter_mut().zip(regrets).zip(errors) {
            add(&mut point.regret, regret);
            add(&mut point.model_error, error);
            add(&mut point.plausible, 2.0);
        }
    }
    let policies = policies.iter().zip(points).map(|((label, ..), point)| PolicySummary {
        label: (*label).into(),
        points: vec![point],
        runs_left: 1,
    });
    Summary {
        runs: u64::from(runs),
        rounds: vec![100],
        policies: policies.collect(),
        final_regret,
        final_model_error,
    }
}

/// Removes everything between two marks, and keeps the marks.
fn without(page: &str, from: &str, to: &str) -> String {
    let mut kept = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(from) {
        let (_, after) = after.split_once(to).unwrap();
        kept.push_str(before);
        kept.push_str(from);
        kept.push_str(to);
        rest = after;
    }
    kept + rest
}

/// The text of a page without drawings, styles and scripts, one line per piece of text.
pub(crate) fn words(page: &str) -> String {
    let page = without(page, "<style>", "</style>");
    let page = without(&page, "<script", "</script>");
    let page = without(&page, "<svg", "</svg>");
    let lines = page.replace("</", "\n</").replace('<', "\n<").replace('>', ">\n");
    let text = lines.lines().filter(|line| !line.starts_with('<') && !line.trim().is_empty());
    text.collect::<Vec<_>>().join("\n")
}

/// Values of an attribute.
fn attributes<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let open = format!(" {name}=\"");
    page.split(open.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

/// Checks that every link leads to a place in the page, nothing is loaded, and every element is
/// closed.
pub(crate) fn assert_sound(page: &str) {
    let ids = attributes(page, "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an id is used twice");
    let links = attributes(page, "href");
    assert!(links.len() > 3);
    for link in links.iter().filter(|link| **link != "data:,") {
        let target =
            link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads out of the page"));
        assert!(unique.contains(target), "{link} leads nowhere");
    }
    for outside in [" src=", "url(", "@import", "http:", "https:", "fetch(", "XMLHttp"] {
        assert!(!page.contains(outside), "{outside}");
    }
    for body in page.split("<tbody>").skip(1) {
        assert!(body.starts_with("<tr"), "a table is empty: {}", &body[..80.min(body.len())]);
    }
    for tag in [
        "table", "div", "section", "svg", "details", "tr", "td", "th", "figure", "script", "span",
        "p", "ul", "li",
    ] {
        let opened =
            page.matches(&format!("<{tag}>")).count() + page.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, page.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}
