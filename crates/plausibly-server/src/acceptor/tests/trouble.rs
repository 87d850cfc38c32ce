//! Errors of the operating system and of handlers.

use super::support::{Service, ask, bounded, closed, ms, send, until};
use crate::acceptor::Limits;
use crate::acceptor::accept::Source;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, sleep};

/// Fails as often as it is told.
struct Failing {
    listener: TcpListener,
    failures: Arc<AtomicUsize>,
    error: fn() -> io::Error,
}

impl Source for Failing {
    async fn next(&mut self) -> io::Result<(TcpStream, SocketAddr)> {
        let one_less = |failures: usize| failures.checked_sub(1);
        match self.failures.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) {
            Ok(_) => Err((self.error)()),
            Err(_) => self.listener.accept().await,
        }
    }
}

/// A service whose next attempts to accept fail.
async fn failing(failures: usize, error: fn() -> io::Error) -> (Service, Arc<AtomicUsize>) {
    let failures = Arc::new(AtomicUsize::new(failures));
    let left = Arc::clone(&failures);
    let source = |listener| Failing { listener, failures: left, error };
    (Service::start_with(Limits::default(), None, source).await, failures)
}

#[cfg(unix)]
fn no_files() -> io::Error {
    io::Error::from_raw_os_error(24)
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_loop_backs_off_when_it_cannot_accept_and_goes_on() {
    let (service, failures) = failing(0, no_files).await;
    bounded(async {
        let mut idle = Vec::new();
        for _ in 0..12 {
            idle.push(service.enter().await);
            service.waiting(idle.len()).await;
        }
        let begun = Instant::now();
        failures.store(10, Ordering::Relaxed);
        // The loop waits in an attempt that succeeds; those after it fail.
        let _last = service.connect().await;
        let mut good = service.connect().await;
        assert_eq!(ask(&mut good, "/").await.status, 200);
        assert!(begun.elapsed() >= ms(490), "it did not back off: {:?}", begun.elapsed());
        assert_eq!(service.reports_with("accept_failed"), 1);
        // Each failure took a file from the connection that had waited longest.
        assert_eq!(service.connections.evicted(), 10);
        for client in &mut idle[..10] {
            closed(client).await;
        }
        for client in &mut idle[10..] {
            assert_eq!(ask(client, "/").await.status, 200);
        }
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_service_ends_while_it_cannot_accept() {
    let (service, failures) = failing(1_000, || io::Error::other("no more sockets")).await;
    let begun = Instant::now();
    sleep(ms(300)).await;
    let attempts = 1_000 - failures.load(Ordering::Relaxed);
    // One at the beginning, which may precede the clock, and one after each 50 ms.
    let most = 2 + begun.elapsed().as_millis().div_ceil(50);
    assert!((1..=most).contains(&(attempts as u128)), "{attempts} attempts, not {most}");
    assert!(service.stop().await < ms(2_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_gone_before_it_is_accepted_delays_no_other() {
    let (service, _) = failing(100, || io::ErrorKind::ConnectionAborted.into()).await;
    bounded(async {
        let begun = Instant::now();
        service.enter().await;
        assert!(begun.elapsed() < ms(2_000), "delayed by {:?}", begun.elapsed());
        assert_eq!(service.reports_with("accept_failed"), 0);
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handler_that_panics_ends_its_connection_only() {
    let service = Service::start(Limits::default()).await;
    bounded(async {
        let mut other = service.enter().await;
        let mut client = service.connect().await;
        send(&mut client, "/panic").await;
        closed(&mut client).await;
        assert_eq!(ask(&mut other, "/").await.status, 200);
        until("it is reported", || service.reports_with("handler_panicked") == 1).await;
        until("its place is free", || service.connections.open() == 1).await;
        assert!(!service.reports.lock().unwrap()[0].contains("wants"), "it quotes the panic");
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handlers_know_the_address_of_their_client() {
    let service = Service::start(Limits::default()).await;
    let mut client = service.connect().await;
    let seen = bounded(ask(&mut client, "/peer")).await.body;
    assert_eq!(String::from_utf8(seen).unwrap(), client.local_addr().unwrap().to_string());
    drop(client);
    service.stop().await;
}
