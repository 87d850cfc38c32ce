use crate::{SPEC, Sandbox};
use insta::assert_snapshot;
use std::fs;

/// Runs a spec that must be refused, and checks that no files were left behind.
fn refused(spec: &str, args: &[&str]) -> String {
    let sandbox = Sandbox::new(spec);
    let transcript = sandbox.transcript(&[&["simulate", "spec.toml"], args].concat());
    let left: Vec<_> =
        fs::read_dir(sandbox.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["spec.toml"], "a refused spec left files");
    transcript
}

/// The tiny spec with one line in place of another.
fn with(old: &str, new: &str) -> String {
    assert!(SPEC.contains(old), "{old}");
    SPEC.replacen(old, new, 1)
}

#[test]
fn fields() {
    assert_snapshot!("unknown_field", refused(&with("horizon = 50", "horizn = 50"), &[]));
    assert_snapshot!("unknown_field_in_policy", refused(&format!("{SPEC}epsilon = 0.1\n"), &[]));
    assert_snapshot!("stranger", refused(&with("seed = 1", "seed = 1\ncolour = \"red\""), &[]));
    assert_snapshot!("wrong_type_number", refused(&with("runs = 3", "runs = \"many\""), &[]));
    assert_snapshot!("wrong_type_fraction", refused(&with("runs = 3", "runs = 2.5"), &[]));
    assert_snapshot!("wrong_type_text", refused(&with("name = \"tiny\"", "name = 7"), &[]));
    assert_snapshot!(
        "wrong_type_table",
        refused("environment = 3\n[[policy]]\nkind = \"code\"\n", &[])
    );
    assert_snapshot!("wrong_type_date", refused(&with("seed = 1", "seed = 2024-01-01"), &[]));
    assert_snapshot!(
        "policy_not_a_list",
        refused(
            &SPEC.replace("[[policy]]\nkind = \"code\"\n\n", "").replace("[[policy]]", "[policy]"),
            &[]
        )
    );
    assert_snapshot!("not_a_number", refused(&with("noise = 0.5", "noise = nan"), &[]));
    assert_snapshot!("infinite", refused(&with("noise = 0.5", "noise = inf"), &[]));
    assert_snapshot!("out_of_range", refused(&with("dim = 2", "dim = 0"), &[]));
    assert_snapshot!(
        "too_large_together",
        refused(&with("dim = 2\nactions = 4", "dim = 1000\nactions = 1000000"), &[])
    );
    assert_snapshot!(
        "beyond_64_bits",
        refused(&with("seed = 1", "seed = 99999999999999999999"), &[])
    );
    assert_snapshot!("missing", refused(&with("dim = 2\n", ""), &[]));
    assert_snapshot!(
        "no_policies",
        refused(&with("seed = 1", "policy = []").replace("[[policy]]", "[[other]]"), &[])
    );
    assert_snapshot!("exponent", refused(&with("horizon = 50", "horizon = 5e1"), &[]));
    assert_snapshot!("misplaced", refused(&with("dim = 2", "dim = 2\nruns = 3"), &[]));
    assert_snapshot!(
        "control_characters",
        refused(&with("label = \"TS\"", "label = \"a\\nb\""), &[])
    );
    assert_snapshot!("missing_tables", refused("seed = 1\n", &[]));
    assert_snapshot!("empty_label", refused(&with("label = \"TS\"", "label = \" \""), &[]));
    assert_snapshot!("duplicate_label", refused(&with("label = \"TS\"", "label = \"code\""), &[]));
    assert_snapshot!(
        "several_at_once",
        refused(&with("runs = 3", "runs = -3").replace("dim = 2", "dim = 1.5"), &[])
    );
}

#[test]
fn kinds() {
    assert_snapshot!("capitals", refused(&with("kind = \"code\"", "kind = \"LinUCB\""), &[]));
    assert_snapshot!("unknown_policy", refused(&with("kind = \"code\"", "kind = \"cod\""), &[]));
    assert_snapshot!(
        "unknown_environment",
        refused(&with("kind = \"linear\"", "kind = \"quadratic\""), &[])
    );
    assert_snapshot!("missing_kind", refused(&with("kind = \"code\"", "ridge = 1.0"), &[]));
    let armed = with("kind = \"linear\"\ndim = 2", "kind = \"k-armed\"");
    assert_snapshot!("linear_policy_on_arms", refused(&armed, &[]));
    let radius = "kind = \"code\"\nradius = { kind = \"per-arm\", delta = 0.1 }";
    assert_snapshot!("arm_radius_on_features", refused(&with("kind = \"code\"", radius), &[]));
    let radius = "kind = \"code\"\nradius = { kind = \"paper\", delta = 1.0, lamda = 3 }";
    assert_snapshot!("inside_a_radius", refused(&with("kind = \"code\"", radius), &[]));
    let changing = with("kind = \"linear\"", "kind = \"changing\"").replace("lin-ts", "ucb1");
    assert_snapshot!("arm_policy_on_changing_actions", refused(&changing, &[]));
}

#[test]
fn text_that_is_no_toml() {
    assert_snapshot!("syntax", refused(&with("seed = 1", "seed = = 1"), &[]));
    assert_snapshot!("syntax_twice", refused(&with("seed = 1", "seed = 1\nseed = 2"), &[]));
    assert_snapshot!("syntax_end", refused(&format!("{SPEC}radius = {{"), &[]));
}

#[test]
fn command_lines() {
    let sandbox = Sandbox::new(SPEC);
    assert_snapshot!("no_command", sandbox.transcript(&[]));
    assert_snapshot!("no_spec", sandbox.transcript(&["simulate"]));
    assert_snapshot!(
        "unknown_flag",
        sandbox.transcript(&["simulate", "spec.toml", "--thread", "2"])
    );
    assert_snapshot!("zero_runs", sandbox.transcript(&["simulate", "spec.toml", "--runs", "0"]));
    assert_snapshot!(
        "zero_threads",
        sandbox.transcript(&["simulate", "spec.toml", "--threads", "0"])
    );
    assert_snapshot!(
        "negative_seed",
        sandbox.transcript(&["simulate", "spec.toml", "--seed", "-1"])
    );
}

#[test]
fn files() {
    let sandbox = Sandbox::new(SPEC);
    assert_snapshot!("no_such_spec", sandbox.transcript(&["simulate", "nowhere.toml"]));
    assert_snapshot!(
        "out_is_a_file",
        sandbox.transcript(&["simulate", "spec.toml", "--out", "spec.toml"])
    );
    assert_snapshot!(
        "out_below_a_file",
        sandbox.transcript(&["simulate", "spec.toml", "--out", "spec.toml/sub"])
    );
    fs::create_dir_all(sandbox.path().join("out/manifest.json")).unwrap();
    assert_snapshot!(
        "target_is_a_folder",
        sandbox.transcript(&["simulate", "spec.toml", "--out", "out", "--quiet"])
    );
    assert!(!sandbox.path().join("out/summary.csv").exists(), "all or nothing");
    fs::write(sandbox.path().join("bytes.toml"), [0xff, 0xfe]).unwrap();
    assert_snapshot!("not_text", sandbox.transcript(&["simulate", "bytes.toml"]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_a_failure() {
    let full = || fs::File::options().write(true).open("/dev/full").unwrap();
    let sandbox = Sandbox::new(SPEC);
    for args in [&["spec"][..], &["simulate", "spec.toml", "--quiet"]] {
        let output = sandbox.command(args).stdout(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            String::from_utf8(output.stderr)
                .unwrap()
                .starts_with("error: cannot write to standard output: ")
        );
    }
    // The command succeeds even if its notes cannot be printed.
    let output = sandbox.command(&["simulate", "spec.toml"]).stderr(full()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn tables_of_specs() {
    let own = "kind = \"csv\"\npath = \"own.csv\"\n\n";
    let spec = SPEC.replacen("kind = \"linear\"\ndim = 2\nactions = 4\nnoise = 0.5\n", own, 1);
    let without = refused(&spec, &[]);
    // The rest of the line is the system's.
    assert!(without.contains("spec.toml:8: environment.path: own.csv: cannot read"), "{without}");
    assert!(without.contains("relative to the folder of the spec"), "{without}");
    // Relative to the spec, not to the current folder.
    let sandbox = Sandbox::new("");
    fs::create_dir(sandbox.path().join("below")).unwrap();
    fs::write(sandbox.path().join("below/spec.toml"), spec).unwrap();
    let table = sandbox.path().join("below/own.csv");
    let run = || sandbox.transcript(&["simulate", "below/spec.toml", "--quiet"]);
    fs::write(&table, "name,price\n").unwrap();
    assert_snapshot!("own_table_without_rows", run());
    fs::write(&table, "name,price\nmug,4\njug,6\ncup,4\n").unwrap();
    assert_snapshot!("own_table_with_equal_rows", run());
    fs::write(&table, "name,price\nmug,4\njug,6\n").unwrap();
    assert!(run().contains("TS"));
}
