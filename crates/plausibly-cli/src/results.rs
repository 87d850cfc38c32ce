//! Writes the files of a run: all of them complete, or none.

use crate::files::{self, temporary_in};
use anyhow::{Context, Result};
use plausibly_sim::{Experiment, Summary, final_figures, spec_json};
use serde_json::json;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The folder of results. It is created before the run, so that a long run does not end in
/// "permission denied", and removed again if nothing was written to it.
#[derive(Debug)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    /// The folders that were created, the deepest first.
    made: Vec<PathBuf>,
}

impl Folder {
    /// Creates the folder and checks that it is writable.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = path.ancestors().take_while(missing).map(Path::to_path_buf).collect();
        let folder = Self { path: path.into(), made };
        fs::create_dir_all(path)
            .with_context(|| format!("cannot create the folder {}", path.display()))?;
        temporary_in(path)?;
        Ok(folder)
    }

    /// Whether it has a file of this name from an earlier run.
    pub(crate) fn holds(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// Writes files. All are complete on the disk under temporary names before the first gets its
    /// own name. A name may contain a subfolder.
    pub(crate) fn write(&self, files: Vec<(impl AsRef<Path>, String)>) -> Result<Vec<PathBuf>> {
        let files: Vec<(PathBuf, String)> =
            files.into_iter().map(|(name, content)| (self.path.join(name), content)).collect();
        files::write_all(&files)?;
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }

    /// Removes the folders that were created, if they are empty.
    pub(crate) fn clear(&self) {
        for folder in &self.made {
            // Fails for a folder with results in it, as it should.
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The number of threads: as requested, else the number of cores.
pub(crate) fn threads(requested: Option<u64>) -> NonZeroUsize {
    let requested = requested.and_then(|threads| NonZeroUsize::new(usize::try_from(threads).ok()?));
    requested.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// The duration and the threads of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    pub(crate) seconds: f64,
    pub(crate) threads: usize,
}

/// `manifest.json`: everything needed to repeat the run, and its results and timings.
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
