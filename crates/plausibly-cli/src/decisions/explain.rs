//! `plausibly explain`.

use super::args::Explain;
use super::{ended, existing, print, print_json, read_certificate};
use crate::exit::Outcome;
use crate::files::{Kind, Outputs};
use crate::output;
use anyhow::{Context as _, Result};
use plausibly_log::certificate;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &Explain) -> Outcome {
    ended(explain(args))
}

fn explain(args: &Explain) -> Result<Outcome> {
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
            return Ok(Outcome::Refused(format!(
                "error: with --log, give the number of a decision, not `{}`",
                args.what
            )));
        };
        certificate(&existing(&log, 1)?, decision, args.listing.most())?
    } else if args.listing.list.is_some() {
        let text = "error: --list cannot change the list of a certificate that exists; use it with \
                    a decision of a log (--log LOG)";
        return Ok(Outcome::Refused(text.into()));
    } else {
        let found = read_certificate(Path::new(&args.what))?;
        found.check().context("the certificate is wrong, so it is not explained")?;
        found
    };
    if let Some(page) = &page {
        page.write(plausibly_report::certificate_page(&found).as_bytes())?;
        output::note(&format!("wrote {page}"));
    }
    if args.json {
        print_json(&(found.to_json() + "\n"))?;
    } else if args.html.is_none() {
        print(&found.words().to_string())?;
    }
    Ok(Outcome::Done)
}
