//! The service as a whole: what it is started with, how it begins and how it ends.

use crate::acceptor::{Acceptor, Connections, Limits};
use crate::api::{self, Service};
use crate::experiments::{Experiments, Folder};
use crate::guard::{Gate, Hosts, guard};
use crate::keys::{KeyError, News, Ring};
use crate::metrics::Metrics;
use crate::observe::{Watch, observe};
use crate::world::World;
use axum::Router;
use axum::middleware::from_fn_with_state;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

/// Keys are read again after this time.
const REREAD: Duration = Duration::from_millis(500);
/// Snapshots are written, and failed experiments tried again, at most this often.
const KEEP: Duration = Duration::from_mins(1);
/// This many new connections may wait to be accepted, if the system allows it.
const BACKLOG: u32 = 4096;
/// The process ends within ten seconds of the signal: connections first, then the logs.
const LOGS_LEAVE: Duration = Duration::from_secs(1);

/// What the service is started with.
#[derive(Clone)]
pub struct Settings {
    /// The data folder; it is created if it is missing.
    pub data: PathBuf,
    /// The address to listen on.
    pub listen: SocketAddr,
    /// Names by which clients reach the service, beside its addresses.
    pub hosts: Vec<String>,
    /// Speaks TLS if this is set: see [`tls::acceptor`](crate::tls::acceptor).
    pub tls: Option<TlsAcceptor>,
    /// Reports every request, not failures alone.
    pub report_requests: bool,
    /// After this time without requests, an experiment closes its log.
    pub idle: Duration,
}

impl Settings {
    /// A service on this folder and address, with usual settings.
    pub fn new(data: PathBuf, listen: SocketAddr) -> Self {
        Self {
            data,
            listen,
            hosts: Vec::new(),
            tls: None,
            report_requests: false,
            idle: Duration::from_mins(10),
        }
    }
}

impl std::fmt::Debug for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Settings")
            .field("data", &self.data)
            .field("listen", &self.listen)
            .finish_non_exhaustive()
    }
}

/// Why the service could not start.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The data folder cannot be used.
    #[error("cannot use the data folder {}", .data.display())]
    Data {
        /// The folder.
        data: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The keys cannot be read.
    #[error("cannot read the keys of the service")]
    Keys(#[from] KeyError),
    /// The address is taken, or not one of this machine.
    #[error("cannot listen on {listen}; choose another address with --listen")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The system gives no threads.
    #[error("cannot begin the threads of the service")]
    Threads(#[source] io::Error),
    /// A host that is none.
    #[error("{0}")]
    Host(String),
    /// A name by which others reach the service, without keys.
    #[error(
        "--host is for clients on other machines, and there are no keys yet: everyone could do \
         everything. Add one first (`plausibly key add NAME --role admin --data {}`)",
        .data.display()
    )]
    Reached {
        /// The folder that has no keys.
        data: PathBuf,
    },
    /// An address that others can reach, without keys.
    #[error(
        "{listen} can be reached from other machines, and there are no keys yet: everyone could do \
         everything. Add one first (`plausibly key add NAME --role admin --data {}`), or listen on \
         127.0.0.1",
        .data.display()
    )]
    Open {
        /// The address.
        listen: SocketAddr,
        /// The folder that has no keys.
        data: PathBuf,
    },
}

/// Ends a running service.
#[derive(Debug, Default)]
pub struct Stop(Notify);

impl Stop {
    /// Ends the service that was started with this, now or as soon as it runs.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// Serves until it is stopped; `ready` hears of the service once it listens. Blocks, with threads
/// of its own.
///
/// # Errors
/// As [`Server::bind`], and if the system gives no threads.
pub fn serve(
    settings: Settings,
    world: World,
    stop: &Stop,
    ready: impl FnOnce(&Server),
) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(ServeError::Threads)?;
    let served = runtime.block_on(async {
        let server = Server::bind(settings, world)?;
        ready(&server);
        server.run(stop.0.notified()).await;
        Ok(())
    });
    // Someone who reads a long log is not waited for.
    runtime.shutdown_background();
    served
}

/// A service that listens, and is not running yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    acceptor: Acceptor,
    experiments: Arc<Experiments>,
    ring: Arc<Ring>,
    world: World,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Server {
    /// Opens the data folder and listens. Requests wait until [`Server::run`]. Needs a runtime of
    /// tokio around it.
    ///
    /// # Errors
    /// If the folder, the keys or the address cannot be used, or the address can be reached from
    /// other machines while there are no keys.
    pub fn bind(settings: Settings, world: World) -> Result<Self, ServeError> {
        let Settings { data, listen, hosts, tls, report_requests, idle } = settings;
        let folder = Folder::open(data.clone())
            .map_err(|source| ServeError::Data { data: data.clone(), source })?;
        let ring = Arc::new(Ring::open(&data, Arc::clone(&world.clock))?);
        if ring.is_open() && !listen.ip().to_canonical().is_loopback() {
            return Err(ServeError::Open { listen, data });
        }
        if ring.is_open() && !hosts.is_empty() {
            return Err(ServeError::Reached { data });
        }
        let hosts = Hosts::new(listen.ip(), &hosts).map_err(ServeError::Host)?;
        let listener = listener(listen).map_err(|source| ServeError::Listen { listen, source })?;
        let address =
            listener.local_addr().map_err(|source| ServeError::Listen { listen, source })?;
        let limits = Limits::default();
        let connections = Connections::new(&limits);
        let metrics = Arc::new(Metrics::new(Arc::clone(&connections)));
        let experiments = Experiments::new(folder, world.clone(), Arc::clone(&metrics), idle);
        let service =
            Service::new(Arc::clone(&experiments), Arc::clone(&metrics), world.clone(), limits);
        let gate = Arc::new(Gate { hosts, ring: Arc::clone(&ring) });
        let watch = Arc::new(Watch { metrics, world: world.clone(), all: report_requests });
        let router = guarded(api::router(service), gate, watch);
        let report = Arc::clone(&world.report);
        let acceptor = Acceptor { tls, router, limits, connections, report };
        Ok(Self { listener, address, acceptor, experiments, ring, world })
    }

    /// The address that clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whether callers on this machine need no key, because there has never been one.
    pub fn is_open(&self) -> bool {
        self.ring.is_open()
    }

    /// Serves until `stop` resolves. Then nothing new is taken, what waits is answered, and all
    /// logs are closed, within ten seconds.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let Self { listener, acceptor, experiments, ring, world, .. } = self;
        let keys = tokio::spawn(watch_keys(ring, world));
        let keeper = tokio::spawn(keep(Arc::clone(&experiments)));
        acceptor.serve(listener, stop).await;
        keys.abort();
        keeper.abort();
        // Here, because all threads for blocking work may be reading logs.
        experiments.close(LOGS_LEAVE);
    }
}

/// Listens, with room for more new connections than the usual one: where there is none, a client
/// tries again only after a second.
fn listener(listen: SocketAddr) -> io::Result<TcpListener> {
    let socket = if listen.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // Connections of an earlier process that are about to end do not keep the address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(listen)?;
    socket.listen(BACKLOG)
}

/// The routes behind what every request passes: it is counted, and its caller is known.
fn guarded(router: Router, gate: Arc<Gate>, watch: Arc<Watch>) -> Router {
    router.layer(from_fn_with_state(gate, guard)).layer(from_fn_with_state(watch, observe))
}

async fn watch_keys(ring: Arc<Ring>, world: World) {
    let mut timer = tokio::time::interval(REREAD);
    loop {
        timer.tick().await;
        match ring.reread() {
            None => {}
            Some(News::Read { live }) => world.say("keys_read", &[("live", &live.to_string())]),
            Some(News::Kept { reason }) => world.say("keys_kept", &[("detail", &reason)]),
        }
    }
}

async fn keep(experiments: Arc<Experiments>) {
    let mut timer = tokio::time::interval(KEEP);
    loop {
        timer.tick().await;
        let experiments = Arc::clone(&experiments);
        let keep = move || {
            experiments.wake();
            experiments.keep_snapshots();
        };
        let _ = tokio::task::spawn_blocking(keep).await;
    }
}
