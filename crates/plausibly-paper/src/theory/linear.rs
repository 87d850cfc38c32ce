//! Linear CODE: Theorem 2, and the bound on the model error that the paper does not have.

use super::{BoundCheck, CodeEntrant, TheoryError};
use plausibly::spec::{BuildError, Facts, RadiusKind, RadiusSpec, Setting};
use plausibly::{ConfidenceRadius, Estimator, Exclusion, Plausible, Radius, Ridge, Scores, Target};
use plausibly_sim::{
    Decided, Experiment, ModelError, Moments, Monitor, Observer, Rewarded, RunError, in_order,
};
use std::num::NonZeroUsize;

/// Measurements of linear CODE with the determinant radius, compared with what the paper proves;
/// for greed `c`, with what we prove.
///
/// With `L = max‖a‖`, the bound S on `‖θ*‖`, ridge λ, noise scale R, `C = (L²/λ)/log(1 + L²/λ)` and
/// `Λ = d·log(1 + nL²/(dλ))`:
///
/// | | printed | corrected |
/// | --- | --- | --- |
/// | Theorem 2 | restated: `4(2+L)·√((1+LS)·n·d·log(λ+nL/d))·(√λS + √(2log(1/δ) + d·log(1+nL/(λd))))`; proved: `8·√(n·d·log(λ+nL/d))·(√λS + R√(…))` | `4/(1+c)·√(β·n·C·Λ)` |
/// | regret of a round | `2√β·‖A_t‖` | `4/(1+c)·√β·‖A_t‖` |
/// | `Σ‖A_t‖²` | `2d·log(d + nL²/λ)`, for `λ ≥ L²` | `C·Λ` |
/// | `Q_n` | none | `((1+c)/(1−c))²·β·C·Λ` |
///
/// To a target κ or ε, with `N` exploring rounds: regret `2·√(β·(n + 3N)·C·Λ)`; `Q_n` `β·(C·Λ +
/// κ·d·(1 + log n))` or `β·C·Λ + n·ε²`; `N` at most `(n + 1 + κd)·(1 − (1 + nL²/(dλ))^(−1/κ))` or
/// `Λ/log(1 + ε²/β)`.
///
/// Norms of actions are in `V⁻¹`, and β is the radius squared after the last round. The
/// corrections: the truth is up to `2√β‖a‖` from the far end of its interval, once for the action
/// taken and once for the best one, which is no wider; and the factor C replaces the premise of the
/// log-determinant inequality. Every plausible action is no wider than the one taken, which bounds
/// `Q_n`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearTheory {
    /// Runs played.
    pub runs: u64,
    /// Rounds of each.
    pub horizon: u64,
    /// δ.
    pub delta: f64,
    /// Regret.
    pub regret: Moments,
    /// Theorem 2 as the appendix restates it.
    pub theorem_2_restated: BoundCheck,
    /// Theorem 2 as its proof ends.
    pub theorem_2_proved: BoundCheck,
    /// Theorem 2, corrected.
    pub theorem_2_corrected: BoundCheck,
    /// `Q_n`.
    pub model_error: Moments,
    /// Our bound on `Q_n`.
    pub model_error_bound: BoundCheck,
    /// Rounds that missed the target and therefore explored; without a target, all rounds.
    pub exploring: Moments,
    /// The bound on them.
    pub exploring_bound: BoundCheck,
    /// `Σ‖A_t‖²`.
    pub potential: Moments,
    /// Its bound as printed; its premise `λ ≥ L²` need not hold.
    pub potential_printed: BoundCheck,
    /// Its bound for any λ.
    pub potential_corrected: BoundCheck,
    /// Rounds, of all runs together, whose regret was above `2√β‖A_t‖`.
    pub rounds_above_printed: u64,
    /// Rounds, of all runs together, whose regret was above `4/(1+c)·√β‖A_t‖`.
    pub rounds_above_corrected: u64,
    /// Runs in which `θ*` left the confidence set.
    pub left: u64,
    /// Runs in which `‖θ*‖` was above the bound S that the radius was built with.
    pub norm_exceeded: u64,
}

/// One run: the measurements and constants that its bounds need.
struct LinearRun {
    regret: f64,
    watch: Watch,
    facts: Facts,
    theta_norm: f64,
    theta_norm_bound: f64,
    noise_scale: f64,
    largest_gap: f64,
}

impl LinearTheory {
    /// Plays the experiment on `threads` threads; the result does not depend on them.
    ///
    /// # Errors
    /// If the experiment is not linear CODE with the determinant radius on a fixed set, or a run
    /// does not finish.
    pub fn check(
        experiment: &Experiment,
        threads: NonZeroUsize,
        monitor: &dyn Monitor,
    ) -> Result<Self, TheoryError> {
        let code = CodeEntrant::of(experiment)?;
        let RadiusSpec { kind, delta, noise_scale, theta_norm_bound, .. } = code.radius;
        if kind != RadiusKind::Determinant {
            return Err(TheoryError::Unsuited("CODE must have the radius determinant"));
        }
        if experiment.environment.setting() != Setting::Fixed {
            return Err(TheoryError::Unsuited("its actions must have features and stay the same"));
        }
        let mut theory = Self { delta, horizon: experiment.horizon, ..Self::default() };
        let play = |run| {
            let played = code.play(run, monitor, |facts| Watch::new(facts, &code))?;
            let (bandit, facts) = (played.environment.bandit(), played.facts);
            let worst = bandit.means().iter().copied().fold(f64::INFINITY, f64::min);
            Ok::<_, RunError>(LinearRun {
                regret: played.regret,
                watch: played.observer,
                theta_norm: bandit.theta_star().iter().map(|x| x * x).sum::<f64>().sqrt(),
                theta_norm_bound: theta_norm_bound.unwrap_or(facts.theta_norm_bound),
                noise_scale: noise_scale.unwrap_or(facts.noise_scale),
                largest_gap: bandit.best_mean() - worst,
                facts,
            })
        };
        in_order(experiment.runs, threads, play, |run| theory.add(&code, &run))?;
        Ok(theory)
    }

    fn add(&mut self, code: &CodeEntrant<'_>, run: &LinearRun) {
        self.runs += 1;
        let (n, d) = (self.horizon as f64, run.facts.dim as f64);
        let (l, s, r, lambda) =
            (run.facts.action_norm_bound, run.theta_norm_bound, run.noise_scale, code.ridge);
        let ratio = l * l / lambda;
        let potential = ratio / libm::log1p(ratio) * d * libm::log1p(n * l * l / (d * lambda));
        let beta = run.watch.sqrt_beta * run.watch.sqrt_beta;
        let log_term =
            (2.0 * libm::log(1.0 / self.delta) + d * libm::log1p(n * l / (lambda * d))).sqrt();
        let root = (n * d * libm::log(lambda + n * l / d)).sqrt();

        self.regret.add(run.regret);
        let trivial = n * run.largest_gap;
        let bounded =
            |check: &mut BoundCheck, bound: f64| check.add(run.regret, bound, bound >= trivial);
        let restated =
            4.0 * (2.0 + l) * (1.0 + l * s).sqrt() * root * (lambda.sqrt() * s + log_term);
        bounded(&mut self.theorem_2_restated, restated);
        bounded(&mut self.theorem_2_proved, 8.0 * root * (lambda.sqrt() * s + r * log_term));
        let watch = &run.watch;
        let exploring = watch.exploring as f64;
        let to_target = 2.0 * (n + 3.0 * exploring).sqrt();
        let growth = 1.0 + n * l * l / (d * lambda);
        // The factor of the regret bound, the bound on the model error, and the bound on exploring
        // rounds.
        let (regret_factor, model_error, explorations) = match code.target {
            None => {
                let wider = (1.0 + code.greed) / (1.0 - code.greed);
                (4.0 / (1.0 + code.greed) * n.sqrt(), wider * wider * beta * potential, n)
            }
            Some(Target::Kappa(kappa)) => (
                to_target,
                beta * (potential + kappa * d * (1.0 + libm::log(n))),
                (n + 1.0 + kappa * d) * (1.0 - libm::pow(growth, -1.0 / kappa)),
            ),
            Some(Target::Accuracy(accuracy)) => (
                to_target,
                beta * potential + n * accuracy * accuracy,
                d * libm::log(growth) / libm::log1p(accuracy * accuracy / beta),
            ),
            Some(_) => (to_target, f64::INFINITY, n),
        };
        bounded(&mut self.theorem_2_corrected, regret_factor * (beta * potential).sqrt());
        self.model_error.add(watch.metric.total());
        self.model_error_bound.add(watch.metric.total(), model_error, model_error.is_infinite());
        self.exploring.add(exploring);
        self.exploring_bound.add(exploring, explorations, explorations >= n);
        self.potential.add(watch.potential);
        let printed = 2.0 * d * libm::log(d + n * l * l / lambda);
        self.potential_printed.add(watch.potential, printed, false);
        self.potential_corrected.add(watch.potential, potential, false);
        self.rounds_above_printed += watch.rounds_above_printed;
        self.rounds_above_corrected += watch.rounds_above_corrected;
        self.left += u64::from(watch.metric.theta_star_left());
        self.norm_exceeded += u64::from(run.theta_norm > run.theta_norm_bound);
    }
}

/// Measures the quantities that the theory of linear CODE bounds.
struct Watch {
    metric: ModelError<Radius>,
    model: Ridge,
    radius: Radius,
    plausible: Plausible,
    scores: Scores,
    greed: f64,
    target: Option<Target>,
    exploring: u64,
    /// After the last observation.
    sqrt_beta: f64,
    potential: f64,
    rounds_above_printed: u64,
    rounds_above_corrected: u64,
}

impl Watch {
    fn new(facts: &Facts, code: &CodeEntrant<'_>) -> Result<Self, BuildError> {
        let (radius, model) = (code.radius.build(facts)?, Ridge::new(facts.dim, code.ridge)?);
        Ok(Self {
            metric: ModelError::new(Box::new(model.clone()), radius, Exclusion::Intervals),
            sqrt_beta: radius.sqrt_beta(&model.evidence()),
            model,
            radius,
            plausible: Plausible::new(),
            scores: Scores::new(),
            greed: code.greed,
            target: code.target,
            exploring: 0,
            potential: 0.0,
            rounds_above_printed: 0,
            rounds_above_corrected: 0,
        })
    }
}

impl<P: ?Sized> Observer<P> for Watch {
    fn decided(&mut self, decided: &Decided<'_, P>) {
        self.metric.decided(decided);
        let evidence = self.model.evidence();
        self.model.score_into(decided.actions, &mut self.scores);
        let scores = &self.scores;
        let width_sq = scores.width_sq()[decided.chosen];
        let (width, regret) =
            (self.sqrt_beta * width_sq.sqrt(), decided.best_mean - decided.means[decided.chosen]);
        let greed = match self.target {
            None => self.greed,
            Some(target) => {
                self.plausible.assess(scores, self.radius.reach(&evidence));
                let widest_sq = scores.width_sq()[self.plausible.widest(scores)];
                let half_width = self.radius.reach(&evidence).half_width(widest_sq);
                let met = target.status(widest_sq, half_width, &evidence).met();
                f64::from(u8::from(met))
            }
        };
        self.exploring += u64::from(self.target.is_none() || greed == 0.0);
        self.potential += width_sq;
        self.rounds_above_printed += u64::from(regret > 2.0 * width);
        self.rounds_above_corrected += u64::from(regret > 4.0 / (1.0 + greed) * width);
    }

    fn rewarded(&mut self, rewarded: &Rewarded<'_>) {
        <ModelError<_> as Observer<P>>::rewarded(&mut self.metric, rewarded);
        self.model.update(rewarded.action, rewarded.reward);
        self.sqrt_beta = self.radius.sqrt_beta(&self.model.evidence());
    }
}
