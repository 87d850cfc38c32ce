//! `plausibly plan`.

mod args;

use crate::exit::{Ending, refuse};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::results;
use anyhow::Result;
use plausibly_log::event::Outcomes;
use plausibly_log::policy::Noise;
use plausibly_report::number::grouped;
use plausibly_sim::{Case, Effort, Times, Trial, TrialError};
use serde_json::{Value, json};

pub(crate) use args::{Amount, PlanArgs};

/// A run ends after this many outcomes, and the answer is "more than" this.
const LONGEST: u64 = 100_000_000;

/// The differences of the table, as multiples of the one asked for.
const MULTIPLES: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

const CASES: [Case; 2] = [Case::OneBetter, Case::OneWorse];

pub(crate) fn run(args: &PlanArgs) -> Result<()> {
    let question = Question::read(args)?;
    let trials: Vec<Trial> = MULTIPLES
        .iter()
        .filter_map(|multiple| question.trial.differing_by(multiple * question.difference).ok())
        .collect();
    // Of two choices one is better by as much as the other is worse.
    let cases = if args.choices == 2 { &CASES[..1] } else { &CASES };
    let effort = Effort { runs: args.runs, seed: args.seed, longest: LONGEST };
    let simulated = args.runs * (trials.len() * cases.len()) as u64;
    let interrupt = Interrupt::catch_until_closed()?;
    let progress = Progress::over(simulated, "runs", false, interrupt);
    let threads = results::threads(args.threads);
    let mut answers = Vec::new();
    for trial in &trials {
        let times = cases.iter().map(|case| trial.simulate(*case, effort, threads, &progress));
        answers.push(Answer { trial, times: times.collect::<Result<_, _>>()? });
    }
    progress.clear();
    if args.json {
        output::json(&format!("{:#}\n", question.json(args, &answers)))
    } else {
        output::data(&question.text(args, &answers))
    }
}

/// How many outcomes each case takes.
struct Answer<'a> {
    trial: &'a Trial,
    times: Vec<Times>,
}

/// What is asked, in the units of the person who asks.
struct Question {
    trial: Trial,
    range: (f64, f64),
    usual: f64,
    difference: f64,
    scatter: Option<f64>,
    outcomes: Outcomes,
}

impl Question {
    fn read(args: &PlanArgs) -> Result<Self> {
        let outcomes = args.outcomes.unwrap_or_default();
        let scatter = match args.noise {
            Some(Noise::Scale(scale)) => Some(scale),
            Some(Noise::Unknown) | None => None,
            Some(Noise::Bell) => refuse!(
                "a plan needs a number for --noise: how long it takes depends on it. What a plan \
                 simulates is not told of a bell curve; `decide --noise bell` needs fewer outcomes."
            ),
        };
        if outcomes != Outcomes::Number {
            if args.reward_range.is_some() {
                refuse!(
                    "--reward-range is for outcomes that are numbers; for yes/no, --near and \
                     --difference are rates, such as 5%"
                );
            }
            if scatter.is_some() {
                refuse!(
                    "--noise is for outcomes that are numbers: yes and no scatter by their rate; \
                     leave it out"
                );
            }
        }
        let range @ (low, high) = args.reward_range.unwrap_or((0.0, 1.0));
        let in_units = |flag: &str, Amount { value, percent }| {
            if percent && range != (0.0, 1.0) {
                refuse!(
                    "{flag} is in percent, and outcomes lie between {low} and {high}: write it in \
                     the unit of the outcomes, such as {}",
                    0.1 * (high - low)
                );
            }
            Ok(value)
        };
        let difference = in_units("--difference", args.difference)?;
        let near = args.near.map(|near| in_units("--near", near)).transpose()?;
        let usual = near.unwrap_or(f64::midpoint(low, high));
        let choices = usize::try_from(args.choices)?;
        let trial = Trial::new(choices, range, usual, difference, scatter).map_err(refused)?;
        Ok(Self { trial, range, usual, difference, scatter, outcomes })
    }

    fn text(&self, args: &PlanArgs, answers: &[Answer<'_>]) -> String {
        let mut text = format!(
            "{} choices, {}. The averages are {} and {}.\n",
            args.choices,
            self.kind(),
            self.amount(self.usual),
            self.amount(self.usual + self.difference)
        );
        let asked = answers.iter().find(|answer| is_same(answer.trial, self.difference));
        let times = asked.map_or(&[][..], |answer| &answer.times);
        let others = args.choices - 1;
        let rest = if others == 1 { "the other one".into() } else { format!("the other {others}") };
        let by = self.apart(self.difference);
        for ((case, verdict), times) in
            [("better", "it alone is left"), ("worse", "it is out")].iter().zip(times)
        {
            let cautious = match times.cautious() {
                Some(outcomes) => format!("need at most {}", grouped(rounded(outcomes))),
                None => format!("may need {}", words(None)),
            };
            let about = if times.median().is_some() { "about " } else { "" };
            let outcomes = words(times.median());
            let sentence = format!(
                "- If one is {case} than {rest} by {by}, {verdict} after {about}{outcomes} \
                 outcomes; nine of ten cases {cautious}.\n"
            );
            text += &sentence;
        }
        text += "\n";
        text += &self.table(answers);
        text += "\n";
        text += &self.notes(args);
        text
    }

    fn table(&self, answers: &[Answer<'_>]) -> String {
        let mut heading = vec!["difference", "one better: alone after", "nine in ten"];
        if answers.iter().any(|answer| answer.times.len() > 1) {
            heading.extend(["one worse: out after", "nine in ten"]);
        }
        let row = |answer: &Answer<'_>| {
            let both = |times: &Times| [words(times.median()), words(times.cautious())];
            let cells = answer.times.iter().flat_map(both);
            [self.apart(answer.trial.difference())].into_iter().chain(cells).collect()
        };
        output::table(&heading, &answers.iter().map(row).collect::<Vec<Vec<_>>>())
    }

    fn notes(&self, args: &PlanArgs) -> String {
        let mut notes = format!(
            "The numbers are outcomes of all choices together: the middle one of {} simulated \
             runs, and\nwhat nine in ten runs need at most. All other choices are equal; closer \
             ones take longer.\nDecided as by `plausibly decide` about a table without columns \
             other than names.\n",
            args.runs
        );
        if self.outcomes == Outcomes::Number && self.scatter.is_none() {
            notes += "You did not say how much outcomes of the same choice scatter, so here they \
                      scatter as much as\nthe range allows. If they scatter less, say it with \
                      --noise N: it then takes fewer outcomes.\n";
        }
        notes
    }

    fn kind(&self) -> String {
        let (low, high) = self.range;
        match (self.outcomes, self.scatter) {
            (Outcomes::YesNo | Outcomes::Counts, _) => "yes/no outcomes".into(),
            (Outcomes::Number, Some(scatter)) => {
                format!("outcomes from {low} to {high} that scatter by {scatter}")
            }
            (Outcomes::Number, None) => {
                format!("outcomes from {low} to {high} that scatter as much as that allows")
            }
        }
    }

    /// An average.
    fn amount(&self, value: f64) -> String {
        match self.outcomes {
            Outcomes::Number => short(value).to_string(),
            Outcomes::YesNo | Outcomes::Counts => format!("{} %", short(100.0 * value)),
        }
    }

    /// A difference of averages.
    fn apart(&self, difference: f64) -> String {
        match self.outcomes {
            Outcomes::Number => short(difference).to_string(),
            Outcomes::YesNo | Outcomes::Counts => {
                let points = short(100.0 * difference);
                let is_one = is_nearly(points, 1.0);
                format!("{points} {}", if is_one { "point" } else { "points" })
            }
        }
    }

    fn json(&self, args: &PlanArgs, answers: &[Answer<'_>]) -> Value {
        let one = |times: &Times| {
            json!({
                "median": times.median(),
                "nine_in_ten": times.cautious(),
                "runs_best_lost": times.best_lost(),
            })
        };
        let row = |answer: &Answer<'_>| {
            json!({
                "difference": answer.trial.difference(),
                "one_better": answer.times.first().map(one),
                "one_worse": answer.times.get(1).map(one),
            })
        };
        json!({
            "choices": args.choices,
            "outcomes": self.outcomes,
            "reward_range": [self.range.0, self.range.1],
            "near": self.usual,
            "difference": self.difference,
            "noise": self.scatter,
            "runs": args.runs,
            "seed": args.seed,
            "longest": LONGEST,
            "answers": answers.iter().map(row).collect::<Vec<_>>(),
        })
    }
}

/// A refusal that names the flag.
fn refused(error: TrialError) -> Ending {
    let flag = match error {
        TrialError::Choices { .. } => "--choices",
        TrialError::Range { .. } => "--reward-range",
        TrialError::Usual { .. } => "--near",
        TrialError::NoScatter { .. } | TrialError::Scatter { .. } => "--noise",
        _ => "--difference",
    };
    Ending::Refused(format!("{flag}: {error}"))
}

fn is_same(trial: &Trial, difference: f64) -> bool {
    trial.difference().to_bits() == difference.to_bits()
}

fn is_nearly(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

/// Without the digits that rounding leaves: `0.05 + 0.02` is shown as 0.07.
fn short(value: f64) -> f64 {
    let digits = 1e9;
    (value * digits).round() / digits
}

/// A number of outcomes with two digits.
fn words(outcomes: Option<u64>) -> String {
    match outcomes {
        Some(outcomes) => grouped(rounded(outcomes)),
        None => format!("more than {}", grouped(LONGEST as f64)),
    }
}

/// Rounded up to two digits: 38,437 becomes 39,000.
fn rounded(outcomes: u64) -> f64 {
    let digits = outcomes.max(1).ilog10();
    let unit = 10_u64.pow(digits.saturating_sub(1));
    (outcomes.div_ceil(unit) * unit) as f64
}
