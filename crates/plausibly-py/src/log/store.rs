//! Where a log is kept: in a file, or in memory.

use plausibly_log::journal::{FileStorage, Storage};
use std::collections::BTreeMap;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

/// Where one log is.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    File(PathBuf),
    Memory(Memory),
}

impl Place {
    /// The place of a path, also after the program has moved to another folder.
    pub(crate) fn of(path: PathBuf) -> Self {
        // Without a folder to start from the path stays as it is, and opening it says what is
        // wrong.
        Self::File(std::path::absolute(&path).unwrap_or(path))
    }

    /// Its storage, to read from or write to.
    pub(crate) fn storage(&self) -> Store {
        match self {
            Self::File(path) => Store::File(FileStorage::new(path)),
            Self::Memory(memory) => Store::Memory(memory.clone()),
        }
    }

    /// Whether something was written there already. Does not create a file.
    pub(crate) fn has_content(&self) -> bool {
        match self {
            Self::File(path) => std::fs::metadata(path).is_ok_and(|file| file.len() > 0),
            Self::Memory(memory) => !memory.files().log.is_empty(),
        }
    }
}

/// A log in memory, which lasts as long as its owners. Clones share the content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<Files>>);

#[derive(Debug, Default)]
struct Files {
    log: Vec<u8>,
    beside: BTreeMap<String, Vec<u8>>,
}

impl Memory {
    fn files(&self) -> MutexGuard<'_, Files> {
        // No code under this lock panics half-way, so the content is whole even after a panic.
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Reads a log in memory, also what is written meanwhile, as from a file.
#[derive(Debug)]
pub(crate) struct MemoryReader {
    memory: Memory,
    at: u64,
}

impl Read for MemoryReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let files = self.memory.files();
        let from = usize::try_from(self.at).map_or(files.log.len(), |at| at.min(files.log.len()));
        let count = (&files.log[from..]).read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for MemoryReader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let length = self.memory.files().log.len() as u64;
        let (base, offset) = match to {
            SeekFrom::Start(at) => (at, 0),
            SeekFrom::End(offset) => (length, offset),
            SeekFrom::Current(offset) => (self.at, offset),
        };
        self.at = base.checked_add_signed(offset).ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[derive(Debug)]
pub(crate) enum Store {
    File(FileStorage),
    Memory(Memory),
}

/// A file, or bytes in memory.
pub(crate) trait Readable: Read + Seek {}
impl<T: Read + Seek> Readable for T {}

impl Storage for Store {
    type Reader = Box<dyn Readable>;

    fn path(&self) -> &Path {
        match self {
            Self::File(file) => file.path(),
            Self::Memory(_) => Path::new("the log in memory"),
        }
    }

    fn lock(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.lock(),
            Self::Memory(_) => Ok(()),
        }
    }

    fn reader(&self) -> io::Result<Self::Reader> {
        Ok(match self {
            Self::File(file) => Box::new(file.reader()?),
            Self::Memory(memory) => Box::new(MemoryReader { memory: memory.clone(), at: 0 }),
        })
    }

    fn length(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => file.length(),
            Self::Memory(memory) => Ok(memory.files().log.len() as u64),
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.append(bytes),
            Self::Memory(memory) => {
                memory.files().log.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.sync(),
            Self::Memory(_) => Ok(()),
        }
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        match self {
            Self::File(file) => file.truncate(len),
            Self::Memory(memory) => {
                memory.files().log.truncate(usize::try_from(len).unwrap_or(usize::MAX));
                Ok(())
            }
        }
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        match self {
            Self::File(file) => file.sync_folder(),
            Self::Memory(_) => Ok(()),
        }
    }

    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::File(file) => file.read_side(suffix),
            Self::Memory(memory) => Ok(memory.files().beside.get(suffix).cloned()),
        }
    }

    fn read_side_part(&self, suffix: &str, begin: u64, len: u64) -> io::Result<Option<Vec<u8>>> {
        match self {
            Self::File(file) => file.read_side_part(suffix, begin, len),
            Self::Memory(memory) => {
                let files = memory.files();
                let part = |content: &Vec<u8>| {
                    let rest = content.iter().skip(usize::try_from(begin).unwrap_or(usize::MAX));
                    rest.take(usize::try_from(len).unwrap_or(usize::MAX)).copied().collect()
                };
                Ok(files.beside.get(suffix).map(part))
            }
        }
    }

    fn append_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.append_side(suffix, bytes),
            Self::Memory(memory) => {
                memory.files().beside.entry(suffix.into()).or_default().extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file) => file.write_side(suffix, bytes),
            Self::Memory(memory) => {
                memory.files().beside.insert(suffix.into(), bytes.to_vec());
                Ok(())
            }
        }
    }

    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()> {
        match self {
            Self::File(file) => file.rename_side(from, to),
            Self::Memory(memory) => {
                let mut files = memory.files();
                let content = files.beside.remove(from).ok_or(io::ErrorKind::NotFound)?;
                files.beside.insert(to.into(), content);
                Ok(())
            }
        }
    }
}
