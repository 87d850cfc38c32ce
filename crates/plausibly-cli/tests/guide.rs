//! The transcripts in the guides match the output of the command.

use crate::workspace;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The output of a command of a guide, both streams as in a terminal, without its duration.
fn output(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_plausibly")).parent().unwrap();
    let output = Command::new("sh")
        .args([
            "-c",
            &format!("exec 2>&1; export PATH='{}':\"$PATH\"; {command}", program.display()),
        ])
        .current_dir(folder)
        .env_remove("PLAUSIBLY_LOG")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| without_seconds(line).to_string() + "\n").collect()
}

fn without_seconds(line: &str) -> &str {
    if line.starts_with("wrote ") { line.split(" in ").next().unwrap() } else { line }
}

/// Plays a guide from its first line to its last: writes its files, runs its commands, and replaces
/// the output in the guide by the real one.
fn replayed(guide: &str, files: &[&str], expected_commands: usize) -> TempDir {
    let path = workspace(guide);
    let page = fs::read_to_string(&path).unwrap();
    let sandbox = tempfile::tempdir().unwrap();
    for file in files {
        let name = Path::new(file);
        // Examples stay in their folder; tables are in the current one.
        let to =
            if name.starts_with("examples") { name } else { Path::new(name.file_name().unwrap()) };
        fs::create_dir_all(sandbox.path().join(to).parent().unwrap()).unwrap();
        fs::copy(workspace(file), sandbox.path().join(to)).unwrap();
    }
    let mut rebuilt = String::new();
    let mut commands = 0;
    for (position, part) in page.split("```").enumerate() {
        // Odd parts are inside fences.
        let part = match (position % 2, part.split_once('\n')) {
            (1, Some((info, body))) if info.contains(" file=") => {
                let (_, name) = info.split_once(" file=").unwrap();
                fs::write(sandbox.path().join(name), body).unwrap();
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
    assert_eq!(commands, expected_commands);
    plausibly_testkit::assert_golden(&path, &rebuilt);
    sandbox
}

#[test]
fn the_first_comparison_is_as_the_guide_tells() {
    let files = ["examples/compare.toml", "examples/offers.toml", "examples/offers.csv"];
    let sandbox = replayed("docs/guides/first-comparison.md", &files, 8);
    for figure in ["regret", "model-error"] {
        let drawn = sandbox.path().join(format!("plausibly-results/compare/figures/{figure}.svg"));
        let shown = workspace(&format!("docs/images/compare-{figure}.svg"));
        plausibly_testkit::assert_golden(&shown, &fs::read_to_string(drawn).unwrap());
    }
}

#[test]
fn decisions_from_a_table_are_as_the_guide_tells() {
    replayed("docs/guides/decisions-from-a-table.md", &["testdata/tables/trial.csv"], 18);
}

#[test]
fn verdicts_come_as_soon_as_the_guide_tells() {
    let tables = ["examples/wines.csv", "examples/articles.csv", "examples/subjects.csv"];
    replayed("docs/guides/how-soon.md", &tables, 8);
}

#[test]
fn certificates_are_as_the_guide_tells() {
    replayed("docs/guides/read-a-certificate.md", &[], 9);
}

#[test]
fn the_commands_of_the_readme_do_what_it_says() {
    let readme = fs::read_to_string(workspace("README.md")).unwrap();
    let sandbox = tempfile::tempdir().unwrap();
    fs::create_dir(sandbox.path().join("examples")).unwrap();
    fs::copy(workspace("examples/subjects.csv"), sandbox.path().join("examples/subjects.csv"))
        .unwrap();
    let commands: Vec<&str> =
        readme.lines().filter(|line| line.starts_with("plausibly ")).collect();
    assert_eq!(commands.len(), 7, "{commands:?}");
    let said: Vec<String> = commands
        .iter()
        .map(|line| {
            let (command, _) = line.split_once(" #").unwrap();
            // This is not a terminal, so the command cannot ask.
            output(&command.replace("decide ", "decide --yes "), sandbox.path())
        })
        .collect();
    assert!(
        said[0].contains("decision 1: A question")
            && said[1].contains("(A question): recorded 0.21"),
        "{said:?}"
    );
    assert!(said[2].contains("wrote news.svg") && said[3].contains("WHY THIS ONE"), "{said:?}");
    assert!(said[5].contains("nothing was left out, added or changed"), "{said:?}");
    assert!(said[6].contains("every choice was derived again"), "{said:?}");
}
