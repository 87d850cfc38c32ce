//! A client as simple as one can be: one connection, one request after the other.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into()
    }

    /// The body, if the status is this one.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }
}

/// A connection, opened again when it is lost.
pub(crate) struct Client {
    address: SocketAddr,
    key: Option<String>,
    connection: Option<BufReader<TcpStream>>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address, key: None, connection: None }
    }

    pub(crate) fn with_key(address: SocketAddr, key: &str) -> Self {
        Self { key: Some(key.into()), ..Self::new(address) }
    }

    pub(crate) fn get(&mut self, path: &str) -> Answer {
        self.send("GET", path, &[], b"").unwrap()
    }

    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Answer {
        self.with_body("POST", path, &[], body)
    }

    pub(crate) fn put(&mut self, path: &str, body: &Value) -> Answer {
        self.with_body("PUT", path, &[], body)
    }

    pub(crate) fn with_body(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Answer {
        let typed = [&[("content-type", "application/json")], headers].concat();
        self.send(method, path, &typed, body.to_string().as_bytes()).unwrap()
    }

    /// Sends a request, and reads its answer.
    pub(crate) fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        let sent = self.try_send(method, path, headers, body);
        if sent.is_err() {
            self.connection = None;
        }
        sent
    }

    fn try_send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> std::io::Result<Answer> {
        if self.connection.is_none() {
            let connection = TcpStream::connect(self.address)?;
            connection.set_nodelay(true)?;
            connection.set_read_timeout(Some(Duration::from_secs(30)))?;
            self.connection = Some(BufReader::new(connection));
        }
        let connection = self.connection.as_mut().expect("just opened");
        let mut lines = vec![format!("{method} {path} HTTP/1.1")];
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            lines.push(format!("host: {}", self.address));
        }
        if let Some(key) = &self.key {
            lines.push(format!("authorization: Bearer {key}"));
        }
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        lines.push(format!("content-length: {}\r\n\r\n", body.len()));
        let mut bytes = lines.join("\r\n").into_bytes();
        bytes.extend_from_slice(body);
        connection.get_mut().write_all(&bytes)?;
        let answer = read(connection)?;
        if answer.header("connection").is_some_and(|said| said.eq_ignore_ascii_case("close")) {
            self.connection = None;
        }
        Ok(answer)
    }
}

fn read(connection: &mut BufReader<TcpStream>) -> std::io::Result<Answer> {
    let lost = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let mut line = String::new();
    connection.read_line(&mut line)?;
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(lost)?;
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        connection.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_string(), value.trim().to_string()));
    }
    let mut answer = Answer { status, headers, body: Vec::new() };
    let length = answer.header("content-length").and_then(|length| length.parse().ok());
    answer.body = vec![0; length.unwrap_or(0)];
    connection.read_exact(&mut answer.body)?;
    Ok(answer)
}
