//! Which registry of Python packages this machine uses: what pip is told on the command line or by
//! the environment, by its files, or else was built with. No registry is named in this program.

use crate::args::Registry;
use anyhow::{Context, Result, bail};
use plausibly_data::Index;
use std::process::{Command, Stdio};

/// The registry to ask.
pub(crate) fn index(registry: &Registry) -> Result<Index> {
    // Like pip, take a variable that is set to nothing for one that is not set.
    let url = match registry.index.as_ref().filter(|url| !url.is_empty()) {
        Some(url) => url.clone(),
        None => match configured("index-url") {
            Some(url) => url,
            None => built_in()?,
        },
    };
    let given = registry.certificates.clone().filter(|path| !path.as_os_str().is_empty());
    // Without python3 there is no setting of pip's to find, and an index may do without.
    let certificates = given.or_else(|| configured("cert").map(Into::into));
    Ok(Index { url, certificates })
}

/// A setting from pip's files.
fn configured(name: &str) -> Option<String> {
    python(&["-m", "pip", "config", "get", &format!("global.{name}")]).ok()
}

/// The index pip asks if nobody tells it otherwise.
fn built_in() -> Result<String> {
    python(&["-c", "from pip._internal.cli.cmdoptions import index_url; print(index_url().default)"]).context(
        "cannot ask pip for its package index (name one by --index URL or PIP_INDEX_URL, or use --mirror instead)",
    )
}

/// What python3 prints. Isolated (`-I`), so that a file named `pip.py` in the current folder is not
/// taken for pip.
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
        bail!("python3: {}", complaint.trim().lines().last().unwrap_or("it prints nothing"));
    }
    Ok(printed)
}
