//! Per-arm means for K-armed problems.

use super::{
    Estimator, Evidence, Guarantee, LogDet, Scores, Shape, Squares, Tallies, assert_reward,
    pair_shares,
};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::Reach;
use crate::state::{DurableModel, Reader, StateError, Writer, holds};

/// The average reward of each arm.
///
/// ```text
/// mean(a) = Σ rewards of a / T(a)        width_sq(a) = 1/T(a)
/// ```
///
/// This is least squares on unit vectors with ridge 0: an arm never taken has infinite width, so it
/// is plausible, and the least known, until it is. A policy that takes the widest action thereby
/// takes each arm once first, in order.
///
/// # Cost
/// O(1) an update; scores are always current. No draws.
#[derive(Clone, Debug)]
pub struct ArmMeans {
    counts: Vec<u64>,
    totals: Vec<f64>,
    /// `Σ y²` of each arm; `None` for a model made from sums that were given without squares.
    squares: Option<Vec<f64>>,
    observations: u64,
    whole: Whole,
    scores: Scores,
}

/// What some arms are part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// All arms on offer.
    pub arms: usize,
    /// Among how many δ is shared.
    pub shares: u64,
    /// How many arms were ever offered.
    pub ever: u64,
    /// Rewards of arms that are not among these.
    pub other_observations: u64,
    /// The number of arms offered first, once another list of arms was offered; `None` while every
    /// round offers the same arms.
    pub first: Option<usize>,
}

impl Whole {
    /// Arms that are part of nothing else.
    pub(crate) fn alone(arms: usize) -> Self {
        Self { arms, shares: arms as u64, ever: arms as u64, other_observations: 0, first: None }
    }

    /// The number of pairs that share the probability of a wrong verdict between pairs.
    pub(crate) fn pair_shares(&self) -> f64 {
        pair_shares(self.first.unwrap_or(self.arms), self.ever, self.first.is_some())
    }

    /// The same for pairs of any two actions.
    pub(crate) fn any_pair_shares(&self) -> f64 {
        pair_shares(self.first.unwrap_or(self.arms), self.ever, true)
    }
}

impl ArmMeans {
    /// Nothing known about `arms` arms.
    ///
    /// # Panics
    /// If there is no arm.
    pub fn new(arms: usize) -> Self {
        assert!(arms > 0, "a K-armed model needs at least one arm");
        let scores =
            Scores { mean: vec![0.0; arms], width_sq: vec![f64::INFINITY; arms], ..Scores::new() };
        Self {
            counts: vec![0; arms],
            totals: vec![0.0; arms],
            squares: Some(vec![0.0; arms]),
            observations: 0,
            whole: Whole::alone(arms),
            scores,
        }
    }

    /// From the number of plays and the total reward of each arm.
    ///
    /// # Panics
    /// If there is no arm, not one total for each count, or a total that is not finite or not zero
    /// for an arm never taken.
    pub fn from_statistics(counts: &[u64], totals: &[f64]) -> Self {
        assert!(counts.len() == totals.len(), "one total for each count");
        let mut model = Self::new(counts.len());
        for (arm, (&count, &total)) in counts.iter().zip(totals).enumerate() {
            assert!(
                total.is_finite() && (count > 0 || total == 0.0),
                "arm {arm} paid {total} in {count} plays"
            );
            if count > 0 {
                model.scores.mean[arm] = total / count as f64;
                model.scores.width_sq[arm] = 1.0 / count as f64;
            }
        }
        model.counts.copy_from_slice(counts);
        model.totals.copy_from_slice(totals);
        model.squares = None;
        model.observations = counts.iter().sum();
        model
    }

    /// With the sum of squared rewards of each arm, which goes with its other statistics.
    ///
    /// # Panics
    /// If there is not one for each arm, or one that is negative, not finite, or not zero for an
    /// arm never taken.
    #[must_use]
    pub fn with_squares(self, squares: &[f64]) -> Self {
        assert!(squares.len() == self.counts.len(), "one sum of squares for each arm");
        let mut arms = self.counts.iter().zip(squares);
        let valid = |(count, squares): (&u64, &f64)| {
            *squares >= 0.0 && squares.is_finite() && (*count > 0 || *squares == 0.0)
        };
        assert!(arms.all(valid), "sums of squares are finite and not negative");
        Self { squares: Some(squares.to_vec()), ..self }
    }

    /// Where these are some arms of more.
    #[must_use]
    pub fn part_of(self, whole: Whole) -> Self {
        Self { whole, ..self }
    }

    /// T(a), how often each arm was taken.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The number of arms offered first, once another list of arms was offered.
    pub(crate) fn first_list(&self) -> Option<usize> {
        self.whole.first
    }

    /// What each arm has paid in all.
    pub(crate) fn totals(&self) -> &[f64] {
        &self.totals
    }

    /// The sum of squared rewards of each arm, if it is kept.
    pub(crate) fn squares(&self) -> Option<&[f64]> {
        self.squares.as_deref()
    }
}

impl Estimator for ArmMeans {
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        let (known, offered) = (self.counts.len(), actions.len());
        assert!(known == offered, "a model of {known} arms was asked about {offered}");
        out.mean.clone_from(&self.scores.mean);
        out.width_sq.clone_from(&self.scores.width_sq);
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        assert_reward(reward);
        let arm = action.index();
        self.counts[arm] += 1;
        self.totals[arm] += reward;
        if let Some(squares) = &mut self.squares {
            squares[arm] += reward * reward;
        }
        self.observations += 1;
        let count = self.counts[arm] as f64;
        self.scores.mean[arm] = self.totals[arm] / count;
        self.scores.width_sq[arm] = 1.0 / count;
    }

    fn tallies(&self) -> Option<Tallies<'_>> {
        let squares = self.squares.as_deref()?;
        Some(Tallies { counts: &self.counts, totals: &self.totals, squares })
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Arms { count: self.counts.len() })
    }

    fn evidence(&self) -> Evidence {
        Evidence {
            observations: self.observations + self.whole.other_observations,
            dim: self.whole.arms,
            ridge: 0.0,
            shares: self.whole.shares,
            pair_shares: self.whole.pair_shares(),
            any_pair_shares: self.whole.any_pair_shares(),
            floor: 0.0,
            squares: self.squares.as_ref().map(|squares| Squares {
                rewards: squares.iter().sum(),
                explained: self.totals.iter().zip(&self.scores.mean).map(|(s, m)| s * m).sum(),
                forecasts: None,
            }),
            own: None,
            log_det: LogDet::UNDEFINED,
        }
    }

    /// The confidence set is a box, so this is the largest `√T(a)·|mean(a) − μ(a)|` over the arms
    /// taken.
    fn deviation(&self, theta_star: &[f64]) -> f64 {
        let taken = self.counts.iter().zip(&self.scores.mean).zip(theta_star);
        taken
            .map(|((&count, mean), truth)| (count as f64).sqrt() * (mean - truth).abs())
            .fold(0.0, f64::max)
    }

    /// Exploring takes the least-taken of the arms left: one of K arms is taken at least every K-th
    /// round.
    fn guarantee(&self, _: Actions<'_>, round: u64) -> Option<Guarantee> {
        let plays =
            round.saturating_sub(1).saturating_sub(self.observations) / self.counts.len() as u64;
        let evidence = Evidence { observations: round, ..self.evidence() };
        Some(Guarantee { width_sq: 1.0 / plays as f64, evidence })
    }

    /// The confidence set is a box: every arm's mean within its interval.
    fn holds(&self, theta_star: &[f64], reach: Reach) -> bool {
        if let Reach::Bounded(bounded) = reach {
            let tallies = self.tallies().expect("bounded arms need a model that keeps squares");
            return theta_star.iter().enumerate().all(|(arm, truth)| {
                let (lower, upper) = bounded.interval(tallies.get(arm));
                (lower..=upper).contains(truth)
            });
        }
        let arms = self.scores.mean.iter().zip(&self.scores.width_sq).zip(theta_star);
        arms.into_iter()
            .all(|((mean, width_sq), truth)| (mean - truth).abs() <= reach.half_width(*width_sq))
    }
}

impl DurableModel for ArmMeans {
    fn write(&self, out: &mut Writer) {
        let Whole { arms, shares, ever, other_observations, first } = self.whole;
        let first = first.unwrap_or(0) as u64;
        out.counts([arms as u64, shares, other_observations, first, ever].into_iter());
        out.counts(self.counts.iter().copied());
        out.numbers(&self.totals);
        out.flag(self.squares.is_some());
        if let Some(squares) = &self.squares {
            out.numbers(squares);
        }
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let arms = self.counts.len();
        let (of, shares, other_observations, first, ever) = match from.counts("whole")?[..] {
            [of, shares, other, first, ever] => (of, shares, other, first, ever),
            // As written before arms ever offered were counted apart from shares.
            [of, shares, other, first] => (of, shares, other, first, shares),
            _ => return Err(StateError::Kind { what: "the model" }),
        };
        holds("whole", of >= 1 && shares >= 1 && of <= shares.max(arms as u64))?;
        holds("whole", (1..=shares).contains(&ever))?;
        let counts = from.counts("counts")?;
        if counts.len() != arms {
            return Err(StateError::Length { what: "counts", expected: arms, found: counts.len() });
        }
        let totals = from.numbers("totals", arms)?;
        let mut arms = counts.iter().zip(&totals);
        holds("totals", arms.all(|(count, total)| *count > 0 || *total == 0.0))?;
        let squares = if from.flag("squares")? {
            let squares = from.numbers("squares", counts.len())?;
            let mut arms = counts.iter().zip(&squares);
            holds("squares", arms.all(|(n, sum)| *sum >= 0.0 && (*n > 0 || *sum == 0.0)))?;
            Some(squares)
        } else {
            None
        };
        let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let (arms, first) = (size(of), Some(size(first)).filter(|first| *first > 0));
        let whole = Whole { arms, shares, ever, other_observations, first };
        *self = Self::from_statistics(&counts, &totals).part_of(whole);
        self.squares = squares;
        Ok(())
    }

    fn takes(&self, index: ActionIndex, _: &[f64]) -> bool {
        index < self.counts.len()
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>, committed: bool) {
        moved.model(self, committed);
    }
}
