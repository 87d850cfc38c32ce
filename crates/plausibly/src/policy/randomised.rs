//! CODE with a share of its rounds drawn uniformly from the plausible set, so that every plausible
//! action has a known positive propensity.

use super::{Code, DeadlineStatus, Explain, Policy, PolicyError, Target};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::{ConfidenceRadius, Exclusion};
use crate::model::{Estimator, Outcome};
use crate::rng::Stream;
use crate::state::{DurableModel, Keep, Reader, StateError, Writer};

/// Plays CODE with probability `1 − p`, and otherwise an action drawn uniformly from the plausible
/// set.
///
/// ```text
/// P(A_t = a) = (1 − p)·[a is CODE's choice] + p/|Ã_t|·[a is plausible]
/// ```
///
/// A deterministic policy logs propensities of 0 and 1, from which nothing can be estimated about
/// any other. This one has a positive propensity for every action that could still be best, known
/// exactly: [`RandomisedCode::propensities`].
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `code` | | any [`Code`]; bounds are known for a greed below 1 and for targets without a deadline |
/// | `share` | `p` | [0, 1) |
///
/// # Guarantee
/// At greed 0, in the notation of `docs/concepts/tempered.md`, with `M_t` the largest squared width
/// over the plausible set: `E[Σ M_t] ≤ C·Λ_n/(1 − p)`, because the widest plausible action is
/// played with probability at least `1 − p` in every round. On the good event the regret of a round
/// is at most `4·√β_t·√M_t` whichever plausible action is played, and its model error at most
/// `β_t·M_t`; so with `β` a bound on all `β_t`, expectations over the good event obey `E[R_n] ≤
/// 4·√(β·n·C·Λ_n/(1 − p))` and `E[Q_n] ≤ β·C·Λ_n/(1 − p)`. There is no such bound at `p = 1`:
/// uniform over the plausible set can spend nearly all rounds on copies of one action, and a test
/// shows it doing so. A greed `c < 1` puts `((1+c)/(1−c))²·C·Λ_n` in the place of `C·Λ_n`; targets
/// are treated in `docs/concepts/randomised.md`. There is no bound at `c = 1`, and a deadline
/// cannot be promised: specs refuse both. What a share costs is measured in
/// `docs/concepts/randomised.md`.
///
/// Estimates from its log are unbiased only for policies that stay inside each round's plausible
/// set; intervals on them must allow for adaptive logging.
///
/// # Cost
/// As [`Code`], and one draw per round, two in a uniform round.
#[derive(Clone, Debug)]
pub struct RandomisedCode<E, R> {
    code: Code<E, R>,
    share: f64,
    /// Of the last round that asked.
    plausible: Vec<ActionIndex>,
}

impl<E: Estimator + Clone, R: ConfidenceRadius> RandomisedCode<E, R> {
    /// CODE with this share of uniform rounds.
    ///
    /// # Errors
    /// If `share` is not in [0, 1).
    pub fn new(code: Code<E, R>, share: f64) -> Result<Self, PolicyError> {
        if !(0.0..1.0).contains(&share) {
            return Err(PolicyError::Share { share });
        }
        Ok(Self { code, share, plausible: Vec::new() })
    }

    /// The probability of every action in the round that comes next, in place of what `out` held.
    /// They sum to one.
    pub fn propensities(&mut self, actions: Actions<'_>, out: &mut Vec<f64>) {
        // CODE draws nothing, so asking it changes nothing.
        let chosen = self.code.select(actions, &mut Stream::new(0, 0, ""));
        self.code.plausible_into(actions, &mut self.plausible);
        out.clear();
        out.resize(actions.len(), 0.0);
        for action in &self.plausible {
            out[*action] = self.share / self.plausible.len() as f64;
        }
        out[chosen] += 1.0 - self.share;
    }
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Policy for RandomisedCode<E, R> {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        if rng.uniform() >= self.share {
            return self.code.select(actions, rng);
        }
        self.code.plausible_into(actions, &mut self.plausible);
        self.plausible[rng.index(self.plausible.len())]
    }

    fn select_among(
        &mut self,
        actions: Actions<'_>,
        among: &[ActionIndex],
        rng: &mut Stream,
    ) -> Option<ActionIndex> {
        self.code.select_among(actions, among, rng)
    }

    fn reward_range(&self) -> Option<(f64, f64)> {
        self.code.reward_range()
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.code.update(action, reward);
    }

    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        self.code.learn(action, outcome);
    }

    fn decided(&mut self, action: Action<'_>) {
        self.code.decided(action);
    }

    fn dropped(&mut self, action: Action<'_>) {
        self.code.dropped(action);
    }
}

impl<E: Estimator + Clone, R: ConfidenceRadius> Explain for RandomisedCode<E, R> {
    fn model(&self) -> &dyn Estimator {
        self.code.model()
    }

    fn radius(&self) -> Option<&dyn ConfidenceRadius> {
        self.code.radius()
    }

    fn exclusion(&self) -> Exclusion {
        self.code.exclusion()
    }

    fn target(&self) -> Option<Target> {
        self.code.target()
    }

    fn deadline(&self) -> Option<DeadlineStatus> {
        self.code.deadline()
    }
}

impl<E: DurableModel, R: ConfidenceRadius + Clone> Keep for RandomisedCode<E, R> {
    const KIND: &'static str = "code";

    fn write(&self, out: &mut Writer) {
        self.code.write(out);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.code.read(from)
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>) {
        self.code.move_arms(moved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;
    use crate::confidence::{Determinant, Fixed, Plausible, Reach};
    use crate::model::{ArmMeans, Ridge, Scores};

    #[test]
    fn propensities_are_the_frequencies_of_choices() {
        let set = ActionSet::arms(4).unwrap();
        let mut policy =
            RandomisedCode::new(Code::new(ArmMeans::new(4), Fixed { sqrt_beta: 1.0 }), 0.4)
                .unwrap();
        for (arm, reward) in [(0, 1.0), (1, 0.8), (2, -5.0), (3, 1.0), (3, 0.7)] {
            policy.update(set.view().get(arm), reward);
        }
        let mut propensities = Vec::new();
        policy.propensities(set.view(), &mut propensities);
        // Arm 2 is ruled out; of the others, arms 0 and 1 are known least, and 0 comes first.
        let expected = [0.6 + 0.4 / 3.0, 0.4 / 3.0, 0.0, 0.4 / 3.0];
        for (found, expected) in propensities.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{propensities:?}");
        }
        let (mut counts, mut rng) = ([0.0; 4], Stream::new(5, 0, "policy"));
        let draws = 20_000.0;
        for _ in 0..20_000 {
            counts[policy.select(set.view(), &mut rng)] += 1.0;
        }
        for (count, p) in counts.iter().zip(expected) {
            // Four binomials beyond 5.3 sd: below 1e-6 together.
            assert!(
                (count - draws * p).abs() <= 5.3 * (draws * p * (1.0 - p)).sqrt(),
                "{counts:?}"
            );
        }
        for share in [-0.1, 1.0, f64::NAN] {
            assert!(
                RandomisedCode::new(Code::new(ArmMeans::new(1), Fixed { sqrt_beta: 1.0 }), share)
                    .is_err()
            );
        }
    }

    /// `Σ M_t` over 1,000 rounds, averaged over runs, with `e₁` best and many copies of `e₂`; and
    /// in how many rounds the regret was above `4·√β·√M_t`. Only rounds with `M_t` above `met`
    /// count, as in exploring for a target.
    fn potential(copies: usize, share: f64, greed: f64, met: f64) -> (f64, u32) {
        let mut rows = vec![[1.0, 0.0]];
        rows.extend(vec![[0.0, 1.0]; copies]);
        let set = ActionSet::from_rows(&rows).unwrap();
        let radius = Determinant { delta: 0.05, noise_scale: 1.0, theta_norm_bound: 2.0 };
        let (mut sum, mut above) = (0.0, 0);
        for run in 0..10 {
            let code = Code::new(Ridge::new(2, 1.0).unwrap(), radius).tempered(greed).unwrap();
            let target = Target::Accuracy(met.sqrt());
            let code = if met > 0.0 { code.to_target(target).unwrap() } else { code };
            let mut policy = RandomisedCode::new(code, share).unwrap();
            let (mut rng, mut noise) =
                (Stream::new(8, run, "policy"), Stream::new(8, run, "noise"));
            for _ in 0..1000 {
                let (mut scores, mut plausible) = (Scores::new(), Plausible::new());
                policy.model().score_into(set.view(), &mut scores);
                let sqrt_beta = radius.sqrt_beta(&policy.model().evidence());
                plausible.assess(&scores, Reach::Ellipsoid { sqrt_beta });
                let widest = scores.width_sq()[plausible.widest(&scores)];
                let chosen = policy.select(set.view(), &mut rng);
                let mean = if chosen == 0 { 1.0 } else { 0.5 };
                if sqrt_beta * sqrt_beta * widest > met {
                    sum += widest / 10.0;
                }
                above += u32::from(1.0 - mean > 4.0 * sqrt_beta * widest.sqrt());
                policy.update(set.view().get(chosen), mean + noise.normal());
            }
        }
        (sum, above)
    }

    #[test]
    fn the_mixture_keeps_learning_where_uniform_is_led_astray_by_copies() {
        // L = λ = 1, d = 2, n = 1,000: C = 1/log 2, Λ = 2·log 501.
        let bound = |share: f64| 2.0 * 501.0_f64.ln() / 2.0_f64.ln() / (1.0 - share);
        for share in [0.1, 0.5] {
            let (sum, above) = potential(300, share, 0.0, 0.0);
            assert!(sum <= bound(share) && above == 0, "share {share}: {sum}, {above} rounds");
            // At greed c the bound is ((1+c)/(1−c))² times as large.
            let (sum, above) = potential(300, share, 0.5, 0.0);
            assert!(
                sum <= 9.0 * bound(share) && above == 0,
                "tempered, {share}: {sum}, {above} rounds"
            );
            // To within ±1.5: rounds in which the target is missed keep the bound of CODE.
            let (sum, above) = potential(300, share, 0.0, 1.5 * 1.5);
            assert!(
                sum <= bound(share) && above == 0,
                "to a target, {share}: {sum}, {above} rounds"
            );
        }
        // Uniform breaks any bound a mixture of a half has.
        let (sum, _) = potential(300, 1.0 - 1e-12, 0.0, 0.0);
        assert!(sum > 2.0 * bound(0.5), "{sum}");
    }
}
