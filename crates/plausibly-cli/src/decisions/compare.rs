//! `plausibly compare`.

use super::args::Compare;
use super::{existing, now};
use crate::exit::refuse;
use crate::output;
use anyhow::Result;
use plausibly_log::compare;

pub(crate) fn run(args: &Compare) -> Result<()> {
    if args.first == args.second {
        refuse!("name two different actions; both are \"{}\"", output::inline(&args.first));
    }
    let found = compare(&existing(&args.log.path, 1)?, now(), [&args.first, &args.second])?;
    if args.json {
        output::json(&format!("{}\n", serde_json::to_string(&found)?))
    } else {
        output::data(&format!("{found}\n"))
    }
}
