//! Finds the registry of Python packages that this machine uses: from the command line, the
//! environment, pip's files, or pip's own default. This program names no registry.

use crate::args::Registry;
use anyhow::{Context, Result, bail};
use plausibly_data::Index;
use std::process::{Command, Stdio};

/// The index to use.
pub(crate) fn index(registry: &Registry) -> Result<Index> {
    // Like pip, treats an empty variable as unset.
    let given = registry.index.clone().filter(|url| !url.is_empty());
    let url = match given.or_else(|| configured("index-url")) {
        Some(url) => url,
        None => built_in()?,
    };
    let given = registry.certificates.clone().filter(|path| !path.as_os_str().is_empty());
    // Without python3 pip has no settings, and the index may not need certificates.
    let certificates = given.or_else(|| configured("cert").map(Into::into));
    Ok(Index { url, certificates })
}

/// A setting from pip's files.
fn configured(name: &str) -> Option<String> {
    python(&["-m", "pip", "config", "get", &format!("global.{name}")]).ok()
}

/// The default index of pip.
fn built_in() -> Result<String> {
    python(&[
        "-c",
        "from pip._internal.cli.cmdoptions import index_url; print(index_url().default)",
    ])
    .context(
        "cannot ask pip for its package index (name one with --index URL or PIP_INDEX_URL, or use \
         --mirror)",
    )
}

/// Runs python3 and returns what it prints. Isolated mode (`-I`) keeps a file `pip.py` in the
/// current folder from being imported as pip.
fn python(args: &[&str]) -> Result<String> {
    let mut command = Command::new("python3");
    let output = command
        .arg("-I")
        .args(args)
        .stdin(Stdio::null())
        .output()
        .context("python3 does not run")?;
    let printed = String::from_utf8_lossy(&output.stdout).trim().to_string();
    if !output.status.success() || printed.is_empty() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!("python3: {}", complaint.trim().lines().last().unwrap_or("it printed nothing"));
    }
    Ok(printed)
}
