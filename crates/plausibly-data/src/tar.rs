//! Reads one member of a tar archive. Refuses everything it does not understand, because a wrong
//! guess would read a name or a length as data.

use std::io::{self, Error, ErrorKind, Read};

/// Headers and contents begin at multiples of this.
const BLOCK: usize = 512;

/// Largest extended header, more than any needs.
const LONGEST_NAMES: u64 = 1 << 16;

/// Largest member; headers without extension cannot state more.
const LONGEST_MEMBER: u64 = 1 << 36;

/// The contents of the file at `path`, with names as in ustar, pax or GNU archives.
pub(crate) fn member(mut archive: impl Read, path: &str) -> io::Result<Vec<u8>> {
    // Values from an extended header, for the member that follows it.
    let mut said = Said::default();
    loop {
        let mut header = [0; BLOCK];
        archive.read_exact(&mut header)?;
        if header == [0; BLOCK] {
            return Err(Error::new(ErrorKind::NotFound, format!("there is no {path} in it")));
        }
        verify(&header)?;
        let length = octal(&header[124..136])?;
        match header[156] {
            b'L' => {
                let name = names(&mut archive, length)?;
                said.path = Some(until_nul(&name).to_vec());
            }
            b'x' => said.read(&names(&mut archive, length)?)?,
            b'g' => {
                let mut of_all = Said::default();
                of_all.read(&names(&mut archive, length)?)?;
                if of_all.path.is_some() || of_all.length.is_some() {
                    return Err(refused("one name or length for all members"));
                }
            }
            kind => {
                let said = std::mem::take(&mut said);
                let found = said.path.unwrap_or_else(|| name(&header)) == path.as_bytes();
                let length = said.length.unwrap_or(length);
                match kind {
                    b'0' | 0 if found => return contents(&mut archive, length),
                    _ if found => {
                        return Err(refused("not a plain file under the name that is looked for"));
                    }
                    // Links, devices, folders and pipes have no contents, even if their length is
                    // not zero.
                    b'1'..=b'6' => {}
                    _ => skip(&mut archive, length.next_multiple_of(BLOCK as u64))?,
                }
            }
        }
    }
}

/// An extended header of pax: lines `LENGTH KEY=VALUE`, of which two keys matter here.
#[derive(Default)]
struct Said {
    path: Option<Vec<u8>>,
    length: Option<u64>,
}

impl Said {
    fn read(&mut self, mut records: &[u8]) -> io::Result<()> {
        while !records.is_empty() {
            let (key, value, rest) =
                record(records).ok_or_else(|| refused("a malformed extended header"))?;
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"size" => {
                    let length =
                        std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
                    let length = length.filter(|&length| length <= LONGEST_MEMBER);
                    self.length = Some(length.ok_or_else(|| refused("a length that cannot be"))?);
                }
                _ => {}
            }
            records = rest;
        }
        Ok(())
    }
}

/// Key and value of the first record, and what comes after it. Values may contain any byte, so only
/// the length tells where a record ends.
fn record(records: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let digits = records.iter().position(|&byte| byte == b' ')?;
    let length = std::str::from_utf8(&records[..digits]).ok()?.parse().ok()?;
    let (record, rest) = records.split_at_checked(length)?;
    let text = record.get(digits + 1..)?.strip_suffix(b"\n")?;
    let equals = text.iter().position(|&byte| byte == b'=')?;
    Some((&text[..equals], &text[equals + 1..], rest))
}

/// The name in a header itself. Only ustar has a prefix; GNU keeps times where it would stand.
fn name(header: &[u8; BLOCK]) -> Vec<u8> {
    let name = until_nul(&header[..100]);
    let prefix = until_nul(&header[345..500]);
    if &header[257..263] == b"ustar\0" && !prefix.is_empty() {
        return [prefix, b"/", name].concat();
    }
    name.to_vec()
}

/// A header contains the sum of its bytes, counting its own field as blanks.
fn verify(header: &[u8; BLOCK]) -> io::Result<()> {
    let plain =
        header[..148].iter().chain(&header[156..]).map(|&byte| u64::from(byte)).sum::<u64>();
    if octal(&header[148..156])? == plain + 8 * u64::from(b' ') {
        return Ok(());
    }
    Err(refused("a header with a wrong sum"))
}

fn octal(field: &[u8]) -> io::Result<u64> {
    let digits = field.trim_ascii_start();
    let end = digits.iter().position(|byte| matches!(byte, b' ' | 0)).unwrap_or(digits.len());
    let digits = std::str::from_utf8(&digits[..end]).ok().filter(|text| !text.starts_with('+'));
    let number = digits.and_then(|digits| u64::from_str_radix(digits, 8).ok());
    number.ok_or_else(|| refused("a number that is not octal"))
}

/// The contents of an extended header.
fn names(archive: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    if length > LONGEST_NAMES {
        return Err(refused("a name longer than any"));
    }
    contents(archive, length)
}

/// The contents that follow a header, `length` bytes, and the filling up to the next block.
fn contents(archive: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    archive.take(length).read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    skip(archive, length.next_multiple_of(BLOCK as u64) - length)?;
    Ok(bytes)
}

fn skip(archive: &mut impl Read, length: u64) -> io::Result<()> {
    let skipped = io::copy(&mut archive.take(length), &mut io::sink())?;
    if skipped < length { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

fn until_nul(field: &[u8]) -> &[u8] {
    field.split(|&byte| byte == 0).next().unwrap_or(field)
}

fn refused(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the tar archive has {what}"))
}
