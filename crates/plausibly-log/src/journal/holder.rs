//! Finds the process that holds the lock of a log, for the message to a second writer.

use std::fmt;
use std::fs::File;
use std::io;

/// The process that holds the lock of a log, as far as the system shows it.
///
/// Linux lists locks in `/proc/locks`. A process in another container has no number there, and
/// other systems have no such list. Writing the number to a file would be wrong after a crash, so
/// no such file exists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The number of the process.
    pub process: Option<u32>,
    /// The name of its program.
    pub name: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.process, &self.name) {
            (Some(process), Some(name)) => write!(to, "process {process} ({name})"),
            (Some(process), None) => write!(to, "process {process}"),
            _ => to.write_str("another process"),
        }
    }
}

impl std::error::Error for Holder {}

impl Holder {
    /// The holder named in an error of locking.
    pub(super) fn in_error(error: &io::Error) -> Self {
        let named = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        named.cloned().unwrap_or_default()
    }

    /// The holder of the lock of a file.
    #[cfg(target_os = "linux")]
    pub(super) fn of(file: &File) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let (Ok(locks), Ok(found)) = (std::fs::read_to_string("/proc/locks"), file.metadata())
        else {
            return Self::default();
        };
        let process = listed(&locks, found.dev(), found.ino());
        let name = process
            .and_then(|process| std::fs::read_to_string(format!("/proc/{process}/comm")).ok());
        Self { process, name: name.map(|name| name.trim_end().to_string()) }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn of(_: &File) -> Self {
        Self::default()
    }
}

/// The process that holds the lock of a file, according to the list of locks.
///
/// ```text
/// 1: FLOCK  ADVISORY  WRITE 4711 08:01:1234 0 EOF
/// ```
///
/// Some file systems list another device than that of the file itself. The inode number alone is
/// then enough if the list has it only once.
#[cfg(target_os = "linux")]
fn listed(locks: &str, device: u64, inode: u64) -> Option<u32> {
    let mut same_inode = Vec::new();
    for line in locks.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // A waiting process has an arrow in place of the kind.
        let [_, "FLOCK", _, "WRITE", process, place, ..] = fields[..] else { continue };
        let place: Vec<&str> = place.split(':').collect();
        let [major, minor, node] = place[..] else { continue };
        if node.parse() != Ok(inode) {
            continue;
        }
        let process = process.parse().ok().filter(|&process| process > 0);
        // Combines both numbers as the system's `makedev` does.
        let of_device =
            u64::from_str_radix(major, 16).ok().zip(u64::from_str_radix(minor, 16).ok());
        let whole = of_device.map(|(major, minor)| {
            (major & 0xfff) << 8 | (major & !0xfff) << 32 | minor & 0xff | (minor & !0xff) << 12
        });
        if whole == Some(device) {
            return process;
        }
        same_inode.push(process);
    }
    if let [only] = same_inode[..] { only } else { None }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::listed;

    #[test]
    fn a_holder_is_found_by_device_and_number() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 08:01:55 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 8 08:02:55 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 9 08:01:55 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 10 08:01:55 0 EOF\n\
                     4: FLOCK  ADVISORY  WRITE 11 00:2f:77 0 EOF\n\
                     5: FLOCK  ADVISORY  WRITE 0 08:01:88 0 EOF\n";
        assert_eq!(listed(locks, 0x801, 55), Some(10));
        assert_eq!(listed(locks, 0x802, 55), Some(8));
        assert_eq!(listed(locks, 0x803, 55), None, "two files of this number, on other devices");
        assert_eq!(listed(locks, 0x801, 77), Some(11), "the only file of this number");
        assert_eq!(listed(locks, 0x801, 88), None, "a process that cannot be seen from here");
        assert_eq!(listed(locks, 0x801, 99), None);
    }
}
