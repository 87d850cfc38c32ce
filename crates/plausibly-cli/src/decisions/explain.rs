//! `plausibly explain`.

use super::args::Explain;
use super::{ended, existing, print, print_json, read_certificate, write};
use crate::exit::Outcome;
use crate::output;
use anyhow::{Context as _, Result};
use plausibly_log::certificate;
use std::path::Path;

pub(crate) fn run(args: &Explain) -> Outcome {
    ended(explain(args))
}

fn explain(args: &Explain) -> Result<Outcome> {
    let found = if let Some(log) = &args.log {
        let Ok(decision) = args.what.parse() else {
            return Ok(Outcome::Refused(format!(
                "error: with --log, say the number of a decision and not `{}`",
                args.what
            )));
        };
        certificate(&existing(log)?, decision, args.listing.list)?
    } else {
        let found = read_certificate(Path::new(&args.what))?;
        found.check().context("the certificate is wrong and will not be explained")?;
        found
    };
    if let Some(path) = &args.html {
        write(path, &plausibly_report::certificate_page(&found))?;
        output::note(&format!("wrote {}", path.display()));
    }
    if args.json {
        print_json(&(found.to_json() + "\n"))?;
    } else if args.html.is_none() {
        print(&found.words().to_string())?;
    }
    Ok(Outcome::Done)
}
