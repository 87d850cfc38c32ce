//! One run: the policy of logs until one choice is left.

use super::law::{Batch, Law};
use super::{Case, Effort};
use crate::comparison::{Monitor, RunError};
use plausibly::spec::{Defaults, Facts, Fields, Node, PolicyKind, PolicySpec, Setting, Value};
use plausibly::{
    ActionSet, ArmMeans, ConfidenceRadius, Estimator, Exclusion, Plausible, Radius, Scores, Stream,
    Whole,
};

/// A batch is this share of the outcomes that a choice has.
const BATCH: u64 = 32;

/// What came of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// Outcomes until the verdict; `None` if it did not come.
    pub(super) verdict: Option<u64>,
    /// Whether all the best choices were ever out at once.
    pub(super) best_lost: bool,
}

/// What decides by default in a log, about choices without features.
struct Decider {
    radius: Radius,
    exclusion: Exclusion,
    greed: f64,
}

impl Decider {
    /// For choices with outcomes in [0, 1].
    fn new(choices: usize) -> Self {
        let spec = policy_of_logs();
        let PolicyKind::Code { radius, exclusion, greed, .. } = spec.kind else {
            unreachable!("the table says code")
        };
        let radius =
            radius.build(&facts(choices)).expect("the default radius needs only the range");
        Self { radius, exclusion, greed }
    }
}

/// What is known about choices with outcomes in [0, 1].
fn facts(choices: usize) -> Facts {
    Facts {
        setting: Setting::Arms,
        dim: choices,
        actions: choices,
        horizon: 1,
        noise_scale: 0.5,
        theta_norm_bound: 1.0,
        action_norm_bound: 1.0,
        reward_range: Some((0.0, 1.0)),
    }
}

fn policy_of_logs() -> PolicySpec {
    let node = |value| Node { value, line: 0 };
    let table = node(Value::Table(vec![("kind".into(), node(Value::Text("code".into())))]));
    let mut problems = Vec::new();
    let mut fields = Fields::new("policy", &table, &mut problems);
    let spec = PolicySpec::read_of_log(&mut fields, Setting::Arms, Defaults::Logged);
    spec.expect("code has defaults for all its fields")
}

/// What each choice has paid.
struct Paid {
    counts: Vec<u64>,
    totals: Vec<f64>,
    squares: Vec<f64>,
}

impl Paid {
    fn nothing(choices: usize) -> Self {
        Self { counts: vec![0; choices], totals: vec![0.0; choices], squares: vec![0.0; choices] }
    }

    fn add(&mut self, choice: usize, batch: Batch) {
        self.counts[choice] += batch.count;
        self.totals[choice] += batch.total;
        self.squares[choice] += batch.squares;
    }

    /// The model that a log makes from these sums.
    fn model(&self) -> ArmMeans {
        let choices = self.counts.len();
        // A log keeps half of δ for choices that may be added later.
        let shares = 2 * choices as u64;
        let whole = Whole {
            arms: choices,
            shares,
            ever: choices as u64,
            other_observations: 0,
            first: None,
        };
        let model = ArmMeans::from_statistics(&self.counts, &self.totals);
        model.with_squares(&self.squares).part_of(whole)
    }
}

/// Plays a run of choices with these laws; the first is the one that differs.
pub(super) fn play(
    case: Case,
    laws: &[Law],
    effort: Effort,
    run: u64,
    monitor: &dyn Monitor,
) -> Result<Run, RunError> {
    let set = ActionSet::arms(laws.len()).expect("a trial has choices");
    let decider = Decider::new(laws.len());
    let mut rng = Stream::new(effort.seed, run, "trial");
    let (mut paid, mut outcomes) = (Paid::nothing(laws.len()), 0);
    let (mut scores, mut plausible) = (Scores::new(), Plausible::new());
    let mut best_lost = false;
    loop {
        if monitor.stopped() {
            return Err(RunError::Stopped);
        }
        let model = paid.model();
        model.score_into(set.view(), &mut scores);
        let bounds = decider.radius.bounds(&model.evidence());
        plausible.assess_by(decider.exclusion, &model, set.view(), &scores, bounds);
        let (first, others) = (plausible.contains(0), 1..laws.len());
        let others = others.filter(|choice| plausible.contains(*choice)).count();
        let (verdict, best) = match case {
            Case::OneBetter => (usize::from(first) + others == 1, usize::from(first)),
            Case::OneWorse => (!first, others),
        };
        best_lost |= best == 0;
        if verdict || outcomes >= effort.longest {
            monitor.advanced(1);
            return Ok(Run { verdict: verdict.then_some(outcomes), best_lost });
        }
        let chosen = plausible.tempered(&scores, decider.greed);
        let batch = (paid.counts[chosen] / BATCH).max(1).min(effort.longest - outcomes);
        paid.add(chosen, laws[chosen].draw(batch, &mut rng));
        outcomes += batch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plausibly::spec::{History, Model};

    /// The median of outcomes until the verdict, with these averages.
    fn median(case: Case, averages: &[f64]) -> u64 {
        let laws: Vec<Law> = averages.iter().map(|mean| Law::new(*mean, None)).collect();
        let effort = Effort { runs: 40, seed: 5, longest: 1_000_000 };
        let time = |run| play(case, &laws, effort, run, &()).unwrap().verdict.unwrap();
        let mut times: Vec<u64> = (0..effort.runs).map(time).collect();
        times.sort_unstable();
        times[times.len() / 2]
    }

    #[test]
    fn choices_are_those_of_the_policy_that_a_log_resumes() {
        let laws = [0.3, 0.2, 0.25, 0.02].map(|mean| Law::new(mean, None));
        let mut in_turn = 0;
        let mut stream = Stream::new(3, 0, "test");
        let (set, decider) = (ActionSet::arms(4).unwrap(), Decider::new(4));
        let (mut scores, mut plausible) = (Scores::new(), Plausible::new());
        let mut paid = Paid::nothing(4);
        for step in 0..300 {
            let model = paid.model();
            model.score_into(set.view(), &mut scores);
            let bounds = decider.radius.bounds(&model.evidence());
            plausible.assess_by(decider.exclusion, &model, set.view(), &scores, bounds);
            let chosen = plausible.tempered(&scores, decider.greed);
            let history = History {
                model: Model::Arms(model),
                design: None,
                decisions: 0,
                committed: None,
                phase: None,
                explained: None,
            };
            let mut resumed = policy_of_logs().resume(&facts(4), history).unwrap();
            assert_eq!(resumed.select(set.view(), &mut stream), chosen, "step {step}");
            in_turn += u32::from(chosen == step % 4);
            paid.add(chosen, laws[chosen].draw(1 + step as u64 / 10, &mut stream));
        }
        assert!(in_turn < 200, "a rule that takes them in turn would be noticed");
    }

    #[test]
    fn averages_that_are_farther_apart_are_told_apart_sooner() {
        // Each of the others is at least the difference behind the best.
        let trial = median(Case::OneBetter, &[0.5, 0.2, 0.2, 0.2]);
        for averages in [[0.5, 0.2, 0.1, 0.0], [0.5, 0.2, 0.02, 0.02]] {
            let others = median(Case::OneBetter, &averages);
            assert!(others < trial, "{averages:?}: {others}, the trial {trial}");
        }
    }
}
