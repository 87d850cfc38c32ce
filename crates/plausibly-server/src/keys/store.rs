//! Changes of the file of keys by commands, one at a time.
//!
//! A change writes the whole file beside the old one and renames it. A writer that is killed leaves
//! the old file or the new one, and perhaps a part beside it that the next writer removes.

use super::stored::{Hash, Key, KeyError, PREFIX, Role, hex, id_of, parse, text, written};
use plausibly_log::Time;
use std::fmt;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// What a new key is for.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    /// What people call it.
    pub name: &'a str,
    /// What it allows, in any order.
    pub roles: &'a [Role],
    /// The only experiment that it is for; all, if none.
    pub experiment: Option<&'a str>,
    /// How many requests it may send per second.
    pub rate: Option<NonZeroU32>,
}

/// A key that was added.
pub struct NewKey {
    /// What is stored of it.
    pub stored: Key,
    text: String,
}

impl NewKey {
    /// The key itself, which is stored nowhere.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewKey").field("stored", &self.stored).finish_non_exhaustive()
    }
}

/// The file of keys in a data folder.
pub(super) fn path_in(data: &Path) -> PathBuf {
    data.join(".plausibly").join("keys.json")
}

/// Adds a key made of these random bytes. It is on the disk when this returns.
///
/// # Errors
/// If the name is taken or wrong, there is no role, or the file cannot be read or written.
pub fn add(data: &Path, grant: Grant<'_>, random: [u8; 32], at: Time) -> Result<NewKey, KeyError> {
    add_by(data, grant, random, at, &mut perform)
}

pub(super) fn add_by(
    data: &Path,
    grant: Grant<'_>,
    random: [u8; 32],
    at: Time,
    run: &mut Run<'_>,
) -> Result<NewKey, KeyError> {
    let text = format!("{PREFIX}{}", hex(&random));
    let sha256 = Hash::of(text.as_bytes());
    let mut roles = grant.roles.to_vec();
    roles.sort_unstable();
    roles.dedup();
    let stored = Key {
        id: id_of(&sha256),
        name: grant.name.into(),
        roles,
        experiment: grant.experiment.map(Into::into),
        rate: grant.rate,
        sha256,
        added: at,
        revoked: None,
    };
    // Before anything is created: a wrong name leaves no folder.
    written(std::slice::from_ref(&stored)).map_err(KeyError::Refused)?;
    change(data, run, |keys| {
        if let Some(taken) = keys.iter().find(|key| key.is_live() && key.name == stored.name) {
            return Err(KeyError::Refused(format!(
                "there is a key `{}` already, added at {}; choose another name, or revoke it first",
                taken.name, taken.added
            )));
        }
        keys.push(stored.clone());
        Ok(())
    })?;
    Ok(NewKey { stored, text })
}

/// All keys, revoked ones too, in the order in which they were added.
///
/// # Errors
/// If the file cannot be read or is invalid.
pub fn list(data: &Path) -> Result<Vec<Key>, KeyError> {
    let path = path_in(data);
    text(&path)?.map_or_else(|| Ok(Vec::new()), |text| parse(&path, &text))
}

/// Revokes the live key with this name or id. It is on the disk when this returns.
///
/// # Errors
/// If there is no such key, or the file cannot be read or written.
pub fn revoke(data: &Path, name_or_id: &str, at: Time) -> Result<Key, KeyError> {
    // A folder of keys is not created for this.
    live(&mut list(data)?, data, name_or_id)?;
    change(data, &mut perform, |keys| {
        let key = live(keys, data, name_or_id)?;
        key.revoked = Some(at);
        Ok(key.clone())
    })
}

/// The live key with this name, else with this id.
fn live<'a>(keys: &'a mut [Key], data: &Path, name_or_id: &str) -> Result<&'a mut Key, KeyError> {
    let named = |key: &Key| key.name == name_or_id || key.id == name_or_id;
    let by_name = keys.iter().position(|key| key.is_live() && key.name == name_or_id);
    let by_id = || keys.iter().position(|key| key.is_live() && key.id == name_or_id);
    let Some(at) = by_name.or_else(by_id) else {
        let refused = KeyError::Refused;
        return Err(match keys.iter().rfind(|key| named(key)) {
            Some(Key { name, revoked: Some(at), .. }) => {
                refused(format!("the key `{name}` was revoked at {at}"))
            }
            // The text is not quoted, because it may be a key.
            _ if name_or_id.starts_with(PREFIX) => refused(
                "a key is revoked by its name or id, not by its text; `plausibly key list` shows \
                 names and ids"
                    .into(),
            ),
            _ => refused(format!(
                "there is no key `{}` in {}; `plausibly key list` shows names and ids",
                name_or_id.chars().take(64).collect::<String>(),
                data.display()
            )),
        });
    };
    Ok(&mut keys[at])
}

/// A step of a change on the disk. Tests end a change before each of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    /// Create a folder; its keys are for its owner alone.
    Folder { path: &'a Path, private: bool },
    /// Write a file, replacing any earlier one.
    Write(&'a Path, &'a [u8]),
    /// Return when the disk has this file.
    Sync(&'a Path),
    /// Give the first file the second name.
    Rename(&'a Path, &'a Path),
    /// Return when the disk has the names in this folder.
    SyncFolder(&'a Path),
}

/// Carries out steps.
pub(super) type Run<'a> = dyn FnMut(Step<'_>) -> io::Result<()> + 'a;

/// Changes the keys under the lock of their folder.
fn change<T>(
    data: &Path,
    run: &mut Run<'_>,
    edit: impl FnOnce(&mut Vec<Key>) -> Result<T, KeyError>,
) -> Result<T, KeyError> {
    let path = path_in(data);
    let folder = path.parent().unwrap_or(data);
    create_folders(data, folder, run).map_err(failed("create the folder", folder))?;
    let lock = folder.join("keys.lock");
    // Held until the end of the function.
    let _locked = locked(&lock).map_err(failed("lock", &lock))?;
    let mut keys = list(data)?;
    let answer = edit(&mut keys)?;
    let text = written(&keys).map_err(KeyError::Refused)?;
    let new = folder.join("keys.json.new");
    let mut replace = || {
        run(Step::Write(&new, text.as_bytes()))?;
        run(Step::Sync(&new))?;
        run(Step::Rename(&new, &path))?;
        run(Step::SyncFolder(folder))
    };
    replace().map_err(failed("write", &path))?;
    Ok(answer)
}

fn failed(step: &'static str, path: &Path) -> impl FnOnce(io::Error) -> KeyError {
    let path = path.to_path_buf();
    move |source| KeyError::Io { step, path, source }
}

/// Creates the folders that are missing, each on the disk before a file is in it.
fn create_folders(data: &Path, folder: &Path, run: &mut Run<'_>) -> io::Result<()> {
    let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let mut above: Vec<&Path> = data.ancestors().take_while(missing).collect();
    above.reverse();
    for path in above {
        run(Step::Folder { path, private: false })?;
        run(Step::SyncFolder(parent(path)))?;
    }
    if !folder.exists() {
        run(Step::Folder { path: folder, private: true })?;
    }
    // Also if it exists: an earlier command may have been killed before it synced.
    run(Step::SyncFolder(data))
}

/// The folder of a path. That of a bare name is the empty path, which cannot be opened.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Takes the lock of the folder, after other writers.
fn locked(path: &Path) -> io::Result<File> {
    let file = match create_private(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            OpenOptions::new().write(true).open(path)
        }
        created => created,
    }?;
    file.lock()?;
    Ok(file)
}

/// Carries out a step on the local disk.
pub(super) fn perform(step: Step<'_>) -> io::Result<()> {
    match step {
        Step::Folder { path, private } => create_folder(path, private),
        Step::Write(path, bytes) => {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            create_private(path)?.write_all(bytes)
        }
        Step::Sync(path) => OpenOptions::new().write(true).open(path)?.sync_all(),
        Step::Rename(from, to) => std::fs::rename(from, to),
        // Elsewhere a folder cannot be opened as a file, and the file system keeps names safe.
        Step::SyncFolder(path) if cfg!(unix) => File::open(path)?.sync_all(),
        Step::SyncFolder(_) => Ok(()),
    }
}

fn create_folder(path: &Path, private: bool) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    if private {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    match builder.create(path) {
        // Another command was faster.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        created => created?,
    }
    #[cfg(unix)]
    if let Some((user, group)) = owner_above(path, &std::fs::symlink_metadata(path)?)? {
        // Not possible for other users than root, and then not needed.
        let _ = std::os::unix::fs::lchown(path, Some(user), Some(group));
    }
    Ok(())
}

/// Creates a file for its owner alone. A file or link of this name is an error.
fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    let file = options.open(path)?;
    #[cfg(unix)]
    if let Some((user, group)) = owner_above(path, &file.metadata()?)? {
        let _ = std::os::unix::fs::fchown(&file, Some(user), Some(group));
    }
    Ok(file)
}

/// User and group of the folder, if the file in it belongs to another user: root adds keys for a
/// service that runs as a user of its own, and the service must be able to read them.
#[cfg(unix)]
fn owner_above(path: &Path, made: &std::fs::Metadata) -> io::Result<Option<(u32, u32)>> {
    use std::os::unix::fs::MetadataExt as _;
    let above = std::fs::metadata(parent(path))?;
    Ok((above.uid() != made.uid()).then(|| (above.uid(), above.gid())))
}
