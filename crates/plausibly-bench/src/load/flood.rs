//! Connections that begin a request and never finish it.

use super::{LoadError, Target};
use mio::event::Event;
use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// At most this number of connections is begun between two looks at the others.
const BURST: usize = 64;
/// The number of times a connection that the service ended is made again, on average, if it is.
const AGAIN: usize = 20;
/// A place rests for this time after its connection was ended.
const REST: Duration = Duration::from_secs(1);

/// What became of half-open connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flood {
    /// Connections begun.
    pub begun: usize,
    /// Connections that sent half a head.
    pub half_open: usize,
    /// The largest number of connections at the same time.
    pub most: usize,
    /// Connections that the service answered, with 408 for example, before it ended them.
    pub answered: usize,
    /// Connections that the service ended or refused.
    pub ended: usize,
}

impl Flood {
    /// Everything as JSON.
    pub fn to_json(self) -> Value {
        json!({
            "begun": self.begun,
            "half_open": self.half_open,
            "most": self.most,
            "answered": self.answered,
            "ended": self.ended,
        })
    }
}

/// Holds this number of half-open connections for this time. With `again`, those that the service
/// ends are made again, each after a second.
///
/// # Errors
/// If the system has no means to wait for connections.
pub fn flood(
    target: &Target,
    connections: usize,
    time: Duration,
    again: bool,
) -> Result<Flood, LoadError> {
    let head = target.head("POST", "/v1/experiments/half/decisions", Some(2));
    let begun = Instant::now();
    let mut crowd = Crowd {
        target,
        half: &head.as_bytes()[..head.len() / 2],
        poll: Poll::new().map_err(LoadError::System)?,
        places: (0..connections).map(|_| None).collect(),
        free: (0..connections).map(|place| (begun, place)).collect(),
        most_begun: if again { AGAIN * connections } else { connections },
        flood: Flood::default(),
    };
    let mut events = Events::with_capacity(1024);
    while begun.elapsed() < time {
        crowd.fill(Instant::now());
        match crowd.poll.poll(&mut events, Some(Duration::from_millis(1))) {
            Err(error) if error.kind() != ErrorKind::Interrupted => {
                return Err(LoadError::System(error));
            }
            _ => {}
        }
        for event in &events {
            crowd.look(event);
        }
    }
    Ok(crowd.flood)
}

struct Crowd<'a> {
    target: &'a Target,
    /// What each connection sends.
    half: &'a [u8],
    poll: Poll,
    /// Connections, and whether each has sent its half.
    places: Vec<Option<(TcpStream, bool)>>,
    /// Places without a connection, and from when on each may have one; the soonest first.
    free: VecDeque<(Instant, usize)>,
    /// The number of connections that are begun in all, at most.
    most_begun: usize,
    flood: Flood,
}

impl Crowd<'_> {
    /// Begins connections on free places.
    fn fill(&mut self, now: Instant) {
        for _ in 0..BURST {
            let ready = self.free.front().filter(|(from, _)| *from <= now);
            let Some((_, place)) = ready.copied() else { break };
            if self.flood.begun >= self.most_begun {
                break;
            }
            self.free.pop_front();
            self.flood.begun += 1;
            let stream = TcpStream::connect(self.target.address()).and_then(|mut stream| {
                let both = Interest::READABLE | Interest::WRITABLE;
                self.poll.registry().register(&mut stream, Token(place), both)?;
                Ok(stream)
            });
            match stream {
                Ok(stream) => self.places[place] = Some((stream, false)),
                Err(_) => self.end(place, now),
            }
        }
        self.flood.most = self.flood.most.max(self.places.len() - self.free.len());
    }

    /// Sends half a request, or sees that the connection has ended.
    fn look(&mut self, event: &Event) {
        let place = event.token().0;
        let Some((stream, sent)) = &mut self.places[place] else { return };
        let mut lost = false;
        if event.is_writable() && !*sent && stream.peer_addr().is_ok() {
            // A new connection takes some hundred bytes at once.
            match stream.write_all(self.half) {
                Ok(()) => {
                    *sent = true;
                    self.flood.half_open += 1;
                }
                Err(error) => lost = error.kind() != ErrorKind::WouldBlock,
            }
        }
        if event.is_readable() || event.is_error() {
            let mut answer = [0; 512];
            match stream.read(&mut answer) {
                // Half a request is answered only by giving it up.
                Ok(count) => {
                    lost = true;
                    self.flood.answered += usize::from(count > 0);
                }
                Err(error) => lost |= error.kind() != ErrorKind::WouldBlock,
            }
        }
        if lost {
            self.end(place, Instant::now());
        }
    }

    fn end(&mut self, place: usize, now: Instant) {
        self.places[place] = None;
        self.flood.ended += 1;
        self.free.push_back((now + REST, place));
    }
}
