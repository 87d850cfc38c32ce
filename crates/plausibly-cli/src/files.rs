//! Writes the output files of the command.
//!
//! [`Outputs`] checks every output file before any work is done. It never replaces a file that the
//! command reads, and replaces a file that plausibly did not write only with `--force`. A file gets
//! its name only when it is complete on the disk.

use crate::exit::refuse;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// The kind of a file. An existing file may be replaced if plausibly wrote it as the same kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Page,
    Picture,
    Certificate,
    Summary,
    Runs,
    Table,
    Manifest,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Picture => "picture",
            Self::Certificate => "certificate",
            Self::Summary => "summary",
            Self::Runs => "table of runs",
            Self::Table => "LaTeX table",
            Self::Manifest => "manifest",
        }
    }

    /// Whether plausibly wrote this content as a file of this kind.
    fn wrote(self, content: &[u8]) -> bool {
        let begins = |mark: &str| content.starts_with(mark.as_bytes());
        let head = &content[..content.len().min(4096)];
        let mentions = |mark: &str| head.windows(mark.len()).any(|part| part == mark.as_bytes());
        match self {
            Self::Page => mentions(plausibly_report::PAGE_MARK),
            Self::Picture => mentions(plausibly_report::PICTURE_MARK),
            Self::Certificate => {
                // JSON may have spaces and newlines anywhere.
                let dense: Vec<u8> =
                    head.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
                dense.starts_with(br#"{"format":"plausiblycertificate""#)
            }
            Self::Summary => begins("experiment,policy,round,runs,"),
            Self::Runs => begins("experiment,run,policy,"),
            Self::Table => begins("% Written by plausibly "),
            Self::Manifest => {
                serde_json::from_slice::<serde_json::Value>(content).is_ok_and(|found| {
                    found.get("seed").is_some() && found["timings"]["instruction_set"].is_string()
                })
            }
        }
    }
}

/// Checks the output files of one command before it begins.
#[derive(Debug)]
pub(crate) struct Outputs {
    /// Also replace files that plausibly did not write.
    force: bool,
    /// Files that no output may replace, with their role.
    taken: Vec<(&'static str, PathBuf)>,
}

impl Outputs {
    pub(crate) fn new(force: bool) -> Self {
        Self { force, taken: Vec::new() }
    }

    /// Protects a file that the command reads.
    pub(crate) fn reading(mut self, what: &'static str, path: &Path) -> Self {
        self.taken.push((what, path.into()));
        self
    }

    /// Protects the log, its milestones, and ends of interrupted writes kept beside it.
    pub(crate) fn with_log(mut self, path: &Path) -> Self {
        let beside = |suffix: &str| {
            let mut name = OsString::from(path.file_name().unwrap_or_default());
            name.push(suffix);
            path.with_file_name(name)
        };
        let torn = beside(".torn-");
        let torn = torn.file_name().unwrap_or_default().as_encoded_bytes();
        for entry in fs::read_dir(folder_of(path)).into_iter().flatten().flatten() {
            if entry.file_name().as_encoded_bytes().starts_with(torn) {
                self = self.reading("a kept end of the log", &entry.path());
            }
        }
        self.reading("the log", path)
            .reading("the snapshot of the log", &beside(".snapshot"))
            .reading("the milestones of the log", &beside(".milestones"))
    }

    /// Checks that a file may be written. Its folder must exist.
    ///
    /// # Errors
    /// A refusal if it may not be written; a failure if the folder is not writable.
    pub(crate) fn file(&mut self, path: &Path, kind: Kind) -> Result<Target> {
        let target = self.allow(path, kind)?;
        if !target.through {
            let folder = folder_of(&target.real);
            if !folder.is_dir() {
                refuse!(
                    "there is no folder {} for {}; create it first. Nothing was written.",
                    folder.display(),
                    path.display()
                );
            }
            // Finds out now, not after a decision, whether the folder is writable.
            temporary_in(folder)?;
        }
        Ok(target)
    }

    /// Checks that a file may be written. Its folder need not exist yet.
    fn allow(&mut self, path: &Path, kind: Kind) -> Result<Target> {
        let shown = path.display();
        if let Some((what, taken)) = self.taken.iter().find(|(_, taken)| is_same_file(path, taken))
        {
            let which =
                if path == taken { String::new() } else { format!(" ({})", taken.display()) };
            refuse!(
                "{shown} is {what}{which}, which a {} would overwrite; name another file. Nothing \
                 was written.",
                kind.name()
            );
        }
        let target = Target::at(path)?;
        if target.replaces && belongs_to_log(&target.real) {
            refuse!(
                "{shown} is a log, or belongs to one, and is never replaced; name another file. \
                 Nothing was written."
            );
        }
        let ours = |found: Vec<u8>| found.is_empty() || kind.wrote(&found);
        if target.replaces && !self.force && !beginning(&target.real).is_ok_and(ours) {
            refuse!(
                "{shown} exists and is not a {} that plausibly wrote; name another file, or add \
                 --force to replace it. Nothing was written.",
                kind.name()
            );
        }
        self.taken.push(("another output of this command", path.into()));
        Ok(target)
    }

    /// Checks that results may be written to a folder. It need not exist yet.
    pub(crate) fn allow_all(&mut self, folder: &Path, files: &[(&str, Kind)]) -> Result<()> {
        files.iter().try_for_each(|(name, kind)| self.allow(&folder.join(name), *kind).map(drop))
    }

    /// Checks that files of any name may be written to a subfolder of results: it must be empty, or
    /// belong to earlier results.
    pub(crate) fn allow_below(&self, results: &Path, name: &str) -> Result<()> {
        let folder = results.join(name);
        let empty = fs::read_dir(&folder).map_or(true, |mut entries| entries.next().is_none());
        if !empty && !self.force && !holds_results(results) {
            refuse!(
                "{} has files in it that do not belong to results of plausibly; name another \
                 folder, or add --force to write to it. Nothing was written.",
                folder.display()
            );
        }
        Ok(())
    }
}

/// Whether a file is a log, or has the name of a file kept beside one. A lost log cannot be
/// restored, so even `--force` does not replace it.
fn belongs_to_log(path: &Path) -> bool {
    let is_log = |path: &Path| {
        let mut begins = [0; 15];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut begins));
        read.is_ok() && begins == *br#"{"v":1,"seq":1,"#
    };
    let name = path.to_string_lossy();
    let cache = [".snapshot", ".milestones"].iter().find_map(|suffix| name.strip_suffix(suffix));
    let beside = cache.or_else(|| name.rsplit_once(".torn-").map(|(log, _)| log));
    is_log(path) || beside.is_some_and(|log| is_log(Path::new(log)))
}

/// Whether a folder contains results that plausibly wrote.
fn holds_results(folder: &Path) -> bool {
    beginning(&folder.join("manifest.json")).is_ok_and(|found| Kind::Manifest.wrote(&found))
}

/// The place of an output file.
#[derive(Debug)]
pub(crate) struct Target {
    /// The path as given.
    shown: PathBuf,
    /// The path behind links, so that a link stays a link.
    real: PathBuf,
    /// Whether writing it replaces a file.
    replaces: bool,
    /// Whether this is a device or an open pipe, which is written to instead of replaced.
    through: bool,
}

impl fmt::Display for Target {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shown.display().fmt(to)
    }
}

impl Target {
    fn at(path: &Path) -> Result<Self> {
        let shown = path.to_path_buf();
        let Ok(found) = fs::metadata(path) else {
            if fs::symlink_metadata(path).is_ok() {
                refuse!(
                    "{} is a link to a missing file; remove the link. Nothing was written.",
                    path.display()
                );
            }
            return Ok(Self { real: shown.clone(), shown, replaces: false, through: false });
        };
        if found.is_dir() {
            refuse!("{} is a folder; name a file. Nothing was written.", path.display());
        }
        // /dev/stdout may be a plain file that the shell has opened.
        let opened = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];
        let opened = opened.iter().any(|opened| path.starts_with(opened));
        if is_pipe(&found) && !opened {
            // Opening it would wait for a reader, perhaps forever, and after the decision was
            // taken.
            refuse!(
                "{} is a named pipe, which may have no reader; write to /dev/stdout and redirect \
                 that to the pipe. Nothing was written.",
                path.display()
            );
        }
        let through = !found.is_file() || opened;
        let real = if through {
            shown.clone()
        } else {
            fs::canonicalize(path).unwrap_or_else(|_| shown.clone())
        };
        Ok(Self { shown, real, replaces: !through, through })
    }

    /// Writes the file atomically; a device or a pipe gets as much as it accepts.
    pub(crate) fn write(&self, content: &str) -> Result<()> {
        self.place(self.prepare(content)?)
    }

    /// Writes the content to a temporary file beside the target, which [`Target::place`] then gives
    /// its name. A device or a pipe gets the content itself, and no file.
    fn prepare(&self, content: &str) -> Result<Option<NamedTempFile>> {
        let failed = || format!("cannot write {}", self.shown.display());
        if self.through {
            // Appends to what the shell or this command has already written to the file.
            let mut file = OpenOptions::new().append(true).open(&self.real).with_context(failed)?;
            file.write_all(content.as_bytes()).and_then(|()| file.flush()).with_context(failed)?;
            return Ok(None);
        }
        let mut file = temporary_in(folder_of(&self.real))?;
        let written = file.write_all(content.as_bytes());
        written.and_then(|()| file.as_file().sync_all()).with_context(failed)?;
        Ok(Some(file))
    }

    fn place(&self, prepared: Option<NamedTempFile>) -> Result<()> {
        let Some(file) = prepared else { return Ok(()) };
        let placed = file.persist(&self.real).map_err(|error| error.error);
        placed.with_context(|| format!("cannot write {}", self.real.display()))?;
        Ok(())
    }
}

/// Writes several files. All are complete on the disk before the first gets its name.
pub(crate) fn write_all(files: &[(PathBuf, String)]) -> Result<()> {
    let mut ready = Vec::new();
    for (path, content) in files {
        let folder = folder_of(path);
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
        let target = Target::at(path)?;
        ready.push((target.prepare(content)?, target));
    }
    ready.into_iter().try_for_each(|(prepared, target)| target.place(prepared))
}

/// The part of a file that shows who wrote it.
fn beginning(path: &Path) -> io::Result<Vec<u8>> {
    // A manifest is read whole, and is much smaller than this.
    const MOST: u64 = 1 << 26;
    let mut found = Vec::new();
    File::open(path)?.take(MOST).read_to_end(&mut found)?;
    Ok(found)
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    // The parent of a bare file name is the empty path, which is not a folder.
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Whether two paths lead to the same file through any links, or would if it does not exist yet.
fn is_same_file(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        // Only plain files count: a terminal is both read and written, and loses nothing.
        (Ok(first), Ok(second)) => first.is_file() && same_node(a, &first, b, &second),
        (Err(_), Err(_)) => place_of(a).is_some_and(|place| place_of(b) == Some(place)),
        _ => false,
    }
}

#[cfg(unix)]
fn is_pipe(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    found.file_type().is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn same_node(_: &Path, a: &Metadata, _: &Path, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn same_node(a: &Path, _: &Metadata, b: &Path, _: &Metadata) -> bool {
    fs::canonicalize(a).is_ok_and(|a| fs::canonicalize(b).is_ok_and(|b| a == b))
}

/// The place of a file that does not exist yet.
fn place_of(path: &Path) -> Option<PathBuf> {
    Some(fs::canonicalize(folder_of(path)).ok()?.join(path.file_name()?))
}

const PREFIX: &str = ".plausibly-";
const SUFFIX: &str = ".tmp";
/// The number of random letters between prefix and suffix.
const LETTERS: usize = 12;
/// Leaves temporary files of the last minute alone: their process may not have locked them yet.
const FRESH: Duration = Duration::from_mins(1);

/// Creates a temporary file in a folder.
pub(crate) fn temporary_in(folder: &Path) -> Result<NamedTempFile> {
    sweep(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX).rand_bytes(LETTERS);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Permissions of any new file, by the user's umask; the library would allow the owner only.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let failed = || format!("cannot write to the folder {}", folder.display());
    let file = builder.tempfile_in(folder).with_context(failed)?;
    // The lock shows other processes that the file is in use. Where files cannot be locked, none is
    // removed either.
    let _ = file.as_file().try_lock();
    Ok(file)
}

/// Removes temporary files that killed processes left in a folder: those older than a minute that
/// no process has locked.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let letters =
            name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let ours = letters.is_some_and(|letters| {
            letters.len() == LETTERS && letters.bytes().all(|byte| byte.is_ascii_alphanumeric())
        });
        let old = |found: Metadata| {
            found.is_file()
                && found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > FRESH))
        };
        if !ours || !entry.metadata().is_ok_and(old) {
            continue;
        }
        if let Ok(file) = File::open(entry.path())
            && file.try_lock().is_ok()
        {
            // Ignores errors: the next write tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
}
