use crate::data::mirror;
use crate::{SPEC, Sandbox};
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;

fn manifest(sandbox: &Sandbox, out: &str) -> Value {
    serde_json::from_slice(&fs::read(sandbox.path().join(out).join("manifest.json")).unwrap())
        .unwrap()
}

#[test]
fn a_small_reproduction_answers_and_writes_everything() {
    let sandbox = Sandbox::new(SPEC);
    let folder = sandbox.path().canonicalize().unwrap();
    let shown =
        |args: &[&str]| sandbox.transcript(args).replace(folder.to_str().unwrap(), "FOLDER");
    let args = ["reproduce", "linear", "k-armed", "--runs", "3", "--threads", "2", "--quiet"];
    assert_snapshot!("table", shown(&args));
    let folder = sandbox.path().join("plausibly-results/reproduce");
    let mut files: Vec<_> = ["", "specs"]
        .iter()
        .flat_map(|part| fs::read_dir(folder.join(part)).unwrap())
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(
        files,
        [
            "index.html",
            "k-armed.toml",
            "linear-readings.toml",
            "linear-ruler.toml",
            "linear.toml",
            "manifest.json",
            "specs",
            "summary.csv",
            "theory-arms-loose.toml",
            "theory-arms.toml",
            "theory-lemma-1.toml",
            "theory-linear.toml",
        ]
    );
    let json =
        sandbox.run(&["reproduce", "linear", "--runs", "2", "--json", "--quiet", "--out", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json["experiments"][0]["claims"][0]["claim"], "a");
    assert_eq!(json["files"].as_array().unwrap().len(), 7);
}

#[test]
fn threads_change_nothing_and_every_number_follows_from_its_spec() {
    let sandbox = Sandbox::new(SPEC);
    for (out, threads) in [("one", "1"), ("two", "2")] {
        let args = [
            "reproduce",
            "linear",
            "--runs",
            "3",
            "--out",
            out,
            "--threads",
            threads,
            "--quiet",
            "--seed",
            "5",
        ];
        assert!(sandbox.run(&args).status.success());
    }
    for file in ["index.html", "summary.csv", "specs/linear.toml"] {
        let read = |out: &str| fs::read(sandbox.path().join(out).join(file)).unwrap();
        assert_eq!(read("one"), read("two"), "{file}");
    }
    let report = manifest(&sandbox, "one");
    for (position, name) in ["linear", "linear-readings", "linear-ruler"].into_iter().enumerate() {
        let spec = format!("one/specs/{name}.toml");
        assert!(sandbox.run(&["simulate", &spec, "--out", "again", "--quiet"]).status.success());
        let again = manifest(&sandbox, "again");
        assert_eq!(report["experiments"][position]["name"], name);
        assert_eq!(report["experiments"][position]["final"], again["final"]);
        assert_eq!(report["experiments"][position]["spec"], again["spec"]);
    }
    // Policies in both of them played the same problems in the same way.
    let code = |position: usize| report["experiments"][position]["final"][0].clone();
    assert_eq!(code(0), code(1));
    // Theory plays what the spec says, too.
    let spec = "one/specs/theory-linear.toml";
    assert!(sandbox.run(&["simulate", spec, "--out", "again", "--quiet"]).status.success());
    let regret = &report["theory"]["theory-linear"]["result"]["regret"]["mean"];
    assert_eq!(*regret, manifest(&sandbox, "again")["final"][0]["regret_mean"]);
}

#[test]
fn what_cannot_be_had_is_skipped_unless_it_was_asked_for() {
    let sandbox = Sandbox::new(SPEC);
    let output =
        sandbox.run(&["reproduce", "--quick", "--runs", "1", "--cache", "empty", "--out", "out"]);
    assert!(output.status.success());
    let stderr = String::from_utf8(output.stderr).unwrap();
    let page = fs::read_to_string(sandbox.path().join("out/index.html")).unwrap();
    for (name, title) in
        [("movielens", "MovieLens"), ("wine", "White wine"), ("heart", "Heart failure")]
    {
        let remedy = format!("`plausibly data fetch {name}`");
        assert!(
            stderr.contains(&format!("skipped {name}: ")) && stderr.contains(&remedy),
            "{stderr}"
        );
        assert!(page.contains(&format!("{title} was skipped. ")) && page.contains(&remedy));
    }
    assert_eq!(manifest(&sandbox, "out")["skipped"].as_array().unwrap().len(), 3);
    assert!(!sandbox.path().join("empty").exists(), "no network, no cache");

    let named = ["reproduce", "heart", "--quick", "--cache", "empty", "--out", "named"];
    assert_snapshot!("named_without_data", sandbox.transcript(&named));
    assert!(!sandbox.path().join("named").exists());
    let licence =
        ["reproduce", "movielens", "--cache", "empty", "--out", "named", "--mirror", "nowhere"];
    assert_snapshot!("licence_not_accepted", sandbox.transcript(&licence));
    assert_snapshot!("unknown_experiment", sandbox.transcript(&["reproduce", "iris"]));
}

#[test]
fn data_is_fetched_on_the_way() {
    let Some(mirror) = mirror() else { return };
    let sandbox = Sandbox::new(SPEC);
    let mirror = mirror.to_str().unwrap();
    let args = [
        "reproduce",
        "heart",
        "--runs",
        "2",
        "--cache",
        "cache",
        "--mirror",
        mirror,
        "--out",
        "out",
    ];
    let output = sandbox.run(&args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && stderr.contains("licence: CC BY 4.0"), "{stderr}");
    let page = fs::read_to_string(sandbox.path().join("out/index.html")).unwrap();
    assert!(page.contains("survival as the reward"));
    assert!(sandbox.run(&["data", "verify", "heart", "--cache", "cache"]).status.success());
}

#[test]
fn the_frontier_is_run_by_its_name_alone() {
    let sandbox = Sandbox::new(SPEC);
    let args = [
        "reproduce",
        "frontier",
        "--quick",
        "--runs",
        "2",
        "--cache",
        "empty",
        "--out",
        "out",
        "--quiet",
    ];
    let output = sandbox.run(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let manifest = manifest(&sandbox, "out");
    let names: Vec<&str> = manifest["experiments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "frontier-linear",
            "frontier-linear-valid",
            "frontier-changing",
            "frontier-changing-valid"
        ]
    );
    // It makes statements of its own, and none about the paper.
    assert_eq!(manifest["frontier"].as_array().unwrap().len(), 8);
    assert!(
        manifest["experiments"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["claims"] == serde_json::json!([]))
    );
    assert_snapshot!(
        "frontier_literal",
        sandbox.transcript(&["reproduce", "frontier", "--reading", "literal"])
    );
}

#[test]
fn late_rewards_are_a_study_by_their_name_and_change_nothing_one_round_late() {
    let sandbox = Sandbox::new(SPEC);
    let args = [
        "reproduce",
        "delay",
        "--runs",
        "1",
        "--cache",
        "empty",
        "--out",
        "out",
        "--quiet",
        "--json",
    ];
    let output = sandbox.run(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let manifest = manifest(&sandbox, "out");
    assert_eq!(manifest["delay"], answer["delay"]);
    // Two problems, two widths, four delays; of each two policies and two figures.
    let experiments = manifest["experiments"].as_array().unwrap();
    assert_eq!(experiments.len(), 16);
    assert!(
        experiments.iter().all(|one| one["claims"] == serde_json::json!([]) && one["runs"] == 1)
    );
    let findings = manifest["delay"].as_array().unwrap();
    assert_eq!(findings.len(), 64);
    for finding in findings {
        assert_eq!(finding["same"], finding["rounds"] == 1, "{finding}");
    }
    // Every figure at every round, to the bit; and later on it is another policy.
    let csv = fs::read_to_string(sandbox.path().join("out/summary.csv")).unwrap();
    let curve = |experiment: &str, policy: &str| -> Vec<String> {
        let of = format!("{experiment},\"{policy}\",");
        csv.lines().filter_map(|line| line.strip_prefix(&of)).map(str::to_string).collect()
    };
    for one in experiments {
        let name = one["name"].as_str().unwrap();
        for policy in ["CODE", "c=0.3"] {
            let ways = ["counting", "ignoring"].map(|way| curve(name, &format!("{policy}, {way}")));
            assert!(ways[0].len() > 30);
            assert_eq!(ways[0] == ways[1], name.ends_with("-1"), "{name}, {policy}");
        }
    }
    assert_snapshot!(
        "delay_literal",
        sandbox.transcript(&["reproduce", "delay", "--reading", "literal"])
    );
}

#[test]
fn differences_are_a_study_by_their_name_and_the_ruler_changes_no_regret() {
    let sandbox = Sandbox::new(SPEC);
    let args = [
        "reproduce",
        "differences",
        "--quick",
        "--runs",
        "2",
        "--cache",
        "empty",
        "--out",
        "out",
        "--quiet",
        "--json",
    ];
    let output = sandbox.run(&args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let manifest = manifest(&sandbox, "out");
    assert_eq!(manifest["differences"], answer["differences"]);
    // Five pairs without data: regret, and the model error by two rulers.
    assert_eq!(manifest["differences"].as_array().unwrap().len(), 15);
    assert_eq!(manifest["skipped"].as_array().unwrap().len(), 3);
    let experiments = manifest["experiments"].as_array().unwrap();
    assert_eq!(experiments.len(), 10);
    assert!(experiments.iter().all(|one| one["claims"] == serde_json::json!([])));
    for pair in experiments.chunks(2) {
        let of = |one: &Value, figure: &str| -> Vec<f64> {
            let policies = one["final"].as_array().unwrap().iter();
            policies.map(|policy| policy[figure].as_f64().unwrap()).collect()
        };
        assert_eq!(of(&pair[0], "regret_mean"), of(&pair[1], "regret_mean"));
        assert_ne!(of(&pair[0], "model_error_mean"), of(&pair[1], "model_error_mean"));
    }
    assert_snapshot!(
        "differences_literal",
        sandbox.transcript(&["reproduce", "differences", "--reading", "literal"])
    );
}

#[test]
fn yes_and_no_has_no_literal_reading() {
    assert_snapshot!(
        "yes_no_literal",
        Sandbox::new(SPEC).transcript(&["reproduce", "yes-no", "--reading", "literal"])
    );
}

#[test]
fn the_literal_reading_is_another_experiment() {
    let sandbox = Sandbox::new(SPEC);
    for (out, reading) in [("adopted", "adopted"), ("literal", "literal")] {
        let args =
            ["reproduce", "linear", "--runs", "2", "--out", out, "--reading", reading, "--quiet"];
        assert!(sandbox.run(&args).status.success());
    }
    let ridge = |out: &str| {
        manifest(&sandbox, out)["experiments"][0]["spec"]["policy"][0]["ridge"].as_f64()
    };
    assert_eq!((ridge("adopted"), ridge("literal")), (Some(1.0), Some(1e4)));
    let page = fs::read_to_string(sandbox.path().join("literal/index.html")).unwrap();
    assert!(page.contains("How the paper was read: literally."));
}

/// Takes long: the whole paper at full size, twice.
mod full {
    use super::*;
    use std::collections::BTreeMap;

    /// The verdict on every claim that the paper makes.
    fn verdicts(sandbox: &Sandbox, seed: &str, mirror: &str) -> BTreeMap<String, String> {
        let mut args = vec!["reproduce", "--seed", seed, "--cache", "cache", "--json", "--quiet"];
        args.extend(["--mirror", mirror, "--accept-licence", "--out", seed]);
        let output = sandbox.run(&args);
        assert!(output.status.success());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut found = BTreeMap::new();
        for experiment in answer["experiments"].as_array().unwrap() {
            for claim in experiment["claims"].as_array().unwrap() {
                if claim["stated_by_the_paper"] == true {
                    let name = format!("{} {}", experiment["name"], claim["claim"]);
                    found.insert(name, claim["verdict"].as_str().unwrap().to_string());
                }
            }
        }
        found
    }

    #[test]
    fn yes_and_no_is_a_study_by_its_name() {
        let sandbox = Sandbox::new(SPEC);
        let args = ["reproduce", "yes-no", "--runs", "1", "--out", "out", "--quiet", "--json"];
        let output = sandbox.run(&args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let manifest = manifest(&sandbox, "out");
        assert_eq!(manifest["yes-no"], answer["yes-no"]);
        let experiments = manifest["experiments"].as_array().unwrap();
        // Seven comparisons, and Beta Thompson sampling on four tables.
        assert_eq!(experiments.len(), 11);
        assert!(experiments.iter().all(|one| one["claims"] == serde_json::json!([])));
        let tables = manifest["yes-no"]["tables"].as_array().unwrap();
        assert_eq!(tables.len(), 4);
        for table in tables {
            // Seven sets with features, one without.
            assert_eq!(table["sets"].as_array().unwrap().len(), 8, "{table}");
            assert!(table["beta_regret"]["mean"].as_f64().unwrap() > 0.0, "{table}");
        }
        // One run has no standard error, so no distance is judged.
        for statement in manifest["yes-no"]["statements"].as_array().unwrap() {
            let open = statement["verdict"] == "undecided";
            assert!(open || statement["about"] != "same", "{statement}");
        }
    }

    #[test]
    fn two_seeds_turn_no_verdict() {
        let Some(mirror) = mirror() else { return };
        let sandbox = Sandbox::new(SPEC);
        let mirror = mirror.to_str().unwrap();
        let (one, other) = (verdicts(&sandbox, "1", mirror), verdicts(&sandbox, "7", mirror));
        assert_eq!(one.len(), 19);
        for (claim, verdict) in &one {
            let both = [verdict.as_str(), other[claim].as_str()];
            assert!(both[0] == both[1] || both.contains(&"undecided"), "{claim}: {both:?}");
        }
        let decided = one.values().filter(|verdict| *verdict != "undecided").count();
        assert!(decided > 10, "only {decided} of 19 decided: the comparison says nothing");
    }
}
