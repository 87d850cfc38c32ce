//! A small service, and clients that write what they like.

use crate::acceptor::accept::Source;
use crate::acceptor::{Acceptor, Connections, Limits, read_body};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, Path};
use axum::routing::{get, post};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// More than any test needs, on a machine with much else to do.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
/// More than the buffers of the operating system hold.
pub(super) const LARGE: usize = 32 << 20;

pub(super) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Fails a test that does not end.
pub(super) async fn bounded<T>(test: impl Future<Output = T>) -> T {
    timeout(PATIENCE, test).await.expect("the test ends in time")
}

pub(super) fn router(limits: Limits) -> Router {
    let echo = move |body: Body| async move { read_body(body, &limits).await };
    Router::new()
        .route("/", get(|| async { "hello" }))
        .route("/echo", post(echo))
        .route("/unread", post(|| async { "not read" }))
        .route("/large", get(|| async { Bytes::from(vec![b'x'; LARGE]) }))
        .route("/panic", get(|| async { panic!("a test wants it") as &str }))
        .route(
            "/peer",
            get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() }),
        )
        .route(
            "/sleep/{ms}",
            get(|Path(time): Path<u64>| async move {
                sleep(ms(time)).await;
                "slept"
            }),
        )
}

pub(super) struct Service {
    pub(super) address: SocketAddr,
    pub(super) connections: Arc<Connections>,
    pub(super) reports: Arc<Mutex<Vec<String>>>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Service {
    pub(super) async fn start(limits: Limits) -> Self {
        Self::start_with(limits, None, |listener| listener).await
    }

    pub(super) async fn start_with<S: Source + 'static>(
        limits: Limits,
        tls: Option<TlsAcceptor>,
        source: impl FnOnce(TcpListener) -> S,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Connections::new(&limits);
        let reports = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&reports);
        let acceptor = Acceptor {
            tls,
            router: router(limits),
            limits,
            connections: Arc::clone(&connections),
            report: Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned())),
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async move { drop(stopped.await) };
        let serving = tokio::spawn(acceptor.serve_from(source(listener), stopped));
        Self { address, connections, reports, stop, serving }
    }

    pub(super) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// A connection that the service has accepted.
    pub(super) async fn enter(&self) -> TcpStream {
        let mut client = self.connect().await;
        assert_eq!(ask(&mut client, "/").await.body, b"hello");
        client
    }

    /// Waits until this number of connections waits for a request. A client may read a response
    /// just before its connection begins to wait.
    pub(super) async fn waiting(&self, connections: usize) {
        until("connections wait", || self.connections.waiting() == connections).await;
    }

    /// Asks to stop, and returns the time until everything has ended.
    pub(super) async fn stop(self) -> Duration {
        let begun = Instant::now();
        self.stop.send(()).unwrap();
        self.serving.await.unwrap();
        assert_eq!(self.connections.open(), 0);
        begun.elapsed()
    }

    /// Asks to stop, and lets it go on.
    pub(super) fn begin_to_stop(self) -> JoinHandle<()> {
        self.stop.send(()).unwrap();
        self.serving
    }

    pub(super) fn reports_with(&self, event: &str) -> usize {
        let event = format!("\"event\":\"{event}\"");
        self.reports.lock().unwrap().iter().filter(|line| line.contains(&event)).count()
    }
}

/// Waits until something is true.
pub(super) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        sleep(ms(2)).await;
    }
}

#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Answer {
    /// Whether it is a problem of this status and code.
    pub(super) fn is_problem(&self, status: u16, code: &str) -> bool {
        let code = format!("\"code\":\"{code}\"");
        self.status == status && String::from_utf8_lossy(&self.body).contains(&code)
    }
}

/// The next response, or none if the connection ends before it.
pub(super) async fn answer(client: &mut (impl AsyncRead + Unpin)) -> Option<Answer> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(client.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
    let status = head.split(' ').nth(1)?.parse().unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
    let mut body = vec![0; length.parse().unwrap()];
    client.read_exact(&mut body).await.ok()?;
    Some(Answer { status, head, body })
}

/// Sends a GET and reads the response.
pub(super) async fn ask(client: &mut (impl AsyncRead + AsyncWrite + Unpin), path: &str) -> Answer {
    send(client, path).await;
    answer(client).await.expect("a response")
}

pub(super) async fn send(client: &mut (impl AsyncWrite + Unpin), path: &str) {
    let request = format!("GET {path} HTTP/1.1\r\nHost: test\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    client.flush().await.unwrap();
}

/// Returns once the service has closed the connection.
pub(super) async fn closed(client: &mut (impl AsyncRead + Unpin)) {
    let mut rest = Vec::new();
    let read = timeout(PATIENCE, client.read_to_end(&mut rest)).await;
    assert!(read.is_ok(), "the connection is still open");
    assert!(rest.is_empty(), "it had more to say: {}", String::from_utf8_lossy(&rest));
}

/// Writes one byte after the other until the service closes the connection.
pub(super) async fn dribble(client: &mut TcpStream, bytes: &[u8]) -> Option<Answer> {
    let (mut reading, mut writing) = client.split();
    let writing = async {
        for byte in bytes.iter().cycle() {
            if writing.write_all(&[*byte]).await.is_err() {
                break;
            }
            sleep(ms(5)).await;
        }
        std::future::pending().await
    };
    tokio::select! {
        answer = answer(&mut reading) => answer,
        never = writing => never,
    }
}
