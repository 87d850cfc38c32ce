//! K-armed CODE: Theorem 1, the gap-free bound, Section 4.2 and Lemma 1.

use super::{BoundCheck, CodeEntrant, TheoryError};
use plausibly::spec::{BuildError, Facts, RadiusKind, RadiusSpec};
use plausibly::{ArmMeans, ConfidenceRadius, Estimator, Exclusion, Plausible, Radius, Scores};
use plausibly_sim::{
    Decided, Experiment, ModelError, Moments, Monitor, Observer, Rewarded, RunError, in_order,
};
use std::num::NonZeroUsize;

/// Measurements of K-armed CODE, compared with what the paper proves.
///
/// With gaps `Δ_a` over the suboptimal arms, `Δ = max Δ_a`, noise scale σ and `ℓ = σ²·log(1/δ)`:
///
/// | | printed | corrected |
/// | --- | --- | --- |
/// | Theorem 1 | `Σ(Δ_a + 8ℓ/Δ_a) + 2nδ·ΣΔ_a`, one line earlier with `log n` for `log(1/δ)` | `Σ(Δ_a + 32ℓ/Δ_a) + min(1, 2Knδ)·nΔ` |
/// | gap-free | `√(K·n·log n)`, its constant not stated and taken as 1 | `ΣΔ_a + 2√(32·K·n·ℓ) + min(1, 2Knδ)·nΔ` |
/// | Section 4.2 | `K + Σ_{t>K} 4ℓ/⌊(t−1)/K⌋` | after the K initial rounds `2Kℓ·(1 + log(n/K))` |
/// | Lemma 1 | failure at most `2n²δ`, `2Kn²δ` and `2Knδ` | `2Knδ` |
///
/// The corrections: step 3 of the proof drops the factor 4 of its own lemma, so an arm is taken up
/// to `1 + 32ℓ/Δ_a²` times; on the failure event the regret is up to `nΔ`. In round t the largest
/// squared error over the plausible set is at most the squared half-width of the least taken
/// plausible arm, `2ℓ/T_t(A_t)`, and each arm contributes `2ℓ·(1 + 1/2 + … + 1/T)` over its plays.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArmsTheory {
    /// Runs played.
    pub runs: u64,
    /// K.
    pub arms: usize,
    /// n.
    pub horizon: u64,
    /// δ.
    pub delta: f64,
    /// Regret.
    pub regret: Moments,
    /// Theorem 1 as its proof's third line has it, with `log n`.
    pub theorem_1_log_n: BoundCheck,
    /// Theorem 1 as its proof's last line has it, with `log(1/δ)`.
    pub theorem_1_printed: BoundCheck,
    /// Theorem 1, corrected.
    pub theorem_1_corrected: BoundCheck,
    /// The gap-free rate with a constant of 1.
    pub gap_free_printed: BoundCheck,
    /// The gap-free bound that follows from the corrected theorem.
    pub gap_free_corrected: BoundCheck,
    /// `Q_n`.
    pub model_error: Moments,
    /// `Q_n` without the K initial rounds.
    pub later_model_error: Moments,
    /// Section 4.2 as printed, against `Q_n`.
    pub model_error_printed: BoundCheck,
    /// Section 4.2 corrected, against `Q_n` without the K initial rounds.
    pub model_error_corrected: BoundCheck,
    /// Runs in which a plausible arm had been taken fewer than `⌊(t−1)/K⌋` times, which Section 4.2
    /// excludes.
    pub premise_failed: u64,
    /// Runs in which a mean was outside its interval in any round: the event of Lemma 1.
    pub left: u64,
}

/// One run: the measurements and constants that its bounds need.
struct ArmsRun {
    regret: f64,
    watch: Watch,
    /// Of the suboptimal arms.
    gaps: Vec<f64>,
    /// ℓ.
    information: f64,
}

impl ArmsTheory {
    /// Plays the experiment on `threads` threads; the result does not depend on them.
    ///
    /// # Errors
    /// If the experiment is not K-armed CODE with the per-arm radius, or a run does not finish.
    pub fn check(
        experiment: &Experiment,
        threads: NonZeroUsize,
        monitor: &dyn Monitor,
    ) -> Result<Self, TheoryError> {
        let code = CodeEntrant::of(experiment)?;
        let RadiusSpec { kind, delta, noise_scale, .. } = code.radius;
        if kind != RadiusKind::PerArm {
            return Err(TheoryError::Unsuited("CODE must have the radius per-arm"));
        }
        if code.greed > 0.0 || code.target.is_some() {
            return Err(TheoryError::Unsuited(
                "CODE must take the least-taken plausible arm: no greed and no target",
            ));
        }
        let mut theory = Self { delta, horizon: experiment.horizon, ..Self::default() };
        let play = |run| {
            let played = code.play(run, monitor, |facts| Watch::new(facts, code.radius))?;
            let sigma = noise_scale.unwrap_or(played.facts.noise_scale);
            let means = played.environment.bandit().means();
            let best = played.environment.bandit().best_mean();
            Ok::<_, RunError>(ArmsRun {
                regret: played.regret,
                watch: played.observer,
                gaps: means.iter().map(|mean| best - mean).filter(|gap| *gap > 0.0).collect(),
                information: sigma * sigma * libm::log(1.0 / delta),
            })
        };
        in_order(experiment.runs, threads, play, |run| theory.add(&run))?;
        Ok(theory)
    }

    /// The failure probabilities that Lemma 1 is stated with: `2n²δ`, `2Kn²δ`, `2Knδ`.
    pub fn failure_bounds(&self) -> [f64; 3] {
        let (k, n) = (self.arms as f64, self.horizon as f64);
        [2.0 * n * n * self.delta, 2.0 * k * n * n * self.delta, 2.0 * k * n * self.delta]
    }

    fn add(&mut self, run: &ArmsRun) {
        self.runs += 1;
        self.arms = run.watch.taken.len();
        let (k, n, l) = (self.arms as f64, self.horizon as f64, run.information);
        let sum = |term: &dyn Fn(f64) -> f64| run.gaps.iter().map(|&gap| term(gap)).sum::<f64>();
        let widest = run.gaps.iter().copied().fold(0.0, f64::max);
        let [.., failure] = self.failure_bounds();
        let gaps = sum(&|gap| gap);
        // The regret if the good event fails, and the regret no policy can exceed.
        let (on_failure, trivial) = (failure.min(1.0) * n * widest, n * widest);

        self.regret.add(run.regret);
        let bounded =
            |check: &mut BoundCheck, bound: f64| check.add(run.regret, bound, bound >= trivial);
        let printed_rest = 2.0 * n * self.delta * gaps;
        let log_n = l / libm::log(1.0 / self.delta) * libm::log(n);
        bounded(&mut self.theorem_1_log_n, gaps + sum(&|gap| 8.0 * log_n / gap) + printed_rest);
        bounded(&mut self.theorem_1_printed, gaps + sum(&|gap| 8.0 * l / gap) + printed_rest);
        bounded(&mut self.theorem_1_corrected, gaps + sum(&|gap| 32.0 * l / gap) + on_failure);
        bounded(&mut self.gap_free_printed, (k * n * libm::log(n)).sqrt());
        bounded(&mut self.gap_free_corrected, gaps + 2.0 * (32.0 * k * n * l).sqrt() + on_failure);

        let model_error = run.watch.metric.total();
        let later_model_error = model_error - run.watch.initial_model_error;
        self.model_error.add(model_error);
        self.later_model_error.add(later_model_error);
        let vacuous = failure >= 1.0;
        let printed = k + printed_sum(self.arms as u64, self.horizon) * 4.0 * l;
        self.model_error_printed.add(model_error, printed, vacuous);
        let corrected = 2.0 * k * l * (1.0 + libm::log(n / k).max(0.0));
        self.model_error_corrected.add(later_model_error, corrected, vacuous);
        self.premise_failed += u64::from(run.watch.premise_failed);
        self.left += u64::from(run.watch.metric.theta_star_left());
    }
}

/// `Σ_{t=K+1}^n 1/⌊(t−1)/K⌋`.
fn printed_sum(arms: u64, horizon: u64) -> f64 {
    (arms + 1..=horizon).map(|t| 1.0 / ((t - 1) / arms) as f64).sum()
}

/// Measures the quantities that the theory of arms bounds.
struct Watch {
    metric: ModelError<Radius>,
    /// `Q_K`.
    initial_model_error: f64,
    model: ArmMeans,
    radius: Radius,
    plausible: Plausible,
    scores: Scores,
    taken: Vec<u64>,
    premise_failed: bool,
}

impl Watch {
    fn new(facts: &Facts, radius: RadiusSpec) -> Result<Self, BuildError> {
        let (radius, model) = (radius.build(facts)?, ArmMeans::new(facts.actions));
        Ok(Self {
            metric: ModelError::new(Box::new(model.clone()), radius, Exclusion::Intervals),
            initial_model_error: 0.0,
            model,
            radius,
            plausible: Plausible::new(),
            scores: Scores::new(),
            taken: vec![0; facts.actions],
            premise_failed: false,
        })
    }
}

impl<P: ?Sized> Observer<P> for Watch {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        self.metric.decided(decided);
        let arms = self.taken.len() as u64;
        if decided.round <= arms {
            self.initial_model_error = self.metric.total();
            return;
        }
        let reach = self.radius.reach(&self.model.evidence());
        self.model.score_into(decided.actions, &mut self.scores);
        let scores = &self.scores;
        self.plausible.assess(scores, reach);
        let due = (decided.round - 1) / arms;
        let neglected = |arm| self.taken[arm] < due && self.plausible.contains(arm);
        self.premise_failed = self.premise_failed || (0..self.taken.len()).any(neglected);
    }

    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        <ModelError<_> as Observer<P>>::rewarded(&mut self.metric, rewarded);
        self.model.update(rewarded.action, rewarded.reward);
        self.taken[rewarded.action.index()] += 1;
    }
}
