//! TLS.

use super::support::{Service, answer, ask, bounded, closed, ms};
use crate::acceptor::{Limits, tls};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

struct Pair {
    folder: TempDir,
    made: CertifiedKey<KeyPair>,
}

impl Pair {
    fn new() -> Self {
        let made = generate_simple_self_signed([String::from("localhost")]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        Self { folder, made }
    }

    fn cert(&self) -> PathBuf {
        self.folder.path().join("cert.pem")
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key.pem")
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    async fn serve(&self, limits: Limits) -> Service {
        let tls = tls::acceptor(&self.cert(), &self.key()).unwrap();
        Service::start_with(limits, Some(tls), |listener| listener).await
    }

    async fn connect(&self, service: &Service) -> TlsStream<TcpStream> {
        let mut roots = RootCertStore::empty();
        roots.add(self.made.cert.der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let socket = service.connect().await;
        TlsConnector::from(Arc::new(config)).connect(name, socket).await.unwrap()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_answered_over_tls_and_plain_http_does_no_harm() {
    let pair = Pair::new();
    let service = pair.serve(Limits { linger_time: ms(50), ..Limits::default() }).await;
    bounded(async {
        let mut client = pair.connect(&service).await;
        assert_eq!(ask(&mut client, "/").await.body, b"hello");
        let mut plain = service.connect().await;
        plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
        assert!(answer(&mut plain).await.is_none());
        assert_eq!(ask(&mut client, "/").await.body, b"hello");
        assert_eq!(ask(&mut pair.connect(&service).await, "/large").await.status, 200);
        let body = vec![b'x'; 2 << 20];
        let head = format!("POST /echo HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
        client.write_all(head.as_bytes()).await.unwrap();
        client.write_all(&body).await.unwrap();
        client.flush().await.unwrap();
        assert!(answer(&mut client).await.unwrap().is_problem(413, "too_large"));
    })
    .await;
    assert!(service.stop().await < ms(5_000));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_handshake_has_its_time_and_makes_room() {
    let pair = Pair::new();
    let limits = Limits { connections: 2, handshake_time: ms(300), ..Limits::default() };
    let service = pair.serve(limits).await;
    bounded(async {
        let mut silent = service.connect().await;
        closed(&mut silent).await;
        assert_eq!(service.connections.evicted(), 0);
    })
    .await;
    service.stop().await;

    let service = pair.serve(Limits { connections: 2, ..Limits::default() }).await;
    let mut silent = [service.connect().await, service.connect().await];
    bounded(async {
        assert_eq!(ask(&mut pair.connect(&service).await, "/").await.status, 200);
        closed(&mut silent[0]).await;
        assert_eq!(service.connections.evicted(), 1);
    })
    .await;
    assert!(service.stop().await < ms(2_000), "it waits for a handshake");
}

#[test]
fn files_that_cannot_be_used_are_named_with_what_is_wrong() {
    let (pair, other) = (Pair::new(), Pair::new());
    let refused = |cert: &Path, key: &Path| match tls::acceptor(cert, key) {
        Ok(_) => panic!("{} and {} are taken", cert.display(), key.display()),
        Err(error) => error.to_string(),
    };
    let missing = pair.folder.path().join("missing.pem");
    let prose = pair.file("prose.pem", "a certificate is a document\n");
    let cut = pair.file("cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n");
    let wrong =
        pair.file("wrong.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    for (cert, key, words) in [
        (&missing, &pair.key(), "cannot read"),
        (&pair.cert(), &missing, "cannot read"),
        (&prose, &pair.key(), "has no certificate"),
        (&pair.key(), &pair.key(), "has no certificate"),
        (&pair.cert(), &prose, "has no private key"),
        (&pair.cert(), &pair.cert(), "has no private key"),
        (&cut, &pair.key(), "is not a PEM file"),
        (&wrong, &pair.key(), "cannot use"),
        (&pair.cert(), &other.key(), "does not belong"),
    ] {
        let error = refused(cert, key);
        assert!(error.contains(words), "{error}");
        assert!(error.contains(".pem"), "{error}");
    }
}
