//! Phased elimination with an optimal design in each phase.

mod phase;

pub use phase::{Phase, Plays, Quota};

use super::{Explain, Policy, PolicyError};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::model::{Estimator, Ridge};
use crate::rng::Stream;
use crate::state::{DurableModel as _, Keep, Reader, StateError, Writer, holds};
use phase::Lessons;

/// Plays a D-optimal design over the survivors of each phase, then drops those that fall behind.
///
/// ```text
/// phase ℓ:  ε_ℓ = 2^−ℓ          T_ℓ(a) = ⌈2·d·π(a)/ε_ℓ²·log(K·ℓ·(ℓ + 1)/δ)⌉
/// at its end, with θ̂ from the phase's own data:  drop a if max_b ⟨b − a, θ̂⟩ > 2·ε_ℓ
/// ```
///
/// The quota is played in random order: one block per action would leave the gram matrix singular
/// for hundreds of rounds. When the survivors no longer span ℝᵈ, design and estimate live in their
/// span. The design is sparse, so rounding the quota up costs one play per supported action instead
/// of one per survivor. The algorithm is defined for fixed sets; on changing ones it runs by action
/// index. A reward that comes after its phase has ended counts in the phase it arrives in, and a
/// phase ends on what has come by then: the guarantee is for rewards that come before the next
/// decision. A play whose reward will never come is played again.
///
/// # Parameters
/// | name | symbol | range |
/// | --- | --- | --- |
/// | `model` | `V`, `θ̂` | over all data, for explanations only |
/// | `delta` | `δ` | (0, 1) |
///
/// # Guarantee
/// For 1-sub-Gaussian noise on a fixed set, `R_n = O(√(d·n·log(K·log n/δ)))` with probability at
/// least `1 − δ` (Theorem 22.1 of \[LS20\]).
///
/// # Cost
/// A round is O(d + support of the design); a phase starts with one design, O(K·d²) and more. One
/// draw per round.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Elimination, Policy, Ridge, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
/// let mut policy = Elimination::new(Ridge::new(2, 1.0)?, 0.05)?;
/// let mut rng = Stream::new(1, 0, "policy");
/// for _ in 0..5000 {
///     let chosen = policy.select(set.view(), &mut rng);
///     policy.update(set.view().get(chosen), if chosen == 0 { 1.0 } else { 0.0 });
/// }
/// assert_eq!(policy.survivors(), [0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Reference
/// \[LS20\] Lattimore, Szepesvári: Bandit Algorithms, Algorithm 12. Cambridge University Press,
/// 2020.
#[derive(Clone, Debug)]
pub struct Elimination {
    model: Ridge,
    delta: f64,
    phase: Option<Phase>,
    playing: Option<Playing>,
}

/// A phase on the set it is played on.
#[derive(Clone, Debug)]
struct Playing {
    quota: Quota,
    lessons: Lessons,
}

impl Elimination {
    /// Phased elimination at confidence `delta`.
    ///
    /// # Errors
    /// If `delta` is not in (0, 1).
    pub fn new(model: Ridge, delta: f64) -> Result<Self, PolicyError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(PolicyError::Delta { delta });
        }
        Ok(Self { model, delta, phase: None, playing: None })
    }

    /// Continues in this phase.
    #[must_use]
    pub fn in_phase(self, phase: Phase) -> Self {
        Self { phase: Some(phase), playing: None, ..self }
    }

    /// The actions not yet dropped; empty before the first round.
    pub fn survivors(&self) -> &[ActionIndex] {
        self.phase.as_ref().map_or(&[], |phase| &phase.survivors)
    }

    /// The phase to play from; the next one when its quota is used up.
    fn current_phase(&mut self, actions: Actions<'_>) -> (&mut Phase, &mut Playing) {
        let phase = self.phase.get_or_insert_with(|| Phase::first(actions.len()));
        let known = phase.plays.len();
        assert!(
            known == actions.len(),
            "elimination over {known} actions was offered {}",
            actions.len()
        );
        let playing = self.playing.get_or_insert_with(|| Playing::of(phase, actions, self.delta));
        // Every phase has a play left at its start, so this happens once at most.
        if playing.quota.remaining() == 0 {
            *phase = phase.next_by(playing.lessons.clone(), actions);
            *playing = Playing::of(phase, actions, self.delta);
        }
        (phase, playing)
    }
}

impl Playing {
    fn of(phase: &Phase, actions: Actions<'_>, delta: f64) -> Self {
        let design = phase.design(actions);
        let quota = phase.quota_by(&design, actions, delta);
        Self { quota, lessons: Lessons::new(design.into_span(), actions) }
    }
}

impl Policy for Elimination {
    fn select(&mut self, actions: Actions<'_>, rng: &mut Stream) -> ActionIndex {
        let (phase, playing) = self.current_phase(actions);
        let chosen = playing.quota.play(rng);
        phase.plays[chosen].taken += 1;
        chosen
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
        let (Some(phase), Some(Playing { lessons, .. })) = (&mut self.phase, &mut self.playing)
        else {
            return;
        };
        let (index, features) = (action.index(), action.features());
        let one = Plays { taken: 1, settled: 1, paid: reward };
        let (Some(plays), Some(row)) =
            (phase.plays.get_mut(index), lessons.row(index, features.len()))
        else {
            return lessons.learn(features, one);
        };
        if row != features {
            // On a changing set: what was seen so far was seen with other features.
            let before = std::mem::replace(plays, Plays { settled: 0, paid: 0.0, ..*plays });
            lessons.learn_own(index, before);
            if let Some(row) = lessons.row(index, features.len()) {
                row.copy_from_slice(features);
            }
        }
        plays.settled += 1;
        plays.paid += reward;
    }

    fn dropped(&mut self, action: Action<'_>) {
        let (Some(phase), Some(playing)) = (&mut self.phase, &mut self.playing) else { return };
        if let Some(plays) =
            phase.plays.get_mut(action.index()).filter(|plays| plays.taken > plays.settled)
        {
            plays.taken -= 1;
            playing.quota.give_back(action.index());
        }
    }
}

impl Explain for Elimination {
    fn model(&self) -> &dyn Estimator {
        &self.model
    }
}

impl Keep for Elimination {
    const KIND: &'static str = "elimination";

    fn write(&self, out: &mut Writer) {
        self.model.write(out);
        out.flag(self.phase.is_some());
        let Some(Phase { number, survivors, plays }) = &self.phase else { return };
        out.count((*number).into());
        out.counts(plays.iter().map(|plays| plays.taken));
        out.counts(plays.iter().map(|plays| plays.settled));
        out.numbers(&plays.iter().map(|plays| plays.paid).collect::<Vec<f64>>());
        out.counts(survivors.iter().map(|action| *action as u64));
        out.flag(self.playing.is_some());
        if let Some(Playing { quota, lessons }) = &self.playing {
            lessons.write(quota, out);
        }
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.model.read(from)?;
        if !from.flag("phase")? {
            return Ok(());
        }
        let number = from.count("phase.number")?;
        // Phase ℓ plays more than 4^ℓ times, so no horizon reaches the 24th.
        holds("phase.number", (1..=24).contains(&number))?;
        let (taken, settled) = (from.counts("phase.plays")?, from.counts("phase.plays")?);
        let actions = taken.len();
        holds("phase.plays", settled.len() == actions)?;
        let paid = from.numbers("phase.plays", actions)?;
        let survivors = from.places("phase.survivors", actions)?;
        let sorted = survivors.is_sorted_by(|a, b| a < b);
        holds("phase.survivors", !survivors.is_empty() && sorted)?;
        let plays = taken.into_iter().zip(settled).zip(paid);
        let plays = plays.map(|((taken, settled), paid)| Plays { taken, settled, paid }).collect();
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.phase = Some(Phase { number, survivors, plays });
        if from.flag("playing")? {
            let (quota, lessons) = Lessons::read(from, actions, self.model.dim())?;
            self.playing = Some(Playing { quota, lessons });
        }
        Ok(())
    }

    fn move_arms(&mut self, _: &mut ArmMove<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::ActionSet;

    fn play(policy: &mut Elimination, set: &ActionSet, means: &[f64], rounds: u64) -> Vec<u64> {
        let mut rng = Stream::new(3, 0, "policy");
        let mut counts = vec![0; means.len()];
        for _ in 0..rounds {
            let chosen = policy.select(set.view(), &mut rng);
            counts[chosen] += 1;
            policy.update(set.view().get(chosen), means[chosen]);
        }
        counts
    }

    #[test]
    fn the_first_phase_plays_its_quota_to_the_letter() {
        // Unit vectors: π = ½ each, leverage 2, so T = ⌈2·2·½·4·log(2·1·2/0.05)⌉ = ⌈8·log 80⌉ = 36
        // each.
        let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(2, 1.0).unwrap(), 0.05).unwrap();
        assert_eq!(play(&mut policy, &set, &[0.0, 0.0], 72), [36, 36]);
        assert_eq!(policy.playing.as_ref().unwrap().quota.remaining(), 0);
    }

    #[test]
    fn stragglers_are_dropped_at_twice_the_phases_accuracy() {
        // Without noise: after phase 1 a gap above 1 goes, after phase 2 one above ½.
        let set =
            ActionSet::from_rows(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(3, 1.0).unwrap(), 0.05).unwrap();
        let means = [1.2, 0.6, 0.1];
        let first = 3 * 39; // T = ⌈2·3·⅓·4·log(3·2/0.05)⌉ = ⌈8·log 120⌉ = 39
        play(&mut policy, &set, &means, first + 1);
        assert_eq!(policy.survivors(), [0, 1], "0.1 trails by 1.1");
        play(&mut policy, &set, &means, 2 * 300);
        assert_eq!(policy.survivors(), [0], "0.6 trails by 0.6");
    }

    #[test]
    fn a_phase_is_played_in_random_order() {
        // 36 plays of each of two actions: in blocks the first half would hold one action alone, in
        // random order it holds 18 ± 2.1 of each (hypergeometric); beyond 5 sd with probability
        // 6e-7.
        let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(2, 1.0).unwrap(), 0.05).unwrap();
        let first_half = play(&mut policy, &set, &[0.0, 0.0], 36);
        assert!(first_half[0].abs_diff(18) <= 10, "{first_half:?}");
    }

    #[test]
    fn a_direction_in_small_units_is_played_too() {
        let set = ActionSet::from_rows(&[[1e10, 0.0], [0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(2, 1.0).unwrap(), 0.05).unwrap();
        assert_eq!(play(&mut policy, &set, &[0.0, 10.0], 72), [36, 36]);
    }

    #[test]
    fn actions_that_are_all_zero_do_not_stall_it() {
        let set = ActionSet::from_rows(&[[0.0], [0.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(1, 1.0).unwrap(), 0.05).unwrap();
        assert_eq!(play(&mut policy, &set, &[0.0, 0.0], 3000).iter().sum::<u64>(), 3000);
    }

    /// Plays a phase's data alone into a fresh policy before each choice, as a log does.
    #[test]
    fn one_that_goes_on_from_data_chooses_as_one_that_never_stopped() {
        for seed in 0..6 {
            let mut rng = Stream::new(seed, 0, "problem");
            let dim = 1 + rng.index(3);
            let rows: Vec<Vec<f64>> = (0..4)
                .map(|_| (0..dim).map(|_| crate::quantise(rng.normal()).unwrap()).collect())
                .collect();
            let set = ActionSet::from_rows(&rows).unwrap();
            let model = || Ridge::new(dim, 1.0).unwrap();
            let mut live = Elimination::new(model(), 0.9).unwrap();
            let mut phases = 0;
            for round in 0..2500 {
                let resumed = Elimination::new(model(), 0.9).unwrap();
                let mut resumed = match live.phase.clone() {
                    Some(phase) => resumed.in_phase(phase),
                    None => resumed,
                };
                // Designs are dear, so most rounds are not asked; ends of phases always are.
                let ends =
                    live.playing.as_ref().is_none_or(|playing| playing.quota.remaining() <= 1);
                let chosen = live.select(set.view(), &mut Stream::new(seed, round, "decision"));
                if ends || round % 50 == 0 {
                    let again =
                        resumed.select(set.view(), &mut Stream::new(seed, round, "decision"));
                    assert_eq!(
                        (again, resumed.phase),
                        (chosen, live.phase.clone()),
                        "seed {seed}, round {round}"
                    );
                }
                phases += u64::from(ends);
                let reward = crate::quantise(rows[chosen][0] * 0.4 + 0.1 * rng.normal()).unwrap();
                live.update(set.view().get(chosen), reward);
            }
            assert!(phases > 2, "seed {seed}: {phases}");
        }
    }

    #[test]
    fn a_play_whose_reward_never_comes_is_played_again() {
        let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0]]).unwrap();
        let mut policy = Elimination::new(Ridge::new(2, 1.0).unwrap(), 0.05).unwrap();
        let mut rng = Stream::new(3, 0, "policy");
        let (mut settled, mut rounds) = ([0; 2], 0);
        while policy.phase.as_ref().is_none_or(|phase| phase.number == 1) {
            let chosen = policy.select(set.view(), &mut rng);
            if policy.phase.as_ref().is_some_and(|phase| phase.number == 1) {
                rounds += 1;
                if rng.uniform() < 0.3 {
                    policy.dropped(set.view().get(chosen));
                } else {
                    settled[chosen] += 1;
                    policy.update(set.view().get(chosen), 0.0);
                }
            }
        }
        assert_eq!(settled, [36, 36], "the quota, whatever was lost");
        assert!(rounds > 72);
    }

    #[test]
    fn on_a_changing_set_rewards_teach_about_what_was_offered_then() {
        // The second action is anywhere; its rewards are linear in what it was, so θ̂ is exact and
        // the loser is dropped.
        let mut policy = Elimination::new(Ridge::new(1, 1.0).unwrap(), 0.5).unwrap();
        let mut rng = Stream::new(3, 0, "policy");
        for round in 0..400 {
            let set = ActionSet::from_rows(&[[1.0], [-1.0 - f64::from(round % 7) / 7.0]]).unwrap();
            let chosen = policy.select(set.view(), &mut rng);
            let action = set.view().get(chosen);
            policy.update(action, 0.9 * action.features()[0]);
        }
        assert_eq!(policy.survivors(), [0]);
    }
}
