//! Clients that take their time.

use super::support::{LARGE, Service, answer, ask, bounded, closed, dribble, ms, send, until};
use crate::acceptor::Limits;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::sleep;

const HEAD: &[u8] = b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\n";

#[test]
fn the_limits_are_those_that_are_documented() {
    let limits = Limits::default();
    assert_eq!(limits.connections, 1_024);
    assert_eq!((limits.header_bytes, limits.body_bytes), (16_384, 1_048_576));
    let times = [limits.header_time, limits.body_time, limits.handshake_time];
    assert_eq!(times.map(|time| time.as_secs()), [10, 30, 10]);
    assert!(limits.leave_time < Duration::from_secs(10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_that_are_slow_close_the_connection() {
    let limits = Limits { header_time: ms(300), linger_time: ms(50), ..Limits::default() };
    let service = Service::start(limits).await;
    bounded(async {
        let begun = Instant::now();
        let mut silent = service.connect().await;
        let mut dribbling = service.connect().await;
        let mut idle = service.enter().await;
        assert!(
            dribble(&mut dribbling, b"GET / HTTP/1.1\r\nHost: test\r\nA: aaaaaaaaa")
                .await
                .is_none()
        );
        closed(&mut silent).await;
        closed(&mut idle).await;
        assert!(begun.elapsed() >= ms(290), "closed after {:?}", begun.elapsed());
        until("all are gone", || service.connections.open() == 0).await;
        assert_eq!(service.connections.evicted(), 0);
        // Others are served, also for longer than that time.
        let mut good = service.connect().await;
        for _ in 0..5 {
            assert_eq!(ask(&mut good, "/sleep/100").await.status, 200);
        }
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_slow_gets_408() {
    let limits = Limits { body_time: ms(300), linger_time: ms(50), ..Limits::default() };
    let service = Service::start(limits).await;
    bounded(async {
        let mut stopping = service.connect().await;
        stopping.write_all(HEAD).await.unwrap();
        stopping.write_all(b"some").await.unwrap();
        let begun = Instant::now();
        let refused = answer(&mut stopping).await.unwrap();
        assert!(refused.is_problem(408, "too_slow"), "{refused:?}");
        assert!(refused.head.contains("connection: close"), "{}", refused.head);
        assert!(begun.elapsed() >= ms(290), "refused after {:?}", begun.elapsed());
        closed(&mut stopping).await;

        let mut dribbling = service.connect().await;
        let head = b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 99999\r\n\r\n";
        dribbling.write_all(head).await.unwrap();
        let refused = dribble(&mut dribbling, b"x").await.unwrap();
        assert!(refused.is_problem(408, "too_slow"), "{refused:?}");

        let mut in_time = service.connect().await;
        in_time.write_all(HEAD).await.unwrap();
        for part in [b"one", b"two", b"six"] {
            sleep(ms(10)).await;
            in_time.write_all(part).await.unwrap();
        }
        assert_eq!(answer(&mut in_time).await.unwrap().body, b"onetwosix");
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_takes_nothing_is_closed_and_a_slow_one_is_served() {
    let limits = Limits { stall_time: ms(400), linger_time: ms(50), ..Limits::default() };
    let service = Service::start(limits).await;
    bounded(async {
        let mut slow = service.connect().await;
        send(&mut slow, "/large").await;
        let mut part = vec![0; LARGE / 8];
        for _ in 0..8 {
            sleep(ms(100)).await;
            slow.read_exact(&mut part).await.unwrap();
        }
        drop(slow);
        until("it has gone", || service.connections.open() == 0).await;

        let mut stalled = service.connect().await;
        send(&mut stalled, "/large").await;
        until("it is there", || service.connections.open() == 1).await;
        until("it is closed", || service.connections.open() == 0).await;
        let mut rest = Vec::new();
        let _ = stalled.read_to_end(&mut rest).await;
        assert!(rest.len() < LARGE);

        // Taking a little now and then does not hold the connection either.
        let mut dripping = service.connect().await;
        send(&mut dripping, "/large").await;
        until("it is there", || service.connections.open() == 1).await;
        let begun = Instant::now();
        while service.connections.open() > 0 {
            assert!(begun.elapsed() < ms(5_000), "it is still there");
            let _ = dripping.read(&mut [0; 16]).await;
            sleep(ms(20)).await;
        }
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_sends_for_ever_is_closed_soon_after_its_response() {
    let limits = Limits { body_bytes: 10, linger_time: ms(300), ..Limits::default() };
    let service = Service::start(limits).await;
    bounded(async {
        let mut client = service.connect().await;
        let head = b"POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 999999999\r\n\r\n";
        client.write_all(head).await.unwrap();
        assert!(answer(&mut client).await.unwrap().is_problem(413, "too_large"));
        let begun = Instant::now();
        while client.write_all(&[b'x'; 1_000]).await.is_ok() {
            sleep(ms(1)).await;
        }
        let lingered = begun.elapsed();
        assert!(lingered >= ms(250) && lingered < ms(2_000), "lingered for {lingered:?}");
    })
    .await;
    service.stop().await;
}
