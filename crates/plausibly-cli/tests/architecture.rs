use crate::workspace;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The lines of the fenced block of ARCHITECTURE.md that begins with this word.
fn fenced(word: &str) -> Vec<String> {
    let page = fs::read_to_string(workspace("ARCHITECTURE.md")).unwrap();
    let (_, rest) = page.split_once(&format!("```{word}\n")).expect("a block with this word");
    let (block, _) = rest.split_once("```").expect("the end of the block");
    block.lines().map(String::from).collect()
}

/// The arrows that ARCHITECTURE.md draws, from its block of lines `crate -> crate, crate`.
fn drawn() -> BTreeMap<String, Vec<String>> {
    let lines = fenced("arrows");
    let arrows = lines.iter().map(|line| {
        let (from, to) = line.split_once("->").expect("an arrow");
        let to = to.split(',').map(str::trim).filter(|name| !name.is_empty());
        (from.trim().to_string(), to.map(String::from).collect())
    });
    arrows.collect()
}

/// The arrows there are: dependencies among our own crates, those of tests left out.
fn real() -> BTreeMap<String, Vec<String>> {
    let cargo = env!("CARGO");
    let args = ["metadata", "--no-deps", "--format-version", "1", "--offline", "--manifest-path"];
    let output = Command::new(cargo).args(args).arg(workspace("Cargo.toml")).output().unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let arrows = metadata["packages"].as_array().unwrap().iter().map(|package| {
        let ours = |name: &str| name == "plausibly" || name.starts_with("plausibly-");
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        let mut to: Vec<String> = dependencies
            .filter(|dependency| dependency["kind"].is_null())
            .map(|dependency| dependency["name"].as_str().unwrap().to_string())
            .filter(|name| ours(name))
            .collect();
        to.sort();
        (package["name"].as_str().unwrap().to_string(), to)
    });
    arrows.collect()
}

#[test]
fn the_arrows_are_those_of_the_architecture_page() {
    assert_eq!(drawn(), real());
}

#[test]
fn every_package_carries_its_licences_and_a_readme() {
    let cargo = |args: &[&str]| {
        let manifest = workspace("Cargo.toml");
        let output = Command::new(env!("CARGO"))
            .args(args)
            .arg("--manifest-path")
            .arg(manifest)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let metadata = cargo(&["metadata", "--no-deps", "--format-version", "1", "--offline"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    // `publish` is null for a crate that may be published anywhere, and a list of registries for
    // others.
    let published = metadata["packages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|package| package["publish"].is_null());
    let names: Vec<&str> = published.map(|package| package["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"plausibly") && names.len() > 5, "{names:?}");
    for name in names {
        let list = cargo(&["package", "--list", "--allow-dirty", "--offline", "--package", name]);
        for file in ["LICENSE-APACHE", "LICENSE-MIT", "README.md"] {
            assert!(list.lines().any(|line| line == file), "{name}: {file} is not in its package");
        }
    }
}

/// All files below a folder with this ending.
fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
}

/// Whether a line of Rust opens unsafe code. Comments and strings that only mention it do not.
fn opens_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap();
    code.match_indices("unsafe").any(|(at, word)| {
        let inside_a_name = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let next = code[at + word.len()..].trim_start();
        let opening = ["{", "(", "fn ", "impl", "extern", "trait "];
        // A brace may follow on the next line.
        !inside_a_name && (next.is_empty() || opening.iter().any(|start| next.starts_with(start)))
    })
}

#[test]
fn unsafe_code_is_where_the_architecture_page_says() {
    let mut sources = Vec::new();
    files(&workspace("crates"), "rs", &mut sources);
    let root = workspace("");
    let mut found: Vec<String> = sources
        .iter()
        .filter(|path| path.components().any(|part| part.as_os_str() == "src"))
        .filter(|path| fs::read_to_string(path).unwrap().lines().any(opens_unsafe))
        .map(|path| path.strip_prefix(&root).unwrap().display().to_string())
        .collect();
    found.sort();
    assert_eq!(
        fenced("unsafe"),
        found,
        "ARCHITECTURE.md (left) does not list the files with unsafe code (right): write those \
         paths, sorted, one per line, into its block ```unsafe under `## Invariants`"
    );
}

#[test]
fn unsafe_code_is_told_from_words_about_it() {
    for line in ["x => unsafe { f(x) },", "pub unsafe fn f() {", "unsafe impl Send for X {}"] {
        assert!(opens_unsafe(line), "{line}");
    }
    for line in ["// unsafe { f() }", "#![expect(unsafe_code)]", "let x = \"'unsafe-inline'\";"] {
        assert!(!opens_unsafe(line), "{line}");
    }
}

/// Citation keys in a text: capitals, then digits, in brackets that Rust documentation escapes.
fn keys(text: &str) -> Vec<&str> {
    let open = text.match_indices('[').map(|(at, _)| &text[at + 1..]);
    let inside =
        open.filter_map(|rest| rest.split(']').next()).map(|key| key.trim_end_matches('\\'));
    let is_key = |key: &&str| {
        let letters = key.chars().take_while(char::is_ascii_uppercase).count();
        let digits = key[letters..].chars().count();
        letters >= 2
            && key.is_ascii()
            && (digits == 2 || *key == "MZK")
            && key[letters..].chars().all(|c| c.is_ascii_digit())
    };
    inside.filter(is_key).collect()
}

#[test]
fn every_citation_key_resolves() {
    let references = fs::read_to_string(workspace("docs/references.md")).unwrap();
    let mut sources = Vec::new();
    files(&workspace("crates"), "rs", &mut sources);
    files(&workspace("docs"), "md", &mut sources);
    let mut cited = 0;
    for path in sources {
        let text = fs::read_to_string(&path).unwrap();
        for key in keys(&text) {
            assert!(
                references.contains(&format!("**[{key}]**")),
                "[{key}] in {} is not in the list",
                path.display()
            );
            cited += 1;
        }
    }
    assert!(cited > 10, "only {cited} citations found: the search is broken");
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let mut pages = vec![];
    for page in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"] {
        pages.push(workspace(page));
    }
    files(&workspace("docs"), "md", &mut pages);
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = target.split('#').next().unwrap();
            if !file.is_empty() && !file.contains("://") {
                let path = page.parent().unwrap().join(file);
                assert!(path.exists(), "{} links to {target}, which is not there", page.display());
            }
        }
    }
}
