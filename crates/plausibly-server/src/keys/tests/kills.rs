use super::*;
use crate::keys::store::{Step, add_by, path_in, perform};
use crate::keys::stored::parse;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Which of two states a folder is in after a kill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    Old,
    New,
}

fn names(data: &Path) -> Vec<String> {
    list(data).unwrap().into_iter().map(|key| key.name).collect()
}

/// Adds `b`, ends at this step as by SIGKILL, and says what is left. If the step writes, a part of
/// the bytes is written first.
fn killed_at(data: &Path, step: usize, part: impl Fn(usize) -> usize) -> (Left, bool) {
    let before = names(data);
    let mut number = 0;
    let mut run = |now: Step<'_>| {
        number += 1;
        match now {
            _ if number <= step => match now {
                // A kill does not need them.
                Step::Sync(_) | Step::SyncFolder(_) => Ok(()),
                _ => perform(now),
            },
            Step::Write(path, bytes) => {
                perform(Step::Write(path, &bytes[..part(bytes.len())]))?;
                Err(io::Error::other("killed"))
            }
            _ => Err(io::Error::other("killed")),
        }
    };
    let done = add_by(data, grant("b"), [2; 32], NOON, &mut run).is_ok();
    let after = names(data);
    let with_new: Vec<_> = before.iter().cloned().chain(["b".to_string()]).collect();
    let left = if after == before { Left::Old } else { Left::New };
    assert!(after == before || after == with_new, "{after:?}");
    (left, done)
}

#[test]
fn a_writer_killed_at_any_step_leaves_the_old_file_or_the_new_one() {
    for first in [false, true] {
        let (mut step, mut states) = (0, Vec::new());
        loop {
            let home = tempfile::tempdir().unwrap();
            let data = home.path().join("a/b");
            if !first {
                add_numbered(&data, grant("a"), 1);
            }
            let (left, done) = killed_at(&data, step, |len| len / 2);
            assert!(!done || left == Left::New, "acknowledged and not there");
            states.push(left);
            // The next writer is not hindered by what the killed one left.
            add_numbered(&data, grant("c"), 3);
            assert_eq!(names(&data).last().unwrap(), "c");
            if done {
                break;
            }
            step += 1;
        }
        assert!(step >= 4 && states.is_sorted_by_key(|&left| left == Left::New), "{states:?}");
    }
}

#[test]
fn a_file_written_in_part_is_never_read() {
    let home = tempfile::tempdir().unwrap();
    add_numbered(home.path(), grant("a"), 1);
    let length = std::fs::read(path_in(home.path())).unwrap().len() * 2;
    // The step after that of the folder writes.
    for part in 0..length {
        let (left, done) = killed_at(home.path(), 1, |len| part.min(len));
        assert_eq!((left, done), (Left::Old, false));
    }
}

/// What a disk may have after a power cut: the synced part, or any more.
#[derive(Default)]
struct PowerCut {
    /// Content, and whether it is synced.
    files: Vec<(Vec<u8>, bool)>,
    /// The file of each path, and none for a folder.
    names: BTreeMap<PathBuf, Option<usize>>,
    /// The names that are synced.
    durable: BTreeMap<PathBuf, Option<usize>>,
}

impl PowerCut {
    fn step(&mut self, step: Step<'_>) {
        match step {
            Step::Folder { path, .. } => {
                self.names.insert(path.into(), None);
            }
            Step::Write(path, bytes) => {
                self.files.push((bytes.to_vec(), false));
                self.names.insert(path.into(), Some(self.files.len() - 1));
            }
            Step::Sync(path) => self.files[self.names[path].unwrap()].1 = true,
            Step::Rename(from, to) => {
                let file = self.names.remove(from).unwrap();
                self.names.insert(to.into(), file);
            }
            Step::SyncFolder(folder) => {
                self.durable.retain(|path, _| path.parent() != Some(folder));
                let inside = self.names.iter().filter(|(path, _)| path.parent() == Some(folder));
                self.durable.extend(inside.map(|(path, file)| (path.clone(), *file)));
            }
        }
    }

    /// Every content that the file may have below this folder.
    fn contents(&self, home: &Path, path: &Path) -> Vec<Option<Vec<u8>>> {
        let mut found = Vec::new();
        for names in [&self.names, &self.durable] {
            let mut folders = path.ancestors().take_while(|above| *above != home);
            let reached = folders.all(|above| names.contains_key(above));
            match names.get(path).filter(|_| reached) {
                None => found.push(None),
                Some(file) => {
                    let (content, synced) = &self.files[file.unwrap()];
                    let parts = if *synced { vec![content.len()] } else { vec![0, content.len()] };
                    found.extend(parts.into_iter().map(|part| Some(content[..part].to_vec())));
                }
            }
        }
        found
    }
}

#[test]
fn a_power_cut_after_any_step_leaves_the_old_file_or_the_new_one() {
    let home = tempfile::tempdir().unwrap();
    let data = home.path().join("a/b");
    let path = path_in(&data);
    let mut disk = PowerCut::default();
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        let old = names(&data);
        let new: Vec<_> = old.iter().cloned().chain([name.to_string()]).collect();
        let left = |content: &Option<Vec<u8>>| -> Vec<String> {
            let text = content.as_ref().map(|bytes| String::from_utf8(bytes.clone()).unwrap());
            let keys = text.map_or_else(Vec::new, |text| parse(&path, &text).unwrap());
            keys.into_iter().map(|key| key.name).collect()
        };
        let mut run = |step: Step<'_>| {
            disk.step(step);
            for content in disk.contents(home.path(), &path) {
                let left = left(&content);
                assert!(left == old || left == new, "{left:?} after {step:?}");
            }
            perform(step)
        };
        let random = [u8::try_from(number).unwrap(); 32];
        add_by(&data, grant(name), random, NOON, &mut run).unwrap();
        // Acknowledged, so it must be there.
        assert!(disk.contents(home.path(), &path).iter().all(|content| left(content) == new));
    }
}
