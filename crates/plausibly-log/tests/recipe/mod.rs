//! From a user's table to vectors: refusals, laws, and real tables.
#![expect(clippy::print_stderr, reason = "what is skipped is said")]

mod bound; // no bounded mean has larger parameters than promised
mod examples; // made-up tables, by hand
mod given; // vectors as they are
mod laws; // for every table
mod page; // the page on features shows what the code prints
mod real; // wine, heart failure, MovieLens, where they are
mod stored; // the form in the log, and damage to it
mod tables; // reading, and every way to be refused

use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A path in the workspace.
fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

fn read(text: &str) -> Table {
    Table::read(text.as_bytes()).unwrap()
}

fn open(name: &str) -> Table {
    Table::read(File::open(workspace("testdata/tables").join(name)).unwrap()).unwrap()
}

fn context(pairs: &[&str]) -> Context {
    Context::parse(pairs).unwrap()
}

fn infer(table: &Table, pairs: &[&str]) -> Recipe {
    Recipe::infer(table, &context(pairs)).unwrap()
}
