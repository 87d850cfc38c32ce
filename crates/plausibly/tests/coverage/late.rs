//! Confidence sets from late rewards, and the two mistakes that late rewards invite.

use super::{Chooser, Linear, case};
use plausibly::{
    ActionIndex, Code, ConfidenceRadius, Determinant, Estimator, Policy, Ridge, Stream,
};

/// When rewards come, and how decisions without rewards count.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lateness {
    /// This many rounds after the decision.
    Fixed(u64),
    /// From one to this many rounds after it.
    Random(u64),
    /// Mutant: good ones at once, bad ones this many rounds after the decision.
    ByReward(u64),
    /// Mutant: this many rounds after the decision, and the set counts decisions as if their
    /// rewards were in the estimate.
    PendingCounted(u64),
}

impl Linear {
    /// Whether the truth, zero, ever leaves the set when CODE chooses and rewards are late.
    fn misses_late(&self, radius: Determinant, lateness: Lateness, run: u64) -> bool {
        let set = self.set(run);
        let model = || Ridge::new(self.dim, self.ridge).unwrap();
        // `all` counts each decision at once, with a reward of zero, so its V is that of all
        // decisions.
        let (mut settled, mut all, mut code) = (model(), model(), Code::new(model(), radius));
        let (mut noise, mut wait) =
            (Stream::new(41, run, "noise"), Stream::new(41, run, "lateness"));
        let mut waiting: Vec<(u64, ActionIndex, f64)> = Vec::new();
        for round in 0..self.horizon {
            let chosen = code.select(set.view(), &mut noise.clone());
            let (action, reward) = (set.view().get(chosen), noise.normal());
            code.decided(action);
            all.update(action, 0.0);
            let rounds = match lateness {
                Lateness::Fixed(rounds) | Lateness::PendingCounted(rounds) => rounds,
                Lateness::Random(rounds) => 1 + wait.below(rounds),
                Lateness::ByReward(rounds) => {
                    if reward > 0.0 {
                        1
                    } else {
                        rounds
                    }
                }
            };
            waiting.push((round + rounds, chosen, reward));
            let (come, still): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|(due, ..)| *due <= round + 1);
            waiting = still;
            for (_, chosen, reward) in come {
                settled.update(set.view().get(chosen), reward);
                code.update(set.view().get(chosen), reward);
            }
            let left = if let Lateness::PendingCounted(_) = lateness {
                let theta_hat = settled.theta_hat();
                let along =
                    |row: &[f64]| row.iter().zip(theta_hat).map(|(v, t)| v * t).sum::<f64>();
                let rows = all.gram();
                let squared: f64 =
                    rows.chunks(self.dim).zip(theta_hat).map(|(row, t)| t * along(row)).sum();
                squared.sqrt() > radius.sqrt_beta(&all.evidence())
            } else {
                !settled.holds(&vec![0.0; self.dim], radius.reach(&settled.evidence()))
            };
            if left {
                return true;
            }
        }
        false
    }
}

pub(super) fn late_rewards(full: bool) {
    let problem = Linear::tight(3, Chooser::Code);
    for delta in [0.05, 0.01] {
        let radius = Determinant { delta, noise_scale: 1.0, theta_norm_bound: 0.0 };
        let misses = |lateness| move |run| problem.misses_late(radius, lateness, run);
        case(
            "determinant, d = 3, rewards 40 rounds late",
            delta,
            full,
            misses(Lateness::Fixed(40)),
            &[("pending decisions counted as observed", &misses(Lateness::PendingCounted(40)))],
        );
        case(
            "determinant, d = 3, rewards 1 to 80 rounds late",
            delta,
            full,
            misses(Lateness::Random(80)),
            &[("bad news 80 rounds late, good news at once", &misses(Lateness::ByReward(80)))],
        );
    }
}
