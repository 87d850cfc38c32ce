use crate::server::{Manner, Server};
use crate::{fetch, mirror};
use plausibly_data::{DataError, HEART, Source, Status, Store, TIME_LIMIT};
use std::fs;
use std::ops::ControlFlow;
use tempfile::TempDir;

/// The archive of the heart data set, if there is a mirror.
fn archive() -> Option<Vec<u8>> {
    Some(fs::read(mirror()?.join(HEART.archive)).unwrap())
}

/// A fresh cache, and a server of `file` with these manners.
fn setup(file: Vec<u8>, manners: &[Manner]) -> (TempDir, Store, Server) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    (folder, store, Server::new(file, manners))
}

fn get(store: &Store, server: &Server) -> Result<(), DataError> {
    fetch(store, &HEART, &Source::mirror(&server.address))
}

fn part_length(store: &Store) -> Option<u64> {
    fs::metadata(store.root().join(format!("{}.part", HEART.archive))).ok().map(|file| file.len())
}

#[test]
fn a_whole_download_is_unpacked_and_leaves_no_archive() {
    let Some(file) = archive() else { return };
    for manner in [Manner::Well, Manner::Slowly] {
        let (_folder, store, server) = setup(file.clone(), &[manner]);
        let mut seen = Vec::new();
        let source = Source::mirror(&format!("{}/", server.address));
        let mut progress = |done, total| {
            seen.push((done, total));
            ControlFlow::Continue(())
        };
        plausibly_data::fetch(&store, &HEART, &source, TIME_LIMIT, &mut progress).unwrap();
        assert_eq!(store.status(&HEART).unwrap(), Status::Ready);
        assert_eq!(part_length(&store), None);
        let length = file.len() as u64;
        assert_eq!((seen[0], seen[seen.len() - 1]), ((0, None), (length, Some(length))));
    }
}

#[test]
fn an_interrupted_download_is_kept_and_taken_up_again() {
    let Some(file) = archive() else { return };
    let (_folder, store, server) =
        setup(file, &[Manner::CutAfter(5000), Manner::CutAfter(3000), Manner::Well]);
    for expected in [5000, 8000] {
        let error = get(&store, &server).unwrap_err();
        assert!(error.to_string().ends_with("what came is kept"), "{error}");
        assert_eq!(part_length(&store), Some(expected));
        assert_eq!(store.status(&HEART).unwrap(), Status::Missing, "a part is never read as data");
    }
    get(&store, &server).unwrap();
    assert_eq!(store.status(&HEART).unwrap(), Status::Ready);
    let ranges = server.ranges.lock().unwrap().clone();
    assert_eq!(ranges, [None, Some("5000-".to_string()), Some("8000-".to_string())]);
}

#[test]
fn a_server_without_ranges_is_begun_again() {
    let Some(file) = archive() else { return };
    let (_folder, store, server) = setup(file, &[Manner::CutAfter(5000), Manner::FromTheStart]);
    get(&store, &server).unwrap_err();
    get(&store, &server).unwrap();
    assert_eq!(store.status(&HEART).unwrap(), Status::Ready);
}

#[test]
fn a_download_that_was_complete_but_not_unpacked_is_finished() {
    let Some(file) = archive() else { return };
    let (_folder, store, server) = setup(file.clone(), &[Manner::Well]);
    fs::write(store.root().join(format!("{}.part", HEART.archive)), file).unwrap();
    get(&store, &server).unwrap();
    assert_eq!(store.status(&HEART).unwrap(), Status::Ready);
}

#[test]
fn a_part_of_another_archive_is_thrown_away_and_fetched_anew() {
    let Some(file) = archive() else { return };
    for length in [5000, file.len(), 2 * file.len()] {
        let (_folder, store, server) = setup(file.clone(), &[Manner::Well]);
        fs::write(store.root().join(format!("{}.part", HEART.archive)), vec![7; length]).unwrap();
        get(&store, &server).unwrap();
        assert_eq!((store.status(&HEART).unwrap(), part_length(&store)), (Status::Ready, None));
        assert_eq!(*server.ranges.lock().unwrap(), [Some(format!("{length}-")), None]);
    }
}

#[test]
fn bytes_that_are_not_the_published_ones_are_refused_and_not_kept() {
    let Some(file) = archive() else { return };
    let mut corrupted = file.clone();
    let middle = corrupted.len() / 2;
    corrupted[middle] ^= 0xff;
    let truncated = file[..file.len() / 2].to_vec();
    let (_folder, other, server) = setup(another_version(), &[Manner::Well]);
    let error = get(&other, &server).unwrap_err();
    assert!(matches!(error, DataError::Checksum { .. }), "{error}");
    assert_eq!((other.status(&HEART).unwrap(), part_length(&other)), (Status::Missing, None));
    for wrong in [corrupted, truncated, b"<html>not here</html>".to_vec()] {
        let (_folder, store, server) = setup(wrong, &[Manner::Well]);
        let error = get(&store, &server).unwrap_err();
        assert!(matches!(error, DataError::Archive { .. } | DataError::Checksum { .. }), "{error}");
        assert_eq!((store.status(&HEART).unwrap(), part_length(&store)), (Status::Missing, None));
        // The next attempt is not poisoned by this one.
        let good = Server::new(file.clone(), &[Manner::Well]);
        get(&store, &good).unwrap();
        assert_eq!(store.status(&HEART).unwrap(), Status::Ready);
    }
}

/// A sound archive whose member has other contents.
fn another_version() -> Vec<u8> {
    use std::io::Write;
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    zip.start_file(HEART.members[0].path, zip::write::SimpleFileOptions::default()).unwrap();
    zip.write_all(b"age,DEATH_EVENT\n75,1\n").unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn an_address_that_does_not_answer_is_an_error_with_its_name() {
    let (_folder, store, server) = setup(Vec::new(), &[Manner::NotFound]);
    let error = get(&store, &server).unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "cannot fetch {}/{}: the server answers 404 Not Found",
            server.address, HEART.archive
        )
    );
    let closed = Source::Url("http://127.0.0.1:1".into());
    let error = fetch(&store, &HEART, &closed).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot fetch http://127.0.0.1:1/heart+failure+clinical+records.zip: "),
        "{error}"
    );
    let folder = Source::mirror("no/such/folder");
    let error = fetch(&store, &HEART, &folder).unwrap_err().to_string();
    assert!(
        error.starts_with("cannot open no/such/folder/heart+failure+clinical+records.zip: "),
        "{error}"
    );
}

#[test]
fn a_mirror_with_a_password_is_refused_and_its_password_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let source = Source::mirror("http://user:secret@127.0.0.1:1/data");
    assert!(source.holds_password());
    let error = fetch(&Store::new(folder.path()), &HEART, &source).unwrap_err().to_string();
    assert_eq!(error, "cannot fetch http://127.0.0.1:1: a mirror with a password is not supported");
    for plain in ["http://127.0.0.1:1/a@b", "folder/with@sign"] {
        assert!(!Source::mirror(plain).holds_password(), "{plain}");
    }
}
