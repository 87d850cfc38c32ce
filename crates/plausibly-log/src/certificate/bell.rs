//! What the set of the radius `bell` needs beside the sums: coordinates that were fixed when the
//! log began, and different outcomes.

use super::basis::Basis;
use super::{Earned, Grounds, GroundsError, Sums, require};
use plausibly::spec::{Model, RadiusSpec};
use plausibly::{BellArms, BellPrior, BellRidge, BellSums, Earnings, RidgeError, Tabled};
use serde::{Deserialize, Serialize};

/// Outcomes with this number of different values are measurements.
pub(crate) const ENOUGH_VALUES: usize = 5;

/// What the set of the radius `bell` needs beside the sums.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BellGrounds {
    /// The first outcomes of different value, on the scale of the statistics; at most five.
    pub values: Vec<f64>,
    /// `P` on the span of the first set, row by row; with a context, all of it. For actions with
    /// features.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inside: Vec<Vec<f64>>,
    /// `P` outside that span, row by row; for actions with features and without context.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub outside: Vec<Vec<f64>>,
    /// The bound on `θ*ᵀ·P·θ*`, with a context.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub length_sq: Option<f64>,
    /// What every arm has paid that has outcomes, also those not on offer, in the order of their
    /// numbers.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub arms: Vec<PaidArm>,
}

/// What an arm has paid, on the scale of the statistics.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct PaidArm {
    /// Its number in the log.
    pub id: u64,
    /// The number of its outcomes.
    pub plays: u64,
    /// Their sum.
    pub paid: f64,
    /// The sum of their squares.
    pub squares: f64,
}

impl PaidArm {
    pub(crate) fn of(id: u64, Earned { plays, paid, squares }: Earned) -> Self {
        Self { id, plays, paid, squares }
    }
}

/// Further outcomes of one action: its place, how many, and what each of them is.
#[derive(Clone, Copy)]
pub(super) struct More {
    pub(super) action: usize,
    pub(super) outcomes: u64,
    pub(super) mean: f64,
    /// The variance around the mean.
    pub(super) scatter: f64,
}

impl Sums {
    /// What the arm at this place has paid.
    fn paid_by(&self, at: usize) -> Earned {
        Earned { plays: self.plays[at], paid: self.moment[at], squares: self.squares[at] }
    }

    /// What the listed arms have paid.
    fn tallies(&self) -> Vec<Earnings> {
        let arms = (0..self.plays.len()).map(|at| self.paid_by(at));
        arms.map(|Earned { plays: count, paid: total, squares }| Earnings { count, total, squares })
            .collect()
    }
}

impl Basis {
    /// The model of the settled decisions under the radius `bell`.
    pub(super) fn bell_settled(&self, radius: &RadiusSpec) -> Result<Model, RidgeError> {
        if self.dim() == 0 {
            let arms = self.bell.as_ref().map_or(&[][..], |bell| &bell.arms);
            return Ok(Model::BellArms(Box::new(self.bell_arms(radius, &self.statistics, arms))));
        }
        Ok(self.with_earned(self.bell_ridge(radius, &self.statistics)?))
    }

    /// The model that also counts the pending decisions, which have these sums.
    pub(super) fn bell_counted(
        &self,
        radius: &RadiusSpec,
        sums: &Sums,
        settled: &Model,
    ) -> Result<Model, RidgeError> {
        let Model::BellArms(arms) = settled else {
            return Ok(Model::Bell(Box::new(self.bell_ridge(radius, sums)?)));
        };
        let counted = arms.model().clone().counting(&sums.plays);
        let offered = self.statistics.tallies();
        let tabled = Tabled::from_statistics(counted, &offered, self.whole(0));
        Ok(Model::BellArms(Box::new(tabled)))
    }

    /// As if an action had more outcomes.
    pub(super) fn bell_after(&self, radius: &RadiusSpec, more: More) -> Result<Model, RidgeError> {
        let More { action, outcomes, mean, scatter } = more;
        let n = outcomes as f64;
        let mut sums = Sums::clone(&self.statistics);
        sums.observations += outcomes;
        let squares = n * (mean * mean + scatter);
        if self.dim() == 0 {
            sums.plays[action] += outcomes;
            sums.moment[action] += n * mean;
            sums.squares[action] += squares;
            let id = self.ids[action];
            let own = PaidArm::of(id, sums.paid_by(action));
            let arms = self.bell.iter().flat_map(|bell| &bell.arms);
            let arms: Vec<PaidArm> =
                arms.map(|arm| if arm.id == id { own } else { *arm }).collect();
            return Ok(Model::BellArms(Box::new(self.bell_arms(radius, &sums, &arms))));
        }
        let x = self.features(action);
        for (row, x_i) in sums.gram.iter_mut().zip(x) {
            for (entry, x_j) in row.iter_mut().zip(x) {
                *entry += n * (x_i * x_j);
            }
        }
        for (entry, x_i) in sums.moment.iter_mut().zip(x) {
            *entry += n * mean * x_i;
        }
        for entry in &mut sums.squares {
            *entry += squares;
        }
        Ok(Model::Bell(Box::new(self.bell_ridge(radius, &sums)?)))
    }

    /// The variance of outcomes around their averages, nearly.
    pub(super) fn bell_scatter(&self, model: &Model) -> f64 {
        let left = match model {
            Model::Bell(model) => model.residual(),
            Model::BellTable(model) => model.model().residual(),
            _ => {
                let around = |arm: &Earnings| arm.squares - arm.total * arm.mean();
                self.statistics.tallies().iter().map(around).sum()
            }
        };
        left.max(0.0) / self.statistics.observations.max(1) as f64
    }

    fn with_earned(&self, model: BellRidge) -> Model {
        if self.earned.is_empty() {
            return Model::Bell(Box::new(model));
        }
        let tabled = Tabled::from_statistics(model, &self.earnings(), self.whole(0));
        Model::BellTable(Box::new(tabled))
    }

    /// How far each reward may be off by rounding.
    fn rounding_error(&self) -> f64 {
        plausibly::rounding_error(self.dim(), self.terms.theta_norm_bound)
    }

    fn bell_ridge(&self, radius: &RadiusSpec, sums: &Sums) -> Result<BellRidge, RidgeError> {
        let own = BellGrounds::default();
        let bell = self.bell.as_ref().unwrap_or(&own);
        let (inside, outside) = (bell.inside.concat(), bell.outside.concat());
        let prior = BellPrior::from_parts(self.dim(), &inside, &outside, bell.length_sq)?;
        let sums = BellSums {
            observations: sums.observations,
            gram: &sums.gram.concat(),
            moment: &sums.moment,
            squares: sums.squares.first().copied().unwrap_or(0.0),
            values: &bell.values,
            error: self.rounding_error(),
        };
        BellRidge::from_statistics(prior, radius.set_delta(&self.facts()), sums)
    }

    fn bell_arms(&self, radius: &RadiusSpec, sums: &Sums, arms: &[PaidArm]) -> Tabled<BellArms> {
        let every: Vec<Earnings> = arms
            .iter()
            .map(|arm| Earnings { count: arm.plays, total: arm.paid, squares: arm.squares })
            .collect();
        let (offered, delta) = (sums.tallies(), radius.set_delta(&self.facts()));
        let values = self.bell.as_ref().map_or(&[][..], |bell| &bell.values);
        let error = plausibly::rounding_error(0, 0.0);
        let model = BellArms::from_statistics(delta, &offered, &every, values, error);
        Tabled::from_statistics(model, &offered, self.whole(0))
    }
}

impl Grounds {
    /// Whether the policy has the radius `bell`.
    pub(crate) fn is_bell(&self) -> bool {
        let radius = self.policy.get("radius");
        radius.is_some_and(|radius| radius.get("kind").is_some_and(|kind| kind == "bell"))
    }

    /// Checks what belongs to the radius `bell`: it is there exactly if the policy has that radius.
    pub(super) fn check_bell(&self) -> Result<(), GroundsError> {
        let expected = self.format >= 2 && self.is_bell();
        let what = "must be set for the radius bell, and only for it";
        require(expected == self.bell.is_some(), "bell", what)?;
        let Some(bell) = &self.bell else { return Ok(()) };
        let BellGrounds { values, inside, outside, length_sq, arms } = bell;
        let outcomes = self.statistics.observations;
        let distinct = values.iter().enumerate().all(|(at, value)| {
            value.is_finite() && values[..at].iter().all(|seen| seen.to_bits() != value.to_bits())
        });
        let fits = distinct && values.len() <= ENOUGH_VALUES && values.len() as u64 <= outcomes;
        let what = "must be outcomes of different value, at most five, and no more than there are";
        require(fits && (outcomes == 0 || !values.is_empty()), "bell.values", what)?;
        let square = |matrix: &[Vec<f64>]| {
            matrix.len() == self.dim() && matrix.iter().all(|row| row.len() == self.dim())
        };
        let what = "must be square matrices with a row for each feature; bell.outside and \
                    bell.length_sq exclude each other, and arms have neither";
        let shaped = match length_sq {
            None if self.dim() == 0 => inside.is_empty() && outside.is_empty(),
            None => square(inside) && square(outside),
            Some(bound) => {
                let positive = bound.is_finite() && *bound > 0.0;
                self.dim() > 0 && positive && square(inside) && outside.is_empty()
            }
        };
        require(shaped, "bell.inside", what)?;
        let what = "must be the arms with outcomes in the order of their numbers, as in the \
                    statistics";
        require(self.dim() > 0 && arms.is_empty() || self.are_all_arms(arms), "bell.arms", what)
    }

    /// Whether these can be all arms with outcomes.
    fn are_all_arms(&self, arms: &[PaidArm]) -> bool {
        let ascending = arms.windows(2).all(|pair| pair[0].id < pair[1].id);
        let possible = arms.iter().all(|arm| {
            arm.plays > 0 && super::well_formed::could_be_paid(arm.plays, arm.paid, arm.squares)
        });
        let plays = arms.iter().try_fold(0_u64, |all, arm| all.checked_add(arm.plays));
        let same = self.actions.iter().enumerate().all(|(at, action)| {
            let own = PaidArm::of(action.id, self.statistics.paid_by(at));
            match arms.iter().find(|arm| arm.id == action.id) {
                Some(arm) => *arm == own,
                None => own.plays == 0,
            }
        });
        self.dim() == 0
            && ascending
            && possible
            && plays == Some(self.statistics.observations)
            && same
    }
}
