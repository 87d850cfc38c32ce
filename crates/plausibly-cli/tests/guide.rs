//! The transcripts of the guide are what the command does.

use crate::workspace;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What a command of the guide prints, both streams as a terminal shows them, without the seconds it took.
fn output(command: &str, folder: &Path) -> String {
    let program = env!("CARGO_BIN_EXE_plausibly");
    let script = command.replacen("plausibly", &format!("'{program}'"), 1) + " 2>&1";
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| without_seconds(line).to_string() + "\n").collect()
}

fn without_seconds(line: &str) -> &str {
    if line.starts_with("wrote ") { line.split(" in ").next().unwrap() } else { line }
}

#[test]
fn the_first_comparison_is_as_the_guide_tells() {
    let path = workspace("docs/guides/first-comparison.md");
    let page = fs::read_to_string(&path).unwrap();
    let sandbox = tempfile::tempdir().unwrap();
    fs::create_dir(sandbox.path().join("examples")).unwrap();
    fs::copy(workspace("examples/compare.toml"), sandbox.path().join("examples/compare.toml")).unwrap();
    let mut rebuilt = String::new();
    let mut commands = 0;
    for (position, part) in page.split("```").enumerate() {
        // Odd parts are inside fences.
        let part = match (position % 2, part.split_once('\n')) {
            (1, Some((info, body))) if info.starts_with("toml file=") => {
                fs::write(sandbox.path().join(&info["toml file=".len()..]), body).unwrap();
                part.to_string()
            }
            (1, Some(("console", body))) => {
                let command = body.lines().next().unwrap().strip_prefix("$ ").unwrap();
                commands += 1;
                format!("console\n$ {command}\n{}", output(command, sandbox.path()))
            }
            _ => part.to_string(),
        };
        rebuilt += if position == 0 { "" } else { "```" };
        rebuilt += &part;
    }
    assert_eq!(commands, 4);
    plausibly_testkit::assert_golden(&path, &rebuilt);
}
