//! Checks grounds before a model is made from them. A certificate may come from anywhere, so its
//! shapes, orders and counts are checked here, and the derivation can trust them.

use super::{Grounds, GroundsError, Sums, require};
use crate::journal::{LineHash, MAX_SEQ, parse_utc};

impl Grounds {
    /// Checks everything that must hold before a model can be made. Errors name the path of the
    /// wrong part.
    pub(crate) fn well_formed(&self) -> Result<(), GroundsError> {
        self.check_counts()?;
        let (low, high) = self.reward_range;
        let is_range =
            low.is_finite() && high.is_finite() && low < high && self.range().is_finite();
        require(is_range, "reward_range", "must be two numbers, the smaller one first")?;
        require(!self.actions.is_empty(), "actions", "must list at least one action")?;
        let ascending = self.actions.windows(2).all(|pair| pair[0].id < pair[1].id);
        require(ascending, "actions", "must be in the order of their ids, each once")?;
        let is_bound = self.theta_norm_bound.is_finite() && self.theta_norm_bound >= 0.0;
        require(is_bound, "theta_norm_bound", "must not be negative")?;
        let arms = self.dim() == 0;
        let is_arms_as_given = arms && self.as_given;
        require(!is_arms_as_given, "as_given", "must not be set for actions without features")?;
        let what = "must be set for actions without features, and only for those";
        require(arms == self.arms_sharing.is_some(), "arms_sharing", what)?;
        let enough = self.arms_sharing.is_none_or(|shares| shares >= self.offered() as u64);
        require(enough, "arms_sharing", "must not be below the number of actions on offer")?;
        for (at, action) in self.actions.iter().enumerate() {
            let on_grid =
                |x: &f64| plausibly::quantise(*x).is_ok_and(|grid| grid.to_bits() == x.to_bits());
            require(
                action.features.len() == self.dim() && action.features.iter().all(on_grid),
                format_args!("actions[{at}].features"),
                "must be one value per feature, each a multiple of 2⁻²⁴",
            )?;
        }
        for (name, sums) in [
            ("design", self.design.as_ref()),
            ("committed", self.committed.as_ref()),
            ("statistics", Some(&self.statistics)),
        ] {
            let sound = sums.is_none_or(|sums| self.could_be(sums));
            let what = "must have the shape that features and actions need, and sums that such \
                        plays can have";
            require(sound, name, what)?;
        }
        let settled = self.statistics.observations;
        let counts_pending = self.design.as_ref().is_none_or(|all| all.observations > settled);
        let what = "must be above that of the statistics: it counts pending decisions";
        require(counts_pending, "design.observations", what)
    }

    /// Checks that some log could have these counts. Every decision, action and outcome of a log
    /// has a line of its own, so counts below the number of lines can be added without overflow.
    fn check_counts(&self) -> Result<(), GroundsError> {
        for (path, hash) in
            [("log.id", &self.log.id), ("log.hash", &self.log.hash), ("digest", &self.digest)]
        {
            let what = "must be a SHA-256 as 64 lower-case hexadecimal digits";
            require(LineHash::parse(hash).is_some(), path, what)?;
        }
        let what = "must be a time such as 2026-11-16T08:30:00.000000Z";
        require(parse_utc(&self.at).is_some(), "at", what)?;
        let (decision, lines) = (self.decision, self.log.seq);
        require(decision > 0, "decision", "decisions are counted from 1")?;
        let what = format_args!("no log has more than {MAX_SEQ} lines");
        require(lines <= MAX_SEQ, "log.seq", what)?;
        // The first line is `opened`, and each decision before this one has a line after it.
        let what = format_args!("there cannot be {decision} decisions after {lines} lines");
        require(decision <= lines, "decision", what)?;
        if let Some(unlisted) = self.unlisted {
            let part = unlisted.plausible <= unlisted.actions;
            require(part, "unlisted.plausible", "must not be above unlisted.actions")?;
            let offered = unlisted.actions.checked_add(self.actions.len() as u64);
            let what = "must not make more actions than the log has lines";
            require(offered.is_some_and(|offered| offered <= lines), "unlisted.actions", what)?;
        }
        for (name, sums) in [
            ("statistics", Some(&self.statistics)),
            ("design", self.design.as_ref()),
            ("committed", self.committed.as_ref()),
        ] {
            let most = decision - 1;
            require(
                sums.is_none_or(|sums| sums.observations <= most),
                format_args!("{name}.observations"),
                format_args!("must be at most {most}, the number of decisions before this one"),
            )?;
        }
        Ok(())
    }

    /// Whether sums have the shape of these features and actions, and values that plays can have.
    fn could_be(&self, sums: &Sums) -> bool {
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
        shaped && possible && plays.is_some_and(|plays| plays <= sums.observations)
    }
}
