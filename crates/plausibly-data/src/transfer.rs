//! One HTTP request, received piece by piece within limits.
//!
//! A separate thread talks to the server, because a read, a name lookup and a handshake cannot be
//! cut short. The caller's thread waits for pieces, a tenth of a second at a time, so it answers a
//! request to stop and the time limit at once, whatever the server does. An abandoned thread ends
//! with its connection: at the next piece, or after the silence that counts as broken.

use crate::error::DataError;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};
use ureq::http::StatusCode;
use ureq::{Agent, ResponseExt};

/// Receives the bytes so far and, if known, the total; returns whether to continue.
pub type OnProgress<'a> = dyn FnMut(u64, Option<u64>) -> ControlFlow<()> + 'a;

/// Longest silence of a connection before it counts as broken.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Longest wait of the caller's thread before it checks the clock and reports progress.
const TICK: Duration = Duration::from_millis(100);

/// Ends a download early: at its time limit or when the caller stops it.
pub(crate) struct Watch<'a> {
    begun: Instant,
    limit: Duration,
    progress: &'a mut OnProgress<'a>,
}

/// A request.
pub(crate) struct Request<'a> {
    pub(crate) url: &'a str,
    pub(crate) header: Option<(&'static str, String)>,
    /// Largest size of the whole file, in bytes.
    pub(crate) most_bytes: u64,
}

/// The head of an answer.
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    /// The address of the answer, after redirections.
    pub(crate) address: String,
    length: Option<u64>,
}

/// An answer with an unread body.
pub(crate) struct Answer<'a, 'w> {
    pub(crate) head: Head,
    request: &'a Request<'a>,
    messages: Receiver<Message>,
    watch: &'a mut Watch<'w>,
}

enum Event {
    Head(Head),
    Piece(Vec<u8>),
    End,
}

type Message = Result<Event, String>;

impl<'w> Watch<'w> {
    /// Starts the clock.
    pub(crate) fn new(limit: Duration, progress: &'w mut OnProgress<'w>) -> Self {
        Self { begun: Instant::now(), limit, progress }
    }

    /// Sends a request and waits for the beginning of its answer; `have` bytes of the file came
    /// before.
    pub(crate) fn ask<'a>(
        &'a mut self,
        agent: &Agent,
        request: &'a Request<'a>,
        have: u64,
    ) -> Result<Answer<'a, 'w>, DataError> {
        // Two queued pieces keep both threads busy, and bound what a stop discards.
        let (sender, messages) = sync_channel(2);
        let (agent, url, header) = (agent.clone(), request.url.to_string(), request.header.clone());
        let thread = std::thread::Builder::new().name("plausibly-download".into());
        let started = thread.spawn(move || {
            let last = talk(&agent, &url, header, &sender).map(|()| Event::End);
            // The receiver is gone if the download was stopped.
            let _ = sender.send(last);
        });
        started.map_err(|error| failed(request, format!("no thread for the download: {error}")))?;
        match self.next(&messages, request, have, None)? {
            Event::Head(head) => Ok(Answer { head, request, messages, watch: self }),
            Event::Piece(_) | Event::End => {
                Err(failed(request, "the server gave no answer".into()))
            }
        }
    }

    /// The next event, unless the caller or the clock ends the download first.
    fn next(
        &mut self,
        messages: &Receiver<Message>,
        request: &Request<'_>,
        done: u64,
        total: Option<u64>,
    ) -> Result<Event, DataError> {
        loop {
            if (self.progress)(done, total).is_break() {
                return Err(DataError::Stopped { url: request.url.into() });
            }
            if self.begun.elapsed() >= self.limit {
                return Err(DataError::TooSlow { url: request.url.into(), limit: self.limit });
            }
            match messages.recv_timeout(TICK) {
                Ok(message) => return message.map_err(|reason| failed(request, reason)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(failed(request, "the download ended without an answer".into()));
                }
            }
        }
    }
}

impl Answer<'_, '_> {
    /// Passes the body on, piece by piece; `have` bytes of the file came before. Returns the file's
    /// length.
    pub(crate) fn receive(
        self,
        have: u64,
        keep: &mut dyn FnMut(&[u8]) -> Result<(), DataError>,
    ) -> Result<u64, DataError> {
        let Self { head, request, messages, watch } = self;
        let mut have = have;
        let total = head.length.map(|length| have.saturating_add(length));
        let too_large =
            || DataError::TooLarge { url: request.url.into(), limit: request.most_bytes };
        if total.is_some_and(|total| total > request.most_bytes) {
            return Err(too_large());
        }
        while let Event::Piece(piece) = watch.next(&messages, request, have, total)? {
            have += piece.len() as u64;
            if have > request.most_bytes {
                return Err(too_large());
            }
            keep(&piece)?;
        }
        match total {
            Some(total) if have < total => Err(failed(
                request,
                format!("the connection ended after {have} bytes; what came is kept"),
            )),
            _ => Ok(have),
        }
    }
}

fn failed(request: &Request<'_>, reason: String) -> DataError {
    DataError::Fetch { url: request.url.into(), reason }
}

/// Sends a request and passes its answer on while the receiver exists.
fn talk(
    agent: &Agent,
    url: &str,
    header: Option<(&'static str, String)>,
    sender: &SyncSender<Message>,
) -> Result<(), String> {
    let mut request = agent.get(url);
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    let response = request.call().map_err(|error| reason(&error))?;
    let length = response
        .headers()
        .get("content-length")
        .and_then(|value| value.to_str().ok()?.parse().ok());
    let head = Head { status: response.status(), address: response.get_uri().to_string(), length };
    if sender.send(Ok(Event::Head(head))).is_err() {
        return Ok(());
    }
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match body.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(format!("{}; what came is kept", reason(&error.into()))),
        };
        if sender.send(Ok(Event::Piece(buffer[..count].to_vec()))).is_err() {
            return Ok(());
        }
    }
}

/// Describes an error, and names the limit if it was one.
fn reason(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(ureq::Timeout::Connect) => {
            format!("no connection within {} seconds", PATIENCE.as_secs())
        }
        ureq::Error::Timeout(_) => {
            format!("the server was silent for {} seconds", PATIENCE.as_secs())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_reached_is_named() {
        let timeout = |which| reason(&ureq::Error::Timeout(which));
        assert_eq!(timeout(ureq::Timeout::Connect), "no connection within 30 seconds");
        for silence in [ureq::Timeout::RecvResponse, ureq::Timeout::PerRead] {
            assert_eq!(timeout(silence), "the server was silent for 30 seconds");
            let while_reading =
                io::Error::new(io::ErrorKind::TimedOut, ureq::Error::Timeout(silence));
            assert_eq!(reason(&while_reading.into()), "the server was silent for 30 seconds");
        }
    }
}
