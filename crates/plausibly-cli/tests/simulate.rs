use crate::{SPEC, Sandbox};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

/// The files written without a flag.
const USUAL: [&str; 5] =
    ["figures/model-error.svg", "figures/regret.svg", "index.html", "manifest.json", "summary.csv"];

/// The files of a folder and of those below, in order.
fn files(sandbox: &Sandbox, folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![sandbox.path().join(folder)];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let below = path.strip_prefix(sandbox.path().join(folder)).unwrap();
                found.push(below.to_str().unwrap().replace('\\', "/"));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_run_shows_its_figures_and_names_its_files() {
    let sandbox = Sandbox::new(SPEC);
    assert_snapshot!("table", sandbox.transcript(&["simulate", "spec.toml", "--threads", "1"]));
    assert_snapshot!("again", sandbox.transcript(&["simulate", "spec.toml", "--threads", "1"]));
    assert_snapshot!("json", sandbox.transcript(&["simulate", "spec.toml", "--json", "--quiet"]));
    assert_snapshot!(
        "single_run",
        sandbox.transcript(&["simulate", "spec.toml", "--runs", "1", "--quiet"])
    );
    assert_eq!(files(&sandbox, "plausibly-results/tiny"), USUAL);
}

#[test]
fn summary_and_manifest_have_their_documented_shape() {
    let sandbox = Sandbox::new(SPEC);
    let output =
        sandbox.run(&["simulate", "spec.toml", "--out", "deep/out", "--seed", "9", "--quiet"]);
    assert!(output.status.success() && output.stderr.is_empty(), "quiet means quiet");
    let summary = fs::read_to_string(sandbox.path().join("deep/out/summary.csv")).unwrap();
    assert_snapshot!("summary_csv", summary);
    let manifest = fs::read_to_string(sandbox.path().join("deep/out/manifest.json")).unwrap();
    let mut manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert!(manifest["timings"]["seconds"].as_f64().unwrap() > 0.0);
    assert!(manifest["timings"]["decisions_per_second"].as_f64().unwrap() > 0.0);
    manifest["timings"] = "checked above".into();
    manifest["version"] = "that of the package".into();
    assert_snapshot!("manifest_json", format!("{manifest:#}"));
}

#[test]
fn threads_and_repetition_give_the_same_bytes() {
    let sandbox = Sandbox::new(SPEC);
    let written = |out: &str, threads: &str| -> Vec<(String, Vec<u8>)> {
        let how = [
            "--out",
            out,
            "--threads",
            threads,
            "--quiet",
            "--runs",
            "200",
            "--per-run",
            "--latex",
            "--verdicts",
        ];
        assert!(sandbox.run(&[&["simulate", "spec.toml"], &how[..]].concat()).status.success());
        let read =
            |file: String| (file.clone(), fs::read(sandbox.path().join(out).join(file)).unwrap());
        // The manifest has timings.
        files(&sandbox, out).into_iter().filter(|file| file != "manifest.json").map(read).collect()
    };
    let one = written("one", "1");
    assert_eq!(one.len(), USUAL.len() + 2);
    assert_eq!(one, written("two", "2"));
    assert_eq!(one, written("two", "3"), "written over an earlier result");
}

#[test]
fn labels_that_need_quoting_are_quoted() {
    let sandbox = Sandbox::new(&SPEC.replace("\"TS\"", "'a, \"b\"'"));
    assert!(sandbox.run(&["simulate", "spec.toml", "--out", "out", "--quiet"]).status.success());
    let summary = fs::read_to_string(sandbox.path().join("out/summary.csv")).unwrap();
    assert!(summary.contains("tiny,\"a, \"\"b\"\"\",1,3,"), "{summary}");
}

#[cfg(unix)]
#[test]
fn results_are_as_readable_as_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let sandbox = Sandbox::new(SPEC);
    assert!(sandbox.run(&["simulate", "spec.toml", "--out", "out", "--quiet"]).status.success());
    let mode =
        |path: &str| fs::metadata(sandbox.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("out/summary.csv"), mode("spec.toml"));
}

#[test]
fn every_run_and_a_table_for_papers_are_written_if_asked_for() {
    let sandbox = Sandbox::new(&SPEC.replace("\"TS\"", "'a_1, \"b\" & 5 %'"));
    assert!(
        sandbox
            .run(&["simulate", "spec.toml", "--out", "out", "--per-run", "--latex"])
            .status
            .success()
    );
    let read = |file: &str| fs::read_to_string(sandbox.path().join("out").join(file)).unwrap();
    let runs = read("runs.csv");
    assert_snapshot!("runs_csv", runs);
    // Their means are the figures of the summary.
    let regrets = |policy: &str| -> Vec<f64> {
        let lines = runs.lines().skip(1).filter(|line| line.contains(policy));
        lines.map(|line| line.rsplit(',').nth(3).unwrap().parse().unwrap()).collect()
    };
    let code = regrets(",code,");
    let manifest: Value = serde_json::from_str(&read("manifest.json")).unwrap();
    let mean = manifest["final"][0]["regret_mean"].as_f64().unwrap();
    assert_eq!(code.len(), 3);
    assert!((code.iter().sum::<f64>() / 3.0 - mean).abs() < 1e-12 * mean.abs());
    assert!(
        read("table.tex").contains("\na\\_1, \\textquotedbl{}b\\textquotedbl{} \\& 5 \\% & $"),
        "{}",
        read("table.tex")
    );
    // Without the flags the files stay, and a note says so.
    let again = sandbox.run(&["simulate", "spec.toml", "--out", "out", "--seed", "8"]);
    let stderr = String::from_utf8(again.stderr).unwrap();
    assert!(
        stderr.contains("runs.csv is from an earlier run; add --per-run to replace it"),
        "{stderr}"
    );
    assert_eq!(read("runs.csv"), runs);
}

#[test]
fn verdicts_are_measured_if_asked_for() {
    let spec = "name = \"arms\"\nruns = 12\nhorizon = 2000\n[environment]\nkind = \"arms\"\n\
                actions = 3\nlowest = 0.1\nhighest = 0.9\n[[policy]]\nkind = \"code\"\n\
                [[policy]]\nkind = \"code\"\nlabel = \"wide\"\nradius = { kind = \"mixture\" }\n\
                [[policy]]\nkind = \"thompson\"\n";
    let sandbox = Sandbox::new(spec);
    let how = ["simulate", "spec.toml", "--verdicts", "--quiet"];
    assert_snapshot!("verdicts", sandbox.transcript(&how));
    let text = fs::read_to_string(sandbox.path().join("plausibly-results/arms/verdicts.csv"));
    let text = text.unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 2 * 12, "{text}");
    assert!(lines[1].starts_with("arms,0,code,") && lines[2].starts_with("arms,0,wide,"), "{text}");
    let output = sandbox.run(&[&how[..], &["--json"]].concat());
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let verdicts = json["verdicts"].as_array().unwrap();
    let median = |policy: usize| verdicts[policy]["first_out"]["median"].as_f64().unwrap();
    assert!(verdicts.len() == 2 && median(0) < median(1), "{verdicts:?}");
    // What it needs is said before anything is run.
    for (name, from, to) in [
        ("verdicts_late", "[[policy]]", "[delay]\nkind = \"fixed\"\n[[policy]]"),
        ("verdicts_no_set", "kind = \"code\"", "kind = \"epsilon-greedy\""),
    ] {
        let spec = spec.replacen(from, to, if name == "verdicts_late" { 1 } else { 2 });
        let spec = spec.replace("radius = { kind = \"mixture\" }\n", "");
        assert_snapshot!(name, Sandbox::new(&spec).transcript(&how));
    }
    let changing = SPEC.replace("\"linear\"", "\"changing\"");
    assert_snapshot!("verdicts_changing", Sandbox::new(&changing).transcript(&how));
}

#[test]
fn the_page_tells_how_to_make_it_again() {
    let sandbox = Sandbox::new(SPEC);
    let page = |out: &str| fs::read_to_string(sandbox.path().join(out).join("index.html")).unwrap();
    let args = ["simulate", "spec.toml", "--out", "one", "--runs", "4", "--seed", "9", "--quiet"];
    assert!(sandbox.run(&args).status.success());
    let first = page("one");
    let (_, after) = first.split_once("<pre><code>plausibly ").unwrap();
    let (command, _) = after.split_once("</code>").unwrap();
    assert_eq!(command, "simulate tiny.toml --runs 4 --seed 9");
    fs::rename(sandbox.path().join("spec.toml"), sandbox.path().join("tiny.toml")).unwrap();
    let again: Vec<&str> = command.split(' ').chain(["--out", "two", "--quiet"]).collect();
    assert!(sandbox.run(&again).status.success());
    assert_eq!(first, page("two"));
}

#[test]
fn results_go_to_a_folder_of_the_name_of_the_spec() {
    for (name, folder) in [
        ("tiny", "tiny"),
        ("Wide & narrow, 2nd/try", "Wide-narrow-2nd-try"),
        ("../../etc", "etc"),
        ("größe 10²", "größe-10²"),
        ("...", "experiment"),
        ("reproduce", "reproduce-spec"),
        // The default name of a spec.
        ("experiment", "spec"),
    ] {
        let sandbox = Sandbox::new(&SPEC.replace("tiny", name));
        assert!(sandbox.run(&["simulate", "spec.toml", "--quiet"]).status.success());
        let made: Vec<_> =
            fs::read_dir(sandbox.path().join("plausibly-results")).unwrap().collect();
        assert_eq!(made.len(), 1);
        assert_eq!(made[0].as_ref().unwrap().file_name().to_str(), Some(folder), "{name}");
    }
}
