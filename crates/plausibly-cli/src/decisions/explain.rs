//! `plausibly explain`.

use super::args::Explain;
use super::{existing, read_certificate};
use crate::exit::refuse;
use crate::files::{Kind, Outputs};
use crate::output;
use anyhow::{Context as _, Result, bail};
use plausibly_log::certificate::Certificate;
use plausibly_log::certificate_keeping;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &Explain) -> Result<()> {
    // A log from the environment applies only to the number of a decision, not to a file.
    let usual =
        || std::env::var_os("PLAUSIBLY_LOG").filter(|path| !path.is_empty()).map(PathBuf::from);
    let log = args.log.clone().or_else(|| args.what.parse::<u64>().ok().and_then(|_| usual()));
    let outputs = Outputs::new(args.force);
    let mut outputs = match &log {
        Some(log) => outputs.with_log(log),
        None => outputs.reading("the certificate", Path::new(&args.what)),
    };
    let page = args.html.as_deref().map(|path| outputs.file(path, Kind::Page)).transpose()?;
    let found = if let Some(log) = log {
        let Ok(decision) = args.what.parse() else {
            refuse!("with --log, give the number of a decision, not `{}`", args.what);
        };
        of_log(&log, decision, args.listing.most())?
    } else if args.listing.list.is_some() {
        refuse!(
            "--list cannot change the list of a certificate that exists; use it with a decision of \
             a log (--log LOG)"
        );
    } else {
        let (what, path) = (&args.what, Path::new(&args.what));
        if what.parse::<u64>().is_ok() && !path.exists() {
            bail!("there is no file {what}; for decision {what} of a log add --log LOG");
        }
        let found = read_certificate(path)?;
        found.check().context("the certificate is wrong, so it is not explained")?;
        found
    };
    if let Some(page) = &page {
        page.write(&plausibly_report::certificate_page(&found))?;
        output::note(&format!("wrote {page}"));
    }
    if args.json {
        output::json(&(found.to_json() + "\n"))?;
    } else if args.html.is_none() {
        output::data(&found.words().to_string())?;
    }
    Ok(())
}

/// The certificate of a decision of a log, from the lines behind the last milestone before it.
fn of_log(path: &Path, decision: u64, most: usize) -> Result<Certificate> {
    let mut log = existing(path, 1)?;
    let (found, unread) = certificate_keeping(&mut log, decision, most)?;
    if unread > 0 {
        output::note(&format!(
            "lines 1 to {unread} of the log are taken from its milestones and were not checked; \
             `plausibly audit` checks every line"
        ));
    }
    Ok(found)
}
