//! A model of features that also keeps what each action of a small table has paid.

use super::{
    Earnings, Estimator, Evidence, Fit, Guarantee, Misfit, Outcome, Scores, Shape, Tallies, Whole,
};
use crate::actions::{Action, ActionIndex, Actions};
use crate::arms::ArmMove;
use crate::confidence::Reach;
use crate::state::{DurableModel, Reader, StateError, Writer, holds};

/// A model, and plays, sum and sum of squares of the rewards of each action.
///
/// For a table of few actions whose rows are the same in every round and in the same order:
/// verdicts between pairs of actions ([`PairRule`](crate::PairRule)) need no model of features, and
/// a union over few rivals costs less than many features do.
///
/// # Cost
/// That of the model, O(1) more per update.
#[derive(Clone, Debug)]
pub struct Tabled<E> {
    model: E,
    counts: Vec<u64>,
    totals: Vec<f64>,
    squares: Vec<f64>,
    whole: Option<Whole>,
}

impl<E: Estimator> Tabled<E> {
    /// A model that has learned nothing, for this many actions.
    ///
    /// # Panics
    /// If there is no action, or the model has learned something.
    pub fn new(model: E, actions: usize) -> Self {
        assert!(actions > 0, "a table needs at least one action");
        assert!(model.evidence().observations == 0, "a table starts with its model");
        Self {
            model,
            counts: vec![0; actions],
            totals: vec![0.0; actions],
            squares: vec![0.0; actions],
            whole: None,
        }
    }

    /// A model and what each action has paid, of a table that is part of a whole.
    ///
    /// # Panics
    /// If there is no action.
    pub fn from_statistics(model: E, earnings: &[Earnings], whole: Whole) -> Self {
        assert!(!earnings.is_empty(), "a table needs at least one action");
        Self {
            model,
            counts: earnings.iter().map(|one| one.count).collect(),
            totals: earnings.iter().map(|one| one.total).collect(),
            squares: earnings.iter().map(|one| one.squares).collect(),
            whole: Some(whole),
        }
    }

    /// Another model with what each action has paid here.
    #[must_use]
    pub(crate) fn with_model(&self, model: E) -> Self
    where
        E: Clone,
    {
        Self { model, ..self.clone() }
    }

    /// The model.
    pub fn model(&self) -> &E {
        &self.model
    }

    /// The model without what each action has paid.
    pub fn into_model(self) -> E {
        self.model
    }

    fn note(&mut self, action: Action<'_>, reward: f64) {
        let at = action.index();
        self.counts[at] += 1;
        self.totals[at] += reward;
        self.squares[at] += reward * reward;
    }
}

impl<E: Estimator> Estimator for Tabled<E> {
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        let (known, offered) = (self.counts.len(), actions.len());
        assert!(known == offered, "a table of {known} actions was asked about {offered}");
        self.model.score_into(actions, out);
    }

    fn offered(&mut self, actions: Actions<'_>) {
        self.model.offered(actions);
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        self.model.update(action, reward);
        self.note(action, reward);
    }

    fn learn(&mut self, action: Action<'_>, outcome: Outcome) {
        self.model.learn(action, outcome);
        self.note(action, outcome.reward);
    }

    fn count(&mut self, action: Action<'_>) {
        self.model.count(action);
    }

    fn check_reward(&self, reward: f64) -> Result<(), Misfit> {
        self.model.check_reward(reward)
    }

    fn in_rewards(&self, mean: f64) -> f64 {
        self.model.in_rewards(mean)
    }

    fn evidence(&self) -> Evidence {
        let actions = self.counts.len();
        let whole = self.whole.unwrap_or_else(|| Whole::alone(actions));
        Evidence {
            shares: whole.shares,
            pair_shares: whole.pair_shares(),
            any_pair_shares: whole.any_pair_shares(),
            ..self.model.evidence()
        }
    }

    fn deviation(&self, theta_star: &[f64]) -> f64 {
        self.model.deviation(theta_star)
    }

    fn means_into(&self, actions: Actions<'_>, out: &mut Scores) {
        self.model.means_into(actions, out);
    }

    fn fit(&self) -> Option<Fit<'_>> {
        self.model.fit()
    }

    fn design(&self) -> Option<Fit<'_>> {
        self.model.design()
    }

    fn generation(&self) -> u64 {
        self.model.generation()
    }

    fn tallies(&self) -> Option<Tallies<'_>> {
        let Self { counts, totals, squares, .. } = self;
        Some(Tallies { counts, totals, squares })
    }

    fn shape(&self) -> Option<Shape> {
        let count = self.counts.len();
        Some(match self.model.shape()? {
            Shape::Features { dim } => Shape::ArmsInContext { count, dim },
            other => other,
        })
    }

    fn guarantee(&self, actions: Actions<'_>, round: u64) -> Option<Guarantee> {
        self.model.guarantee(actions, round)
    }

    fn difference_sq(&self, scores: &Scores, one: ActionIndex, other: ActionIndex) -> f64 {
        self.model.difference_sq(scores, one, other)
    }

    fn holds(&self, theta_star: &[f64], reach: Reach) -> bool {
        self.model.holds(theta_star, reach)
    }
}

impl<E: DurableModel> DurableModel for Tabled<E> {
    fn write(&self, out: &mut Writer) {
        self.model.write(out);
        out.counts(self.counts.iter().copied());
        out.numbers(&self.totals);
        out.numbers(&self.squares);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        self.model.read(from)?;
        let (expected, counts) = (self.counts.len(), from.counts("counts")?);
        let found = counts.len();
        if found != expected {
            return Err(StateError::Length { what: "counts", expected, found });
        }
        // A design also counts decisions that have no reward, and these are not plays.
        holds("counts", counts.iter().sum::<u64>() <= self.model.evidence().observations)?;
        self.totals = from.numbers("totals", expected)?;
        self.squares = from.numbers("squares", expected)?;
        let sums = self.totals.iter().zip(&self.squares);
        let mut sums = counts.iter().zip(sums);
        let sound = |(count, (total, squares)): (&u64, (&f64, &f64))| {
            *squares >= 0.0 && (*count > 0 || *total == 0.0 && *squares == 0.0)
        };
        holds("squares", sums.all(sound))?;
        self.counts = counts;
        Ok(())
    }

    fn takes(&self, index: ActionIndex, features: &[f64]) -> bool {
        index < self.counts.len() && self.model.takes(index, features)
    }

    fn move_arms(&mut self, moved: &mut ArmMove<'_>, committed: bool) {
        self.model.move_arms(moved, committed);
    }
}
