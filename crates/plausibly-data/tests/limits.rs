use crate::fetch;
use crate::server::{Manner, Server};
use plausibly_data::{DataError, HEART, Index, Source, Status, Store, TIME_LIMIT};
use std::fs;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// A cache, and a server of a file that is no archive.
fn setup(manner: Manner) -> (tempfile::TempDir, Store, Server) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    (folder, store, Server::new(vec![7; 5000], &[manner]))
}

fn kept(store: &Store) -> Option<u64> {
    fs::metadata(store.root().join(format!("{}.part", HEART.archive))).ok().map(|file| file.len())
}

/// Both ways to a server: of archives, and of Python packages.
fn sources(server: &Server) -> [Source; 2] {
    let index = Index { url: server.address.clone(), certificates: None };
    [Source::mirror(&server.address), Source::PythonPackages(index)]
}

#[test]
fn more_than_a_file_can_have_is_cut_off_and_not_kept() {
    let most = HEART.most_archive_bytes();
    for manner in [Manner::Endless, Manner::Announcing(most + 1), Manner::Announcing(u64::MAX)] {
        let (_folder, store, server) = setup(manner);
        let [archive, page] = sources(&server);
        let error = fetch(&store, &HEART, &archive).unwrap_err();
        assert!(matches!(error, DataError::TooLarge { limit, .. } if limit == most), "{error}");
        let said = format!("the server sends more than {most} bytes, the most this file can have");
        assert!(error.to_string().contains(&said), "{error}");
        assert_eq!((store.status(&HEART).unwrap(), kept(&store)), (Status::Missing, None));
        // The page of links that leads to a package has a limit too.
        if !matches!(manner, Manner::Announcing(bytes) if bytes == most + 1) {
            let error = fetch(&store, &HEART, &page).unwrap_err();
            assert!(matches!(error, DataError::TooLarge { limit: 10_485_760, .. }), "{error}");
        }
    }
}

#[test]
fn a_part_that_grows_too_large_is_fetched_once_more_from_the_start() {
    let (_folder, store, server) = setup(Manner::Endless);
    fs::write(store.root().join(format!("{}.part", HEART.archive)), [7; 100]).unwrap();
    let error = fetch(&store, &HEART, &Source::mirror(&server.address)).unwrap_err();
    assert!(matches!(error, DataError::TooLarge { .. }), "{error}");
    assert_eq!(*server.ranges.lock().unwrap(), [Some("100-".to_string()), None]);
    assert_eq!(kept(&store), None);
}

#[test]
fn a_server_that_sends_drop_by_drop_meets_the_time_limit() {
    let limit = Duration::from_millis(500);
    for manner in [Manner::Dripping, Manner::SilentAfter(12), Manner::Mute] {
        let (_folder, store, server) = setup(manner);
        for source in sources(&server) {
            let begun = Instant::now();
            let mut progress = |_, _| ControlFlow::Continue(());
            let error =
                plausibly_data::fetch(&store, &HEART, &source, limit, &mut progress).unwrap_err();
            let took = begun.elapsed();
            assert!(limit <= took && took < limit + Duration::from_secs(1), "{took:?}");
            assert!(matches!(error, DataError::TooSlow { .. }), "{error}");
            let said = "not complete within the time limit of 0.5 s; what came is kept";
            assert!(error.to_string().contains(said), "{error}");
        }
        let came = kept(&store);
        match manner {
            Manner::Mute => assert_eq!(came, Some(0)),
            Manner::SilentAfter(_) => assert_eq!(came, Some(12)),
            _ => assert!(came > Some(0) && came < Some(5000), "{came:?}"),
        }
    }
}

#[test]
fn a_caller_that_stops_is_obeyed_within_a_second() {
    for manner in [Manner::Dripping, Manner::SilentAfter(12), Manner::Mute, Manner::Endless] {
        let (_folder, store, server) = setup(manner);
        for source in sources(&server) {
            let begun = Instant::now();
            let (wish, mut asked) = (Duration::from_millis(150), 0);
            let mut progress = |_, _| {
                asked += 1;
                if begun.elapsed() < wish && !matches!(manner, Manner::Endless) {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            };
            let result = plausibly_data::fetch(&store, &HEART, &source, TIME_LIMIT, &mut progress);
            let error = result.unwrap_err();
            assert!(begun.elapsed() < wish + Duration::from_secs(1), "{:?}", begun.elapsed());
            assert!(matches!(error, DataError::Stopped { .. }), "{error}");
            assert!(error.to_string().ends_with("the next fetch continues from there"), "{error}");
            assert!(asked >= 1);
        }
        assert_eq!(store.status(&HEART).unwrap(), Status::Missing);
    }
}
