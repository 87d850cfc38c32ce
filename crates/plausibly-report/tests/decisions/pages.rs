use super::{Scene, hostile_names};
use plausibly_log::Status;
use plausibly_log::certificate::{Certificate, Standing};
use plausibly_report::{certificate_page, status_page};

/// What the certificate's words say, without their headings.
fn sentences(certificate: &Certificate) -> Vec<String> {
    let words = certificate.words();
    [words.why(), vec![words.change()], words.how_sure(), words.conditions(), words.known()]
        .concat()
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[test]
fn a_certificate_says_what_its_words_say() {
    for scene in
        [Scene::drinks(40), Scene::drinks(600), Scene::subjects(6), Scene::articles(80, 30)]
    {
        let certificate = scene.play().last;
        let page = certificate_page(&certificate);
        for sentence in sentences(&certificate) {
            assert!(page.contains(&escaped(&sentence)), "{sentence}");
        }
        for action in &certificate.findings.actions {
            assert!(page.contains(&escaped(&action.label)), "{} is missing", action.label);
        }
        for digest in [&certificate.grounds.log.id, &certificate.grounds.digest, &certificate.seal]
        {
            assert!(page.contains(digest.as_str()));
        }
    }
}

#[test]
fn the_chosen_one_is_marked_and_those_out_are_too() {
    let certificate = Scene::drinks(600).play().last;
    let page = certificate_page(&certificate);
    let label = &certificate.findings.chosen.label;
    assert!(
        page.contains(&format!("<th scope=\"row\">{label} <span class=\"badge\">chosen</span>"))
    );
    assert_eq!(
        page.matches("<g class=\"row chosen\"><title>").count(),
        2,
        "in the wide and the narrow drawing"
    );
    let out = certificate
        .findings
        .actions
        .iter()
        .filter(|action| action.standing != Standing::Plausible)
        .count();
    assert!(out > 0);
    assert_eq!(page.matches("<g class=\"row out\">").count(), 2 * out);
    assert!(page.matches(", behind by ").count() >= 2 * out, "in both drawings");
    assert!(!page.contains("bars that end left of this line are out"), "ranges do not decide");
}

#[test]
fn an_action_without_outcomes_has_an_open_bar_and_no_estimate() {
    let page = certificate_page(&Scene::subjects(3).play().last);
    assert!(page.contains("<g class=\"row racing unknown\">") && page.contains("no outcome yet"));
    let row = page
        .split("<g class=\"row racing unknown\">")
        .nth(1)
        .unwrap()
        .split("</g>")
        .next()
        .unwrap();
    assert_eq!(
        (row.matches("class=\"tip\"").count(), row.matches("class=\"point\"").count()),
        (2, 0),
        "{row}"
    );
}

#[test]
fn a_partial_certificate_says_what_it_leaves_out() {
    let certificate = Scene::articles(150, 60).play().last;
    let page = certificate_page(&certificate);
    assert!(
        page.contains(" that the certificate does not list") && page.contains("more are not drawn")
    );
    assert_eq!(page.matches("<g class=\"row ").count(), 2 * 40);
}

#[test]
fn names_are_text_whatever_they_hold() {
    let played = Scene::hostile(120).play();
    for page in [certificate_page(&played.last), status_page(&played.status(50))] {
        assert!(
            !page.contains("<script") && !page.contains("<img") && !page.contains("</title></svg>"),
            "markup came through"
        );
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(
            !page.chars().any(|c| matches!(c, '\u{1b}' | '\u{7}' | '\u{202e}')),
            "controls came through"
        );
        assert!(page.contains("blank (U+200B U+200B)"));
        assert!(page.contains(&hostile_names()[5]), "a long name stands somewhere in full");
        assert!(page.contains('\u{2068}'), "what runs from right to left is set apart");
    }
}

#[test]
fn pages_need_nothing_from_anywhere() {
    let played = Scene::subjects(20).play();
    for page in [certificate_page(&played.last), status_page(&played.status(50))] {
        assert_eq!(page.matches("http").count(), page.matches("http-equiv").count());
        assert!(
            !page.contains("<script")
                && page.contains("default-src 'none'")
                && !page.contains("script-src")
        );
    }
    assert_eq!(status_page(&played.status(50)), status_page(&played.status(50)), "the same bytes");
}

fn said_of_out(status: &Status) -> Vec<String> {
    let page = status_page(status);
    let list = page.split("Out of the race").nth(1).unwrap().split("</section>").next().unwrap();
    list.split("<li>").skip(1).map(String::from).collect()
}

#[test]
fn a_status_says_since_when_actions_are_out_as_exactly_as_it_knows() {
    let played = Scene::drinks(600).play();
    let (exact, rough) = (played.status(1000), played.status(10));
    assert!(exact.complete && !rough.complete);
    assert_eq!(said_of_out(&exact).len(), exact.out_since.len());
    assert!(
        said_of_out(&exact)
            .iter()
            .all(|line| line.contains("out since decision ") && line.contains(", by "))
    );
    assert!(said_of_out(&rough).iter().any(|line| line.contains("went out between decisions ")));
}

#[test]
fn a_status_shows_every_action() {
    let status = Scene::articles(150, 60).play().status(20);
    let page = status_page(&status);
    for action in &status.now.findings.actions {
        assert!(page.contains(&action.label), "{} is missing", action.label);
    }
    assert!(page.contains("<span class=\"badge\">would be next</span>"));
}

#[test]
fn a_status_counts_what_is_outstanding_and_lists_the_oldest() {
    let status = Scene::drinks(600).play().status(20);
    let page = status_page(&status);
    assert!(page.contains(&format!("<b>{}</b> pending", status.pending.len())));
    assert!(page.contains(&format!("and {} more", status.pending.len() - 20)));
    assert!(page.contains("82 days"), "the age of the oldest, in words");
}

#[test]
fn what_an_elimination_waits_for_is_said() {
    let mut status = Scene::drinks(40).play().status(50);
    let waits = "waits for 2 outcomes";
    assert!(!status_page(&status).contains(waits));
    status.waiting = vec![9, 18];
    assert!(status_page(&status).contains(waits));
}
