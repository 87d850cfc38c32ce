//! Takes a decision for each line of its input and prints how long it took, so that `decide_speed`
//! can measure another version of the library beside this one.
//!
//! `decide_turns FEATURES ACTIONS`
#![expect(clippy::print_stdout, reason = "times are shown")]

#[path = "speed/workload.rs"]
mod workload;

use plausibly_log::recipe::Context;
use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};
use std::time::Instant;
use workload::{Nowhere, log, table};

fn main() -> Result<(), Box<dyn Error>> {
    let sizes: Vec<usize> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    let [dim, actions] = sizes[..] else {
        return Err("say numbers of features and actions".into());
    };
    let table = table((dim, actions))?;
    let mut log = log(Nowhere::default(), &table)?;
    let none = Context::default();
    for line in stdin().lock().lines() {
        line?;
        let begun = Instant::now();
        log.decide(2, &table, &none, actions)?;
        println!("{}", begun.elapsed().as_nanos());
        stdout().flush()?;
    }
    Ok(())
}
