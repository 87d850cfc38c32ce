//! A connection that carries one request at a time, without blocking.

use super::drive::Job;
use super::http::{Answer, Malformed, parse};
use super::target::Target;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// A connection, which may be down.
#[derive(Debug, Default)]
pub(super) struct Connection {
    stream: Option<TcpStream>,
    connected: bool,
    /// The beginning of an answer whose rest has not arrived.
    input: Vec<u8>,
    /// The request; sent up to `sent`.
    pub(super) output: Vec<u8>,
    sent: usize,
    /// What waits for its answer.
    pub(super) job: Option<Job>,
}

/// Why a connection is of no more use.
#[derive(Debug)]
pub(super) enum Lost {
    /// It could not be made.
    Unconnected(io::Error),
    /// It ended.
    Broken(String),
    /// What it sent is no answer.
    Malformed(Malformed),
}

impl Connection {
    /// Connects before a run, and waits for it.
    pub(super) fn made(target: &Target, registry: &Registry, token: Token) -> io::Result<Self> {
        let stream =
            std::net::TcpStream::connect_timeout(&target.address(), Duration::from_secs(5))?;
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
        let mut stream = TcpStream::from_std(stream);
        registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(Self { stream: Some(stream), connected: true, ..Self::default() })
    }

    /// Whether a request has to wait until the connection is made.
    pub(super) fn is_down(&self) -> bool {
        self.stream.is_none()
    }

    /// Begins to connect.
    pub(super) fn connect(
        &mut self,
        target: &Target,
        registry: &Registry,
        token: Token,
    ) -> Result<(), Lost> {
        let connect = || -> io::Result<TcpStream> {
            let mut stream = TcpStream::connect(target.address())?;
            stream.set_nodelay(true)?;
            registry.register(&mut stream, token, Interest::READABLE | Interest::WRITABLE)?;
            Ok(stream)
        };
        self.stream = Some(connect().map_err(Lost::Unconnected)?);
        self.connected = false;
        Ok(())
    }

    /// Ends the connection; its request, if any, stays without an answer.
    pub(super) fn shut(&mut self) -> Option<Job> {
        // A socket that is dropped is no longer registered.
        self.stream = None;
        self.input.clear();
        self.output.clear();
        self.sent = 0;
        self.job.take()
    }

    /// Sends what the connection takes.
    pub(super) fn write(&mut self) -> Result<(), Lost> {
        let Some(stream) = &mut self.stream else { return Ok(()) };
        if !self.connected {
            if let Some(error) = stream.take_error().map_err(Lost::Unconnected)? {
                return Err(Lost::Unconnected(error));
            }
            match stream.peer_addr() {
                Ok(_) => self.connected = true,
                Err(error) if error.kind() == ErrorKind::NotConnected => return Ok(()),
                Err(error) => return Err(Lost::Unconnected(error)),
            }
        }
        while self.sent < self.output.len() {
            match stream.write(&self.output[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Lost::Broken(error.to_string())),
            }
        }
        Ok(())
    }

    /// Reads what has arrived: an answer, its body in `body`, if it is complete.
    pub(super) fn read(
        &mut self,
        chunk: &mut [u8],
        body: &mut Vec<u8>,
    ) -> Result<Option<Answer>, Lost> {
        let Some(stream) = self.stream.as_mut().filter(|_| self.connected) else {
            return Ok(None);
        };
        loop {
            let count = match stream.read(chunk) {
                Ok(0) => return Err(Lost::Broken("the service closed the connection".into())),
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(Lost::Broken(error.to_string())),
            };
            // Almost every answer arrives in one piece, and is not copied.
            let held = if self.input.is_empty() {
                &chunk[..count]
            } else {
                self.input.extend_from_slice(&chunk[..count]);
                &self.input
            };
            if let Some(answer) = parse(held, body).map_err(Lost::Malformed)? {
                if answer.length != held.len() || self.sent < self.output.len() {
                    return Err(Lost::Malformed(Malformed::Length));
                }
                self.input.clear();
                return Ok(Some(answer));
            }
            if self.input.is_empty() {
                self.input.extend_from_slice(&chunk[..count]);
            }
            // The socket reports again when more arrives, unless there is some left already.
            if count < chunk.len() {
                return Ok(None);
            }
        }
    }

    /// Prepares for the next request.
    pub(super) fn reset(&mut self) -> &mut Vec<u8> {
        self.output.clear();
        self.sent = 0;
        &mut self.output
    }
}
