//! `plausibly upgrade`.

use super::args::Upgrade;
use super::recording::Recording;
use super::{must_exist, time_to_record};
use crate::exit::{Ending, refuse};
use crate::files::{folder_of, temporary_in};
use crate::output;
use anyhow::{Context as _, Result};
use plausibly_log::journal::{FileStorage, Storage as _};
use plausibly_log::{Upgrade as Done, check_upgrade, upgrade};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &Upgrade) -> Result<()> {
    must_exist(&args.log)?;
    let to = args.to.clone().unwrap_or_else(|| beside(&args.log));
    let (log, new) = (args.log.display(), to.display());
    if to.symlink_metadata().is_ok() {
        refuse!(
            "{new} exists, and nothing is replaced; it may be an earlier upgrade of {log}. Name \
             another file with --to. Nothing was written."
        );
    }
    let at = time_to_record(args.time.at, args.force)?;
    let recording = Recording::new(&args.log, &args.wait)?;
    // The lock keeps other processes from adding lines to the old log while it is read.
    let old = recording.locked()?;
    let mut made = temporary_in(folder_of(&to))?;
    recording.remove_if_ended(made.path());
    let done = upgrade(&old, at, made.as_file_mut(), &to).with_context(|| log.to_string())?;
    made.as_file().sync_all().with_context(|| format!("cannot write {new}"))?;
    check_upgrade(&old, &FileStorage::new(made.path()))
        .with_context(|| format!("cannot check {new}"))?;
    recording.begin_write()?;
    made.persist_noclobber(&to)
        .map_err(|error| error.error)
        .with_context(|| format!("cannot write {new}"))?;
    FileStorage::new(&to).sync_folder().with_context(|| {
        Ending::Recorded(format!("{new} is written, but the disk did not confirm its name"))
    })?;
    if done.unfinished > 0 {
        output::note(&format!(
            "note: the last {} bytes of {log} are of an interrupted write, and are left out",
            done.unfinished
        ));
    }
    let said = said(&done, &new.to_string(), &log.to_string());
    output::answer(&said, false)?;
    output::note(&format!("{log} is as it was; use {new} from now on"));
    Ok(())
}

fn said(done: &Done, new: &str, log: &str) -> String {
    let decisions = match done.decisions {
        1 => "1 decision".into(),
        n => format!("{n} decisions"),
    };
    let mut said = format!("{new} continues {log}: {decisions}, checked line for line\n");
    if done.assumed.is_empty() {
        return said + "its policy goes on unchanged\n";
    }
    said += "assumed from now on:\n";
    for sentence in &done.assumed {
        let _ = writeln!(said, "  - {sentence}");
    }
    said += "What was said before the upgrade is right with the probability stated then, and what \
             is said from now on with this one; for both together the probabilities of a wrong \
             statement add up.\n";
    said
}

/// The default name: `news.log` becomes `news.2.log`.
fn beside(log: &Path) -> PathBuf {
    let mut extension = OsString::from("2");
    if let Some(own) = log.extension() {
        extension.push(".");
        extension.push(own);
    }
    log.with_extension(extension)
}
