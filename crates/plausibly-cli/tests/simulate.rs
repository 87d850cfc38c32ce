use crate::{SPEC, Sandbox};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

#[test]
fn a_run_shows_its_figures_and_names_its_files() {
    let sandbox = Sandbox::new(SPEC);
    assert_snapshot!("table", sandbox.transcript(&["simulate", "spec.toml", "--threads", "1"]));
    assert_snapshot!("again", sandbox.transcript(&["simulate", "spec.toml", "--threads", "1"]));
    assert_snapshot!("json", sandbox.transcript(&["simulate", "spec.toml", "--json", "--quiet"]));
    assert_snapshot!("single_run", sandbox.transcript(&["simulate", "spec.toml", "--runs", "1", "--quiet"]));
    let folder = sandbox.path().join("plausibly-results/spec");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    files.sort();
    assert_eq!(files, ["manifest.json", "summary.csv"]);
}

#[test]
fn summary_and_manifest_have_their_documented_shape() {
    let sandbox = Sandbox::new(SPEC);
    let output = sandbox.run(&["simulate", "spec.toml", "--out", "deep/out", "--seed", "9", "--quiet"]);
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
    let summary = |out: &str, threads: &str| {
        let args = ["simulate", "spec.toml", "--out", out, "--threads", threads, "--quiet", "--runs", "200"];
        assert!(sandbox.run(&args).status.success());
        fs::read(sandbox.path().join(out).join("summary.csv")).unwrap()
    };
    let one = summary("one", "1");
    assert_eq!(one, summary("two", "2"));
    assert_eq!(one, summary("two", "3"), "written over an earlier result");
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
    let mode = |path: &str| fs::metadata(sandbox.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("out/summary.csv"), mode("spec.toml"));
}
