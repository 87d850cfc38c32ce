//! The end of the service.

use super::support::{Service, answer, bounded, closed, dribble, ms, send, until};
use crate::acceptor::Limits;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

fn leaving_within(leave_time: u64) -> Limits {
    Limits { leave_time: ms(leave_time), linger_time: ms(50), ..Limits::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_in_flight_are_answered_and_others_are_not_waited_for() {
    let service = Service::start(leaving_within(5_000)).await;
    bounded(async {
        let mut idle = service.enter().await;
        let mut half_open = service.connect().await;
        half_open.write_all(b"GET / HTTP/1.1\r\nHo").await.unwrap();
        let mut busy = service.enter().await;
        send(&mut busy, "/sleep/2000").await;
        service.waiting(2).await;
        let mut sending = service.enter().await;
        service.waiting(3).await;
        let head = b"POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\n";
        sending.write_all(head).await.unwrap();
        until("all are there", || service.connections.open() == 4).await;
        // The idle one and the half-open one.
        service.waiting(2).await;

        let address = service.address;
        let connections = service.connections.clone();
        let begun = Instant::now();
        let leaving = service.begin_to_stop();
        closed(&mut idle).await;
        let _ = half_open.write_all(b"st: test\r\n\r\n").await;
        let answered = answer(&mut half_open).await;
        assert!(answered.is_none(), "{answered:?}");
        assert!(begun.elapsed() < ms(1_500), "waited {:?} for idle ones", begun.elapsed());
        assert!(TcpStream::connect(address).await.is_err(), "it still accepts connections");

        sending.write_all(b"xyz").await.unwrap();
        let echoed = answer(&mut sending).await.unwrap();
        assert_eq!(echoed.body, b"xyz");
        assert!(echoed.head.contains("connection: close"), "{}", echoed.head);
        assert_eq!(answer(&mut busy).await.unwrap().body, b"slept");
        closed(&mut busy).await;
        drop((busy, sending));
        leaving.await.unwrap();
        assert!(begun.elapsed() < ms(4_500), "left after {:?}", begun.elapsed());
        assert_eq!(connections.open(), 0);
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_ends_in_time_although_clients_dribble_and_handlers_wait() {
    let service = Service::start(leaving_within(500)).await;
    let reports = service.reports.clone();
    bounded(async {
        let mut dribbling = service.enter().await;
        let head = b"POST /echo HTTP/1.1\r\nContent-Length: 99999\r\n\r\n";
        dribbling.write_all(head).await.unwrap();
        let mut waiting = service.enter().await;
        send(&mut waiting, "/sleep/60000").await;
        let mut stalled = service.enter().await;
        send(&mut stalled, "/large").await;
        let dribbled = tokio::spawn(async move { dribble(&mut dribbling, b"x").await });
        sleep(ms(100)).await;
        let left = service.stop().await;
        assert!(left >= ms(450) && left < ms(2_000), "left after {left:?}");
        assert!(answer(&mut waiting).await.is_none());
        assert!(dribbled.await.unwrap().is_none());
    })
    .await;
    let reports = reports.lock().unwrap();
    assert!(reports.iter().any(|line| line.contains("3 connections did not end")), "{reports:?}");
}
