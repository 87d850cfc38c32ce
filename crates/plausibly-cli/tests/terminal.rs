//! No text from a file, an argument or a certificate controls the terminal.

use crate::Sandbox;
use std::fs;

/// All characters that could: C0 except the newline, DEL, C1, directions, line ends, the byte-order
/// mark.
fn steering() -> Vec<char> {
    let ranges = [
        0x01..=0x09,
        0x0b..=0x1f,
        0x7f..=0x9f,
        0x61c..=0x61c,
        0x200e..=0x200f,
        0x2028..=0x202e,
        0x2066..=0x206f,
    ];
    let listed = ranges.into_iter().flatten().chain([0xfeff]);
    listed.filter_map(char::from_u32).collect()
}

/// Runs a command with any result, checks that neither stream has such a character, and returns
/// stdout.
fn harmless(sandbox: &Sandbox, args: &[&str]) -> String {
    let output = sandbox.command(args).env_remove("PLAUSIBLY_LOG").output().unwrap();
    let steering = steering();
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        let text = std::str::from_utf8(bytes).unwrap();
        let found = text.chars().find(|c| steering.contains(c));
        assert_eq!(found, None, "{args:?} on {name}:\n{text:?}");
    }
    String::from_utf8(output.stdout).unwrap()
}

/// A folder with a table, a spec, a policy and a certificate full of such characters, and a log of
/// decisions about that table.
struct Hostile {
    sandbox: Sandbox,
    /// All of them but the end of a row.
    all: String,
    /// As many as a file name can hold.
    name: String,
}

const DECIDE: [&str; 5] = ["decide", "--log", "a.log", "--actions", "t.csv"];

impl Hostile {
    fn new() -> Self {
        let all: String = steering().into_iter().filter(|&c| c != '\r').collect();
        let name: String = all.chars().take(60).collect();
        let sandbox = Sandbox::new(
            "name = \"x\"\nruns = 1\nhorizon = 20\n[environment]\nkind = \"linear\"\ndim = \
             2\nactions = 4\n\
             [[policy]]\nkind = \"code\"\nlabel = \"a\u{202e}b\u{2066}c\u{feff}\"\n",
        );
        let hostile = Self { sandbox, all, name };
        let Self { all, name, .. } = &hostile;
        hostile.write(
            "t.csv",
            &format!("name,x{all},y\n\"first{all}\",1,u{all}\n\"second\nline\",2,v\nthird,3,w\n"),
        );
        hostile.write(&format!("{name}.csv"), "name\na\na\n");
        hostile.write("wrong.csv", &format!("decision,label,reward\n1,other{all},1\n"));
        hostile.write("bad.toml", &format!("name = \"x{all}\"\nhorizon{all} = = {all}\n"));
        hostile.write("wrong.toml", &format!("\"field{name}\" = 1\nname = \"\u{202e}\"\n"));
        hostile.write("policy.toml", "kind = \"code\u{202e}\u{9b}\"\n");
        hostile
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.sandbox.path().join(file), text).unwrap();
    }

    /// Takes decisions in a context of them.
    fn decided(self) -> Self {
        let context = format!("key{all}=value{all}", all = self.all);
        let decide = [&DECIDE[..], &["--context", &context]].concat();
        harmless(&self.sandbox, &decide);
        let said = harmless(&self.sandbox, &[&decide[..], &["--yes"]].concat());
        assert!(said.starts_with("decision 1: ") && said.lines().count() == 1, "{said}");
        for more in [
            &["--explain"][..],
            &["--json"],
            &["--certificate", "c.json"],
            &["--policy", "policy.toml"],
        ] {
            harmless(&self.sandbox, &[&decide[..], more].concat());
        }
        assert!(self.sandbox.path().join("c.json").exists());
        self
    }
}

#[test]
fn no_command_about_decisions_passes_on_what_steers_a_terminal() {
    let hostile = Hostile::new().decided();
    let Hostile { sandbox, all, name } = &hostile;
    let log = "--log";
    let json = harmless(sandbox, &["explain", log, "a.log", "2", "--json"]);
    assert!(json.contains("\\u202e") && json.contains("\\u009b"), "{json}");
    for args in [
        &["reward", log, "a.log", "1", "1"][..],
        &["reward", log, "a.log", "1", "0"],
        &["reward", log, "a.log", name, "0"],
        &["reward", log, "a.log", "1", all],
        &["reward", log, "a.log", "--csv", "wrong.csv"],
        &["reward", log, "a.log", "--csv", name],
        &["drop", log, "a.log", "2"],
        &["history", log, "a.log"],
        &["history", log, "a.log", "--json"],
        &["status", log, "a.log"],
        &["status", log, "a.log", "--json"],
        &["status", log, name],
        &["status", log, "a.log", "--html", name],
        &["explain", log, "a.log", "1"],
        &["explain", log, "a.log", name],
        &["explain", "c.json"],
        &["explain", name],
        &["verify", "c.json", log, "a.log"],
        &["verify", name],
        &["replay", log, "a.log", "--policy", "lin-ucb"],
        &["replay", log, "a.log", "--policy", "lin-ucb", "--json"],
        &["replay", log, "a.log", "--policy", name],
        &["replay", log, "a.log", "--set", name],
        &["decide", log, "b.log", "--actions", &format!("{name}.csv"), "--yes"],
        &["decide", log, "b.log", "--actions", "t.csv", "--leave-out", name],
        &["decide", log, "b.log", "--actions", "t.csv", "--context", name],
        &["decide", log, name, "--actions", "t.csv", "--yes"],
    ] {
        harmless(sandbox, args);
    }
    // A certificate with them in all its texts, and a file that is not a certificate.
    let forged = fs::read_to_string(sandbox.path().join("c.json")).unwrap();
    hostile.write("forged.json", &forged.replace("code", "\u{202e}\u{9b}31m"));
    hostile.write("broken.json", &format!("{{\"format\": \"{all}\", \"x\u{202e}\": 1}}"));
    for file in ["forged.json", "broken.json"] {
        harmless(sandbox, &["verify", file]);
        harmless(sandbox, &["verify", file, "--json"]);
        harmless(sandbox, &["explain", file]);
    }
}

#[test]
fn no_other_command_passes_on_what_steers_a_terminal() {
    let Hostile { sandbox, name, .. } = &Hostile::new();
    for args in [
        &["simulate", "spec.toml"][..],
        &["simulate", "spec.toml", "--json"],
        &["simulate", "bad.toml"],
        &["simulate", "wrong.toml"],
        &["simulate", name],
        &["simulate", "spec.toml", "--out", &format!("spec.toml/{name}")],
        &["reproduce", name],
        &["data", "list", "--cache", name],
        &["data", "list", "--cache", name, "--json"],
        &["data", "fetch", name],
        &["data", "fetch", "heart", "--cache", "c", "--mirror", name, "--from", name],
        &["completions", name],
        &[name],
        &[&format!("--{name}")],
    ] {
        harmless(sandbox, args);
    }
}
