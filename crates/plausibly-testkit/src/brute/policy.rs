//! Every policy of the library, by the rule of its documentation.

use super::bounds::halves;
use super::code::{BruteTarget, Code, Deadline};
use super::elimination::Elimination;
use super::model::BruteModel;
use super::radius::BruteRadius;
use super::{Inputs, Ranking, Verdict, judge};
use crate::leverages;

/// How a policy chooses.
#[derive(Clone, Debug)]
pub enum Rule {
    /// CODE, tempered, to a target or randomised.
    Code {
        /// √β.
        radius: BruteRadius,
        /// c.
        greed: f64,
        /// What it explores for.
        target: Option<BruteTarget>,
        /// Of rounds drawn uniformly from the plausible actions.
        share: f64,
        /// Actions are ruled out by differences instead of intervals.
        differences: bool,
    },
    /// The largest upper bound: LinUCB and UCB1.
    LargestUpper(BruteRadius),
    /// The largest value under one sample of the parameters, at this scale of noise.
    LinTs(f64),
    /// The largest of independent samples, at this scale of noise.
    Thompson(f64),
    /// The largest of samples that all arms make from the same draws, at this scale of noise.
    SharedDraws(f64),
    /// The largest mean, but for a share of rounds.
    EpsilonGreedy {
        /// ε.
        epsilon: f64,
        /// Over how many rounds the share falls; `None` if it is constant.
        horizon: Option<u64>,
        /// What it draws when it explores.
        exploring: Exploring,
    },
    /// Explores in the first rounds, then takes the largest mean of what it knew after them.
    ExploreThenCommit {
        /// Exploring rounds.
        rounds: u64,
        /// What it draws when it explores.
        exploring: Exploring,
    },
    /// Phased elimination at this δ.
    Elimination(f64),
}

/// What an exploring round draws from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exploring {
    /// All actions alike.
    Uniformly,
    /// A D-optimal design.
    ByDesign,
}

/// A policy that judges the choices of another one.
#[derive(Clone, Debug)]
pub struct BrutePolicy {
    model: BruteModel,
    rule: Playing,
    /// Choices judged.
    rounds: u64,
    /// Decisions without rewards, the oldest first.
    pending: Vec<(usize, Vec<f64>)>,
}

/// A rule with what it remembers beside the model.
#[derive(Clone, Debug)]
enum Playing {
    Code(Code),
    Elimination(Elimination),
    ExploreThenCommit { rounds: u64, exploring: Exploring, committed: Option<BruteModel> },
    Other(Rule),
}

impl BrutePolicy {
    /// Nothing learned.
    pub fn new(model: BruteModel, rule: Rule) -> Self {
        let rule = match rule {
            Rule::Code { radius, greed, target, share, differences } => {
                let deadline = Deadline::default();
                Playing::Code(Code { radius, greed, target, share, differences, deadline })
            }
            Rule::Elimination(delta) => Playing::Elimination(Elimination::new(delta)),
            Rule::ExploreThenCommit { rounds, exploring } => {
                Playing::ExploreThenCommit { rounds, exploring, committed: None }
            }
            other => Playing::Other(other),
        };
        Self { model, rule, rounds: 0, pending: Vec::new() }
    }

    /// An action was taken, and its reward is outstanding.
    pub fn decided(&mut self, index: usize, row: &[f64]) {
        self.pending.push((index, row.to_vec()));
    }

    /// A reward came.
    pub fn update(&mut self, index: usize, row: &[f64], reward: f64) {
        self.settle(index, row);
        self.model.learn(index, row, reward);
        if let Playing::Elimination(elimination) = &mut self.rule {
            elimination.update(index, row, reward);
        }
    }

    /// A reward will never come.
    pub fn dropped(&mut self, index: usize, row: &[f64]) {
        self.settle(index, row);
        if let Playing::Elimination(elimination) = &mut self.rule {
            elimination.dropped(index);
        }
    }

    /// Removes the oldest pending decision like this one, if there is one.
    fn settle(&mut self, index: usize, row: &[f64]) {
        let like = |pending: &(usize, Vec<f64>)| pending.0 == index && pending.1 == row;
        if let Some(at) = self.pending.iter().position(like) {
            self.pending.remove(at);
        }
    }

    /// Judges a choice among these rows. A plain arm is an empty row.
    pub fn judge(&mut self, rows: &[Vec<f64>], chosen: usize, inputs: &mut dyn Inputs) -> Verdict {
        self.rounds += 1;
        let (model, round) = (&self.model, self.rounds);
        match &mut self.rule {
            Playing::Code(code) => {
                let mut all = model.clone();
                self.pending.iter().for_each(|(index, row)| all.learn(*index, row, 0.0));
                let design = Some(&all).filter(|_| !self.pending.is_empty());
                code.judge(model, design, rows, chosen, inputs)
            }
            Playing::Elimination(elimination) => elimination.judge(rows, chosen, inputs),
            Playing::ExploreThenCommit { rounds, exploring, .. } if round <= *rounds => {
                judge_exploring(*exploring, rows, chosen, inputs)
            }
            Playing::ExploreThenCommit { committed, .. } => {
                let model = committed.get_or_insert_with(|| model.clone());
                judge_mean(model, rows, chosen)
            }
            Playing::Other(rule) => judge_other(rule, model, round, rows, chosen, inputs),
        }
    }
}

/// Judges by rules that remember nothing.
fn judge_other(
    rule: &Rule,
    model: &BruteModel,
    round: u64,
    rows: &[Vec<f64>],
    chosen: usize,
    inputs: &mut dyn Inputs,
) -> Verdict {
    let ranking = match rule {
        Rule::LargestUpper(radius) => {
            let (scored, reach) = (model.scores(rows), radius.reach(&model.evidence()));
            if reach.is_open() {
                let tolerances = scored.width_sq.iter().zip(&scored.epsilon);
                let tolerances = tolerances
                    .map(
                        |(width_sq, share)| {
                            if width_sq.is_finite() { width_sq * share } else { 0.0 }
                        },
                    )
                    .collect();
                return judge(&[Ranking::of_all(scored.width_sq, tolerances)], rows, chosen);
            }
            let (half, half_tolerance) = halves(&scored, &reach);
            let upper = scored.mean.iter().zip(&half).map(|(mean, half)| mean + half).collect();
            let tolerance = scored.mean_tolerance.iter().zip(&half_tolerance);
            Ranking::of_all(upper, tolerance.map(|(mean, half)| mean + half).collect())
        }
        Rule::LinTs(noise_scale) => {
            let z: Vec<f64> = (0..rows[0].len()).map(|_| inputs.normal()).collect();
            let deviates = model.fit_of(0).deviates(rows, &z);
            sampled(model, rows, *noise_scale, &deviates, &vec![norm(&z); rows.len()])
        }
        Rule::SharedDraws(noise_scale) => {
            let z: Vec<f64> = (0..rows[0].len()).map(|_| inputs.normal()).collect();
            let deviate =
                |(arm, row): (usize, &Vec<f64>)| model.fit_of(arm).deviate_by_inverse(row, &z);
            let deviates: Vec<f64> = rows.iter().enumerate().map(deviate).collect();
            sampled(model, rows, *noise_scale, &deviates, &vec![norm(&z); rows.len()])
        }
        Rule::Thompson(noise_scale) => {
            let z: Vec<f64> = rows.iter().map(|_| inputs.normal()).collect();
            let width_sq = model.scores(rows).width_sq;
            let deviate = |(z, width_sq): (&f64, &f64)| {
                // An arm never taken comes before all others, whatever was drawn for it.
                if width_sq.is_infinite() { f64::INFINITY } else { z * width_sq.sqrt() }
            };
            let deviates: Vec<f64> = z.iter().zip(&width_sq).map(deviate).collect();
            sampled(model, rows, *noise_scale, &deviates, &z)
        }
        Rule::EpsilonGreedy { epsilon, horizon, exploring } => {
            let falling = |horizon: u64| (horizon as f64 / round as f64).sqrt() / 2.0;
            if inputs.uniform() < epsilon * horizon.map_or(1.0, falling) {
                return judge_exploring(*exploring, rows, chosen, inputs);
            }
            return judge_mean(model, rows, chosen);
        }
        Rule::Code { .. } | Rule::ExploreThenCommit { .. } | Rule::Elimination(_) => {
            unreachable!("these remember something")
        }
    };
    judge(&[ranking], rows, chosen)
}

/// Means with a deviate added, each made from draws of this length.
fn sampled(
    model: &BruteModel,
    rows: &[Vec<f64>],
    noise_scale: f64,
    deviates: &[f64],
    lengths: &[f64],
) -> Ranking {
    let scored = model.scores(rows);
    let value =
        scored.mean.iter().zip(deviates).map(|(mean, deviate)| mean + noise_scale * deviate);
    let tolerance = |action: usize| {
        let deviate = scored.epsilon[action] * scored.width_sq[action].sqrt() * lengths[action];
        let of_deviate = if deviate.is_finite() { noise_scale * deviate.abs() } else { 0.0 };
        scored.mean_tolerance[action] + of_deviate
    };
    Ranking::of_all(value.collect(), (0..rows.len()).map(tolerance).collect())
}

fn norm(z: &[f64]) -> f64 {
    z.iter().map(|z| z * z).sum::<f64>().sqrt()
}

fn judge_mean(model: &BruteModel, rows: &[Vec<f64>], chosen: usize) -> Verdict {
    let scored = model.scores(rows);
    judge(&[Ranking::of_all(scored.mean, scored.mean_tolerance)], rows, chosen)
}

pub(super) fn judge_exploring(
    exploring: Exploring,
    rows: &[Vec<f64>],
    chosen: usize,
    inputs: &mut dyn Inputs,
) -> Verdict {
    let expected = if exploring == Exploring::Uniformly {
        usize::try_from(inputs.below(rows.len() as u64)).expect("an index")
    } else {
        let among: Vec<usize> = (0..rows.len()).collect();
        let (design, _) = checked_design(rows, &among, inputs);
        let total: f64 = design.iter().map(|(_, weight)| weight).sum();
        let (at, mut upto) = (inputs.uniform() * total, 0.0);
        let passed = |(_, weight): &&(usize, f64)| {
            upto += weight;
            upto > at
        };
        design.iter().find(passed).unwrap_or(&design[design.len() - 1]).0
    };
    if expected == chosen { Verdict::Same } else { Verdict::Wrong { expected } }
}

/// A design, once its weights were found to sum to one and to be within 1e-3 of optimal; with its
/// largest leverage.
pub(super) fn checked_design(
    rows: &[Vec<f64>],
    among: &[usize],
    inputs: &mut dyn Inputs,
) -> (Vec<(usize, f64)>, f64) {
    let design = inputs.design(rows, among);
    let points = in_own_units(rows, among);
    let weight = |action: &usize| {
        design.iter().find(|(other, _)| other == action).map_or(0.0, |(_, weight)| *weight)
    };
    let weights: Vec<f64> = among.iter().map(weight).collect();
    let leverage = leverages(&points, &weights).into_iter().fold(0.0, f64::max);
    let rank = crate::rank(&points) as f64;
    let total: f64 = weights.iter().sum();
    assert!((total - 1.0).abs() < 1e-9, "weights sum to {total}");
    assert!(leverage <= rank * (1.0 + 1.001e-3), "leverage {leverage} in {rank} dimensions");
    (design, leverage)
}

/// Rows with every feature divided by its largest magnitude: designs do not depend on units.
pub(super) fn in_own_units(rows: &[Vec<f64>], among: &[usize]) -> Vec<Vec<f64>> {
    let largest = |at: usize| among.iter().map(|row| rows[*row][at].abs()).fold(0.0, f64::max);
    let scales: Vec<f64> = (0..rows[0].len()).map(largest).collect();
    let scaled = |(x, scale): (&f64, &f64)| if *scale > 0.0 { x / scale } else { 0.0 };
    among.iter().map(|row| rows[*row].iter().zip(&scales).map(scaled).collect()).collect()
}
