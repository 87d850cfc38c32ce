use super::{Scene, hostile_names, xml};
use plausibly_report::status_svg;

#[test]
fn it_is_well_formed_and_shows_what_it_says() {
    let played = Scene::drinks(600).play();
    let texts = xml::well_formed(&status_svg(&played.status(100)));
    assert!(texts.contains(&"3 of 12 could still be best after 600 decisions".into()), "{texts:?}");
    for name in [
        "Espresso",
        "Sparkling water",
        "How many could still be best",
        "Known to within ±",
        "out of the race",
    ] {
        assert!(texts.iter().any(|text| text == name), "{name} is missing");
    }
    assert!(texts.iter().any(|text| text.contains(", behind by ")), "{texts:?}");
}

#[test]
fn it_is_well_formed_whatever_actions_are_called() {
    let status = Scene::hostile(300).play().status(50);
    let svg = status_svg(&status);
    let texts = xml::well_formed(&svg);
    assert!(
        texts.iter().any(|text| text.starts_with(&hostile_names()[0])),
        "the first name, as text"
    );
    let long = hostile_names()[5].clone();
    assert!(texts.iter().any(|text| text.starts_with(&long)), "whole in a title");
    assert!(!texts.contains(&long), "cut in the picture");
    assert!(!svg.contains("<script") && !svg.contains("<img"));
}

#[test]
fn it_refers_to_nothing() {
    let svg = status_svg(&Scene::subjects(30).play().status(100));
    assert_eq!(svg.matches("http").count(), 1, "the name of the language, and no address");
    assert!(!svg.contains("href") && !svg.contains("url(") && !svg.contains("@import"));
}

#[test]
fn more_actions_than_rows_are_counted() {
    let status = Scene::articles(60, 60).play().status(20);
    let texts = xml::well_formed(&status_svg(&status));
    let drawn =
        texts.iter().filter(|text| text.starts_with("Article") && !text.contains(':')).count();
    assert!(drawn <= 18, "{drawn} rows");
    let listed = status.now.findings.actions.len();
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with(&format!("{} more are not drawn", listed - drawn))),
        "{texts:?}"
    );
}

/// The drawing of a small log: a change of it is looked at before it is kept.
#[test]
fn snapshot() {
    let svg = status_svg(&Scene::subjects(12).play().status(100));
    let body = svg.split("</style>").nth(1).unwrap();
    insta::assert_snapshot!("slide", body.replace("><", ">\n<"));
}
