//! What the set of a generalised linear model needs beside the sums: what each row of features has
//! paid, the precision of its prior, and the point that it is made at.

use super::basis::Basis;
use super::findings::{BudgetFinding, LikelihoodFinding};
use super::numbers::Numbers;
use super::rule_out::{ByPair, Differences, RuleOut, closest, first};
use super::{Grounds, GroundsError, misfit, require};
use plausibly::spec::{Model, RadiusSpec};
use plausibly::{Budget, Curved, Glm, GlmPrior, Reach, RowSums, RowSumsError, Tabled, Tally};
use serde::{Deserialize, Serialize};

/// Steps of the grid of rewards in one unit.
const STEPS: f64 = (1_u64 << 24) as f64;
/// Points are multiples of 2⁻³⁰.
const POINT_STEPS: f64 = (1_u64 << 30) as f64;
/// No entry of a point is farther out, so that nothing overflows.
const FARTHEST: f64 = 1e60;

/// What the set of a generalised linear model needs beside the sums.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GlmGrounds {
    /// λ, the precision of the prior, fixed by the features that the log began with.
    pub precision: f64,
    /// θ₀, where the set is made: by the rule, the point of largest posterior density in multiples
    /// of 2⁻³⁰. The set is valid at any other point too.
    pub point: Vec<f64>,
    /// What each row of features has paid that was ever taken, in the order of their features.
    pub rows: Vec<PaidRow>,
}

/// What a row of features has paid, in shares of the range of rewards.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PaidRow {
    /// The features.
    pub features: Vec<f64>,
    /// The number of its outcomes.
    pub plays: u64,
    /// Their sum: how many were yes, where each is yes or no.
    pub paid: f64,
    /// The sum of their squares, which is the same where each is yes or no.
    pub squares: f64,
    /// The number of its pending decisions.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub pending: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl PaidRow {
    /// The exact sums; `None` if no rewards from 0 to 1 have them.
    fn tally(&self) -> Option<Tally> {
        let whole = |value: f64| {
            // Up to 2¹⁰⁷, far within the integer.
            #[expect(clippy::cast_possible_truncation, reason = "whole numbers are checked")]
            (value >= 0.0 && value.fract() == 0.0 && value < 1e33).then_some(value as i128)
        };
        let (sum, squares) = (whole(self.paid * STEPS)?, whole(self.squares * STEPS * STEPS)?);
        // Rewards from 0 to 1 are at least their squares.
        let fits = sum <= i128::from(self.plays) << 24 && squares <= sum << 24;
        Tally::from_sums(self.plays, sum, squares).ok().filter(|_| fits)
    }
}

impl GlmGrounds {
    /// The grounds of these sums and pending decisions, without a point.
    pub(crate) fn of(precision: f64, settled: &RowSums, pending: &RowSums) -> Self {
        let mut all = settled.clone();
        // Each pending decision as an outcome of zero, to find its place.
        let merged = all.merge(pending);
        merged.expect("sums of a log have room for its pending decisions");
        let (mut paid, mut waiting) = (settled.iter().peekable(), pending.iter().peekable());
        let rows = all.iter().map(|(features, _)| {
            let (_, own) = paid.next_if(|(row, _)| *row == features).unzip();
            let (_, open) = waiting.next_if(|(row, _)| *row == features).unzip();
            let own = own.copied().unwrap_or_default();
            PaidRow {
                features,
                plays: own.count(),
                paid: own.reward_sum(),
                squares: own.reward_squares(),
                pending: open.map_or(0, Tally::count),
            }
        });
        let rows = rows.collect();
        Self { precision, point: vec![0.0; settled.dim()], rows }
    }

    fn sums(&self, dim: usize) -> Result<RowSums, GroundsError> {
        let mut sums = RowSums::new(dim);
        for (at, row) in self.rows.iter().enumerate().filter(|(_, row)| row.plays > 0) {
            let path = format!("glm.rows[{at}]");
            let what = "must have sums that rewards in the range can have";
            let tally = row.tally().ok_or_else(|| misfit(&path, what))?;
            let refused = |error: RowSumsError| misfit(&path, error);
            sums.add(&row.features, &tally).map_err(refused)?;
        }
        Ok(sums)
    }
}

impl Basis {
    /// What the generalised linear model of this radius is told before the first reward.
    fn glm_prior(&self, radius: &RadiusSpec) -> Result<GlmPrior, GroundsError> {
        let precision = self.glm.as_ref().map(|glm| glm.precision);
        let own = bounded(radius, self.terms.theta_norm_bound, self.terms.as_given);
        let own = own.ok_or_else(|| misfit("policy.radius.theta_norm_bound", UNBOUNDED))?;
        let prior = own.glm_prior(&self.facts())?;
        let prior = prior.ok_or_else(|| misfit("policy.radius", "has no such model"))?;
        let prior = GlmPrior { precision, ..prior };
        prior.check()?;
        Ok(prior)
    }

    /// The model that also counts the pending decisions.
    pub(super) fn glm_counted(&self, settled: &Glm) -> Model {
        let mut counted = settled.clone();
        let rows = self.glm.iter().flat_map(|glm| &glm.rows);
        for row in rows.filter(|row| row.pending > 0) {
            counted.count_row(&row.features, row.pending);
        }
        Model::Glm(Box::new(counted))
    }

    /// The model of the settled decisions at the point of the basis.
    pub(super) fn glm_settled(&self, radius: &RadiusSpec) -> Result<Model, GroundsError> {
        let own = GlmGrounds::default();
        let glm = self.glm.as_ref().unwrap_or(&own);
        let prior = self.glm_prior(radius)?;
        let model = Glm::from_rows_at(glm.sums(self.dim())?, prior, &glm.point)?;
        if self.earned.is_empty() {
            return Ok(Model::Glm(Box::new(model)));
        }
        let tabled = Tabled::from_statistics(model, &self.earnings(), self.whole(0));
        Ok(Model::GlmTable(Box::new(tabled)))
    }

    /// Finds where the set is made by the rule, if there is one. Sums that no model can have keep a
    /// point of zeros, and their findings say what is wrong.
    pub(crate) fn aim(&mut self) {
        let found = self.best_point().ok().flatten();
        if let (Some(glm), Some(point)) = (&mut self.glm, found) {
            glm.point = point;
        }
    }

    fn best_point(&self) -> Result<Option<Vec<f64>>, GroundsError> {
        let Some(glm) = &self.glm else { return Ok(None) };
        let prior = self.glm_prior(&self.terms.shown())?;
        let best = Glm::from_rows(glm.sums(self.dim())?, prior)?;
        Ok(Some(best.point().to_vec()))
    }
}

impl Grounds {
    /// Whether the policy decides by a generalised linear model.
    pub(crate) fn is_glm(&self) -> bool {
        let radius = self.policy.get("radius");
        radius.is_some_and(|radius| radius["kind"] == "logistic")
    }

    /// Checks what belongs to a generalised linear model: it is there exactly if the policy has
    /// one.
    pub(super) fn check_glm(&self) -> Result<(), GroundsError> {
        let what = "must be set for the radius logistic, and only for it";
        let expected = self.format >= 2 && self.is_glm();
        require(expected == self.glm.is_some(), "glm", what)?;
        let Some(GlmGrounds { precision, point, rows }) = &self.glm else { return Ok(()) };
        require((1e-100..=1e100).contains(precision), "glm.precision", "must be positive")?;
        let on_grid = |entry: &f64| entry.abs() <= FARTHEST && (entry * POINT_STEPS).fract() == 0.0;
        let what = "must have a multiple of 2⁻³⁰ for each feature";
        require(point.len() == self.dim() && point.iter().all(on_grid), "glm.point", what)?;
        let sized = |row: &PaidRow| row.features.len() == self.dim();
        let what = "must have a value for each feature, each a multiple of 2⁻²⁴";
        let quantised = |row: &PaidRow| {
            let kept =
                |x: &f64| plausibly::quantise(*x).is_ok_and(|own| own.to_bits() == x.to_bits());
            sized(row) && row.features.iter().all(kept)
        };
        require(rows.iter().all(quantised), "glm.rows", what)?;
        let ascending = rows.windows(2).all(|pair| pair[0].features < pair[1].features);
        require(ascending, "glm.rows", "must be in the order of their features, each once")?;
        let taken = rows.iter().all(|row| row.plays > 0 || row.pending > 0);
        let unpaid = |row: &PaidRow| row.plays > 0 || row.paid == 0.0 && row.squares == 0.0;
        let what = "must have an outcome or a pending decision, and sums only with outcomes";
        require(taken && rows.iter().all(unpaid), "glm.rows", what)?;
        let sum = |count: fn(&PaidRow) -> u64| {
            rows.iter().try_fold(0_u64, |all, row| all.checked_add(count(row)))
        };
        let settled = self.statistics.observations;
        let what = "must have the outcomes of the statistics";
        require(sum(|row| row.plays) == Some(settled), "glm.rows", what)?;
        let pending =
            self.design.as_ref().map_or(0, |all| all.observations.saturating_sub(settled));
        let what = "must have the pending decisions of the design";
        require(sum(|row| row.pending) == Some(pending), "glm.rows", what)?;
        let what = "must be zero: without outcomes, no point is better";
        let zero = point.iter().all(|entry| entry.to_bits() == 0);
        require(settled > 0 || zero, "glm.point", what)
    }
}

const UNBOUNDED: &str = "must be set: vectors as given imply no bound on how far their odds can be \
                         from the usual ones";

/// The radius with a bound on the weights of a generalised linear model. For rewards scaled to a
/// length of one, `theta_norm_bound` holds for a mean at most ½ from the middle in every
/// combination of values; so for logarithms of odds at most `log F` from the usual ones it is
/// `2·log F` times as large. `None` for vectors as given that declare none.
pub(crate) fn bounded(
    radius: &RadiusSpec,
    theta_norm_bound: f64,
    as_given: bool,
) -> Option<RadiusSpec> {
    let from_columns = || 2.0 * theta_norm_bound * libm::log(radius.factor());
    let own = radius.theta_norm_bound.or_else(|| (!as_given).then(from_columns))?;
    Some(RadiusSpec { theta_norm_bound: Some(own), ..*radius })
}

impl Numbers {
    fn glm(&self) -> Option<&Glm> {
        match &self.known.model {
            Model::Glm(model) => Some(model),
            Model::GlmTable(model) => Some(model.model()),
            _ => None,
        }
    }

    /// `⟨a, θ̃⟩` of the action at this place, under a generalised linear model.
    pub(super) fn moved(&self, at: usize) -> Option<f64> {
        let features = self.basis.features(at);
        let centre = self.glm()?.theta_hat();
        Some(features.iter().zip(centre).fold(0.0, |sum, (x, y)| sum + x * y))
    }

    /// The estimate of the action at this place, on the scale of the statistics.
    pub(super) fn estimate(&self, at: usize) -> f64 {
        let own = self.known.explanation.intervals()[at].mean;
        match (self.glm(), self.moved(at), self.reach()) {
            // Where nothing is ruled out an explanation shows the estimate on the model's scale.
            (Some(model), Some(moved), Reach::Open(_)) => {
                let prior = model.prior();
                let (low, high) = prior.rewards;
                low + (high - low) * prior.link.mean(prior.offset + moved)
            }
            _ => own,
        }
    }

    pub(super) fn likelihood(&self) -> Option<LikelihoodFinding> {
        let model = self.glm()?;
        let (prior, budget) = (model.prior(), model.budget());
        let Budget { confidence, evidence, distance, rounding } = budget;
        Some(LikelihoodFinding {
            offset: prior.offset,
            theta_norm_bound: prior.theta_norm_bound,
            delta: prior.delta,
            budget: BudgetFinding { confidence, evidence, distance, rounding },
            leaning: self.known.explanation.leaning(),
        })
    }

    /// What would rule an action out under a generalised linear model: on the scale on which it is
    /// linear, in rewards where it says how far the estimate would have to fall.
    pub(super) fn by_curve(&self, action: usize, curved: Curved) -> RuleOut {
        let moved = |at: usize| self.moved(at).unwrap_or(0.0);
        let width_sq = |at: usize| self.known.explanation.width_sq()[at];
        let half = |width_sq: f64, more: f64| {
            (curved.radius * curved.radius + more).sqrt() * width_sq.sqrt()
        };
        let (own, own_sq, weight) =
            (moved(action), width_sq(action), curved.variance(moved(action)));
        // Further outcomes narrow the action itself, and what it has in common with a rival; the
        // evidence that they add costs the set as much as it costs that of a linear model.
        let gained = |outcomes: u64| {
            let n = outcomes as f64 * weight;
            (n / (1.0 + n * own_sq), libm::log1p(n * own_sq))
        };
        let by_pair = ByPair::of(self, action);
        let decided = |outcomes| by_pair.as_ref().is_some_and(|pair| pair.decides_after(outcomes));
        let (slack, observations) = if let Some(differences) = Differences::of(self, action) {
            let Some((rival, slack)) = closest(&differences) else {
                return RuleOut { shift: None, observations: None };
            };
            let (apart, along) = (differences.apart(rival), differences.along(rival));
            let gap = differences.gap(rival);
            let out = |outcomes| {
                let (known, more) = gained(outcomes);
                let left = (apart - along * along * known).max(0.0);
                gap > half(left, more) || decided(outcomes)
            };
            (slack, first(out))
        } else {
            let rivals = (0..self.basis.ids.len()).filter(|at| *at != action);
            let lower = rivals.map(|at| moved(at) - half(width_sq(at), 0.0));
            let best = lower.fold(f64::NEG_INFINITY, f64::max);
            let out = |outcomes| {
                let (known, more) = gained(outcomes);
                own + half((own_sq - own_sq * own_sq * known).max(0.0), more) < best
                    || decided(outcomes)
            };
            (own + half(own_sq, 0.0) - best, first(out))
        };
        let fallen = curved.mean(own) - curved.mean(own - slack.max(0.0));
        let shift = Some(self.basis.terms.range() * fallen)
            .filter(|by| slack.is_finite() && by.is_finite());
        RuleOut { shift, observations }
    }
}
