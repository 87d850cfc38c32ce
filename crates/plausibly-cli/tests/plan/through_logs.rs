//! The numbers of `plausibly plan` beside those of logs: every decision and every outcome goes
//! through a log, as `plausibly decide` and `plausibly reward` take and record them.

use plausibly::Stream;
use plausibly_log::certificate::Standing;
use plausibly_log::event::Outcomes;
use plausibly_log::journal::Storage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Log, Opening, Time};
use plausibly_sim::{Case, Effort, Times, Trial};
use std::fmt::Write as _;
use std::io::{self, Cursor};
use std::num::NonZeroUsize;
use std::path::Path;
use std::thread;

/// A log in memory.
#[derive(Debug, Default)]
struct Memory(Vec<u8>);

impl Storage for Memory {
    type Reader = Cursor<Vec<u8>>;

    fn path(&self) -> &Path {
        Path::new("memory")
    }

    fn lock(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reader(&self) -> io::Result<Self::Reader> {
        Ok(Cursor::new(self.0.clone()))
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.0.truncate(usize::try_from(len).unwrap());
        Ok(())
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn read_side(&self, _: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn write_side(&mut self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn rename_side(&mut self, _: &str, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// How single outcomes scatter in the world. The plan assumes two values.
#[derive(Clone, Copy, Debug)]
enum Scatter {
    YesNo,
    /// Normal with this standard deviation, cut to the range.
    Normal(f64),
}

/// A problem of the page.
#[derive(Clone, Copy, Debug)]
struct Problem {
    name: &'static str,
    choices: usize,
    usual: f64,
    difference: f64,
    scatter: Scatter,
    case: Case,
    /// Logs in the long test.
    logs: u64,
}

impl Problem {
    fn planned(&self, runs: u64) -> Times {
        let scatter = match self.scatter {
            Scatter::YesNo => None,
            Scatter::Normal(scatter) => Some(scatter),
        };
        let trial =
            Trial::new(self.choices, (0.0, 1.0), self.usual, self.difference, scatter).unwrap();
        let effort = Effort { runs, seed: 1, longest: 100_000_000 };
        trial.simulate(self.case, effort, NonZeroUsize::new(2).unwrap(), &()).unwrap()
    }

    /// Outcomes until the verdict of a log. The choice that differs is the last one of the table.
    fn played(&self, run: u64) -> u64 {
        let mut rows = String::from("name\n");
        (0..self.choices).for_each(|choice| writeln!(rows, "choice {choice}").unwrap());
        let table = Table::read(rows.as_bytes()).unwrap();
        let (context, now) = (Context::default(), Time::from_micros(1_700_000_000_000_000));
        let mut opening = Opening::new(Recipe::infer(&table, &context).unwrap(), (0.0, 1.0), run);
        if matches!(self.scatter, Scatter::YesNo) {
            opening.outcomes = Outcomes::YesNo;
        }
        let mut log = Log::open(Memory::default()).unwrap();
        log.begin(now, opening).unwrap();
        let mut world = Stream::new(2025, run, "world");
        let differs = format!("choice {}", self.choices - 1);
        for outcomes in 0.. {
            let certificate = log.decide(now, &table, &context, 2000).unwrap();
            let findings = &certificate.findings;
            let is_out = |label: &str| {
                let found = findings.actions.iter().find(|action| action.label == label);
                !matches!(found.unwrap().standing, Standing::Plausible)
            };
            let decided = match self.case {
                Case::OneBetter => findings.plausible == 1,
                Case::OneWorse => is_out(&differs),
            };
            if decided {
                return outcomes;
            }
            let better = (findings.chosen.label == differs) == (self.case == Case::OneBetter);
            let mean = if better { self.usual + self.difference } else { self.usual };
            let outcome = match self.scatter {
                Scatter::YesNo => f64::from(u8::from(world.uniform() < mean)),
                Scatter::Normal(scatter) => (mean + scatter * world.normal()).clamp(0.0, 1.0),
            };
            log.reward(now, certificate.grounds.decision, outcome).unwrap();
        }
        unreachable!("a run ends with a verdict")
    }

    fn all_played(&self, logs: u64) -> Vec<u64> {
        let half = logs / 2;
        let mut times = thread::scope(|scope| {
            let first = scope.spawn(|| (0..half).map(|run| self.played(run)).collect::<Vec<_>>());
            let mut rest: Vec<u64> = (half..logs).map(|run| self.played(run)).collect();
            rest.extend(first.join().unwrap());
            rest
        });
        times.sort_unstable();
        times
    }

    /// Prints a row of `docs/results/plan.md`, and checks what the page claims.
    fn check(&self, runs: u64, logs: u64) {
        let planned = self.planned(runs);
        let times = self.all_played(logs);
        let sorted: Vec<u64> = planned.sorted().iter().map(|time| time.unwrap()).collect();
        let (median, cautious) = (planned.median().unwrap(), planned.cautious().unwrap());
        let real = times[times.len() / 2];
        let ((low, high), (real_low, real_high)) =
            (about_median(&sorted, 0.025), about_median(&times, 0.025));
        let ratio = |a: u64, b: u64| a as f64 / b as f64;
        let over = times.iter().filter(|time| **time > cautious).count() as u64;
        println!(
            "| {} | {median} | {real} | {:.2} ({:.2} to {:.2}) | {cautious} | {} of {logs} |",
            self.name,
            ratio(median, real),
            ratio(low, real_high),
            ratio(high, real_low),
            logs - over,
        );
        // The intervals about both medians hold with probability 1 − 2.5e-7 each side; batches
        // delay a verdict by up to 3 %, and how single outcomes scatter is not quite the same.
        let ((low, high), (real_low, real_high)) =
            (about_median(&sorted, 2.5e-7), about_median(&times, 2.5e-7));
        assert!(ratio(low, real_high) < 1.06 && ratio(high, real_low) > 0.97, "{self:?}");
        let longer = sorted.iter().filter(|time| **time > cautious).count() as u64;
        assert!(over <= most_over(runs, longer, logs), "{self:?}: {over} of {logs}");
    }
}

/// The order statistics that enclose the median but for this probability on either side, as far as
/// there are enough times.
fn about_median(sorted: &[u64], beyond: f64) -> (u64, u64) {
    let n = sorted.len() as u64;
    let high = plausibly_testkit::most_events(n, 0.5, beyond).min(n - 1);
    let high = usize::try_from(high).unwrap();
    (sorted[sorted.len() - 1 - high], sorted[high])
}

/// The most of `logs` times that may be above the planned one, of which `longer` of `runs` planned
/// times are above: if all times have one law, all their orders are equally likely, and more are
/// above it with a probability of at most 1e-6.
fn most_over(runs: u64, longer: u64, logs: u64) -> u64 {
    let choose = |n: u64, k: u64| {
        let ln = |n: u64| (1..=n).map(|i| (i as f64).ln()).sum::<f64>();
        ln(n) - ln(k) - ln(n - k)
    };
    // Of the orders of all times, those with `over` logs above the cautious one.
    let share = |over: u64| {
        let above = choose(longer + over, over);
        let below = choose(runs - longer - 1 + logs - over, logs - over);
        (above + below - choose(runs + logs, logs)).exp()
    };
    let mut tail = 0.0;
    for over in (0..=logs).rev() {
        tail += share(over);
        if tail > 1e-6 {
            return over;
        }
    }
    0
}

#[test]
fn orders_of_two_samples_are_counted() {
    // One planned time, one log: above or below, a half each.
    assert_eq!(most_over(1, 0, 1), 1);
    // With 29 planned times and none above, k of 10 logs are above with probability
    // C(38 − k, 10 − k)/C(39, 10): 7e-6 for 7, and 7e-7 for 8.
    assert_eq!(most_over(29, 0, 10), 7);
}

/// A small problem for the ordinary suite.
const SMALL: Problem = Problem {
    name: "3 choices, yes/no, 20 and 60 %",
    choices: 3,
    usual: 0.2,
    difference: 0.4,
    scatter: Scatter::YesNo,
    case: Case::OneBetter,
    logs: 30,
};

#[test]
fn the_plan_is_right_about_a_small_problem() {
    SMALL.check(100, SMALL.logs);
    let worse = Problem { case: Case::OneWorse, name: "the same, one worse", ..SMALL };
    worse.check(100, worse.logs);
}

#[test]
#[should_panic(expected = "OneBetter")]
fn a_plan_for_a_larger_difference_is_noticed() {
    // Planned for 60 points where 40 are true: it takes less than half of the outcomes.
    let promised = Problem { difference: 0.6, ..SMALL }.planned(100);
    let times = SMALL.all_played(SMALL.logs);
    let over = times.iter().filter(|time| Some(**time) > promised.cautious()).count() as u64;
    let longer = promised.sorted().iter().filter(|time| **time > promised.cautious()).count();
    assert!(over <= most_over(100, longer as u64, SMALL.logs), "{SMALL:?}");
}

mod full {
    use super::*;

    #[test]
    fn the_plan_is_right_about_the_problems_of_its_page() {
        let yes_no = |name, choices, usual, difference, case, logs| Problem {
            name,
            choices,
            usual,
            difference,
            scatter: Scatter::YesNo,
            case,
            logs,
        };
        let quiet = |name, choices, case, logs| Problem {
            scatter: Scatter::Normal(0.03),
            ..yes_no(name, choices, 0.3, 0.03, case, logs)
        };
        let (better, worse) = (Case::OneBetter, Case::OneWorse);
        for problem in [
            yes_no("2 choices, yes/no, 19 and 34 %", 2, 0.19, 0.15, better, 100),
            yes_no("6 choices, yes/no, 5 and 15 %, one better", 6, 0.05, 0.10, better, 40),
            yes_no("6 choices, yes/no, 5 and 15 %, one worse", 6, 0.05, 0.10, worse, 40),
            quiet("3 choices, 0.30 and 0.33, normal noise 0.03, one better", 3, better, 60),
            quiet("20 choices, 0.30 and 0.33, normal noise 0.03, one better", 20, better, 20),
            quiet("20 choices, 0.30 and 0.33, normal noise 0.03, one worse", 20, worse, 20),
            SMALL,
        ] {
            problem.check(400, problem.logs);
        }
    }
}
