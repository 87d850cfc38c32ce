//! The data folder: `NAME/log` for each experiment, and `.plausibly` for what belongs to the
//! service.

use crate::problem::{Code, Problem};
use crate::world::AnyStorage;
use plausibly_log::event::Event;
use plausibly_log::journal::{Checkpoint, Entry, FileStorage, JournalError, read};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A name has at most this many bytes.
const LONGEST: usize = 128;
/// The folder of the service itself. No experiment has such a name.
const OWN: &str = ".plausibly";

/// Checks the name of an experiment.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let fits = (1..=LONGEST).contains(&name.len()) && name.bytes().all(allowed);
    if fits && !name.starts_with('.') {
        return Ok(());
    }
    Err(Problem::new(
        Code::BadName,
        format!(
            "a name has 1 to {LONGEST} characters out of A-Z, a-z, 0-9, `.`, `_` and `-`, and does \
             not begin with a point"
        ),
    )
    .at("/name"))
}

/// The data folder.
#[derive(Debug)]
pub(crate) struct Folder {
    data: PathBuf,
    made: AtomicU64,
    /// Held as long as the service uses the folder.
    _lock: File,
}

impl Folder {
    /// Opens a data folder, and creates it if it is missing. No other service can use it until this
    /// one has ended.
    pub(crate) fn open(data: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(data.join(OWN).join("removed"))?;
        let lock = data.join(OWN).join("lock");
        let lock = File::options().write(true).create(true).truncate(false).open(lock)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => {
                io::Error::other("another service uses it; one process serves a folder")
            }
            TryLockError::Error(error) => error,
        })?;
        // What an interrupted creation has left was never acknowledged.
        let new = data.join(OWN).join("new");
        if new.exists() {
            fs::remove_dir_all(&new)?;
        }
        fs::create_dir(&new)?;
        Ok(Self { data, made: AtomicU64::new(0), _lock: lock })
    }

    /// The log of an experiment.
    pub(crate) fn log(&self, name: &str) -> PathBuf {
        self.data.join(name).join("log")
    }

    /// Whether there is an experiment of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        check_name(name).is_ok() && fs::metadata(self.log(name)).is_ok_and(|log| log.len() > 0)
    }

    /// The names of all experiments, in order.
    pub(crate) fn names(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(&self.data) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| self.has(name)).collect();
        names.sort();
        names
    }

    /// Whether the outcomes of an experiment count at deadlines.
    pub(crate) fn has_window(&self, name: &str) -> bool {
        let storage = FileStorage::new(self.log(name));
        let mut found = false;
        // Stops after the first line.
        let _ = read(&storage, &Checkpoint::START, |entry: Entry<'_>| {
            let event = serde_json::from_str(entry.body);
            found = matches!(event, Ok(Event::Opened { window: Some(_), .. }));
            Err::<(), _>(JournalError::Stopped { log: PathBuf::new() })
        });
        found
    }

    /// Checks that no experiment has this name.
    pub(crate) fn check_free(&self, name: &str) -> Result<(), Problem> {
        if self.data.join(name).exists() { Err(taken(name)) } else { Ok(()) }
    }

    /// Makes an experiment: `begin` writes its log, which then gets its place in one step.
    pub(crate) fn create<T>(
        &self,
        name: &str,
        disk: &dyn Fn(&Path) -> AnyStorage,
        begin: impl FnOnce(AnyStorage) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let failed = |_: io::Error| {
            Problem::new(Code::Stopped, "the disk does not take the folder of a new experiment")
        };
        self.check_free(name)?;
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let new = self.data.join(OWN).join("new").join(format!("{name}.{number}"));
        fs::create_dir(&new).map_err(failed)?;
        let made = begin(disk(&new.join("log"))).and_then(|made| {
            // Fails if there is a folder with content.
            fs::rename(&new, self.data.join(name)).map_err(|error| match error.kind() {
                ErrorKind::AlreadyExists
                | ErrorKind::DirectoryNotEmpty
                | ErrorKind::NotADirectory => taken(name),
                _ => failed(error),
            })?;
            Ok(made)
        });
        if made.is_err() {
            let _ = fs::remove_dir_all(&new);
        }
        let made = made?;
        sync_folder(&self.data).map_err(|_not_synced| {
            let detail = "the disk does not confirm the new experiment; it may be there or not";
            Problem::new(Code::Stopped, detail)
        })?;
        Ok(made)
    }

    /// Moves the folder of an experiment aside, and says where it is now.
    pub(super) fn remove(&self, name: &str, at_us: i64) -> io::Result<String> {
        // Two of one name may be removed at the same time of the clock.
        let mut places = (1..).map(|number| format!("{OWN}/removed/{name}.{at_us}.{number}"));
        let place = places.find(|place| !self.data.join(place).exists()).unwrap_or_default();
        fs::rename(self.data.join(name), self.data.join(&place))?;
        sync_folder(&self.data)?;
        sync_folder(&self.data.join(OWN).join("removed"))?;
        Ok(place)
    }
}

fn taken(name: &str) -> Problem {
    Problem::new(Code::NameTaken, format!("there already is an experiment `{name}`")).at("/name")
}

/// Returns when the disk has the names in a folder.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // On other systems a folder cannot be opened as a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
