//! Checks grounds before a model is made from them. A certificate may come from anywhere, so its
//! shapes, orders and counts are checked here, and the derivation can trust them.

use super::{Grounds, GroundsError, Sums};
use crate::journal::{LineHash, MAX_SEQ, parse_utc};

impl Grounds {
    /// Checks everything that must hold before a model can be made. Errors name the path of the
    /// wrong part.
    pub(crate) fn well_formed(&self) -> Result<(), GroundsError> {
        let misfit = |path: &str, what: &str| {
            Err(GroundsError::Misfit { path: format!("grounds.{path}"), what: what.into() })
        };
        self.check_counts()?;
        let (low, high) = self.reward_range;
        if !(low.is_finite() && high.is_finite() && low < high && self.range().is_finite()) {
            return misfit("reward_range", "must be two numbers, the smaller one first");
        }
        if self.actions.is_empty() {
            return misfit("actions", "must list at least one action");
        }
        if self.actions.windows(2).any(|pair| pair[0].id >= pair[1].id) {
            return misfit("actions", "must be in the order of their ids, each once");
        }
        if !(self.theta_norm_bound.is_finite() && self.theta_norm_bound >= 0.0) {
            return misfit("theta_norm_bound", "must not be negative");
        }
        if self.as_given && self.dim() == 0 {
            return misfit("as_given", "must not be set for actions without features");
        }
        if (self.dim() == 0) != self.arms_sharing.is_some() {
            return misfit(
                "arms_sharing",
                "must be set for actions without features, and only for those",
            );
        }
        if self.arms_sharing.is_some_and(|shares| shares < self.offered() as u64) {
            return misfit("arms_sharing", "must not be below the number of actions on offer");
        }
        for (at, action) in self.actions.iter().enumerate() {
            let on_grid =
                |x: &f64| plausibly::quantise(*x).is_ok_and(|grid| grid.to_bits() == x.to_bits());
            if action.features.len() != self.dim() || !action.features.iter().all(on_grid) {
                return misfit(
                    &format!("actions[{at}].features"),
                    "must be one value per feature, each a multiple of 2⁻²⁴",
                );
            }
        }
        for (name, sums) in [("design", &self.design), ("committed", &self.committed)] {
            if let Some(sums) = sums {
                self.check_sums(name, sums)?;
            }
        }
        self.check_sums("statistics", &self.statistics)?;
        match &self.design {
            Some(design) if design.observations <= self.statistics.observations => misfit(
                "design.observations",
                "must be above that of the statistics: it counts pending decisions",
            ),
            _ => Ok(()),
        }
    }

    /// Checks that some log could have these counts. Every decision, action and outcome of a log
    /// has a line of its own, so counts below the number of lines can be added without overflow.
    fn check_counts(&self) -> Result<(), GroundsError> {
        let misfit = |path: &str, what: String| {
            Err(GroundsError::Misfit { path: format!("grounds.{path}"), what })
        };
        let hashes =
            [("log.id", &self.log.id), ("log.hash", &self.log.hash), ("digest", &self.digest)];
        if let Some((path, _)) =
            hashes.into_iter().find(|(_, text)| LineHash::parse(text).is_none())
        {
            return misfit(path, "must be a SHA-256 as 64 lower-case hexadecimal digits".into());
        }
        if parse_utc(&self.at).is_none() {
            return misfit("at", "must be a time such as 2026-11-16T08:30:00.000000Z".into());
        }
        if self.decision == 0 {
            return misfit("decision", "decisions are counted from 1".into());
        }
        if self.log.seq > MAX_SEQ {
            return misfit("log.seq", format!("no log has more than {MAX_SEQ} lines"));
        }
        // The first line is `opened`, and each decision before this one has a line after it.
        if self.decision > self.log.seq {
            let lines = self.log.seq;
            return misfit(
                "decision",
                format!("there cannot be {} decisions after {lines} lines", self.decision),
            );
        }
        if let Some(unlisted) = self.unlisted {
            if unlisted.plausible > unlisted.actions {
                return misfit("unlisted.plausible", "must not be above unlisted.actions".into());
            }
            let offered = unlisted.actions.checked_add(self.actions.len() as u64);
            if offered.is_none_or(|offered| offered > self.log.seq) {
                return misfit(
                    "unlisted.actions",
                    "must not make more actions than the log has lines".into(),
                );
            }
        }
        let all = [("statistics", Some(&self.statistics)), ("design", self.design.as_ref())];
        for (name, sums) in all.into_iter().chain([("committed", self.committed.as_ref())]) {
            if sums.is_some_and(|sums| sums.observations >= self.decision) {
                let what = format!(
                    "must be at most {}, the number of decisions before this one",
                    self.decision - 1
                );
                return misfit(&format!("{name}.observations"), what);
            }
        }
        Ok(())
    }

    fn check_sums(&self, name: &str, sums: &Sums) -> Result<(), GroundsError> {
        let (d, k) = (self.dim(), self.actions.len());
        let shaped = if d == 0 {
            sums.gram.is_empty() && sums.plays.len() == k && sums.moment.len() == k
        } else {
            sums.plays.is_empty()
                && sums.moment.len() == d
                && sums.gram.len() == d
                && sums.gram.iter().all(|row| row.len() == d)
        };
        // Scaled rewards are at most ½, so the sum of an arm is at most half its plays.
        let possible = sums
            .plays
            .iter()
            .zip(&sums.moment)
            .all(|(plays, paid)| paid.is_finite() && paid.abs() <= 0.5 * *plays as f64);
        let plays = sums.plays.iter().try_fold(0_u64, |all, plays| all.checked_add(*plays));
        let counted = plays.is_some_and(|plays| plays <= sums.observations);
        if shaped && possible && counted {
            Ok(())
        } else {
            let what = "must have the shape that features and actions need, and sums that such \
                        plays can have";
            Err(GroundsError::Misfit { path: format!("grounds.{name}"), what: what.into() })
        }
    }
}
