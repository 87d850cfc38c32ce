use super::Desk;
use crate::workspace;
use std::fs;

/// From a file to a decision to its explanation, with no flag but names of files; the explanation
/// of a decision after some outcomes.
fn from_table_to_explanation(desk: &Desk, outcomes: u32) -> String {
    let decide = ["decide", "--log", "a.log", "--actions", "actions.csv"];
    assert!(desk.says(&[&decide[..], &["--yes"]].concat()).starts_with("decision 1: "));
    for decision in 1..=outcomes {
        // Alternating, which is all an outcome of 0 or 1 can be.
        desk.says(&[
            "reward",
            "--log",
            "a.log",
            &decision.to_string(),
            &(decision % 2).to_string(),
        ]);
        desk.says(&decide);
    }
    let last = (outcomes + 1).to_string();
    let words = desk.says(&["explain", "--log", "a.log", &last]);
    for heading in
        ["WHY THIS ONE", "STILL IN THE RACE", "OUT OF THE RACE", "HOW SURE", "WHAT WOULD PUT"]
    {
        assert!(words.contains(heading), "{words}");
    }
    let certificate = desk.says(&["explain", "--log", "a.log", &last, "--json"]);
    fs::write(desk.path("c.json"), certificate).unwrap();
    desk.says(&["verify", "c.json", "--log", "a.log"]);
    desk.says(&["status", "--log", "a.log"]);
    desk.says(&["status", "--log", "a.log", "--html", "s.html", "--svg", "s.svg"]);
    desk.says(&["explain", "c.json", "--html", "c.html"]);
    for page in ["s.html", "s.svg", "c.html"] {
        assert!(fs::metadata(desk.path(page)).unwrap().len() > 1000, "{page}");
    }
    words
}

#[test]
fn made_up_tables_go_from_file_to_explanation() {
    for table in ["trial", "ads", "labels-only"] {
        let words =
            from_table_to_explanation(&Desk::new(&format!("testdata/tables/{table}.csv")), 6);
        assert!(words.contains("6 outcomes so far"), "{words}");
    }
}

#[test]
fn real_tables_go_from_file_to_explanation() {
    for (archive, file) in
        [("wine", "winequality-white.csv"), ("heart", "heart_failure_clinical_records_dataset.csv")]
    {
        let Some(found) = find(&workspace("../shared/data"), file) else {
            eprintln!("skipped: {archive} needs ../shared/data and the command unzip");
            continue;
        };
        let desk = Desk::new("testdata/tables/ads.csv");
        fs::write(desk.path("actions.csv"), found).unwrap();
        let words = from_table_to_explanation(&desk, 3);
        assert!(words.contains("row "), "rows without names are called by their numbers\n{words}");
    }
}

/// A file of this name below a folder, plain or in an archive.
fn find(folder: &std::path::Path, name: &str) -> Option<Vec<u8>> {
    for entry in fs::read_dir(folder).ok()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            if let Some(found) = find(&path, name) {
                return Some(found);
            }
        } else if path.file_name().is_some_and(|file| file == name) {
            return fs::read(path).ok();
        } else if path.extension().is_some_and(|extension| extension == "zip") {
            let output =
                std::process::Command::new("unzip").arg("-p").arg(&path).arg(name).output().ok()?;
            if output.status.success() && !output.stdout.is_empty() {
                return Some(output.stdout);
            }
        }
    }
    None
}
