//! What happens when all places are taken.

use super::support::{Service, answer, ask, bounded, closed, ms, send};
use crate::acceptor::Limits;
use tokio::io::AsyncWriteExt;
use tokio::time::sleep;

fn room_for(connections: usize) -> Limits {
    Limits { connections, linger_time: ms(50), ..Limits::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_connection_that_has_waited_longest_makes_room() {
    let service = Service::start(room_for(3)).await;
    bounded(async {
        let mut first = service.enter().await;
        service.waiting(1).await;
        let mut second = service.connect().await;
        second.write_all(b"GET / HTTP/1.1\r\nHo").await.unwrap();
        service.waiting(2).await;
        let mut third = service.enter().await;
        service.waiting(3).await;
        // The first begins to wait again, so the half-open one has waited longest.
        assert_eq!(ask(&mut first, "/").await.status, 200);
        service.waiting(3).await;
        let mut fourth = service.enter().await;
        closed(&mut second).await;
        assert_eq!((service.connections.open(), service.connections.evicted()), (3, 1));
        service.waiting(3).await;
        // Now the third has.
        let mut fifth = service.enter().await;
        closed(&mut third).await;
        for client in [&mut first, &mut fourth, &mut fifth] {
            assert_eq!(ask(client, "/").await.status, 200);
        }
        assert_eq!((service.connections.evicted(), service.connections.refused()), (2, 0));
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_in_a_request_stays() {
    let service = Service::start(room_for(2)).await;
    bounded(async {
        let mut busy = service.enter().await;
        send(&mut busy, "/sleep/700").await;
        service.waiting(0).await;
        let mut idle = service.enter().await;
        service.waiting(1).await;
        // The busy one began to wait first, but it does not wait now.
        let mut sending = service.enter().await;
        closed(&mut idle).await;
        service.waiting(1).await;
        sending.write_all(b"POST /echo HTTP/1.1\r\nContent-Length: 3\r\n\r\nx").await.unwrap();
        service.waiting(0).await;
        let mut refused = service.connect().await;
        closed(&mut refused).await;
        assert_eq!((service.connections.evicted(), service.connections.refused()), (1, 1));
        sending.write_all(b"yz").await.unwrap();
        assert_eq!(answer(&mut sending).await.unwrap().body, b"xyz");
        assert_eq!(answer(&mut busy).await.unwrap().body, b"slept");
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_second_of_two_requests_sent_at_once_is_a_request_too() {
    let service = Service::start(room_for(1)).await;
    bounded(async {
        let mut busy = service.connect().await;
        let requests = b"GET / HTTP/1.1\r\n\r\nGET /sleep/500 HTTP/1.1\r\n\r\n";
        busy.write_all(requests).await.unwrap();
        assert_eq!(answer(&mut busy).await.unwrap().body, b"hello");
        sleep(ms(50)).await;
        closed(&mut service.connect().await).await;
        assert_eq!(service.connections.refused(), 1);
        assert_eq!(answer(&mut busy).await.unwrap().body, b"slept");
        service.waiting(1).await;
        service.enter().await;
        closed(&mut busy).await;
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_response_on_its_way_is_part_of_the_request() {
    let service = Service::start(room_for(1)).await;
    bounded(async {
        let mut reading = service.connect().await;
        send(&mut reading, "/large").await;
        reading.readable().await.unwrap();
        sleep(ms(50)).await;
        closed(&mut service.connect().await).await;
        assert_eq!((service.connections.evicted(), service.connections.refused()), (0, 1));
        assert_eq!(answer(&mut reading).await.unwrap().status, 200);
        service.waiting(1).await;
        service.enter().await;
        closed(&mut reading).await;
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_half_open_connections_leaves_a_good_client_answered() {
    let service = Service::start(room_for(64)).await;
    bounded(async {
        let mut half_open = Vec::new();
        let mut good = service.enter().await;
        for round in 0..50 {
            for _ in 0..20 {
                let mut client = service.connect().await;
                client.write_all(b"GET / HTTP/1.1\r\nHost: te").await.unwrap();
                half_open.push(client);
            }
            assert_eq!(ask(&mut good, "/").await.status, 200, "round {round}");
            drop(service.enter().await);
            assert!(service.connections.open() <= 64);
        }
        assert!(service.connections.evicted() >= 900, "{}", service.connections.evicted());
        assert_eq!(service.connections.refused(), 0);
    })
    .await;
    service.stop().await;
}
