//! Commands of the decision service.

pub(crate) mod args;
pub(crate) mod key;
pub(crate) mod serve;

use anyhow::{Context as _, Result};
use args::DataFolder;
use std::path::PathBuf;

/// The data folder of the service: the one given, else the platform's.
fn data_folder(given: &DataFolder) -> Result<PathBuf> {
    let usual = || Some(dirs::data_dir()?.join("plausibly").join("service"));
    given
        .folder
        .clone()
        .or_else(usual)
        .context("this platform has no folder for data; name one with --data DIR")
}
