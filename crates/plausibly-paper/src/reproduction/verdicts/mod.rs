//! How soon actions are ruled out: medians over runs, and what they say about each set.
//!
//! A run that ends without an event only says that the event comes later. Medians and ratios
//! therefore have an interval for every run, and take its ends in the order that proves least.

mod page;

pub(super) use page::part;

use crate::judge::{CONFIDENCE, Rule, Verdict};
use crate::plan::{BELL_LABEL, FOR_LOGS, Source, TODAY, VerdictProblem};
use crate::quantile::median_rank;
use plausibly_report::number::Estimate;
use plausibly_sim::{PolicyVerdicts, RunVerdicts};

/// A problem of the study, as it was played.
#[derive(Clone, Debug)]
pub struct Watched {
    /// Which.
    pub problem: &'static VerdictProblem,
    /// The spec that made it, word for word.
    pub spec: String,
    /// Rounds after which a run ends.
    pub horizon: u64,
    /// What each set ruled out, and when.
    pub policies: Vec<PolicyVerdicts>,
}

/// What is measured in outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An action is out.
    First,
    /// Half of the actions that can go are out.
    Half,
    /// One action is left.
    OneLeft,
}

/// All of them, in the order in which they happen.
pub const EVENTS: [Event; 3] = [Event::First, Event::Half, Event::OneLeft];

impl Event {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first out",
            Self::Half => "half out",
            Self::OneLeft => "one left",
        }
    }

    fn of(self, run: &RunVerdicts) -> Option<u64> {
        match self {
            Self::First => run.first,
            Self::Half => run.half,
            Self::OneLeft => run.one_left,
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// A set for logs beside today's: the median of today's outcomes over its own, run by run.
    Sooner,
    /// The median outcomes of the bell-curve set beside a limit.
    Within,
    /// A median beside the one of the design.
    Design,
}

impl Told {
    /// In JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sooner => "sooner",
            Self::Within => "within",
            Self::Design => "design",
        }
    }
}

/// A statement about one set on one problem.
#[derive(Clone, Debug)]
pub struct VerdictFinding {
    /// What it is about.
    pub told: Told,
    /// Name of the problem's spec, without `.toml`.
    pub spec_name: &'static str,
    /// Label of the set.
    pub label: &'static str,
    /// What it says.
    pub statement: String,
    /// The median outcomes that it is about.
    pub event: Event,
    /// The figure that decides.
    pub estimate: Estimate,
    /// Whether the statement holds.
    pub verdict: Verdict,
}

/// “As in the design”: from 15 % shorter to 30 % longer.
const AS_DESIGNED: (f64, f64) = (0.85, 1.3);

/// What the runs say about the statements of a problem.
pub fn verdict_findings(watched: &Watched) -> Vec<VerdictFinding> {
    let problem = watched.problem;
    let finding = |told, label, event, statement, estimate, rule: Rule| VerdictFinding {
        told,
        event,
        spec_name: problem.spec_name,
        label,
        statement,
        estimate,
        verdict: rule.judge(&estimate),
    };
    let mut findings = Vec::new();
    let set = FOR_LOGS.into_iter().find(|label| watched.policy(label).is_some());
    if let (Some(times), Some(label)) = (problem.sooner, set)
        && let Some(ratio) = watched.sooner(label, Event::First)
    {
        let statement = format!("First action out at least {times} times sooner than today.");
        let rule = Rule::Above(f64::from(times));
        findings.push(finding(Told::Sooner, label, Event::First, statement, ratio, rule));
    }
    if let (Some(limits), Some(policy)) = (problem.within, watched.policy(BELL_LABEL)) {
        for (event, limit) in [Event::First, Event::OneLeft].into_iter().zip(limits) {
            let statement = format!("Median outcomes, {}: at most {limit}.", event.name());
            let rule = Rule::Within(0.0, limit as f64);
            let median = median_outcomes(policy, event);
            findings.push(finding(Told::Within, BELL_LABEL, event, statement, median, rule));
        }
    }
    let Source::Design(known) = problem.source else { return findings };
    for (label, times) in known {
        let Some(policy) = watched.policy(label) else { continue };
        for (event, time) in EVENTS.into_iter().zip(times) {
            // A later one cannot be seen within the horizon.
            let Some(time) = time.filter(|time| *time <= watched.horizon) else { continue };
            let statement = format!("{}: {time} outcomes.", event.name());
            let Estimate { value, low, high } = median_outcomes(policy, event);
            let by = time as f64;
            let ratio = Estimate { value: value / by, low: low / by, high: high / by };
            let rule = Rule::Within(AS_DESIGNED.0, AS_DESIGNED.1);
            findings.push(finding(Told::Design, label, event, statement, ratio, rule));
        }
    }
    findings
}

impl VerdictFinding {
    /// Whether the figure itself, without its interval, is as in the design.
    pub fn near(&self) -> bool {
        (AS_DESIGNED.0..=AS_DESIGNED.1).contains(&self.estimate.value)
    }
}

impl Watched {
    fn policy(&self, label: &str) -> Option<&PolicyVerdicts> {
        self.policies.iter().find(|policy| policy.label == label)
    }

    fn today(&self) -> Option<&PolicyVerdicts> {
        TODAY.into_iter().find_map(|label| self.policy(label))
    }

    /// Runs of every policy.
    pub fn runs(&self) -> usize {
        self.policies.first().map_or(0, |policy| policy.runs.len())
    }

    /// The median, over runs, of today's outcomes divided by those of this set, with its interval.
    /// The figure itself takes an event of today that never came to come at the horizon, and is
    /// then too small.
    pub(crate) fn sooner(&self, label: &str, event: Event) -> Option<Estimate> {
        let (today, other) = (self.today()?, self.policy(label)?);
        let end = self.horizon as f64;
        let time = |run: &RunVerdicts| event.of(run).map(|outcomes| outcomes.max(1) as f64);
        let pairs = || today.runs.iter().zip(&other.runs).map(|(a, b)| (time(a), time(b)));
        let least = pairs().map(|(a, b)| b.map_or(0.0, |b| a.unwrap_or(end) / b)).collect();
        let most = pairs().map(|(a, b)| a.map_or(f64::INFINITY, |a| a / b.unwrap_or(end)));
        Some(Estimate { high: median(most.collect()).high, ..median(least) })
    }
}

/// The median outcomes until an event, infinite if it lies beyond the horizon.
pub fn median_outcomes(policy: &PolicyVerdicts, event: Event) -> Estimate {
    let outcomes =
        policy.runs.iter().map(|run| event.of(run).map_or(f64::INFINITY, |time| time as f64));
    median(outcomes.collect())
}

/// The median with the interval between two of the numbers that holds it at [`CONFIDENCE`].
fn median(mut values: Vec<f64>) -> Estimate {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let value = match n {
        0 => f64::NAN,
        // Between two infinities there is no midpoint.
        _ if values[n / 2].is_infinite() => values[n / 2],
        _ => f64::midpoint(values[(n - 1) / 2], values[n / 2]),
    };
    match median_rank(n, CONFIDENCE) {
        Some(rank) => Estimate { value, low: values[rank], high: values[n - 1 - rank] },
        None => Estimate { value, low: 0.0, high: f64::INFINITY },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, low, high }
    }

    #[test]
    fn medians_have_the_intervals_of_their_ranks() {
        let values: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        assert_eq!(median(values), estimate(5.5, 2.0, 9.0));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), estimate(2.0, 0.0, f64::INFINITY));
        // Runs without the event.
        let late: Vec<f64> = [vec![f64::INFINITY; 6], (1..=4).map(f64::from).collect()].concat();
        assert_eq!(median(late), estimate(f64::INFINITY, 2.0, f64::INFINITY));
    }

    fn runs(label: &str, first: impl Fn(u64) -> Option<u64>) -> PolicyVerdicts {
        let one = |run| RunVerdicts { first: first(run), ..RunVerdicts::default() };
        PolicyVerdicts { label: label.into(), runs: (0..20).map(one).collect() }
    }

    fn watched(today: impl Fn(u64) -> Option<u64>, set: impl Fn(u64) -> Option<u64>) -> Watched {
        let problem = &crate::plan::VERDICT_PROBLEMS[0];
        let policies = vec![runs(TODAY[0], today), runs(FOR_LOGS[0], set)];
        Watched { problem, spec: String::new(), horizon: 60_000, policies }
    }

    fn sooner(watched: &Watched) -> (Estimate, Verdict) {
        let found = verdict_findings(watched).swap_remove(0);
        assert_eq!(found.told, Told::Sooner);
        (found.estimate, found.verdict)
    }

    #[test]
    fn runs_that_end_early_prove_only_what_they_saw() {
        let known = watched(|run| Some(5000 + 100 * run), |_| Some(250));
        assert_eq!(sooner(&known), (estimate(23.8, 22.0, 25.6), Verdict::Holds));
        // Today's never come: the ratio has a lower end, and no upper one.
        let never = watched(|_| None, |_| Some(250));
        assert_eq!(sooner(&never), (estimate(240.0, 240.0, f64::INFINITY), Verdict::Holds));
        // Neither comes: nothing is known.
        let (ratio, verdict) = sooner(&watched(|_| None, |_| None));
        assert_eq!((ratio, verdict), (estimate(0.0, 0.0, f64::INFINITY), Verdict::Undecided));
        // The set never decides where today's does.
        assert_eq!(sooner(&watched(|_| Some(250), |_| None)).1, Verdict::DoesNotHold);
        assert_eq!(sooner(&watched(|_| Some(2500), |_| Some(250))).1, Verdict::DoesNotHold);
    }

    #[test]
    fn medians_are_held_against_the_design() {
        let verdict = |first: u64| {
            let all = verdict_findings(&watched(|_| Some(first), |_| Some(250)));
            let found = all.iter().find(|found| found.told == Told::Design).unwrap();
            (found.verdict, found.near())
        };
        assert_eq!(verdict(5016), (Verdict::Holds, true));
        assert_eq!(verdict(6500), (Verdict::Holds, true), "29.6 % longer");
        assert_eq!(verdict(6600), (Verdict::DoesNotHold, false), "31.6 % longer");
        assert_eq!(verdict(4200), (Verdict::DoesNotHold, false), "16.3 % shorter");
    }
}
