//! A service of a few lines, for tests of the load alone.

use super::Target;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Scope;
use std::time::Duration;

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// Its first line.
    pub(super) line: String,
    pub(super) headers: Vec<String>,
    pub(super) body: Vec<u8>,
    /// Requests before this one, over all connections.
    pub(super) number: usize,
}

/// The bytes of an answer, in pieces that are sent with pauses between them.
pub(super) type Pieces = Vec<Vec<u8>>;

/// An answer in one piece.
pub(super) fn whole(status: u16, body: &str) -> Pieces {
    let length = body.len();
    vec![format!("HTTP/1.1 {status} X\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()]
}

/// What the stand-in saw.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) connections: AtomicUsize,
    pub(super) requests: AtomicUsize,
    over: AtomicBool,
}

/// Runs `work` beside a service that answers with `answer`. No pieces close the connection.
pub(super) fn beside<T>(
    answer: impl Fn(&Asked) -> Pieces + Sync,
    work: impl FnOnce(&Target, &Seen) -> T,
) -> T {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let target = Target::parse(&format!("http://{address}")).unwrap();
    let (seen, answer) = (Seen::default(), &answer);
    std::thread::scope(|scope| {
        scope.spawn(|| accept(&listener, &seen, answer, scope));
        let _end = End(&seen, address);
        work(&target, &seen)
    })
}

/// Ends the stand-in also when a test fails.
struct End<'a>(&'a Seen, SocketAddr);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(self.1));
    }
}

fn accept<'s>(
    listener: &TcpListener,
    seen: &'s Seen,
    answer: &'s (impl Fn(&Asked) -> Pieces + Sync),
    scope: &'s Scope<'s, '_>,
) {
    for stream in listener.incoming() {
        if seen.over.load(Ordering::SeqCst) {
            return;
        }
        seen.connections.fetch_add(1, Ordering::SeqCst);
        let stream = stream.unwrap();
        // A connection that is still open at the end must not hold the test.
        stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
        stream.set_nodelay(true).unwrap();
        scope.spawn(move || serve(&stream, seen, answer));
    }
}

/// Answers until the connection ends.
fn serve(stream: &TcpStream, seen: &Seen, answer: &impl Fn(&Asked) -> Pieces) {
    let mut reader = BufReader::new(stream);
    while let Some(mut asked) = read(&mut reader) {
        asked.number = seen.requests.fetch_add(1, Ordering::SeqCst);
        let pieces = answer(&asked);
        if pieces.is_empty() {
            return;
        }
        for (index, piece) in pieces.iter().enumerate() {
            if index > 0 {
                std::thread::sleep(Duration::from_millis(2));
            }
            if (&*stream).write_all(piece).is_err() {
                return;
            }
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Asked> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        lines.push(line.to_owned());
    }
    let length = lines.iter().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    let headers = lines.split_off(1);
    Some(Asked { line: lines.remove(0), headers, body, number: 0 })
}
