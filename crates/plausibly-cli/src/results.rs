//! The files of a run: complete or not there at all.

use crate::files::{self, temporary_in};
use anyhow::{Context, Result};
use plausibly_sim::{Experiment, Summary, final_figures, spec_json};
use serde_json::json;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The folder that results go to. Made at once, so that a run does not end in "permission denied";
/// what was made is removed again if nothing came of the run.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    /// The folders that were not there before, the deepest first.
    made: Vec<PathBuf>,
}

impl Folder {
    /// Makes the folder and checks that files can be written there.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = path.ancestors().take_while(missing).map(Path::to_path_buf).collect();
        let folder = Self { path: path.into(), made };
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
        temporary_in(path)?;
        Ok(folder)
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a file of an earlier run is there.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// Writes the files: each is complete on disk under a temporary name before the first takes the
    /// place it is meant for. A name may lead into a folder below.
    pub(crate) fn write(&self, files: Vec<(impl AsRef<Path>, Vec<u8>)>) -> Result<Vec<PathBuf>> {
        let files: Vec<(PathBuf, Vec<u8>)> =
            files.into_iter().map(|(name, content)| (self.path.join(name), content)).collect();
        files::write_all(&files)?;
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }

    /// Removes the folders made here as far as they are empty.
    pub(crate) fn clear(&self) {
        for folder in &self.made {
            // Fails, as it should, for a folder that holds results.
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.clear();
    }
}

/// How many threads to use: as many as asked for, else as many as there are cores.
pub(crate) fn threads(asked: Option<u64>) -> NonZeroUsize {
    let asked = asked.and_then(|threads| NonZeroUsize::new(usize::try_from(threads).ok()?));
    asked.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// How a run was done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) seconds: f64,
    pub(crate) threads: usize,
}

/// `manifest.json`: what would be needed to do it again, and how it went.
pub(crate) fn manifest(
    experiment: &Experiment,
    summary: &Summary,
    timing: Timing,
) -> serde_json::Value {
    let decisions = summary.runs as f64 * experiment.horizon as f64 * summary.policies.len() as f64;
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "experiment": experiment.name,
        "seed": experiment.seed,
        "runs": summary.runs,
        "spec": spec_json(&experiment.resolved),
        "final": final_figures(summary),
        "timings": {
            "seconds": timing.seconds,
            "decisions_per_second": decisions / timing.seconds,
            "threads": timing.threads,
            "instruction_set": plausibly::Isa::detect().name(),
        },
    })
}
