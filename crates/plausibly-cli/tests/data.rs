use crate::{SPEC, Sandbox, workspace};
use insta::assert_snapshot;
use std::fs;
use std::path::PathBuf;

/// A mirror of the archives beside the project, if there is one.
pub(crate) fn mirror() -> Option<PathBuf> {
    let folder = workspace("../shared/data");
    let there = folder.join("wine+quality.zip").exists();
    if !there {
        eprintln!("skipped: there is no mirror of the data sets beside the project");
    }
    there.then_some(folder)
}

#[test]
fn an_empty_cache_is_listed_and_verified() {
    let sandbox = Sandbox::new(SPEC);
    assert_snapshot!("list", sandbox.transcript(&["data", "list", "--cache", "cache"]));
    assert_snapshot!(
        "list_json",
        sandbox.transcript(&["data", "list", "--cache", "cache", "--json"])
    );
    assert_snapshot!("verify_nothing", sandbox.transcript(&["data", "verify", "--cache", "cache"]));
    assert_snapshot!(
        "verify_missing",
        sandbox.transcript(&["data", "verify", "wine", "--cache", "cache"])
    );
    assert_snapshot!(
        "unknown_set",
        sandbox.transcript(&["data", "fetch", "iris", "--cache", "cache"])
    );
    assert!(!sandbox.path().join("cache").exists(), "looking makes nothing");
}

#[test]
fn a_licence_that_must_be_accepted_is_not_passed_over() {
    let sandbox = Sandbox::new(SPEC);
    let args = ["data", "fetch", "movielens", "--cache", "cache", "--mirror", "nowhere"];
    assert_snapshot!("licence", sandbox.transcript(&args));
    assert!(!sandbox.path().join("cache").exists());
}

#[test]
fn a_mirror_fills_the_cache_and_damage_is_replaced() {
    let Some(mirror) = mirror() else { return };
    let sandbox = Sandbox::new(SPEC);
    let mirror = mirror.to_str().unwrap();
    let fetch = ["data", "fetch", "wine", "heart", "--cache", "cache", "--mirror", mirror];
    let shown = |args: &[&str]| sandbox.transcript(args).replace(mirror, "MIRROR");
    assert_snapshot!("fetch", shown(&fetch));
    assert_snapshot!("fetch_again", shown(&fetch));
    let file = sandbox.path().join("cache/wine/winequality-white.csv");
    fs::write(&file, "changed").unwrap();
    assert_snapshot!("verify_damaged", shown(&["data", "verify", "--cache", "cache"]));
    assert!(sandbox.run(&fetch).status.success());
    assert_snapshot!(
        "verify_repaired",
        shown(&["data", "verify", "wine", "heart", "--cache", "cache"])
    );
}

#[test]
fn the_environment_names_cache_and_mirror_too() {
    let Some(mirror) = mirror() else { return };
    let sandbox = Sandbox::new(SPEC);
    let mut command = sandbox.command(&["data", "fetch", "heart", "--quiet"]);
    let output =
        command.env("PLAUSIBLY_DATA", "kept").env("PLAUSIBLY_MIRROR", mirror).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    assert!(sandbox.path().join("kept/heart/heart_failure_clinical_records_dataset.csv").exists());
}

#[test]
fn the_reference_page_is_what_the_readers_say() {
    let page = workspace("docs/reference/spec.md");
    let output = Sandbox::new(SPEC).run(&["spec"]);
    plausibly_testkit::assert_golden(&page, &String::from_utf8(output.stdout).unwrap());
}

/// A spec on problems from data.
fn spec(environment: &str) -> String {
    format!(
        "runs = 3\nhorizon = 200\n[environment]\n{environment}\n[[policy]]\nkind = \
         \"code\"\n[[policy]]\nkind = \"lin-ts\"\n"
    )
}

#[test]
fn problems_from_data_are_played_once_they_are_fetched() {
    let missing = Sandbox::new(&spec("kind = \"wine\""));
    assert_snapshot!(
        "not_fetched",
        missing.transcript(&["simulate", "spec.toml", "--cache", "cache"])
    );
    assert_snapshot!(
        "bad_option",
        Sandbox::new(&spec("kind = \"heart\"\ntarget = \"life\"")).transcript(&[
            "simulate",
            "spec.toml",
            "--cache",
            "cache"
        ])
    );
    let Some(mirror) = mirror() else { return };
    let sandbox = Sandbox::new(SPEC);
    let mirror = mirror.to_str().unwrap();
    assert!(
        sandbox
            .run(&[
                "data",
                "fetch",
                "--cache",
                "cache",
                "--mirror",
                mirror,
                "--accept-licence",
                "--quiet"
            ])
            .status
            .success()
    );
    for (name, environment) in [
        ("play_wine", "kind = \"wine\""),
        ("play_wine_raw", "kind = \"wine\"\nscaling = \"none\"\nnoise = 1.0\nactions = 30"),
        ("play_heart", "kind = \"heart\""),
        ("play_heart_survival", "kind = \"heart\"\ntarget = \"survival\""),
        ("play_movielens", "kind = \"movielens\""),
    ] {
        fs::write(sandbox.path().join("spec.toml"), spec(environment)).unwrap();
        assert_snapshot!(
            name,
            sandbox.transcript(&["simulate", "spec.toml", "--cache", "cache", "--quiet"])
        );
    }
}
