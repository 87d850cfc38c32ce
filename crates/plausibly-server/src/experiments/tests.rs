use super::{Experiments, Folder};
use crate::acceptor::{Connections, Limits};
use crate::metrics::Metrics;
use crate::world::{Clock, World};
use plausibly_log::event::{Unreported, Window};
use plausibly_log::journal::FileStorage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Among, Asked, Log, Opening, OutcomeStatus};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A clock that a test moves.
#[derive(Default)]
struct Moved(AtomicI64);

impl Clock for Moved {
    fn now_us(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    fn elapsed(&self) -> Duration {
        Duration::from_micros(self.now_us().unsigned_abs())
    }
}

/// A log with a window of a minute and a decision at time 0.
fn begin(path: &Path) {
    let table = Table::from_rows(&["name"], [vec!["left"], vec!["right"]]).unwrap();
    let recipe = Recipe::infer(&table, &Context::default()).unwrap();
    let mut opening = Opening::new(recipe, (0.0, 1.0), 7);
    opening.window = Some(Window { seconds: 60, unreported: Unreported::Drop });
    let mut log = Log::open(FileStorage::new(path)).unwrap();
    log.begin(0, opening).unwrap();
    log.replace_actions(0, &table).unwrap();
    log.take(0, &Asked::among(Among::All, &Context::default())).unwrap();
}

fn is_settled(path: &Path) -> bool {
    let past = plausibly_log::history(&FileStorage::new(path)).unwrap();
    past[0].outcome == OutcomeStatus::Dropped
}

#[test]
fn an_experiment_that_another_process_wrote_to_is_settled_later() {
    let data = tempfile::tempdir().unwrap();
    let path = data.path().join("shop/log");
    std::fs::create_dir(data.path().join("shop")).unwrap();
    begin(&path);
    let other = Log::open(FileStorage::new(&path)).unwrap();
    let clock = Arc::new(Moved::default());
    let said = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&said);
    let report = Arc::new(move |line: &str| noted.lock().unwrap().push(line.to_string()));
    let world = World::on_disk(Arc::clone(&clock) as Arc<dyn Clock>, report);
    let metrics = Arc::new(Metrics::new(Connections::new(&Limits::default())));
    let folder = Folder::open(data.path().into()).unwrap();
    let experiments = Experiments::new(folder, world, metrics, Duration::from_mins(10));
    let wait = |done: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !done() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{said:?}");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    experiments.wake();
    wait(&|| experiments.running().is_empty());
    assert!(said.lock().unwrap()[0].contains("experiment_not_opened"), "{said:?}");
    drop(other);
    experiments.wake();
    assert!(experiments.running().is_empty(), "it is tried too soon");
    clock.0.store(61_000_000, Ordering::SeqCst);
    experiments.wake();
    wait(&|| is_settled(&path));
    experiments.close(Duration::from_secs(10));
}
