//! Parsers against published facts, and the way data come in against a server that misbehaves.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(clippy::print_stderr, reason = "what is skipped is said")]

mod download; // a server on loopback: whole, cut off, resumed, slow, wrong
mod limits; // that server without end or pause: size, time, and a caller that stops
mod parse; // the facts of each data set
mod python_packages; // made-up packages on that server: wheels, source archives, damaged ones
mod server; // that server

use plausibly_data::{DATA_SETS, DataError, DataSet, Source, Store, TIME_LIMIT};
use std::ops::ControlFlow;
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

/// Fetches without limits of its own or anything to say.
fn fetch(store: &Store, set: &DataSet, source: &Source) -> Result<(), DataError> {
    plausibly_data::fetch(store, set, source, TIME_LIMIT, &mut |_, _| ControlFlow::Continue(()))
}

/// A cache of its own with these data sets in it.
fn store_with(sets: &[DataSet], mirror: &Path) -> (tempfile::TempDir, Store) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    for set in sets {
        fetch(&store, set, &Source::Folder(mirror.into())).unwrap();
    }
    (folder, store)
}
