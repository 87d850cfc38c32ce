//! What a journal needs of a disk, and the disk itself.

use super::holder::Holder;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A log file and the files beside it, as small steps whose order is the journal's business.
///
/// A journal promises what it does because each step does what it says here; tests put a disk in
/// its place that fails.
pub trait Storage {
    /// What reads the log.
    type Reader: Read + Seek;

    /// Where the log is, for messages. A file beside it has this path with a dot and its `suffix`
    /// added.
    fn path(&self) -> &Path;

    /// Opens the log for writing, creating it if it is missing, with a lock that no other writer
    /// gets until this storage is dropped or its process ends, however it ends.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another writer has the lock, with a [`Holder`] in it where
    /// one can be named; whatever else the system says.
    fn lock(&mut self) -> io::Result<()>;

    /// Opens the log for reading, from its first byte, which needs no lock. Under a lock it reads
    /// the file that is locked.
    ///
    /// # Errors
    /// If it is missing or cannot be opened.
    fn reader(&self) -> io::Result<Self::Reader>;

    /// Bytes of the locked log.
    ///
    /// # Errors
    /// If the system cannot say, or the log's path has come to be another file, or none: what is
    /// appended to the locked one would not be found again.
    fn length(&self) -> io::Result<u64>;

    /// Writes at the end of the locked log. After an error, any part of the bytes may have been
    /// written.
    ///
    /// # Errors
    /// If not all were.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Returns when the disk has everything of the locked log.
    ///
    /// # Errors
    /// If that is not sure. Trying again does not help: a later success may be about later bytes
    /// only.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the locked log to its first `len` bytes.
    ///
    /// # Errors
    /// If it could not be cut.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Returns when the disk has the names of the log and the files beside it.
    ///
    /// # Errors
    /// If that is not sure.
    fn sync_folder(&mut self) -> io::Result<()>;

    /// The content of a file beside the log, or none if there is no such file.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>>;

    /// Writes a file beside the log, over what may be there, and returns when the disk has its
    /// content.
    ///
    /// # Errors
    /// If not all was written, or it is not sure that the disk has it.
    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()>;

    /// Gives a file beside the log another suffix, replacing what had it, at once or not at all.
    ///
    /// # Errors
    /// If it could not be renamed.
    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()>;
}

/// Puts a file beside the log, complete or not at all, and returns when the disk has it under its
/// name.
pub(super) fn replace_side(
    storage: &mut impl Storage,
    suffix: &str,
    bytes: &[u8],
) -> io::Result<()> {
    let temporary = format!("{suffix}.tmp");
    storage.write_side(&temporary, bytes)?;
    storage.rename_side(&temporary, suffix)?;
    storage.sync_folder()
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

/// Elsewhere a file that is open cannot be moved.
#[cfg(not(unix))]
fn same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// A log on a local disk.
///
/// The lock is that of `flock`: it is advisory, and ends with the process. Nothing is touched
/// before it is taken.
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

    /// Takes the lock, and waits for another writer as long as `again` says.
    ///
    /// Each time the lock is found to be held, `again` is called with its holder. It waits as it
    /// sees fit, and returns whether to try once more: clock and sleep are the caller's.
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

    /// The folders that hold names of the log: the one of its path, where the files beside it are,
    /// and behind a symbolic link the one of the file itself.
    fn folders(&self) -> io::Result<Vec<PathBuf>> {
        let file = std::fs::canonicalize(&self.path)?;
        // A bare file name has the empty path as its parent, which is no folder.
        let beside = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = std::fs::canonicalize(beside.unwrap_or(Path::new(".")))?;
        let mut folders = vec![beside];
        folders.extend(file.parent().filter(|folder| *folder != folders[0]).map(Path::to_path_buf));
        Ok(folders)
    }
}

impl Storage for FileStorage {
    type Reader = File;

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
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, Holder::of(&file)));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        self.locked = Some(file);
        // Between opening and locking, it may have been replaced.
        self.length().map(drop)
    }

    fn reader(&self) -> io::Result<File> {
        match &self.locked {
            // The copy has one position with the original, which only `append` uses, and sets.
            Some(file) => {
                let mut copy = file.try_clone()?;
                copy.rewind()?;
                Ok(copy)
            }
            None => File::open(&self.path),
        }
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
        // The length is synced with the data, for without it they could not be read; times need not
        // be.
        self.locked()?.sync_data()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.locked()?.set_len(len)
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        // Elsewhere a folder cannot be opened as a file, and names are the file system's own
        // business.
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

    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        let mut file = File::create(side_path(&self.path, suffix))?;
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
