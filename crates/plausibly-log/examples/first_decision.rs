//! Goes from a table to a checked certificate: `cargo run -p plausibly-log --example
//! first_decision`
#![expect(clippy::print_stdout, reason = "the decision is shown")]

use plausibly::spec::{PolicyKind, RadiusKind, RadiusSpec};
use plausibly_log::certificate::Certificate;
use plausibly_log::journal::FileStorage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Log, Opening, Time, certificate};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("mugs.log");
    let now: Time = "2026-11-15T15:10:02Z".parse()?;
    let table =
        Table::read("name,price,colour\nmug,4.5,red\nbowl,7,blue\nplate,9,red\n".as_bytes())?;
    let context = Context::default();

    // The recipe is inferred once, from the first table. Rewards are the sales of a day, 0 to 20.
    let recipe = Recipe::infer(&table, &context)?;
    let radius = RadiusSpec::new(RadiusKind::Determinant);
    let opening = Opening::new(recipe, (0.0, 20.0), 7)
        .deciding_by(&PolicyKind::LinUcb { ridge: Some(1.0), radius });
    let mut log = Log::open(FileStorage::new(&path))?;
    log.begin(now, opening)?;

    // A decision, its outcome, and the next decision, which uses it.
    let first = log.decide(now, &table, &context, 200)?;
    log.reward(now, first.grounds.decision, 12.0)?;
    let second = log.decide(now, &table, &context, 200)?;
    println!("{}", second.words());

    // The text is enough to check that the findings follow; the log shows that the grounds are
    // true.
    let received = Certificate::from_json(&second.to_json())?;
    received.check()?;
    received.check_against(&certificate(
        &FileStorage::new(&path),
        received.grounds.decision,
        200,
    )?)?;
    println!("the certificate of decision {} is right", received.grounds.decision);
    Ok(())
}
