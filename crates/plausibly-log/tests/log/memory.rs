//! A disk in memory, for tests of the content of a log and not of how it is written.

use plausibly_log::journal::Storage;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

/// Copies share the content.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Rc<RefCell<Files>>);

#[derive(Debug, Default)]
struct Files {
    log: Vec<u8>,
    beside: BTreeMap<String, Vec<u8>>,
    broken: bool,
}

impl Memory {
    /// The log.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.borrow().log.clone()
    }

    /// A file beside the log.
    pub(crate) fn beside(&self, suffix: &str) -> Option<Vec<u8>> {
        self.0.borrow().beside.get(suffix).cloned()
    }

    /// Puts a file beside the log, or removes it.
    pub(crate) fn set_beside(&self, suffix: &str, content: Option<Vec<u8>>) {
        let mut files = self.0.borrow_mut();
        match content {
            Some(content) => files.beside.insert(suffix.into(), content),
            None => files.beside.remove(suffix),
        };
    }

    /// A disk with the same files.
    pub(crate) fn copied(&self) -> Self {
        let files = self.0.borrow();
        let (log, beside) = (files.log.clone(), files.beside.clone());
        Self(Rc::new(RefCell::new(Files { log, beside, broken: false })))
    }

    /// Makes writes fail from now on, or work again.
    pub(crate) fn set_broken(&self, broken: bool) {
        self.0.borrow_mut().broken = broken;
    }
}

/// Reads the log as it is at the moment, as from a file.
#[derive(Debug)]
pub(crate) struct Reader {
    files: Rc<RefCell<Files>>,
    at: u64,
}

impl Read for Reader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let files = self.files.borrow();
        let mut log = Cursor::new(&files.log);
        log.set_position(self.at);
        let read = log.read(into)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for Reader {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let files = self.files.borrow();
        let mut log = Cursor::new(&files.log);
        log.set_position(self.at);
        self.at = log.seek(to)?;
        Ok(self.at)
    }
}

impl Storage for Memory {
    type Reader = Reader;

    fn path(&self) -> &Path {
        Path::new("log.ndjson")
    }

    fn lock(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reader(&self) -> io::Result<Self::Reader> {
        Ok(Reader { files: Rc::clone(&self.0), at: 0 })
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.borrow().log.len() as u64)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.0.borrow().broken {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.0.borrow_mut().log.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.borrow_mut().log.truncate(usize::try_from(len).unwrap());
        Ok(())
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn read_side(&self, suffix: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(self.0.borrow().beside.get(suffix).cloned())
    }

    fn write_side(&mut self, suffix: &str, bytes: &[u8]) -> io::Result<()> {
        self.0.borrow_mut().beside.insert(suffix.into(), bytes.to_vec());
        Ok(())
    }

    fn rename_side(&mut self, from: &str, to: &str) -> io::Result<()> {
        let mut files = self.0.borrow_mut();
        let content = files.beside.remove(from).ok_or(io::ErrorKind::NotFound)?;
        files.beside.insert(to.into(), content);
        Ok(())
    }
}
