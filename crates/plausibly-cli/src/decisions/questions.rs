//! What a person knows about outcomes, asked before a log begins.

use super::args::{Decide, noise, outcomes, range};
use crate::exit::refuse;
use crate::output;
use anyhow::Result;
use plausibly_log::event::Outcomes;
use plausibly_log::policy::Noise;
use std::io::{self, IsTerminal};

/// What is known about outcomes.
pub(super) struct Answers {
    pub(super) range: (f64, f64),
    pub(super) outcomes: Outcomes,
    pub(super) noise: Noise,
}

/// The answers of the flags, of a person at a terminal, or else the safest ones.
///
/// # Errors
/// A refusal if the input ends before an answer, or what was said cannot be.
pub(super) fn answers(args: &Decide) -> Result<Answers> {
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
    Ok(Answers { range, outcomes, noise })
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
