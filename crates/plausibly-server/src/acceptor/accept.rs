//! The loop that accepts connections, the life of a connection, and the end of all of them.

use super::Limits;
use super::body::Answer;
use super::connections::{Activity, Connections, Place};
use super::stream::Stream;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::json;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tower::Service as _;

/// How long the loop waits after an error that another attempt would meet again.
const BACK_OFF: Duration = Duration::from_millis(50);
/// How often errors of the loop are reported at most.
const REPORT_EVERY: Duration = Duration::from_secs(1);
/// How many open files the process asks for: connections, and the logs of experiments.
const OPEN_FILES: u64 = 65_536;
/// Hyper reads to the end of a body of this size that a handler has left.
const DRAINED: u64 = 4 << 10;
/// Hyper needs buffers of this size at least.
const SMALLEST_BUFFER: usize = 8 << 10;

/// Where connections come from.
pub(super) trait Source: Send {
    fn next(&mut self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send;
}

impl Source for TcpListener {
    fn next(&mut self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> + Send {
        self.accept()
    }
}

/// Accepts connections and lets a router answer their requests.
pub(crate) struct Acceptor {
    pub(crate) tls: Option<TlsAcceptor>,
    pub(crate) router: Router,
    pub(crate) limits: Limits,
    /// Made from the same limits.
    pub(crate) connections: Arc<Connections>,
    /// Takes one line of JSON for each thing worth knowing.
    pub(crate) report: Arc<dyn Fn(&str) + Send + Sync>,
}

impl fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Acceptor")
    }
}

impl Acceptor {
    /// Serves until `stop` resolves and the requests in flight are answered, or until
    /// [`Limits::leave_time`] after `stop`.
    ///
    /// Requests carry the address of their client as `ConnectInfo<SocketAddr>`.
    pub(crate) async fn serve(self, listener: TcpListener, stop: impl Future<Output = ()>) {
        match rlimit::increase_nofile_limit(OPEN_FILES) {
            Ok(files) if files < 2 * self.limits.connections as u64 => self.report(
                "few_open_files",
                &format!(
                    "the process may have {files} open files, and each of {} connections needs \
                     one, as do the logs; raise the limit, e.g. `ulimit -Hn {OPEN_FILES}`",
                    self.limits.connections,
                ),
            ),
            Ok(_) => {}
            Err(error) => self.report(
                "open_files_not_raised",
                &format!("cannot raise the limit of open files: {error}"),
            ),
        }
        self.serve_from(listener, stop).await;
    }

    pub(super) async fn serve_from(self, source: impl Source, stop: impl Future<Output = ()>) {
        let acceptor = Arc::new(self);
        let (stopping, stopped) = watch::channel(false);
        let mut open = JoinSet::new();
        acceptor.accept(source, stop, &stopped, &mut open).await;
        let _ = stopping.send(true);
        let answered = timeout(acceptor.limits.leave_time, async {
            while let Some(ended) = open.join_next().await {
                acceptor.note(ended);
            }
        });
        if answered.await.is_err() {
            acceptor.report(
                "connections_cut",
                &format!("{} connections did not end in time and were cut", open.len()),
            );
            open.abort_all();
            // Only a handler that blocks its thread could make this wait.
            let _ = timeout(BACK_OFF, async { while open.join_next().await.is_some() {} }).await;
        }
    }

    /// Accepts connections until `stop` resolves.
    async fn accept(
        self: &Arc<Self>,
        mut source: impl Source,
        stop: impl Future<Output = ()>,
        stopped: &watch::Receiver<bool>,
        open: &mut JoinSet<()>,
    ) {
        let mut stop = pin!(stop);
        let mut reported: Option<Instant> = None;
        loop {
            let next = tokio::select! {
                biased;
                () = &mut stop => return,
                Some(ended) = open.join_next() => {
                    self.note(ended);
                    continue;
                }
                next = source.next() => next,
            };
            match next {
                Ok((socket, peer)) => {
                    // With no room the socket is dropped, which closes it.
                    if let Some(place) = self.connections.enter().await {
                        let acceptor = Arc::clone(self);
                        open.spawn(acceptor.attend(place, socket, peer, stopped.clone()));
                    }
                }
                // Only that client is gone.
                Err(error) if of_one_client(&error) => {}
                Err(error) => {
                    if reported.is_none_or(|reported| reported.elapsed() >= REPORT_EVERY) {
                        reported = Some(Instant::now());
                        self.report(
                            "accept_failed",
                            &format!("cannot accept connections: {error}"),
                        );
                    }
                    if files_ran_out(&error) {
                        // A connection that waits has one to give.
                        self.connections.evict();
                    }
                    sleep(BACK_OFF).await;
                }
            }
        }
    }

    /// One connection, from its beginning to its end.
    async fn attend(
        self: Arc<Self>,
        place: Place,
        socket: TcpStream,
        peer: SocketAddr,
        stopped: watch::Receiver<bool>,
    ) {
        let activity = place.activity();
        tokio::select! {
            biased;
            () = activity.closed() => {}
            () = self.handshake(socket, peer, activity, stopped) => {}
        }
    }

    async fn handshake(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        activity: &Arc<Activity>,
        mut stopped: watch::Receiver<bool>,
    ) {
        // Without it, small responses may wait for an acknowledgement of the client.
        let _ = socket.set_nodelay(true);
        let Some(tls) = &self.tls else {
            return self.converse(socket, peer, activity, stopped).await;
        };
        let accepted = tokio::select! {
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => return,
            accepted = timeout(self.limits.handshake_time, tls.accept(socket)) => accepted,
        };
        if let Ok(Ok(socket)) = accepted {
            self.converse(socket, peer, activity, stopped).await;
        }
    }

    /// Answers the requests of one connection.
    async fn converse<S: AsyncRead + AsyncWrite + Unpin + Send>(
        &self,
        socket: S,
        peer: SocketAddr,
        activity: &Arc<Activity>,
        mut stopped: watch::Receiver<bool>,
    ) {
        let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
        let stops = stopped.clone();
        let service = service_fn(|request: Request<Incoming>| {
            // A request may arrive before this task hears that the service stops.
            let begun = !*stops.borrow() && activity.begin();
            let router = self.router.clone();
            async move {
                // Such a connection is being closed, and its request is not carried out.
                if begun { Ok(answer(router, request, peer, activity).await) } else { Err(Closing) }
            }
        });
        let io = TokioIo::new(Stream::new(socket, Arc::clone(activity), &self.limits));
        let mut connection = pin!(self.http().serve_connection(io, service));
        let stopping = tokio::select! {
            // In this order, no request begins once the service stops.
            biased;
            _ = stopped.wait_for(|stopped| *stopped) => true,
            // Errors are those of one client: it is gone, too slow, or speaks no HTTP.
            _ = &mut connection => false,
        };
        if stopping && activity.waits().is_none() {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }

    fn http(&self) -> http1::Builder {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_time)
            .max_header_size(self.limits.header_bytes)
            // Room for the end of a request and the headers of the next.
            .max_buf_size(SMALLEST_BUFFER.max(2 * self.limits.header_bytes));
        http
    }

    fn note(&self, ended: Result<(), JoinError>) {
        if ended.is_err_and(|error| error.is_panic()) {
            // The message may quote a request, so it is not repeated here.
            self.report(
                "handler_panicked",
                "a handler has panicked, and its connection was closed",
            );
        }
    }

    fn report(&self, event: &str, detail: &str) {
        (self.report)(&json!({ "event": event, "detail": detail }).to_string());
    }
}

/// The request of a connection that is being closed.
#[derive(Debug, thiserror::Error)]
#[error("the connection is being closed")]
struct Closing;

async fn answer(
    mut router: Router,
    request: Request<Incoming>,
    peer: SocketAddr,
    activity: &Arc<Activity>,
) -> Response<Answer> {
    let is_small = request.body().size_hint().exact().is_some_and(|bytes| bytes <= DRAINED);
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    let mut response = match router.call(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    };
    // The rest of the body may be unread, and then no other request can follow it.
    let status = response.status();
    let is_unread = [StatusCode::REQUEST_TIMEOUT, StatusCode::PAYLOAD_TOO_LARGE].contains(&status);
    if is_unread || !is_small && status.as_u16() >= 400 {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response.map(|body| Answer::new(body, Arc::clone(activity)))
}

fn of_one_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

/// Whether the process (24) or the system (23) can open no other file. The numbers are the same on
/// all Unixes that matter, and `ErrorKind` has no name for them.
fn files_ran_out(error: &io::Error) -> bool {
    cfg!(unix) && matches!(error.raw_os_error(), Some(23 | 24))
}
