//! What a user sees of earlier decisions: tries, outcomes, and the form to fill in.

use super::Desk;
use std::fs;

/// Six subject lines without features, after `decisions` decisions.
fn subjects(decisions: u64) -> Desk {
    let desk = Desk::new("examples/subjects.csv");
    let decide = ["decide", "--log", "a.log", "--actions", "actions.csv", "--yes"];
    for day in 1..=decisions {
        desk.says(&[&decide[..], &["--at", &format!("2026-11-{day:02}T08:00:00Z")]].concat());
    }
    desk
}

fn reward(desk: &Desk, more: &[&str]) -> String {
    desk.says(&[&["reward", "--log", "a.log"], more].concat())
}

#[test]
fn status_counts_tries_and_shows_the_last_outcome_of_each_row() {
    let desk = subjects(8);
    for (decision, value) in [("1", "0.25"), ("2", "0.5"), ("7", "0.75")] {
        reward(&desk, &[decision, value]);
    }
    desk.says(&["drop", "--log", "a.log", "3"]);
    reward(&desk, &["7", "0.375", "--correct"]);
    let text = desk.says(&["status", "--log", "a.log"]);
    let row = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap().to_string();
    let heading = row("action");
    assert!(heading.contains("tries") && heading.contains("last outcome"), "{text}");
    let json: serde_json::Value =
        serde_json::from_str(&desk.says(&["status", "--log", "a.log", "--json"])).unwrap();
    // Every decision is counted once, and the last outcome is the corrected one of the later
    // decision.
    let mut all = 0;
    for action in json["now"]["findings"]["actions"].as_array().unwrap() {
        let (label, id) = (action["label"].as_str().unwrap(), action["id"].to_string());
        let tried = &json["tried"][&id];
        let (tries, last) = (tried["tries"].as_u64().unwrap(), &tried["last_outcome"]);
        all += tries;
        let shown = last.as_f64().map_or_else(|| "pending -".to_string(), |last| last.to_string());
        let cells: Vec<String> =
            row(label)[label.len()..].split_whitespace().map(String::from).collect();
        assert_eq!(cells[0], tries.to_string(), "{text}");
        assert!(shown.contains(&cells[1]), "{shown}: {text}");
    }
    assert_eq!(all, 8);
    let seventh = desk.says(&["explain", "--log", "a.log", "7"]);
    let seventh = seventh.split('"').nth(1).unwrap();
    assert!(row(seventh).contains("0.375"), "{text}");
    desk.says(&["status", "--log", "a.log", "--html", "s.html"]);
    let page = fs::read_to_string(desk.path("s.html")).unwrap();
    assert!(page.contains("<th class=\"n\">tries</th><th class=\"n\">last outcome</th>"), "{page}");
    assert!(page.contains("<td class=\"n\">0.375</td>"), "{page}");
}

#[test]
fn history_shows_every_decision_as_it_stands() {
    let desk = subjects(4);
    reward(&desk, &["1", "0.25", "--at", "2026-11-05T08:00:00Z"]);
    reward(&desk, &["1", "0.5", "--correct", "--at", "2026-11-06T08:00:00Z"]);
    reward(&desk, &["2", "0.75"]);
    reward(&desk, &["2", "--retract"]);
    desk.says(&["drop", "--log", "a.log", "3"]);
    let history = |more: &[&str]| desk.says(&[&["history", "--log", "a.log"], more].concat());
    let table = history(&[]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 5, "{table}");
    assert!(
        lines[1].starts_with("1         2026-11-01 08:00:00  ") && lines[1].ends_with("  0.5"),
        "{table}"
    );
    assert!(lines[2].ends_with("  pending") && lines[3].ends_with("  dropped"), "{table}");
    assert_eq!(history(&["--pending"]).lines().count(), 3);
    assert!(history(&["--pending", "--last", "1"]).lines().nth(1).unwrap().starts_with("4 "));
    assert_eq!(history(&["--last", "0"]), "no such decisions\n");
    let json = history(&["--json"]);
    let objects: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects.len(), 4);
    assert_eq!((&objects[0]["outcome"], &objects[0]["reward"]), (&"rewarded".into(), &0.5.into()));
    assert_eq!(objects[0]["outcome_at"], "2026-11-06T08:00:00.000000Z");
    assert_eq!(
        (&objects[1]["outcome"], &objects[1]["outcome_at"]),
        (&"pending".into(), &().into())
    );
    assert_eq!(objects[2]["outcome"], "dropped");
    let csv = history(&["--csv"]);
    assert!(
        csv.starts_with("decision,at,label,reward,outcome_at\n1,2026-11-01T08:00:00.000000Z,"),
        "{csv}"
    );
    assert!(csv.contains(",drop,"), "{csv}");
}

#[test]
fn the_csv_of_the_past_is_the_form_for_what_comes() {
    let desk = Desk::new("examples/subjects.csv");
    let names = "name\n=1+1\n-2\n\"a, \"\"b\"\"\"\n'quoted\n@home\n";
    fs::write(desk.path("actions.csv"), names).unwrap();
    for _ in 0..6 {
        desk.says(&[
            "decide",
            "--log",
            "a.log",
            "--actions",
            "actions.csv",
            "--yes",
            "--context",
            "k=+1",
        ]);
    }
    reward(&desk, &["1", "0.25"]);
    desk.says(&["drop", "--log", "a.log", "2"]);
    let form = desk.says(&["history", "--log", "a.log", "--csv"]);
    for cell in form.lines().skip(1).flat_map(|line| line.split(',')) {
        assert!(!cell.trim_matches('"').starts_with(['=', '+', '@']), "{cell} is a formula");
    }
    let log = || fs::read(desk.path("a.log")).unwrap();
    let send = |form: &str| {
        fs::write(desk.path("form.csv"), form).unwrap();
        desk.run(&["reward", "--log", "a.log", "--csv", "form.csv"])
    };
    let said = |form: &str| String::from_utf8(send(form).stdout).unwrap();
    // The form as printed records nothing new.
    let before = log();
    assert_eq!(said(&form), "recorded 0 rewards and 0 drops; 2 already recorded\n");
    assert_eq!(log(), before);
    // Filled in, it records the rest; recording it twice writes it once.
    let filled: String = form
        .lines()
        .map(|line| match line.split(',').next().unwrap() {
            "3" => line.strip_suffix(",,").unwrap().to_string() + ",0.5,\n",
            "4" => line.strip_suffix(",,").unwrap().to_string() + ",DROP,\n",
            _ => line.to_string() + "\n",
        })
        .collect();
    assert_eq!(said(&filled), "recorded 1 reward and 1 drop; 2 already recorded\n");
    let after = log();
    assert_eq!(said(&filled), "recorded 0 rewards and 0 drops; 4 already recorded\n");
    assert_eq!(log(), after);
    assert_eq!(desk.says(&["history", "--log", "a.log", "--pending"]).lines().count(), 3);
    // A moved column is noticed.
    let slipped = form.replace("'=1+1", "'@home");
    let output = send(&slipped);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2) && text.contains("and the file says `@home`"),
        "{text}"
    );
    assert_eq!(log(), after);
}

#[test]
fn many_outcomes_are_recorded_all_or_none() {
    let desk = subjects(4);
    let log = || fs::read(desk.path("a.log")).unwrap();
    let before = log();
    for (form, words) in [
        ("decision,reward\n1,0.5\n2,0.5\n9,0.5\n", "line 4: there is no decision 9"),
        ("decision,reward\n1,0.5\n2,7\n", "line 3: a reward must be from 0 to 1, got 7"),
        ("decision,reward\n1,0.5\n1,0.5\n", "lines 2 and 3 are both about decision 1"),
        ("decision;reward\n1;0,21\n", "line 2: `0,21` is not a number; write 0.21"),
        ("1,0.5\n2,0.5\n", "the header must name `decision` and `reward`"),
        ("", "the file is empty"),
    ] {
        fs::write(desk.path("form.csv"), form).unwrap();
        let (code, text) = desk.refuses(&["reward", "--log", "a.log", "--csv", "form.csv"]);
        assert_eq!(code, 2, "{form}: {text}");
        assert!(text.contains(words) && text.contains("Nothing was recorded"), "{form}: {text}");
        assert_eq!(log(), before, "{form}");
    }
    fs::write(desk.path("form.csv"), "reward,note,decision\n0.25,,2\ndrop,late,1\n,,3\n").unwrap();
    assert_eq!(reward(&desk, &["--csv", "form.csv"]), "recorded 1 reward and 1 drop\n");
    // Another value needs `--correct`, for a file as for a single decision.
    fs::write(desk.path("form.csv"), "decision,reward\n3,0.5\n2,0.75\n").unwrap();
    let before = log();
    let (_, text) = desk.refuses(&["reward", "--log", "a.log", "--csv", "form.csv"]);
    assert!(text.contains("line 3: decision 2") && text.contains("add --correct"), "{text}");
    assert_eq!(log(), before);
    assert_eq!(
        reward(&desk, &["--csv", "form.csv", "--correct"]),
        "recorded 2 rewards and 0 drops\n"
    );
    let history = desk.says(&["history", "--log", "a.log"]);
    assert!(history.lines().nth(2).unwrap().ends_with("  0.75"), "{history}");
    assert!(history.lines().nth(3).unwrap().ends_with("  0.5"), "{history}");
}
