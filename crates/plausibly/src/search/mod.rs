//! Which actions need a look.
//!
//! **Lazy work only filters.** A search keeps scores of a set that is offered again, and bounds on
//! scores it has not computed. They rule actions out, with a margin for rounding ([`Fit`] states
//! it). If one action is left, it is the answer; otherwise the actions that are left are scored
//! from scratch from the model, and these scores decide. While the margin covers the rounding, a
//! choice is a function of the model, the actions, the radius and the greed, and nothing of a
//! search need be saved.
//!
//! [`Search::best`] narrows many actions to one on one of three paths, which `Search::look`
//! chooses:
//!
//! - The set is the one of the last call, and a list of its actions (`shortlist.rs`) holds the
//!   answer: scores of the listed follow the model at O(d) each, and `Search::filter` compares
//!   them.
//! - The set is another one, and a bound that costs O(d) per action (`sieve.rs`) leaves at most
//!   half of it: these go on to the scores from scratch.
//! - Otherwise scores of all actions are brought up, at O(d) each after one new reward and O(d²)
//!   after several or on another set, and `Search::filter` compares them.
//!
//! A model without a [`Fit`], and one near a singular matrix, has every action scored from scratch.
//!
//! `docs/design/walk.md` says where to change the rule, the bounds, the margin and the ties.

mod beside;
mod contest;
#[cfg(test)]
mod laws;
mod shortlist;
mod sieve;

use crate::actions::{ActionIndex, Actions, SetId};
use crate::confidence::{Bounds, Exclusion, Plausible, Reach};
use crate::explain::{Asked, Explanation};
use crate::linalg::{Aligned, Finalists};
use crate::model::{Estimator, Fit, Scores};
use contest::{Contest, Field};
use shortlist::Shortlist;
use sieve::Sieve;

/// Finds choices and plausible sets without scoring every action in every round.
///
/// A search follows the observations of one model; given another model, it starts over.
///
/// # Cost
/// On the set of the last call, after at most one new reward, O(K·d) per choice, and O(m·d) once a
/// list of m actions can hold the answer. On another set O(K·d) and O(d²) for each action that a
/// bound on its width leaves, O(K·d²) while those are many. Actions that tie with the answer are
/// scored at O(d²) each. Nothing is allocated but for lists longer than any before.
///
/// # Example
/// ```
/// use plausibly::search::Search;
/// use plausibly::{ActionSet, Estimator, Reach, Ridge};
/// let set = ActionSet::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?;
/// let (mut model, mut search) = (Ridge::new(2, 1.0)?, Search::new());
/// model.update(set.view().get(0), 0.4);
/// let reach = Reach::Ellipsoid { sqrt_beta: 1.0 };
/// assert_eq!(search.widest_plausible(&model, set.view(), reach), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    exclusion: Exclusion,
    /// Whether sieves and shortlists may be used.
    lazy: bool,
    /// The model, and the set it was last asked about.
    model: Option<u64>,
    set: Option<SetId>,
    all: Followed,
    list: Shortlist,
    sieve: Sieve,
    contest: Contest,
    few: Few,
    half_width: Vec<f64>,
    /// Positions of the actions that a filter left.
    found: Vec<usize>,
    plausible: Plausible,
    kept: Option<Kept>,
    /// Of the `few`, by what the model counts beyond its fit.
    by_design: Followed,
    finalists: Few,
}

/// The arguments of one search.
#[derive(Clone, Copy)]
struct Question<'a> {
    fit: &'a Fit<'a>,
    /// [`Fit::margin`].
    margin: f64,
    actions: Actions<'a>,
    sqrt_beta: f64,
}

/// What is sought among the actions of a set.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sought {
    /// The plausible action with the largest `greed·mean + half-width`.
    Best { greed: f64 },
    /// Every plausible action.
    Plausible,
}

/// Scores that follow observations by rank-one steps, and so can be off within [`Fit::margin`].
#[derive(Clone, Debug, Default)]
struct Followed {
    /// The number of observations they are from; `None` where there are none.
    at: Option<u64>,
    scores: Scores,
}

impl Followed {
    /// Brings the scores of the actions in these blocks up to the fit: O(d) per action from one
    /// observation before, O(d²) otherwise.
    fn bring_up(&mut self, fit: &Fit<'_>, blocks: &[f64], len: usize) {
        let before = self.at.replace(fit.observations);
        if before == self.at {
            return;
        }
        self.scores.resize(len);
        self.scores.isa = fit.isa;
        let Scores { mean, width_sq, .. } = &mut self.scores;
        match fit.step {
            Some(step) if before.is_some_and(|before| before + 1 == fit.observations) => {
                fit.isa.refresh(blocks, &step.direction, step.gain, mean, width_sq);
            }
            _ => fit.score(blocks, mean, width_sq),
        }
    }

    /// Every action of the set.
    fn field<'a>(&self, actions: Actions<'a>) -> Field<'_, 'a> {
        Field { blocks: actions.blocks(), scores: &self.scores, indices: None }
    }
}

/// Some actions of a set, in order, with scores from scratch.
#[derive(Clone, Debug, Default)]
pub struct Few {
    indices: Vec<ActionIndex>,
    blocks: Aligned,
    scores: Scores,
}

impl Few {
    /// Which actions, ascending.
    pub fn indices(&self) -> &[ActionIndex] {
        &self.indices
    }

    /// Their scores, one per action.
    pub fn scores(&self) -> &Scores {
        &self.scores
    }

    /// Scores them by another model than the one that found them.
    pub(crate) fn score_by<E: Estimator + ?Sized>(
        &self,
        model: &E,
        actions: Actions<'_>,
        out: &mut Scores,
    ) {
        let Some(fit) = model.design().or_else(|| model.fit()) else {
            // Without a linear model every action was kept.
            return model.score_into(actions, out);
        };
        out.isa = fit.isa;
        out.resize(self.indices.len());
        fit.score(self.blocks(actions), &mut out.mean, &mut out.width_sq);
    }

    /// Scores them from scratch. O(d²) per action.
    fn score(&mut self, fit: &Fit<'_>, actions: Actions<'_>) {
        if self.indices.len() < actions.len() {
            actions.gather_into(&self.indices, &mut self.blocks);
        }
        self.scores.isa = fit.isa;
        self.scores.resize(self.indices.len());
        let Self { indices, blocks, scores, .. } = self;
        let blocks = if indices.len() < actions.len() { blocks } else { actions.blocks() };
        fit.score(blocks, &mut scores.mean, &mut scores.width_sq);
    }

    /// Their features; those of the set if they are all.
    fn blocks<'a>(&'a self, actions: Actions<'a>) -> &'a [f64] {
        if self.indices.len() < actions.len() { &self.blocks } else { actions.blocks() }
    }

    fn take(&mut self, indices: impl IntoIterator<Item = ActionIndex>) {
        self.indices.clear();
        self.indices.extend(indices);
    }

    /// Keeps those in these positions, which ascend.
    fn keep(&mut self, positions: &[usize]) {
        for (to, from) in positions.iter().enumerate() {
            self.indices[to] = self.indices[*from];
        }
        self.indices.truncate(positions.len());
    }

    fn field<'a: 'b, 'b>(&'a self, actions: Actions<'b>) -> Field<'a, 'b> {
        Field { blocks: self.blocks(actions), scores: &self.scores, indices: Some(&self.indices) }
    }
}

impl Search {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self {
            exclusion: Exclusion::default(),
            lazy: true,
            model: None,
            set: None,
            all: Followed::default(),
            list: Shortlist::default(),
            sieve: Sieve::default(),
            contest: Contest::default(),
            few: Few::default(),
            half_width: Vec::new(),
            found: Vec::new(),
            plausible: Plausible::new(),
            kept: None,
            by_design: Followed::default(),
            finalists: Few::default(),
        }
    }

    /// Without sieves and shortlists: scores of every action follow every observation. The answers
    /// are the same; benchmarks compare with it.
    #[must_use]
    pub fn over_all_actions() -> Self {
        Self { lazy: false, ..Self::new() }
    }

    /// Rules actions out by this comparison; by differences unless you say otherwise.
    #[must_use]
    pub fn excluding(self, exclusion: Exclusion) -> Self {
        // A list made by differences does not hold all that intervals leave.
        Self { exclusion, list: Shortlist::default(), kept: None, ..self }
    }

    /// What rules actions out.
    pub fn exclusion(&self) -> Exclusion {
        self.exclusion
    }

    /// The plausible action with the largest width, the lowest index among equals: CODE's choice.
    ///
    /// # Panics
    /// If the actions do not fit the model, or the reach is not one for this kind of model or not
    /// positive and finite.
    pub fn widest_plausible<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        actions: Actions<'_>,
        bounds: impl Into<Bounds>,
    ) -> ActionIndex {
        self.best(model, actions, bounds, 0.0)
    }

    /// The plausible action with the largest `greed·mean + half-width`, the lowest index among
    /// equals. At greed 0 the squared width decides. At greed 1 this is the largest upper bound,
    /// which no exclusion rules out.
    ///
    /// # Panics
    /// As [`Search::widest_plausible`].
    pub fn best<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        actions: Actions<'_>,
        bounds: impl Into<Bounds>,
        greed: f64,
    ) -> ActionIndex {
        let bounds = bounds.into();
        let exclusion = if greed < 1.0 { self.exclusion } else { Exclusion::Intervals };
        let again = self.kept.is_some() && self.kept == Kept::of(model, actions.id(), bounds);
        if again && exclusion == self.exclusion {
            return self.few.indices[self.plausible.best(&self.few.scores, greed)];
        }
        match model.fit() {
            Some(fit) if can_filter(model, bounds) => {
                self.narrow(&fit, actions, bounds.reach, Sought::Best { greed }, exclusion);
                if let [only] = self.few.indices[..] {
                    return only;
                }
                self.few.score(&fit, actions);
            }
            _ => self.score_all(model, actions),
        }
        self.assess(model, actions, bounds, exclusion);
        self.few.indices[self.plausible.best(&self.few.scores, greed)]
    }

    /// Every action that could still be best, and perhaps some that could not, scored from scratch;
    /// and which of them could.
    ///
    /// # Panics
    /// As [`Search::widest_plausible`].
    pub fn plausible<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        actions: Actions<'_>,
        bounds: impl Into<Bounds>,
    ) -> (&Few, &Plausible) {
        let bounds = bounds.into();
        let asked = Kept::of(model, actions.id(), bounds);
        if asked.is_some() && self.kept == asked {
            return (&self.few, &self.plausible);
        }
        match model.fit() {
            Some(fit) if can_filter(model, bounds) => {
                self.narrow(&fit, actions, bounds.reach, Sought::Plausible, self.exclusion);
                self.few.score(&fit, actions);
            }
            _ => self.score_all(model, actions),
        }
        self.assess(model, actions, bounds, self.exclusion);
        self.kept = asked;
        self.by_design.at = None;
        if let (Some(fit), None) = (model.fit(), model.design()) {
            // Both are the same at this time.
            let Scores { isa, mean, width_sq } = &self.few.scores;
            let Followed { at, scores } = &mut self.by_design;
            *at = Some(fit.observations);
            scores.resize(mean.len());
            scores.isa = *isa;
            scores.mean.copy_from_slice(mean);
            scores.width_sq.copy_from_slice(width_sq);
        }
        (&self.few, &self.plausible)
    }

    /// Takes over what an explanation of this model said, so that the same question need not be
    /// answered again: all of it where [`Kept`] can tell that the question is the same, else what
    /// was judged by sums, which is compared with the sums when it is used.
    pub(crate) fn recall<E: Estimator + ?Sized>(&mut self, model: &E, explained: &Explanation) {
        let Some(Asked { set, exclusion, bounds }) = explained.asked() else { return };
        if exclusion != self.exclusion {
            return;
        }
        let (scores, plausible) = explained.answered();
        self.look_at(0..scores.mean.len());
        self.few.scores.clone_from(scores);
        self.plausible.clone_from(plausible);
        self.by_design.at = None;
        self.kept = Kept::of(model, set, bounds);
    }

    /// CODE's choice for a model that refits only from time to time: the plausible action with the
    /// largest gain by the model's design, the lowest index among equals. The plausible set is kept
    /// while set, reach and refit stay the same; only widths follow the design.
    pub(crate) fn widest_by_design<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        actions: Actions<'_>,
        bounds: Bounds,
    ) -> ActionIndex {
        self.plausible(model, actions, bounds);
        let Self { few, plausible, by_design, finalists, found, .. } = self;
        let Some(design) = model.design() else {
            return few.indices[plausible.widest(&few.scores)];
        };
        by_design.bring_up(&design, few.blocks(actions), few.indices.len());
        let off = if design.step.is_some() { design.margin.unwrap_or(0.0) } else { 0.0 };
        plausible.widest_within(&by_design.scores.width_sq, off, found);
        if let [only] = found[..] {
            return few.indices[only];
        }
        finalists.take(found.iter().map(|position| few.indices[*position]));
        finalists.score(&design, actions);
        let widths = finalists.scores.width_sq.iter().zip(&*found);
        let gains = widths.map(|(width_sq, position)| plausible.gain_of(*width_sq, *position));
        let first =
            |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 { next } else { best };
        let best = gains.enumerate().reduce(first).expect("a plausible set is never empty");
        finalists.indices[best.0]
    }

    /// Like [`Search::plausible`], with scores that follow observations: off by the margin of the
    /// model, a share of 1e-6 unless it is badly conditioned, at O(d) per action. For what is
    /// measured, not for what is decided. `None` stands for all actions.
    ///
    /// # Panics
    /// As [`Search::widest_plausible`].
    pub fn plausible_nearly<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        actions: Actions<'_>,
        bounds: impl Into<Bounds>,
    ) -> (Option<&[ActionIndex]>, &Scores, &Plausible) {
        let bounds @ Bounds { reach, .. } = bounds.into();
        let Some(fit) = model.fit().filter(|_| can_filter(model, bounds)) else {
            self.score_all(model, actions);
            self.assess(model, actions, bounds, self.exclusion);
            return (None, &self.few.scores, &self.plausible);
        };
        let looked = self.look(&fit, actions, reach, Sought::Plausible);
        let field = match looked {
            Looked::Left => {
                self.few.score(&fit, actions);
                self.few.field(actions)
            }
            Looked::Listed => {
                self.list.follow(&fit);
                self.list.field()
            }
            Looked::All => self.all.field(actions),
        };
        self.plausible.assess(field.scores, reach);
        if self.exclusion == Exclusion::Differences {
            let sqrt_beta = reach.ellipsoid();
            let ask = Question { fit: &fit, margin: 0.0, actions, sqrt_beta };
            self.plausible.take_slack(self.contest.slack_nearly(&ask, &field));
        }
        (field.indices, field.scores, &self.plausible)
    }

    /// Of these actions, ruled out or not, the one with the largest `greed·mean + half-width`, the
    /// first among equals; `among` ascends.
    pub(crate) fn best_among<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        actions: Actions<'_>,
        bounds: Bounds,
        greed: f64,
        among: &[ActionIndex],
    ) -> Option<ActionIndex> {
        match model.fit() {
            Some(fit) if can_filter(model, bounds) => {
                self.look_at(among.iter().copied());
                self.few.score(&fit, actions);
            }
            _ => self.score_all(model, actions),
        }
        self.assess(model, actions, bounds, Exclusion::Intervals);
        let Self { few: Few { indices, scores, .. }, plausible, .. } = self;
        let (middle, half) = (plausible.middle(scores), plausible.half_widths());
        let open = plausible.is_open();
        let value =
            |at: usize| if open { scores.width_sq[at] } else { greed * middle[at] + half[at] };
        let allowed = (0..indices.len()).filter(|at| among.binary_search(&indices[*at]).is_ok());
        let better = |best: usize, next| if value(next) > value(best) { next } else { best };
        allowed.reduce(better).map(|at| indices[at])
    }

    /// The squared width of one action, from scratch.
    pub(crate) fn width_sq<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        actions: Actions<'_>,
        action: ActionIndex,
    ) -> f64 {
        let Self { finalists, .. } = self;
        let Some(fit) = model.design().or_else(|| model.fit()) else {
            model.score_into(actions, &mut finalists.scores);
            return finalists.scores.width_sq[action];
        };
        finalists.take([action]);
        finalists.score(&fit, actions);
        finalists.scores.width_sq[0]
    }

    /// Takes these actions in place of those of the last answer, whatever that was.
    fn look_at(&mut self, actions: impl IntoIterator<Item = ActionIndex>) {
        self.kept = None;
        self.few.take(actions);
    }

    fn score_all<E: Estimator + ?Sized>(&mut self, model: &E, actions: Actions<'_>) {
        self.look_at(0..actions.len());
        match model.fit() {
            Some(fit) => self.few.score(&fit, actions),
            None => model.score_into(actions, &mut self.few.scores),
        }
    }

    /// Which of the few could still be best, by their scores from scratch.
    fn assess<E: Estimator + ?Sized>(
        &mut self,
        model: &E,
        actions: Actions<'_>,
        bounds: Bounds,
        exclusion: Exclusion,
    ) {
        let Self { few, plausible, .. } = self;
        plausible.judge(exclusion, model, few.blocks(actions), &few.scores, bounds);
    }

    /// Leaves in `few` the actions among which the answer is.
    #[inline]
    fn narrow(
        &mut self,
        fit: &Fit<'_>,
        actions: Actions<'_>,
        reach: Reach,
        sought: Sought,
        exclusion: Exclusion,
    ) {
        let looked = self.look(fit, actions, reach, sought);
        let Self { all, list, few, contest, half_width, found, .. } = self;
        let Some(margin) = fit.margin else { return };
        if let (Looked::Listed, [only]) = (looked, list.indices()) {
            return few.take([*only]);
        }
        // With an estimate of zero no action is ahead of another.
        let by_differences = exclusion == Exclusion::Differences && fit.length() > 0.0;
        let ask = Question { fit, margin, actions, sqrt_beta: reach.ellipsoid() };
        let field = match looked {
            Looked::Left if !by_differences => return,
            Looked::Left => {
                few.score(fit, actions);
                few.field(actions)
            }
            Looked::Listed => {
                list.follow(fit);
                if by_differences && list.filter(&ask, sought, found) {
                    return few.take(found.iter().map(|position| list.indices()[*position]));
                }
                list.field()
            }
            Looked::All => all.field(actions),
        };
        if by_differences {
            contest.filter(&ask, &field, sought, found);
        } else {
            filter_by_intervals(&ask, &field, sought, half_width, found);
        }
        match looked {
            Looked::Left => few.keep(found),
            Looked::Listed => few.take(found.iter().map(|position| list.indices()[*position])),
            Looked::All => few.take(found.iter().copied()),
        }
    }

    /// Brings up the scores that the answer can be found by, the shortest way there is.
    #[inline]
    fn look(
        &mut self,
        fit: &Fit<'_>,
        actions: Actions<'_>,
        reach: Reach,
        sought: Sought,
    ) -> Looked {
        let (dim, found) = (fit.theta_hat.len(), actions.dim());
        assert!(dim == found, "a model of {dim} features was asked about actions with {found}");
        let sqrt_beta = reach.ellipsoid();
        crate::confidence::assert_radius(sqrt_beta);
        self.kept = None;
        if self.model != Some(fit.lineage) {
            let Self { exclusion, lazy, .. } = *self;
            *self = Self { exclusion, lazy, model: Some(fit.lineage), ..Self::new() };
        }
        let again = self.set.replace(actions.id()) == Some(actions.id());
        let Some(margin) = fit.margin else {
            // Nothing kept or bounded can be relied on.
            self.set = None;
            self.few.take(0..actions.len());
            return Looked::Left;
        };
        if !again {
            (self.all.at, self.list) = (None, Shortlist::default());
        }
        if self.lazy {
            let Self { all, list, sieve, few, found, .. } = self;
            let found = (self.exclusion == Exclusion::Differences).then_some(found);
            let ask = Question { fit, margin, actions, sqrt_beta };
            if again && list.bring_up(&ask, all, found) {
                return Looked::Listed;
            }
            if !again && sieve.sift(&ask, sought, &mut few.indices) {
                return Looked::Left;
            }
        }
        self.all.bring_up(fit, actions.blocks(), actions.len());
        Looked::All
    }
}

/// Whether bounds on scores can rule actions out. Pairs judge every action by what it has paid, and
/// an open set rules nothing out; then every action is scored.
fn can_filter<E: Estimator + ?Sized>(model: &E, Bounds { reach, pairs }: Bounds) -> bool {
    reach.doubt().is_none() && (pairs.is_none() || model.tallies().is_none())
}

/// Leaves in `found` the positions of the actions whose scores are within the margin of the answer
/// by intervals.
fn filter_by_intervals(
    ask: &Question<'_>,
    field: &Field<'_, '_>,
    sought: Sought,
    half_width: &mut Vec<f64>,
    found: &mut Vec<usize>,
) {
    let Question { fit, margin, sqrt_beta, .. } = *ask;
    // Squared widths are off by a share of themselves, and means by a share of `‖θ̂‖_V` times the
    // width.
    let relative = fit.length() / sqrt_beta;
    let greed = if let Sought::Best { greed } = sought { Some(greed) } else { None };
    let sought = Finalists {
        sqrt_beta,
        pad: margin * (1.0 + relative),
        greed,
        value_pad: margin * (1.0 + greed.unwrap_or(0.0) * relative),
    };
    let Scores { isa, mean, width_sq } = field.scores;
    isa.finalists(mean, width_sq, sought, half_width, found);
}

/// What the plausible set at hand is the answer for: a model that refits only from time to time
/// is asked the same question many times, and one that was explained is asked it again.
#[derive(Clone, Debug, PartialEq)]
struct Kept {
    lineage: u64,
    generation: u64,
    observations: u64,
    set: SetId,
    bounds: Bounds,
}

impl Kept {
    /// `None` where pairs are judged by what each action has paid, which the fit of a model does
    /// not tell.
    fn of<E: Estimator + ?Sized>(model: &E, set: SetId, bounds: Bounds) -> Option<Self> {
        if bounds.pairs.is_some() {
            return None;
        }
        let Fit { lineage, observations, .. } = model.fit()?;
        // Rewards change a model on a curved scale only when it makes its set again.
        let refits = matches!(bounds.reach, Reach::Curved(_));
        let observations = if refits { 0 } else { observations };
        Some(Self { lineage, generation: model.generation(), observations, set, bounds })
    }
}

/// Where the answer is.
#[derive(Clone, Copy)]
enum Looked {
    /// Among the actions in `few`, which have no scores yet.
    Left,
    /// On the list.
    Listed,
    /// Anywhere, with scores of all brought up.
    All,
}

impl Default for Search {
    fn default() -> Self {
        Self::new()
    }
}
