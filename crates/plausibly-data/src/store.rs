//! The cache: members of archives, accepted only with their checksum.

use crate::catalogue::{DataSet, Member};
use crate::error::DataError;
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};

/// A folder of verified members, one folder per data set.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// What the cache has of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// All members, with the right checksums.
    Ready,
    /// Not all members.
    Missing,
    /// A member has a wrong checksum.
    Damaged {
        /// Which.
        path: PathBuf,
    },
}

impl Store {
    /// The cache in this folder, which need not exist yet.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The cache in this folder, or else in `plausibly` of the platform's folder for data; `None`
    /// if there is no such folder.
    pub fn at(folder: Option<PathBuf>) -> Option<Self> {
        folder.or_else(|| Some(dirs::data_dir()?.join("plausibly"))).map(Self::new)
    }

    /// Where it is.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where a member is kept.
    pub fn path(&self, set: &DataSet, member: &Member) -> PathBuf {
        self.root.join(set.name).join(member.file_name())
    }

    /// Where a download is kept until it is complete and unpacked.
    pub(crate) fn part(&self, file: &str) -> PathBuf {
        self.root.join(format!("{file}.part"))
    }

    /// The bytes of a member, checked.
    ///
    /// # Errors
    /// If it is not in the cache, cannot be read, or has another checksum.
    pub fn read(&self, set: &DataSet, member: &Member) -> Result<Vec<u8>, DataError> {
        let path = self.path(set, member);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(DataError::NotFetched { name: set.name });
            }
            Err(source) => return Err(DataError::Io { what: "read", path, source }),
        };
        check(member, &bytes, &path)?;
        Ok(bytes)
    }

    /// What the cache has of a data set.
    ///
    /// # Errors
    /// If a member cannot be read.
    pub fn status(&self, set: &DataSet) -> Result<Status, DataError> {
        for member in set.members {
            match self.read(set, member) {
                Ok(_) => {}
                Err(DataError::NotFetched { .. }) => return Ok(Status::Missing),
                Err(DataError::Checksum { path, .. }) => return Ok(Status::Damaged { path }),
                Err(other) => return Err(other),
            }
        }
        Ok(Status::Ready)
    }

    /// Extracts the members of a data set from its archive, all or none, after checking each.
    pub(crate) fn unpack(
        &self,
        set: &DataSet,
        archive: impl Read + Seek,
        from: &Path,
    ) -> Result<(), DataError> {
        let unreadable = |source| DataError::Archive { path: from.into(), source };
        let mut zip = zip::ZipArchive::new(archive).map_err(unreadable)?;
        let mut found = Vec::new();
        for member in set.members {
            let file = zip.by_name(member.path).map_err(unreadable)?;
            let mut bytes = Vec::new();
            // One byte more than allowed is enough to fail the check, so an archive bomb is not
            // unpacked.
            let read = file.take(member.bytes + 1).read_to_end(&mut bytes);
            read.map_err(|source| DataError::Archive { path: from.into(), source: source.into() })?;
            found.push(bytes);
        }
        self.accept(set, &found, from)
    }

    /// Keeps the members of a data set, all or none, after checking each.
    pub(crate) fn accept(
        &self,
        set: &DataSet,
        found: &[Vec<u8>],
        from: &Path,
    ) -> Result<(), DataError> {
        let mut members = set.members.iter().zip(found);
        members.clone().try_for_each(|(member, bytes)| check(member, bytes, from))?;
        members.try_for_each(|(member, bytes)| self.keep(set, member, bytes))
    }

    /// Puts checked bytes in their place, complete or not at all.
    fn keep(&self, set: &DataSet, member: &Member, bytes: &[u8]) -> Result<(), DataError> {
        let path = self.path(set, member);
        let folder = self.root.join(set.name);
        let unwritten = DataError::io("write", &path);
        fs::create_dir_all(&folder).map_err(DataError::io("make the folder of", &path))?;
        let mut file = tempfile::NamedTempFile::new_in(&folder).map_err(&unwritten)?;
        file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(&unwritten)?;
        file.persist(&path).map_err(|error| unwritten(error.error))?;
        Ok(())
    }
}

fn check(member: &Member, bytes: &[u8], path: &Path) -> Result<(), DataError> {
    check_digest(&Sha256::digest(bytes), member.path, member.sha256, path)
}

/// Checks the SHA-256 of a member or archive that was read from `path`.
pub(crate) fn check_digest(
    digest: &[u8],
    member: &'static str,
    expected: &'static str,
    path: &Path,
) -> Result<(), DataError> {
    let found = digest.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    if found == expected {
        return Ok(());
    }
    Err(DataError::Checksum { member, path: path.into(), expected, found })
}
