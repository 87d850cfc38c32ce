//! A server on loopback that can misbehave.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What to do with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    /// Answer, and honour ranges.
    Well,
    /// Answer, and know nothing of ranges.
    FromTheStart,
    /// Announce everything, send this many bytes, hang up.
    CutAfter(usize),
    /// Send in small pieces with pauses.
    Slowly,
    /// 404.
    NotFound,
    /// Announce no length, send the file, and then zeros without end.
    Endless,
    /// Announce this many bytes, whatever the file has.
    Announcing(u64),
    /// Announce everything, send a byte every 20 ms.
    Dripping,
    /// Announce everything, send this many bytes, then hold the connection in silence.
    SilentAfter(usize),
    /// Accept the connection and never answer.
    Mute,
}

/// A server of files; every request takes the next manner, the last one for good.
pub(crate) struct Server {
    pub(crate) address: String,
    /// The `Range` of each request, if it had one.
    pub(crate) ranges: Arc<Mutex<Vec<Option<String>>>>,
}

impl Server {
    /// Of one file, at any address.
    pub(crate) fn new(file: Vec<u8>, manners: &[Manner]) -> Self {
        Self::of(vec![(String::new(), file)], manners)
    }

    /// Of files by the ends of their addresses; the first that fits is served.
    pub(crate) fn of(files: Vec<(String, Vec<u8>)>, manners: &[Manner]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let ranges = Arc::new(Mutex::new(Vec::new()));
        let (seen, manners) = (Arc::clone(&ranges), manners.to_vec());
        // Detached: it ends with the test, and serves one request at a time.
        std::thread::Builder::new()
            .spawn(move || {
                for (request, stream) in listener.incoming().enumerate() {
                    let manner = manners[request.min(manners.len() - 1)];
                    // A client that hangs up is part of the test.
                    let _ = answer(&stream.unwrap(), &files, manner, &seen);
                }
            })
            .unwrap();
        Self { address, ranges }
    }
}

fn answer(
    mut stream: &TcpStream,
    files: &[(String, Vec<u8>)],
    manner: Manner,
    ranges: &Mutex<Vec<Option<String>>>,
) -> std::io::Result<()> {
    let (mut address, mut range) = (String::new(), None);
    for line in BufReader::new(stream).lines() {
        let line = line?;
        if let Some(rest) = line.strip_prefix("GET ") {
            address = rest.split(' ').next().unwrap().to_string();
        }
        if let Some(value) = line.to_lowercase().strip_prefix("range: bytes=") {
            range = Some(value.to_string());
        }
        if line.is_empty() {
            break;
        }
    }
    ranges.lock().unwrap().push(range.clone());
    let from = range.and_then(|range| range.trim_end_matches('-').parse::<usize>().ok());
    let file =
        files.iter().find(|(end, _)| address.ends_with(end.as_str())).map(|(_, file)| &file[..]);
    let (status, body) = match (file, manner, from) {
        (None, ..) | (_, Manner::NotFound, _) => ("404 Not Found", &b""[..]),
        (Some(file), Manner::FromTheStart, _) | (Some(file), _, None) => ("200 OK", file),
        (Some(file), _, Some(from)) if from >= file.len() => {
            ("416 Range Not Satisfiable", &b""[..])
        }
        (Some(file), _, Some(from)) => ("206 Partial Content", &file[from..]),
    };
    let length = match manner {
        Manner::Mute => return hold(stream),
        Manner::Endless => String::new(),
        Manner::Announcing(bytes) => format!("Content-Length: {bytes}\r\n"),
        _ => format!("Content-Length: {}\r\n", body.len()),
    };
    write!(stream, "HTTP/1.1 {status}\r\n{length}Connection: close\r\n\r\n")?;
    match manner {
        Manner::Endless => {
            stream.write_all(body)?;
            // Ends when the client hangs up.
            loop {
                stream.write_all(&[0; 1 << 12])?;
            }
        }
        Manner::Dripping => body.iter().try_for_each(|byte| {
            std::thread::sleep(Duration::from_millis(20));
            stream.write_all(&[*byte])
        }),
        Manner::SilentAfter(count) => {
            stream.write_all(&body[..count.min(body.len())])?;
            hold(stream)
        }
        Manner::CutAfter(count) => stream.write_all(&body[..count.min(body.len())]),
        Manner::Slowly => body.chunks(body.len().div_ceil(8).max(1)).try_for_each(|piece| {
            std::thread::sleep(Duration::from_millis(50));
            stream.write_all(piece)
        }),
        _ => stream.write_all(body),
    }
}

/// Sends nothing until the client hangs up.
fn hold(mut stream: &TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(drop)
}
