//! What a person knows about outcomes, asked before a log begins.

use super::args::{Decide, factor, noise, outcomes, range, share};
use crate::exit::refuse;
use crate::output;
use anyhow::Result;
use plausibly_log::event::Outcomes;
use plausibly_log::policy::{Noise, Rates, default_link};
use plausibly_log::recipe::Recipe;
use std::io::{self, IsTerminal};

/// What is known about outcomes.
pub(super) struct Answers {
    pub(super) range: (f64, f64),
    pub(super) outcomes: Outcomes,
    pub(super) noise: Noise,
    pub(super) rates: Rates,
}

/// The answers of the flags, of a person at a terminal, or else the safest ones.
///
/// # Errors
/// A refusal if the input ends before an answer, or what was said cannot be.
pub(super) fn answers(args: &Decide, recipe: &Recipe) -> Result<Answers> {
    let asks = !args.yes && io::stdin().is_terminal();
    let range = match args.reward_range {
        Some(range) => range,
        None if asks => ask(
            "What can an outcome be at least and at most? Write it like 0..1, or -5..5. [0..1]",
            (0.0, 1.0),
            range,
        )?,
        None => (0.0, 1.0),
    };
    let outcomes = match args.outcomes {
        Some(outcomes) => outcomes,
        None if asks => ask(
            "What is a single outcome: a number, yes/no (the largest outcome or the smallest), or \
             counts (how many of how many were yes)? [number]",
            Outcomes::Number,
            outcomes,
        )?,
        None => Outcomes::Number,
    };
    let noise = match args.noise {
        Some(noise) => noise,
        // Yes and no scatter by the share of yes, which is what is to be learned.
        None if asks && outcomes == Outcomes::Number && args.set.is_empty() => ask(
            "How much do outcomes of the same action differ from their average? Write a number \
             that two thirds of them stay within; bell, if they are measurements or averages that \
             scatter like a bell curve and you do not know how much; or unknown. [unknown]",
            Noise::Unknown,
            |text| noise_within(text, range),
        )?,
        None => Noise::Unknown,
    };
    let asks = asks && args.set.is_empty() && args.policy.is_none();
    let rates = rates(args, asks && default_link(recipe, outcomes).is_some())?;
    Ok(Answers { range, outcomes, noise, rates })
}

/// What is said about rates of yes.
fn rates(args: &Decide, asks: bool) -> Result<Rates> {
    let known = |read: fn(&str) -> Result<f64, String>| move |text: &str| read(text).map(Some);
    let usual = match args.usual_rate {
        None if asks => ask(
            "What share of outcomes is usually yes? A rough idea is enough, such as 0.03. [0.5]",
            None,
            known(share),
        )?,
        said => said,
    };
    let factor = match args.odds_factor {
        None if asks => ask(
            "How many times higher or lower than usual can the odds of a yes be, whatever the \
             columns say? With 10, they are between a tenth and ten times the usual odds. [1000]",
            None,
            known(factor),
        )?,
        said => said,
    };
    Ok(Rates { usual, factor })
}

/// What is said about how much outcomes in this range scatter.
fn noise_within(text: &str, (low, high): (f64, f64)) -> Result<Noise, String> {
    let most = 0.5 * (high - low);
    match noise(text)? {
        Noise::Scale(scale) if scale > most => {
            Err(format!("outcomes from {low} to {high} scatter by at most {most}"))
        }
        said => Ok(said),
    }
}

/// Asks until the answer can be read; an empty one means the default.
fn ask<T>(question: &str, default: T, read: impl Fn(&str) -> Result<T, String>) -> Result<T> {
    let mut asked = question.to_string();
    loop {
        let Some(answer) = output::question(&asked)? else {
            refuse!("the input ended before an answer. Nothing was written.");
        };
        if answer.is_empty() {
            return Ok(default);
        }
        match read(&answer) {
            Ok(answer) => return Ok(answer),
            Err(wrong) => asked = format!("`{}`: {wrong}. {question}", output::inline(&answer)),
        }
    }
}
