//! Shows a progress bar while a long log is read.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use plausibly_log::journal::{FileStorage, Storage};
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

/// Shows no bar during the first half second.
const SOON: Duration = Duration::from_millis(500);

/// A log for reading. If reading takes long and stderr is a terminal, a bar shows the progress; it
/// disappears when this is dropped.
#[derive(Debug)]
pub(super) struct ProgressLog {
    storage: FileStorage,
    bar: ProgressBar,
}

impl ProgressLog {
    /// The log at a path, which will be read `passes` times.
    pub(super) fn new(path: &Path, passes: u64) -> Self {
        let bytes = fs::metadata(path).map_or(0, |file| file.len());
        let bar = ProgressBar::with_draw_target(Some(passes * bytes), ProgressDrawTarget::hidden());
        let style =
            ProgressStyle::with_template("{bar:32} {percent:>3} %  of the log read  {eta} left");
        bar.set_style(style.expect("the template is well formed"));
        Self { storage: FileStorage::new(path), bar }
    }
}

impl Drop for ProgressLog {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Counts the bytes read.
#[derive(Debug)]
pub(super) struct CountingReader<R> {
    inner: R,
    bar: ProgressBar,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.bar.inc(read as u64);
        if self.bar.is_hidden() && self.bar.elapsed() > SOON {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        Ok(read)
    }
}

impl<R: Seek> Seek for CountingReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

impl Storage for ProgressLog {
    type Reader = CountingReader<<FileStorage as Storage>::Reader>;

    fn reader(&self) -> io::Result<Self::Reader> {
        Ok(CountingReader { inner: self.storage.reader()?, bar: self.bar.clone() })
    }

    fn path(&self) -> &Path {
        self.storage.path()
    }

    fn lock(&mut self) -> io::Result<()> {
        self.storage.lock()
    }

    fn length(&self) -> io::Result<u64> {
        self.storage.length()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.storage.append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.storage.sync()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.storage.truncate(len)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        self.storage.sync_folder()
    }

    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>> {
        self.storage.read_side(suffix)
    }

    fn read_side_part(&self, suffix: &str, begin: u64, len: u64) -> io::Result<Option<Vec<u8>>> {
        self.storage.read_side_part(suffix, begin, len)
    }

    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        self.storage.write_side(suffix, bytes)
    }

    fn append_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        self.storage.append_side(suffix, bytes)
    }

    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()> {
        self.storage.rename_side(from, to)
    }
}
