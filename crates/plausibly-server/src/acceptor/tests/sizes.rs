//! Requests that are too large.

use super::support::{Service, answer, ask, bounded, closed};
use crate::acceptor::Limits;
use std::fmt::Write as _;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const BODY: usize = 1_000;

async fn service() -> Service {
    Service::start(Limits { body_bytes: BODY, header_bytes: 4_096, ..Limits::default() }).await
}

async fn post(client: &mut TcpStream, headers: &str) {
    let head = format!("POST /echo HTTP/1.1\r\nHost: test\r\n{headers}\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_announced_as_too_large_gets_413_before_it_is_sent() {
    let service = service().await;
    bounded(async {
        for length in ["1001", "9999999999999999999"] {
            let mut client = service.connect().await;
            post(&mut client, &format!("Content-Length: {length}\r\nExpect: 100-continue\r\n"))
                .await;
            let refused = answer(&mut client).await.unwrap();
            assert!(refused.is_problem(413, "too_large"), "{refused:?}");
            assert!(refused.head.contains("connection: close"), "{}", refused.head);
        }
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_unknown_length_gets_413_where_it_becomes_too_large() {
    let service = service().await;
    bounded(async {
        let mut client = service.connect().await;
        post(&mut client, "Transfer-Encoding: chunked\r\n").await;
        let chunk = format!("{BODY:x}\r\n{}\r\n", "x".repeat(BODY));
        client.write_all(chunk.as_bytes()).await.unwrap();
        client.write_all(b"1\r\nx\r\n").await.unwrap();
        let refused = answer(&mut client).await.unwrap();
        assert!(refused.is_problem(413, "too_large"), "{refused:?}");

        let mut client = service.connect().await;
        post(&mut client, "Transfer-Encoding: chunked\r\n").await;
        client.write_all(chunk.as_bytes()).await.unwrap();
        client.write_all(b"0\r\n\r\n").await.unwrap();
        assert_eq!(answer(&mut client).await.unwrap().body.len(), BODY);
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_of_the_largest_size_is_read_and_the_next_request_follows() {
    let service = service().await;
    bounded(async {
        let mut client = service.connect().await;
        post(&mut client, &format!("Content-Length: {BODY}\r\n")).await;
        client.write_all(&[b'x'; BODY]).await.unwrap();
        assert_eq!(answer(&mut client).await.unwrap().body, [b'x'; BODY]);
        assert_eq!(ask(&mut client, "/").await.body, b"hello");
    })
    .await;
    service.stop().await;
}

/// Many clients send everything first and read then. The response must survive until they do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_sends_everything_first_still_gets_its_response() {
    let service = service().await;
    bounded(async {
        let body = vec![b'x'; 8 << 20];
        for _ in 0..5 {
            let mut client = service.connect().await;
            post(&mut client, &format!("Content-Length: {}\r\n", body.len())).await;
            client.write_all(&body).await.unwrap();
            assert!(answer(&mut client).await.unwrap().is_problem(413, "too_large"));

            // As when a key is refused before the body is read.
            let mut client = service.connect().await;
            let head = format!("POST /unread HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
            client.write_all(head.as_bytes()).await.unwrap();
            client.write_all(&body).await.unwrap();
            assert_eq!(answer(&mut client).await.unwrap().body, b"not read");

            let mut client = service.connect().await;
            let head = format!("GET / HTTP/1.1\r\nA: {}\r\n", "a".repeat(1 << 20));
            client.write_all(head.as_bytes()).await.unwrap();
            assert_eq!(answer(&mut client).await.unwrap().status, 431);
        }
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn headers_over_the_limit_get_431() {
    let service = service().await;
    bounded(async {
        let bare = "GET / HTTP/1.1\r\nHost: test\r\nA: \r\n\r\n".len();
        for (bytes, status) in [(4_096, 200), (4_097, 431), (20_000, 431)] {
            let mut client = service.connect().await;
            let value = "a".repeat(bytes - bare);
            let head = format!("GET / HTTP/1.1\r\nHost: test\r\nA: {value}\r\n\r\n");
            client.write_all(head.as_bytes()).await.unwrap();
            assert_eq!(answer(&mut client).await.unwrap().status, status, "{bytes} bytes");
        }
        let mut client = service.connect().await;
        let mut head = String::from("GET / HTTP/1.1\r\n");
        for number in 0..101 {
            write!(head, "a{number}: b\r\n").unwrap();
        }
        client.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
        assert_eq!(answer(&mut client).await.unwrap().status, 431, "101 headers");
    })
    .await;
    service.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_request_is_refused_and_closed() {
    let service = service().await;
    bounded(async {
        for bytes in
            [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]
        {
            let mut client = service.connect().await;
            client.write_all(bytes).await.unwrap();
            client.shutdown().await.unwrap();
            if let Some(refused) = answer(&mut client).await {
                assert_eq!(refused.status, 400);
            }
            closed(&mut client).await;
        }
        let mut broken = service.connect().await;
        post(&mut broken, "Transfer-Encoding: chunked\r\n").await;
        broken.write_all(b"zz\r\n").await.unwrap();
        assert!(answer(&mut broken).await.unwrap().is_problem(400, "not_json"));
        closed(&mut broken).await;
    })
    .await;
    service.stop().await;
}
