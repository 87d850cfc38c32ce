//! The page about the format: its checker accepts what we write, and refuses what we refuse.

use super::{Draws, log_of, newlines, varied};
use std::path::Path;
use std::process::Command;

fn page() -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/log-format.md");
    std::fs::read_to_string(page).unwrap()
}

/// The block of code after this opening.
fn block<'a>(page: &'a str, opening: &str) -> &'a str {
    let from = page.find(opening).unwrap() + opening.len();
    page[from..].split("```").next().unwrap()
}

#[test]
fn the_checker_of_the_page_agrees_with_us() {
    let folder = tempfile::tempdir().unwrap();
    let (script, path) = (folder.path().join("check.py"), folder.path().join("log.ndjson"));
    std::fs::write(&script, block(&page(), "```python\n")).unwrap();
    let check = |log: &[u8]| {
        std::fs::write(&path, log).unwrap();
        Command::new("python3").arg(&script).arg(&path).output()
    };
    let log = log_of(&varied(40)).log();
    let output = match check(&log) {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: there is no python3 ({error})");
            return;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let hash = std::str::from_utf8(&log[log.len() - 67..log.len() - 3]).unwrap();
    assert_eq!(
        (said.trim(), output.status.code()),
        (&*format!("40 lines, hash {hash}"), Some(0)),
        "{output:?}"
    );

    let mut draws = Draws(8);
    for _ in 0..20 {
        let mut changed = log.clone();
        let at = draws.below(log.len());
        changed[at] ^= 1;
        let output = check(&changed).unwrap();
        let line = newlines(&log[..at]) + 1;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains(&format!("line {line}:")),
            "byte {at}: {said}"
        );
    }
    assert!(!check(&log[..log.len() - 1]).unwrap().status.success(), "an unfinished line");
}

#[test]
fn the_line_of_the_page_is_one_we_write() {
    let page = page();
    let line = block(&page, "```json\n");
    let disk = super::Disk::with_log(line.as_bytes());
    assert_eq!(
        super::bodies(&disk.storage()).unwrap(),
        [r#"{"rewarded":{"decision":1,"reward":0.5}}"#]
    );
}
