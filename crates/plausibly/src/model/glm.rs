//! Models of rewards that are a yes or no, a share, or a count.

mod design;
mod link;
mod rows;
mod set;

pub use link::Link;
pub use set::Budget;

use self::design::Design;
use self::rows::Rows;
use self::set::{LikelihoodSet, best_point};
use super::fit::Step;
use super::{Estimator, Evidence, Fit, Lineage, LogDet, Misfit, Scores, Shape};
use crate::actions::{Action, ActionIndex, Actions, MAX_MAGNITUDE};
use crate::confidence::{Curved, Doubt, RadiusError, Reach, check_range, scatter_doubt};
use crate::exact::{RowSums, Tally, quantise};
use crate::linalg::{Cholesky, CompensatedGram, Isa};
use crate::state::{DurableModel, Reader, StateError, Writer, holds};
use std::sync::Arc;

/// What is said about rewards before the first of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GlmPrior {
    /// How the mean reward depends on `z = offset + ⟨x, θ⟩`.
    pub link: Link,
    /// The least and the largest reward. Under [`Link::Logistic`] the model learns which share of
    /// this range a reward is; under [`Link::Poisson`] it is [`Link::reward_range`].
    pub rewards: (f64, f64),
    /// `z` of the usual rate: [`Link::of_mean`] of it.
    pub offset: f64,
    /// S, a bound on `‖θ*‖`: no action is farther than `S·‖x‖` from the usual reward, in `z`.
    pub theta_norm_bound: f64,
    /// λ, the precision of the mixture; `None` for `d/S²`, which makes the set smallest for many
    /// data. It must not depend on rewards, so where features are appended later, and S grows with
    /// them, it stays what it was.
    pub precision: Option<f64>,
    /// δ, the error of the whole set, for ever.
    pub delta: f64,
}

impl GlmPrior {
    /// From the usual reward, and by what factor one feature can change the odds (the rate, for
    /// counts): in each of the `d` directions of features, a step of length L changes them by at
    /// most this factor, so `S = √d·log(factor)/L`. L is a bound on `‖x‖`. Where each action has a
    /// feature of its own and no other, this says how far any action may be from the usual.
    ///
    /// # Errors
    /// If the usual reward is not inside the range of rewards (its ends leave nothing to learn),
    /// the factor is not above 1, or a constant is extreme.
    pub fn around(
        link: Link,
        rewards: (f64, f64),
        usual: f64,
        factor: f64,
        (dim, action_norm_bound): (usize, f64),
        delta: f64,
    ) -> Result<Self, RadiusError> {
        let (low, high) = rewards;
        if !(usual > low && usual < high) {
            return Err(RadiusError::UsualReward { usual, low, high });
        }
        if !(factor > 1.0 && factor <= 1e50) {
            return Err(RadiusError::Factor { factor });
        }
        let theta_norm_bound = (dim as f64).sqrt() * libm::log(factor) / action_norm_bound;
        let mut prior =
            Self { link, rewards, offset: 0.0, theta_norm_bound, precision: None, delta };
        let (from, length) = prior.scale();
        prior.offset = link.of_mean((usual - from) / length);
        prior.check().map(|()| prior)
    }

    /// Where rewards begin, and how long the range is of which the model learns a share.
    pub(crate) fn scale(&self) -> (f64, f64) {
        match self.link {
            Link::Logistic => (self.rewards.0, self.rewards.1 - self.rewards.0),
            Link::Poisson => (0.0, 1.0),
        }
    }

    /// The share of the range that a reward is.
    fn share(&self, reward: f64) -> f64 {
        let (from, length) = self.scale();
        (reward - from) / length
    }

    /// Whether the constants are in their ranges.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<(), RadiusError> {
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Err(RadiusError::Delta { delta: self.delta });
        }
        let (name, value) = ("theta_norm_bound", self.theta_norm_bound);
        if !(1e-50..=1e50).contains(&value) {
            return Err(RadiusError::NotPositive { name, value });
        }
        if let Some(value) = self.precision.filter(|own| !(1e-100..=1e100).contains(own)) {
            return Err(RadiusError::NotPositive { name: "precision", value });
        }
        match self.link {
            Link::Logistic => check_range(self.rewards.0, self.rewards.1)?,
            Link::Poisson if self.rewards == self.link.reward_range() => {}
            Link::Poisson => {
                let (low, high) = self.rewards;
                return Err(RadiusError::Range { low, high });
            }
        }
        // Beyond it the usual reward itself is at an end of the range in doubles.
        let usable = self.offset.abs() <= 36.0;
        if usable { Ok(()) } else { Err(RadiusError::Offset { offset: self.offset }) }
    }

    /// λ.
    fn ridge(&self, dim: usize) -> f64 {
        let natural = dim as f64 / (self.theta_norm_bound * self.theta_norm_bound);
        self.precision.unwrap_or(natural)
    }

    fn budget(&self, dim: usize, evidence: f64, rounding: f64) -> Budget {
        let confidence = -libm::log(self.delta);
        // λS²/2 is d/2 for the natural λ.
        let distance = self.precision.map_or(0.5 * dim as f64, |precision| {
            0.5 * precision * self.theta_norm_bound * self.theta_norm_bound
        });
        Budget { confidence, evidence, distance, rounding }
    }

    fn reach(&self, radius: f64, leaning: f64) -> Reach {
        Reach::Curved(self.curved(radius, leaning))
    }

    fn curved(&self, radius: f64, leaning: f64) -> Curved {
        let Self { link, offset, .. } = *self;
        Curved { link, scale: self.scale(), offset, radius, leaning }
    }
}

/// A generalised linear model with the confidence set of a likelihood mixture.
///
/// ```text
/// E[y] = μ(z)     z = offset + ⟨x, θ*⟩     ‖θ*‖ ≤ S     f(θ) = Σ [n·m(z) − z·Σy] + (λ/2)·‖θ‖²
/// {θ : f(θ) − f(θ₀) ≤ log(1/δ) + E + λS²/2} is within {θ : ‖θ − θ̃‖_H̃ ≤ r}
/// ```
///
/// The sums run over distinct rows `x`, each with its number `n` of rewards and their sum, all
/// exact. `θ₀` is where `f` is least; any other point would give a valid set too, only a larger
/// one, so the search for it need not be trusted.
///
/// # Guarantee
/// `θ*` stays in the set for all `t` at once with probability at least `1 − δ`, however the actions
/// were chosen, for *any* rewards in [0, 1] with these means ([`Link::Logistic`]) and for Poisson
/// counts ([`Link::Poisson`]). Counts that scatter more than Poisson ones break it. Proofs in
/// `docs/concepts/yes-no.md`.
///
/// # When it learns
/// The model refits after `1 + 0.005·n` more rewards, with n those of the last refit. In between
/// only the design follows: each reward counts as an observation of weight `v` in the widths by
/// which CODE compares actions ([`Estimator::design`]).
///
/// # Cost
/// An update is O(d²), and a new set O(rows·d² + d³): seven or eight sums of outer products over
/// the distinct rows. Scores are O(K·d²), and O(K·d) per choice of CODE between new sets. No draws.
///
/// # Example
/// ```
/// use plausibly::{ActionSet, Code, Glm, GlmPrior, Likelihood, Link, Policy, Stream};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.0, 1.0], [0.7, 0.7]])?;
/// // About 5 % of people click, and neither feature changes the odds by more than a factor of ten.
/// let prior = GlmPrior::around(Link::Logistic, (0.0, 1.0), 0.05, 10.0, (2, 1.0), 0.05)?;
/// let mut code = Code::new(Glm::new(2, prior)?, Likelihood::default());
/// let mut rng = Stream::new(1, 0, "clicks");
/// for _ in 0..2_000 {
///     let chosen = code.select(set.view(), &mut rng);
///     let clicked = rng.uniform() < [0.02, 0.2, 0.08][chosen];
///     code.update(set.view().get(chosen), f64::from(u8::from(clicked)));
/// }
/// assert_eq!(code.select(set.view(), &mut rng), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Glm {
    lineage: Lineage,
    isa: Isa,
    prior: GlmPrior,
    /// What the set was made from.
    fitted: Arc<RowSums>,
    solved: Arc<Solved>,
    /// How often a set was made.
    generation: u64,
    /// Rewards since, in the order in which they came, and their rows one after the other.
    since: Vec<f64>,
    since_rows: Vec<f64>,
    /// Decisions that are only counted: they have no reward yet, and no refit waits for them.
    counted: u64,
    /// With the rewards since, and with decisions that are only counted.
    design: Design,
    /// Tells states of the design apart: rises by one with each step, and with each new set.
    moved: u64,
}

#[derive(Debug)]
struct Solved {
    set: LikelihoodSet,
    form: CompensatedGram,
    /// `H̃·θ̃`.
    moment: Vec<f64>,
    /// `tr H̃·tr H̃⁻¹`.
    condition: f64,
}

impl Solved {
    fn new(set: LikelihoodSet) -> Self {
        let dim = set.centre.len();
        let product = |row: &[f64]| crate::linalg::dot(row, &set.centre);
        let moment = set.form.chunks_exact(dim).map(product).collect();
        let trace = |matrix: &[f64]| matrix.iter().step_by(dim + 1).sum::<f64>();
        let condition = trace(&set.form) * trace(&set.inverse);
        Self { condition, form: CompensatedGram::new(set.form.clone(), dim), moment, set }
    }

    /// At this point, or at the best one.
    fn from(prior: &GlmPrior, sums: &RowSums, isa: Isa, point: Option<&[f64]>) -> Self {
        let empty = || LikelihoodSet::empty(prior, sums.dim());
        if sums.is_empty() {
            return Self::new(empty());
        }
        let rows = Rows::new(sums, isa);
        let point = point.map_or_else(|| best_point(prior, &rows), |point| Ok(point.to_vec()));
        let solved = point.and_then(|point| LikelihoodSet::at(prior, &rows, &point));
        // Features so far apart in size that doubles cannot tell the matrix from a singular one.
        let unsolved = || LikelihoodSet { reach: Reach::Open(Doubt::Precision), ..empty() };
        let mut set = solved.unwrap_or_else(|_| unsolved());
        if prior.link == Link::Poisson
            && let Some(doubt) = scatter_doubt(sums.tallies(), prior.delta)
        {
            set.reach = Reach::Open(doubt);
        }
        Self::new(set)
    }
}

impl Glm {
    /// Nothing observed.
    ///
    /// # Errors
    /// If a constant of the prior is out of range.
    ///
    /// # Panics
    /// If `dim` is zero.
    pub fn new(dim: usize, prior: GlmPrior) -> Result<Self, RadiusError> {
        Self::from_rows(RowSums::new(dim), prior)
    }

    /// From rewards already at hand; all of them are in the set. Under [`Link::Logistic`] the sums
    /// are those of [shares of the range](GlmPrior::rewards), from 0 to 1. A share within 2⁻²⁵ of 0
    /// or 1 must be that exactly, which sums cannot show: see [`Glm::check_reward`].
    ///
    /// # Errors
    /// If a constant of the prior is out of range, or a row has paid what rewards of this kind
    /// cannot.
    pub fn from_rows(sums: RowSums, prior: GlmPrior) -> Result<Self, RadiusError> {
        Self::made(sums, prior, None)
    }

    /// Like [`Glm::from_rows`], with the set made at this point in the place of the best one. It is
    /// valid at any point: who checks a set that another program made need not search for one.
    ///
    /// # Errors
    /// As [`Glm::from_rows`].
    ///
    /// # Panics
    /// If the point does not have a finite entry for each feature.
    pub fn from_rows_at(
        sums: RowSums,
        prior: GlmPrior,
        point: &[f64],
    ) -> Result<Self, RadiusError> {
        let fits = point.len() == sums.dim() && point.iter().all(|entry| entry.is_finite());
        assert!(fits, "a point has a finite entry for each of the {} features", sums.dim());
        Self::made(sums, prior, Some(point))
    }

    fn made(sums: RowSums, prior: GlmPrior, point: Option<&[f64]>) -> Result<Self, RadiusError> {
        prior.check()?;
        let (low, high) = prior.link.reward_range();
        if !sums.tallies().all(|tally| tally.fits_below(high)) {
            return Err(RadiusError::Rewards { low, high });
        }
        let isa = Isa::detect();
        let solved = Arc::new(Solved::from(&prior, &sums, isa, point));
        let design = Design::new(sums.dim());
        Ok(Self {
            lineage: Lineage::new(),
            isa,
            prior,
            fitted: Arc::new(sums),
            solved,
            generation: 0,
            since: Vec::new(),
            since_rows: Vec::new(),
            counted: 0,
            design,
            moved: 0,
        })
    }

    /// Learns and scores with this instruction set; every one gives the same bits.
    #[must_use]
    pub fn with_isa(self, isa: Isa) -> Self {
        Self { isa, ..self }
    }

    /// What was said before the first reward.
    pub fn prior(&self) -> &GlmPrior {
        &self.prior
    }

    /// d.
    pub fn dim(&self) -> usize {
        self.fitted.dim()
    }

    /// `θ̃`, the centre of the set: nearly the parameter of largest posterior density.
    pub fn theta_hat(&self) -> &[f64] {
        &self.solved.set.centre
    }

    /// `θ₀`, the point from which the set was made.
    pub fn point(&self) -> &[f64] {
        &self.solved.set.point
    }

    /// `B`, part by part.
    pub fn budget(&self) -> Budget {
        self.solved.set.budget
    }

    /// Counts decisions for a row whose rewards are to come in the design, as
    /// [`Estimator::count`] does for one.
    ///
    /// # Panics
    /// If the row has another number of features.
    pub fn count_row(&mut self, row: &[f64], times: u64) {
        self.follow(row, times);
        self.counted += times;
    }

    /// `H̃⁻¹`, row-major.
    pub(crate) fn form_inverse(&self) -> &[f64] {
        &self.solved.set.inverse
    }

    /// `L` of `H = L·Lᵀ`, the curvature of the likelihood and the prior.
    pub(crate) fn factor(&self) -> &Cholesky {
        &self.solved.set.factor
    }

    pub(crate) fn isa(&self) -> Isa {
        self.isa
    }

    fn fit_with<'a>(&'a self, inverse: &'a [f64], step: Option<(&'a Step, f64)>) -> Fit<'a> {
        let Solved { set, form, moment, .. } = &*self.solved;
        Fit {
            lineage: self.lineage.id(),
            isa: self.isa,
            observations: self.moved,
            gram: form,
            gram_inverse: inverse,
            moment,
            theta_hat: &set.centre,
            step: step.map(|(step, _)| step),
            // A new set moves all scores at once; only widths of a design follow it.
            margin: step.map(|(_, margin)| margin),
        }
    }

    /// Makes the set from all rewards.
    fn refit(&mut self) {
        let sums = Arc::make_mut(&mut self.fitted);
        let rows = self.since_rows.chunks_exact(sums.dim());
        for (row, reward) in rows.zip(&self.since) {
            let tally = Tally::of(&[*reward]).expect("checked when it came");
            sums.add(row, &tally).expect("checked when it came");
        }
        self.since.clear();
        self.since_rows.clear();
        self.solved = Arc::new(Solved::from(&self.prior, sums, self.isa, None));
        self.generation += 1;
        self.moved += 1;
        self.counted = 0;
        self.design.inverse.clear();
    }

    /// Adds observations of this row to the design.
    fn follow(&mut self, x: &[f64], times: u64) {
        let dim = self.dim();
        assert!(x.len() == dim, "a model of {dim} features got an action with {}", x.len());
        let Solved { set, condition, .. } = &*self.solved;
        let moved = crate::linalg::dot(x, &set.centre);
        let weight = times as f64 * self.prior.link.variance(self.prior.offset + moved);
        if self.design.is_empty() {
            self.design.start(&set.inverse, *condition);
        }
        self.design.count(self.isa, x, weight);
        self.moved += 1;
    }
}

/// How many more rewards a refit waits for, with `fitted` in the last one.
fn patience(fitted: u64) -> u64 {
    1 + fitted / 200
}

impl Estimator for Glm {
    fn score_into(&self, actions: Actions<'_>, out: &mut Scores) {
        let (dim, found) = (self.dim(), actions.dim());
        assert!(dim == found, "a model of {dim} features was asked about actions with {found}");
        out.isa = self.isa;
        out.resize(actions.len());
        let LikelihoodSet { centre, inverse, .. } = &self.solved.set;
        self.isa.rebuild(actions.blocks(), centre, inverse, &mut out.mean, &mut out.width_sq);
    }

    fn update(&mut self, action: Action<'_>, reward: f64) {
        if let Err(refused) = self.check_reward(reward) {
            panic!("{refused}");
        }
        self.follow(action.features(), 1);
        self.since.push(self.prior.share(reward));
        self.since_rows.extend_from_slice(action.features());
        if self.since.len() as u64 >= patience(self.fitted.outcomes()) {
            self.refit();
        }
    }

    fn count(&mut self, action: Action<'_>) {
        self.count_row(action.features(), 1);
    }

    fn evidence(&self) -> Evidence {
        let LikelihoodSet { reach, log_det, .. } = &self.solved.set;
        let observations = self.fitted.outcomes() + self.since.len() as u64 + self.counted;
        let ridge = self.prior.ridge(self.dim());
        Evidence {
            log_det: LogDet::new(*log_det),
            own: Some(*reach),
            ..Evidence::new(observations, self.dim(), ridge, 0.0)
        }
    }

    fn in_rewards(&self, mean: f64) -> f64 {
        self.prior.curved(0.0, 0.0).mean(mean)
    }

    fn fit(&self) -> Option<Fit<'_>> {
        Some(self.fit_with(&self.solved.set.inverse, None))
    }

    fn design(&self) -> Option<Fit<'_>> {
        let Self { design, .. } = self;
        (!design.is_empty()).then(|| self.fit_with(&design.inverse, design.step()))
    }

    fn generation(&self) -> u64 {
        self.generation
    }

    fn check_reward(&self, reward: f64) -> Result<(), Misfit> {
        let (low, high) = self.prior.rewards;
        if !(low..=high).contains(&reward) {
            return Err(Misfit::RewardRange { reward, low, high });
        }
        let share = self.prior.share(reward);
        let rounded = quantise(share);
        let exact = rounded == Ok(share);
        match self.prior.link {
            // Nothing covers the rounding of a count.
            Link::Poisson if !exact => Err(Misfit::Count { reward }),
            // The budget covers that of a share, but has to see that it is neither a yes nor a no.
            Link::Logistic if !exact && (rounded == Ok(0.0) || rounded == Ok(1.0)) => {
                Err(Misfit::NearEnd { reward, low, high })
            }
            _ => Ok(()),
        }
    }

    fn shape(&self) -> Option<Shape> {
        Some(Shape::Features { dim: self.dim() })
    }

    fn deviation(&self, theta_star: &[f64]) -> f64 {
        let Solved { set, form, .. } = &*self.solved;
        form.quadratic_form(&set.centre, &theta_star[..self.dim()]).max(0.0).sqrt()
    }
}

impl DurableModel for Glm {
    fn write(&self, out: &mut Writer) {
        out.count(self.fitted.len() as u64);
        for (row, tally) in self.fitted.iter() {
            out.numbers(&row);
            for bytes in tally.to_bytes().as_chunks::<8>().0 {
                out.count(u64::from_le_bytes(*bytes));
            }
        }
        out.count(self.since.len() as u64);
        for (row, reward) in self.since_rows.chunks_exact(self.dim()).zip(&self.since) {
            out.numbers(row);
            out.number(*reward);
        }
        out.count(self.counted);
        out.numbers(&self.design.inverse);
    }

    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        let dim = self.dim();
        let mut sums = RowSums::new(dim);
        for _ in 0..from.count("rows")? {
            let row = from.numbers("rows", dim)?;
            let mut bytes = [0; Tally::BYTES];
            for chunk in bytes.as_chunks_mut::<8>().0 {
                *chunk = from.any_number()?.to_bits().to_le_bytes();
            }
            let tally = Tally::from_bytes(&bytes).ok();
            let added = tally.is_some_and(|tally| sums.add(&row, &tally).is_ok());
            holds("rows", added)?;
        }
        let fitted = Self::from_rows(sums, self.prior);
        *self = fitted.map_err(|_refused| StateError::Number { what: "rows" })?;
        for _ in 0..from.count("since")? {
            let row = from.numbers("since", dim)?;
            let reward = from.any_number()?;
            let (low, high) = self.prior.link.reward_range();
            holds("since", self.takes(0, &row) && (low..=high).contains(&reward))?;
            self.since.push(reward);
            self.since_rows.extend(row);
        }
        let waiting = (self.since.len() as u64) < patience(self.fitted.outcomes());
        holds("since", waiting)?;
        self.counted = from.count("counted")?;
        let design = from.some_numbers("design")?;
        let needed = self.counted > 0 || !self.since.is_empty();
        let fits = if design.is_empty() { !needed } else { design.len() == dim * dim };
        holds("design", fits)?;
        // Which step led to it is not written, so no scores follow it until the next refit.
        self.design = Design::counted(design, dim);
        Ok(())
    }

    fn takes(&self, _: ActionIndex, features: &[f64]) -> bool {
        let fits = features.len() == self.dim();
        fits && features.iter().all(|x| x.abs() <= MAX_MAGNITUDE)
    }
}

#[cfg(test)]
mod laws;
