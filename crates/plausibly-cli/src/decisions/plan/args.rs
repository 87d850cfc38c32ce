//! The arguments of `plausibly plan`. Doc comments here are the text of `--help`.

use super::super::args::{noise, outcomes, range};
use crate::args::whole_number;
use clap::Args as Arguments;
use plausibly_log::event::Outcomes;
use plausibly_log::policy::Noise;
use plausibly_log::table::read_number;

/// Say how many outcomes it takes to tell choices apart, before anything is decided
///
/// Simulates the decisions of `plausibly decide` with its default policy, about choices that are
/// judged by their own outcomes: a table with names and no other columns. Prints the answer for the
/// difference you name, and for half of it, twice and four times as much.
///
/// Two cases are simulated, and the other choices are equal in both. In one of them a choice is
/// better than all others, and the verdict is that it alone is left. In the other a choice is
/// worse, and the verdict is that it is out. Choices that are closer to each other take longer:
/// half the difference takes two to four times the outcomes.
///
/// Columns that say something about the outcomes often make a verdict come sooner. This command
/// does not know them.
#[derive(Debug, Arguments)]
#[command(
    after_help = "Examples:\n  plausibly plan --choices 6 --outcomes yes/no --near 5% --difference \
                  2%\n  plausibly plan --choices 3 --reward-range 1..10 --near 7 --noise 1.5 \
                  --difference 0.5\n  plausibly plan --choices 2 --difference 0.1 --json\n\n\
                  Takes seconds; with a hundred choices or more, minutes. Then begin with \
                  `plausibly decide`, and `plausibly status` says how it goes on."
)]
pub(crate) struct PlanArgs {
    /// The number of choices, such as the number of rows of your table
    #[arg(
        long, value_name = "K", allow_negative_numbers = true,
        value_parser = whole_number::<2, 1000>
    )]
    pub(crate) choices: u64,

    /// The smallest difference between two averages that matters to you, in units of outcome, such
    /// as 0.5; for yes/no outcomes a difference of rates, such as 2% or 0.02
    #[arg(long, value_name = "D", allow_hyphen_values = true, value_parser = amount)]
    pub(crate) difference: Amount,

    /// The usual average of outcomes, such as 7; for yes/no outcomes the usual rate, such as 5% or
    /// 0.05. Some choices have this average, the others one that is higher by the difference
    /// [default: the middle of the range, where outcomes can scatter most]
    #[arg(long, value_name = "A", allow_hyphen_values = true, value_parser = amount)]
    pub(crate) near: Option<Amount>,

    /// What an outcome is: `number`, one number in the range; `yes/no`; `counts`, how many of how
    /// many were yes; each yes and each no is one outcome here [default: number]
    #[arg(long, value_name = "KIND", value_parser = outcomes)]
    pub(crate) outcomes: Option<Outcomes>,

    /// The smallest and the largest possible outcome, for numbers [default: 0..1]
    #[arg(long, value_name = "A..B", allow_hyphen_values = true, value_parser = range)]
    pub(crate) reward_range: Option<(f64, f64)>,

    /// How much outcomes of the same choice scatter, for numbers: about two thirds of them lie
    /// within this of their average [default: unknown, and they scatter as much as the range
    /// allows]
    #[arg(long, value_name = "N", value_parser = noise)]
    pub(crate) noise: Option<Noise>,

    /// Number of simulated runs for each case and difference. With a probability of 95 %, at least
    /// nine in ten of all possible runs need at most the cautious number
    #[arg(
        long, value_name = "N", default_value_t = 100, allow_negative_numbers = true,
        value_parser = whole_number::<29, 100_000>
    )]
    pub(crate) runs: u64,

    /// Seed of all randomness
    #[arg(
        long, value_name = "S", default_value_t = 1, allow_negative_numbers = true,
        value_parser = whole_number::<0, { u64::MAX }>
    )]
    pub(crate) seed: u64,

    /// Worker threads; the answer does not depend on them [default: all cores]
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = whole_number::<1, 1024>
    )]
    pub(crate) threads: Option<u64>,

    /// Print JSON on stdout
    #[arg(long)]
    pub(crate) json: bool,
}

/// A number, or a share in percent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Amount {
    pub(crate) value: f64,
    pub(crate) percent: bool,
}

fn amount(text: &str) -> Result<Amount, String> {
    let (number, percent) = match text.trim().strip_suffix('%') {
        Some(number) => (number.trim_end(), true),
        None => (text, false),
    };
    let number = read_number(number).map_err(|error| error.to_string())?;
    // Divided by a hundred, 5 is the double nearest to 0.05.
    Ok(Amount { value: if percent { number / 100.0 } else { number }, percent })
}
