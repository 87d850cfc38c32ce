//! A service in this process, with clocks and a disk that a test controls.

use crate::client::Client;
use plausibly_server::{AnyStorage, Clock, Server, Settings, World};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::oneshot;

/// The time at which tests begin, in microseconds since 1970.
pub(crate) const BEGIN_US: i64 = 1_794_000_000_000_000;

/// A clock that a test sets beside one that runs.
#[derive(Debug)]
pub(crate) struct SetClock {
    now_us: AtomicI64,
    begun: Instant,
    ahead: Mutex<Duration>,
}

impl SetClock {
    fn new() -> Self {
        let now_us = AtomicI64::new(BEGIN_US);
        Self { now_us, begun: Instant::now(), ahead: Mutex::default() }
    }

    /// Sets the clock that people set, and leaves the other one.
    pub(crate) fn set(&self, now_us: i64) {
        self.now_us.store(now_us, Ordering::SeqCst);
    }

    /// Lets time pass on both clocks.
    pub(crate) fn pass(&self, time: Duration) {
        self.now_us.fetch_add(i64::try_from(time.as_micros()).unwrap(), Ordering::SeqCst);
        *self.ahead.lock().unwrap() += time;
    }
}

impl Clock for SetClock {
    fn now_us(&self) -> i64 {
        self.now_us.load(Ordering::SeqCst)
    }

    fn elapsed(&self) -> Duration {
        self.begun.elapsed() + *self.ahead.lock().unwrap()
    }
}

/// Opens the log at a path.
type Disk = Arc<dyn Fn(&Path) -> AnyStorage + Send + Sync>;

/// A running service.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) clock: Arc<SetClock>,
    pub(crate) said: Arc<Mutex<Vec<String>>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// A service on this folder.
    pub(crate) fn on(data: &Path) -> Self {
        Self::with(data, None, |_| {})
    }

    /// A service on this folder, another disk, and settings that a test changes.
    pub(crate) fn with(
        data: &Path,
        disk: Option<Disk>,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let (clock, said) = (Arc::new(SetClock::new()), Arc::new(Mutex::new(Vec::new())));
        let noted = Arc::clone(&said);
        let report = Arc::new(move |line: &str| noted.lock().unwrap().push(line.to_string()));
        let mut world = World::on_disk(Arc::clone(&clock) as Arc<dyn Clock>, report);
        if let Some(disk) = disk {
            world.disk = disk;
        }
        let mut settings = Settings::new(data.into(), "127.0.0.1:0".parse().unwrap());
        change(&mut settings);
        let (stop, stopped) = oneshot::channel();
        let (begun, address) = std::sync::mpsc::channel();
        let serve = move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = Server::bind(settings, world).unwrap();
                begun.send(server.address()).unwrap();
                server.run(async { drop(stopped.await) }).await;
            });
        };
        let thread = std::thread::Builder::new().spawn(serve).unwrap();
        let address = address.recv_timeout(Duration::from_secs(20)).unwrap();
        Self { address, clock, said, stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.address)
    }

    /// Ends the service, and returns when it has ended.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.leave();
        std::mem::take(&mut self.said.lock().unwrap())
    }

    fn leave(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || std::thread::panicking());
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.leave();
    }
}

/// A service in a folder of its own.
pub(crate) fn service() -> (TempDir, Running) {
    let data = tempfile::tempdir().unwrap();
    let running = Running::on(data.path());
    (data, running)
}

/// Three mugs, described by a price.
pub(crate) fn mugs(name: &str) -> Value {
    json!({
        "name": name,
        "seed": 7,
        "actions": [
            {"name": "mug", "price": 4},
            {"name": "bowl", "price": 6.5},
            {"name": "jug", "price": 9},
        ],
    })
}

/// Begins an experiment about mugs.
pub(crate) fn begin(client: &mut Client, name: &str) {
    client.post("/v1/experiments", &mugs(name)).expect(201);
}
