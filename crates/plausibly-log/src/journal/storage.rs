//! The operations that a journal needs from a disk, and their implementation on files. The journal
//! decides on their order, so tests can replace the disk by one that fails at any step.

use super::holder::Holder;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A log file and the files beside it, as small operations.
///
/// The promises of a journal rest on each operation doing exactly what is said here.
pub trait Storage {
    /// The reader of the log.
    type Reader: Read + Seek;

    /// The path of the log, for messages. A file beside it has this path with a dot and its
    /// `suffix`.
    fn path(&self) -> &Path;

    /// Opens the log for writing, creates it if it is missing, and locks it. No other writer gets
    /// the lock until this storage is dropped or its process ends in any way.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another writer has the lock, with a [`Holder`] in it if the
    /// holder is known; any other error of the system.
    fn lock(&mut self) -> io::Result<()>;

    /// Opens the log for reading from its first byte, which needs no lock. If the log is locked,
    /// reads the locked file.
    ///
    /// # Errors
    /// If it is missing or cannot be opened.
    fn reader(&self) -> io::Result<Self::Reader>;

    /// The length of the locked log, in bytes.
    ///
    /// # Errors
    /// If the system fails, or the path of the log now names another file or none: appended lines
    /// would not be found again.
    fn length(&self) -> io::Result<u64>;

    /// Writes at the end of the locked log. After an error, any part of the bytes may have been
    /// written.
    ///
    /// # Errors
    /// If not all bytes were written.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when the disk has all of the locked log.
    ///
    /// # Errors
    /// If the disk did not confirm it. A second try proves nothing: its success may cover only
    /// later bytes.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the locked log to its first `len` bytes.
    ///
    /// # Errors
    /// If the log could not be cut.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Returns when the disk has the names of the log and the files beside it.
    ///
    /// # Errors
    /// If the disk did not confirm it.
    fn sync_folder(&mut self) -> io::Result<()>;

    /// The content of a file beside the log; `None` if there is no such file.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>>;

    /// At most `len` bytes of a file beside the log from the byte `begin` on; `None` if there is no
    /// such file.
    ///
    /// # Errors
    /// If the file exists and cannot be read.
    fn read_side_part(&self, suffix: &str, begin: u64, len: u64) -> io::Result<Option<Vec<u8>>> {
        let place = |byte: u64, len: usize| usize::try_from(byte).unwrap_or(len).min(len);
        Ok(self.read_side(suffix)?.map(|content| {
            let end = place(begin.saturating_add(len), content.len());
            content[place(begin, content.len())..end].to_vec()
        }))
    }

    /// Writes a file beside the log, replacing any earlier content, and returns when the disk has
    /// it.
    ///
    /// # Errors
    /// If not all bytes were written, or the disk did not confirm them.
    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()>;

    /// Writes at the end of a file beside the log, and returns when the disk has it.
    ///
    /// # Errors
    /// If not all bytes were written, or the disk did not confirm them.
    fn append_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        let mut content = self.read_side(suffix)?.unwrap_or_default();
        content.extend_from_slice(bytes);
        self.write_side(suffix, &content)
    }

    /// Renames a file beside the log to another suffix, replacing any file of that name,
    /// atomically.
    ///
    /// # Errors
    /// If the file could not be renamed.
    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()>;
}

/// A storage of any kind, such as one that a test has chosen.
impl<S: Storage + ?Sized> Storage for Box<S> {
    type Reader = S::Reader;

    fn path(&self) -> &Path {
        (**self).path()
    }

    fn lock(&mut self) -> io::Result<()> {
        (**self).lock()
    }

    fn reader(&self) -> io::Result<Self::Reader> {
        (**self).reader()
    }

    fn length(&self) -> io::Result<u64> {
        (**self).length()
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).append(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        (**self).truncate(len)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        (**self).sync_folder()
    }

    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>> {
        (**self).read_side(suffix)
    }

    fn read_side_part(&self, suffix: &str, begin: u64, len: u64) -> io::Result<Option<Vec<u8>>> {
        (**self).read_side_part(suffix, begin, len)
    }

    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        (**self).write_side(suffix, bytes)
    }

    fn append_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        (**self).append_side(suffix, bytes)
    }

    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()> {
        (**self).rename_side(from, to)
    }
}

/// The path of the file beside a log.
pub(super) fn side_path(log: &Path, suffix: &str) -> PathBuf {
    let mut path = log.as_os_str().to_owned();
    path.push(".");
    path.push(suffix);
    path.into()
}

#[cfg(unix)]
fn same_file(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// On other systems an open file cannot be moved.
#[cfg(not(unix))]
fn same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Reads a file at a position of its own.
///
/// Copies of a locked file share one position in the system, and a log is read in several places at
/// once: while its lines are read in order, an outcome may need the line of its decision.
#[derive(Debug)]
pub struct LogReader {
    file: File,
    at: u64,
}

impl Read for LogReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = read_at(&mut self.file, into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for LogReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let moved = |from: u64, by: i64| {
            let before_start = || io::Error::from(io::ErrorKind::InvalidInput);
            from.checked_add_signed(by).ok_or_else(before_start)
        };
        self.at = match to {
            SeekFrom::Start(at) => at,
            SeekFrom::Current(by) => moved(self.at, by)?,
            SeekFrom::End(by) => moved(self.file.metadata()?.len(), by)?,
        };
        Ok(self.at)
    }
}

#[cfg(unix)]
fn read_at(file: &mut File, into: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, into, at)
}

/// Elsewhere the position is set before each read.
#[cfg(not(unix))]
fn read_at(file: &mut File, into: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek(SeekFrom::Start(at))?;
    file.read(into)
}

/// A log on a local disk.
///
/// The lock is an advisory `flock`, which ends with the process. Nothing is changed before it is
/// taken.
#[derive(Debug)]
pub struct FileStorage {
    path: PathBuf,
    locked: Option<File>,
}

impl FileStorage {
    /// The log at this path, which need not exist yet; its folder must.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), locked: None }
    }

    /// Takes the lock, and waits for another writer while `again` returns true.
    ///
    /// Calls `again` with the holder each time the lock is held. `again` decides how long to wait
    /// and whether to try once more, so that clock and sleep stay with the caller.
    ///
    /// # Errors
    /// As [`Storage::lock`].
    pub fn lock_or_wait(&mut self, mut again: impl FnMut(&Holder) -> bool) -> io::Result<()> {
        loop {
            match self.lock() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !again(&Holder::in_error(&error)) {
                        return Err(error);
                    }
                }
                locked => return locked,
            }
        }
    }

    fn locked(&self) -> io::Result<&File> {
        self.locked.as_ref().ok_or_else(|| io::Error::other("the log is not locked"))
    }

    /// The folders that contain names of the log: the folder of its path, where the files beside it
    /// are, and behind a symbolic link also the folder of the file itself.
    fn folders(&self) -> io::Result<Vec<PathBuf>> {
        let file = std::fs::canonicalize(&self.path)?;
        // The parent of a bare file name is the empty path, which is not a folder.
        let beside = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = std::fs::canonicalize(beside.unwrap_or(Path::new(".")))?;
        let mut folders = vec![beside];
        folders.extend(file.parent().filter(|folder| *folder != folders[0]).map(Path::to_path_buf));
        Ok(folders)
    }
}

impl Storage for FileStorage {
    type Reader = LogReader;

    fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&mut self) -> io::Result<()> {
        if self.locked.is_some() {
            return self.length().map(drop);
        }
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&self.path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                io::Error::new(io::ErrorKind::WouldBlock, Holder::of(&file))
            }
            TryLockError::Error(error) => error,
        })?;
        self.locked = Some(file);
        // The file may have been replaced between opening and locking.
        self.length().map(drop)
    }

    fn reader(&self) -> io::Result<LogReader> {
        let file = match &self.locked {
            Some(file) => file.try_clone()?,
            None => File::open(&self.path)?,
        };
        Ok(LogReader { file, at: 0 })
    }

    fn length(&self) -> io::Result<u64> {
        let (locked, named) = (self.locked()?.metadata()?, std::fs::metadata(&self.path));
        if !named.is_ok_and(|named| same_file(&locked, &named)) {
            return Err(io::Error::other("it was moved, deleted or replaced while it was open"));
        }
        Ok(locked.len())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.locked()?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        // `sync_data` includes the length, which is needed to read the data; file times need not be
        // synced.
        self.locked()?.sync_data()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.locked()?.set_len(len)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        // On other systems a folder cannot be opened as a file, and the file system itself keeps
        // names safe.
        if cfg!(unix) {
            self.folders()?.iter().try_for_each(|folder| File::open(folder)?.sync_all())
        } else {
            Ok(())
        }
    }

    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>> {
        match std::fs::read(side_path(&self.path, suffix)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_side_part(&self, suffix: &str, begin: u64, len: u64) -> io::Result<Option<Vec<u8>>> {
        let mut file = match File::open(side_path(&self.path, suffix)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(begin))?;
        let mut part = Vec::new();
        file.take(len).read_to_end(&mut part)?;
        Ok(Some(part))
    }

    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(side_path(&self.path, suffix))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn append_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file =
            OpenOptions::new().append(true).create(true).open(side_path(&self.path, suffix))?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(side_path(&self.path, from), side_path(&self.path, to))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::journal::Journal;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn behind_a_link_the_folder_of_the_file_is_synced_too() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let (links, files) = (home.join("links"), home.join("files"));
        fs::create_dir(&links).unwrap();
        fs::create_dir(&files).unwrap();
        let folders = |log: &Path| FileStorage::new(log).folders().unwrap();

        // A link to a file that is not there yet, and a link to that link.
        let (near, far) = (links.join("near"), home.join("far"));
        symlink("../files/log", &near).unwrap();
        symlink(&near, &far).unwrap();
        Journal::open(FileStorage::new(&near)).unwrap();
        assert!(files.join("log").exists());
        assert_eq!(folders(&near), [links.clone(), files.clone()]);
        assert_eq!(folders(&far), [home.clone(), files.clone()]);
        assert_eq!(folders(&files.join("log")), [files.as_path()]);

        // A link to the folder is no link of the log.
        symlink(&files, home.join("other")).unwrap();
        assert_eq!(folders(&home.join("other/log")), [files]);
    }
}
