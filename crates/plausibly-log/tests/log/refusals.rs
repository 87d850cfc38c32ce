//! Bad input: each error names what is wrong, and leaves state and file as they were.

use super::requests::{begun_with, rows};
use super::{Memory, open};
use plausibly_log::event::{Event, Unreported, Window};
use plausibly_log::json;
use plausibly_log::recipe::{Context, Recipe, RecipeError};
use plausibly_log::state::StepError;
use plausibly_log::table::Table;
use plausibly_log::{Among, Asked, Log, LogError, Opening, Recorded, Request};
use serde_json::json;

/// A request that must fail, and words of its error.
type Bad<'a> = (&'a str, Request<'a>, &'a str);

fn refuses(disk: &Memory, log: &mut Log<Memory>, at: i64, all: &[Bad<'_>]) {
    let before = (log.state().cloned(), disk.bytes());
    for (what, request, words) in all {
        let answers = log.batch(at, std::slice::from_ref(request)).unwrap();
        let error = answers.into_iter().next().unwrap().expect_err(what).to_string();
        assert!(error.contains(words), "{what}: {error}");
        assert!((log.state().cloned(), disk.bytes()) == before, "{what} changed something");
    }
    assert!(open(disk).state() == log.state());
}

fn table(text: &str) -> Table {
    Table::read(text.as_bytes()).unwrap()
}

/// A log whose recipe may not grow.
fn without_room(first: &Table, context: &Context) -> (Memory, Log<Memory>) {
    let recipe = Recipe::infer(first, context).unwrap();
    begun_with(Opening { growth: 0, ..Opening::new(recipe, (-1.0, 3.0), 7) })
}

#[test]
fn every_bad_request_is_named_and_changes_nothing() {
    let context = Context::parse(["device=mobile", "hour=8"]).unwrap();
    let first = table("name,price,colour\nmug,4,red\nbowl,6,blue\njug,9,red\n");
    let (disk, mut log) = without_room(&first, &context);
    let asked = |among| Asked::among(among, &context);
    let [one, other, short] = [&*"a".repeat(64), &*"b".repeat(64), &*"a".repeat(63)];
    let ready = Asked { key: Some("k"), request: Some(one), ..asked(Among::Table(&first)) };
    log.take(2, &ready).unwrap();
    for _ in 0..3 {
        log.take(2, &asked(Among::All)).unwrap();
    }
    log.reward(3, 2, 0.5).unwrap();
    log.drop_decision(3, 3).unwrap();
    let by = None;
    let reward = |decision, value: f64| Request::Reward { decision, reward: value.into(), by };
    let named = |names| Request::Decide(asked(Among::Named(names)));
    let colour = table("name,price,colour\nmug,4,green\n");
    let far = table("name,price,colour\nmug,1e9,red\n");
    let nan = table("name,price,colour\nmug,NaN,red\n");
    let key = Context::parse(["device=mobile", "hour=8", "new=1"]).unwrap();
    let category = Context::parse(["device=tv", "hour=8"]).unwrap();
    let in_context = |context| Request::Decide(Asked { context, ..asked(Among::Table(&first)) });
    let ready_again = Asked { request: Some(other), ..ready };
    let no_key = Asked { key: None, ..ready };
    let no_hash = Asked { key: Some("new"), request: Some(short), ..ready };
    let upper = "A".repeat(64);
    let no_digit = Asked { key: Some("new"), request: Some(&upper), ..ready };
    let long = "x".repeat(257);
    let said_by = |by| Request::Decide(Asked { by, ..asked(Among::All) });
    let all: [Bad<'_>; 26] = [
        ("another request", Request::Decide(ready_again), "the key \"k\" belongs to decision 1"),
        ("a hash without a key", Request::Decide(no_key), "it needs a key"),
        ("a short hash", Request::Decide(no_hash), "`request` must be a SHA-256"),
        ("a hash in capitals", Request::Decide(no_digit), "`request` must be a SHA-256"),
        ("a long name", said_by(Some(&long)), "`by` has 1 to 256 bytes"),
        ("a name of two lines", said_by(Some("a\nb")), "a control character"),
        ("no name", said_by(Some("")), "`by` has 1 to 256 bytes"),
        ("by none", Request::Drop { decision: 1, by: Some("") }, "`by` has 1 to 256 bytes"),
        ("after a drop", reward(3, 1.0), "decision 3"),
        ("a different second one", reward(2, 1.0), "has the reward 0.5"),
        ("out of range", reward(1, 3.5), "a reward must be from -1 to 3, got 3.5"),
        ("not a number", reward(1, f64::NAN), "a reward must be from -1 to 3, got NaN"),
        ("without end", reward(1, f64::INFINITY), "got inf"),
        ("no such decision", reward(9, 1.0), "there is no decision 9"),
        ("a drop of a reward", Request::Drop { decision: 2, by }, "has the reward 0.5"),
        ("nothing to retract", Request::Retract { decision: 1, by }, "no reward to retract"),
        ("nothing to undo", Request::Undrop { decision: 2, by }, "it was not dropped"),
        ("unknown", named(&["mug", "vase"]), "there is no action \"vase\""),
        ("none", named(&[]), "nothing to choose from"),
        ("twice", named(&["mug", "bowl", "mug"]), "\"mug\" is offered twice"),
        ("a category", Request::Decide(asked(Among::Table(&colour))), "`colour = green`"),
        ("a key of context", in_context(&key), "`new"),
        ("a category of context", in_context(&category), "`device = tv`"),
        ("beyond the grid", Request::Decide(asked(Among::Table(&far))), "column `price`"),
        ("no number", Request::Decide(asked(Among::Table(&nan))), "`price missing`"),
        (
            "a count",
            Request::Reward { decision: 1, reward: plausibly_log::Reward::counts(1, 2), by },
            "is no outcome of this log",
        ),
    ];
    refuses(&disk, &mut log, 4, &all);
    log.pause(5, None).unwrap();
    refuses(&disk, &mut log, 6, &[("paused", named(&["mug"]), "the log is paused")]);
    // What looks like an error and is none.
    let before = disk.bytes();
    for ready in [Asked { request: Some(one), ..ready }, Asked { request: None, ..ready }] {
        assert_eq!(log.take(6, &ready).unwrap().recorded, Recorded::Before);
    }
    assert_eq!(log.reward(6, 2, 0.5).unwrap(), Recorded::Before);
    assert_eq!(log.drop_decision(6, 3).unwrap(), Recorded::Before);
    assert_eq!(disk.bytes(), before);
}

#[test]
fn elimination_that_waits_names_the_decisions_and_changes_nothing() {
    let recipe = Recipe::infer(&rows(), &Context::default()).unwrap();
    let policy = json!({"kind": "elimination"}).as_object().unwrap().clone();
    let (disk, mut log) = begun_with(Opening { policy, ..Opening::new(recipe, (0.0, 1.0), 7) });
    let none = Context::default();
    let table = rows();
    let asked = Asked::among(Among::Table(&table), &none);
    let waits = loop {
        match log.take(2, &asked) {
            Ok(_) => {}
            Err(LogError::Step(StepError::Outstanding { decisions, .. })) => break decisions,
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(waits.len() as u64, log.state().unwrap().count_decisions());
    let words = format!("reward or drop decisions {}, {}", waits[0], waits[1]);
    refuses(&disk, &mut log, 3, &[("waiting", Request::Decide(asked), &words)]);
}

#[test]
fn vectors_beyond_the_grid_are_named() {
    let first = table("name,x,y\na,0.5,-3\nb,0,7\n");
    let recipe = Recipe::given(&first, &[], 2.0).unwrap();
    let (disk, mut log) = begun_with(Opening::new(recipe, (0.0, 1.0), 7));
    let none = Context::default();
    for (cell, ok) in [("1024", true), ("-1024.5", false), ("NaN", false), ("inf", false)] {
        let table = table(&format!("name,x,y\na,{cell},1\n"));
        let before = (log.state().cloned(), disk.bytes());
        match log.decide(2, &table, &none, 1) {
            Ok(_) => assert!(ok, "{cell}"),
            Err(LogError::Recipe(error)) => {
                let is_named = match &error {
                    RecipeError::TooLarge { place, .. }
                    | RecipeError::NotInAVector { place, .. } => {
                        place.to_string() == "line 2, column `x`"
                    }
                    _ => false,
                };
                assert!(!ok && is_named, "{cell}: {error}");
                assert_eq!((log.state().cloned(), disk.bytes()), before);
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn an_unknown_event_or_field_stops_a_reader() {
    let unreported = Unreported::Reward(0.0);
    let recipe = Recipe::infer(&rows(), &Context::default()).unwrap();
    let window = Some(Window { seconds: 60, unreported });
    let (disk, mut log) = begun_with(Opening { window, ..Opening::new(recipe, (0.0, 1.0), 7) });
    let (none, table, by) = (Context::default(), rows(), Some("Ada"));
    let asked = Asked::among(Among::Table(&table), &none);
    for _ in 0..3 {
        log.take(2, &Asked { by, ..asked }).unwrap();
    }
    let reward = |decision| Request::Reward { decision, reward: 0.5.into(), by };
    log.batch(3, &[reward(1), Request::Drop { decision: 2, by }]).unwrap();
    log.pause(4, by).unwrap();
    log.resume(5, by).unwrap();
    log.batch(60_000_003, &[reward(2), Request::Retract { decision: 1, by }]).unwrap();
    log.settle_due(60_000_003).unwrap();
    let mut kinds = std::collections::BTreeSet::new();
    for event in super::requests::events(&disk) {
        let text = serde_json::to_string(&event).unwrap();
        assert_eq!(json::read::<Event>(&text).unwrap(), event);
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let (kind, fields) = value.as_object_mut().unwrap().iter_mut().next().unwrap();
        kinds.insert(kind.clone());
        fields.as_object_mut().unwrap().insert("weight".into(), json!(1));
        let unknown = json::read::<Event>(&value.to_string()).unwrap_err().to_string();
        assert!(unknown.contains("unknown field `weight`"), "{unknown}");
    }
    for kind in ["opened", "decided", "reported", "late", "rewarded", "paused", "resumed"] {
        assert!(kinds.contains(kind), "{kinds:?}");
    }
    for (event, words) in [
        (r#"{"archived":{"decision":1}}"#, "unknown variant `archived`"),
        (r#"{"paused":{"for":1}}"#, "unknown field `for`"),
    ] {
        let unknown = json::read::<Event>(event).unwrap_err().to_string();
        assert!(unknown.contains(words), "{unknown}");
    }
    let opened = r#"{"seconds":60,"unreported":"drop","grace":1}"#;
    assert!(
        json::read::<Window>(opened).unwrap_err().to_string().contains("unknown field `grace`")
    );
    let otherwise = r#"{"seconds":60,"unreported":"wait"}"#;
    assert!(json::read::<Window>(otherwise).unwrap_err().to_string().contains("unknown variant"));
}
