//! Checks grounds before a model is made from them. A certificate may come from anywhere, so its
//! shapes, orders and counts are checked here, and the derivation can trust them.

use super::{Amended, Earned, ForecastGrounds, Grounds, GroundsError, PairsSharing, Sums, require};
use crate::event::{FIRST_FORMAT, FORMAT, Outcomes};
use crate::journal::{LineHash, MAX_SEQ, parse_utc};

/// As many outcomes as exact sums have room for.
const MOST_OUTCOMES: u64 = 1 << 58;

impl Grounds {
    /// Checks everything that must hold before a model can be made. Errors name the path of the
    /// wrong part.
    pub(crate) fn well_formed(&self) -> Result<(), GroundsError> {
        let known = (FIRST_FORMAT..=FORMAT).contains(&self.format);
        require(known, "format", format_args!("must be from {FIRST_FORMAT} to {FORMAT}"))?;
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
        let what = "must be set for actions without features, or that share δ in pairs, and only \
                    for those";
        let shared = arms || self.format >= 2 && self.pairs_sharing.is_some();
        require(shared == self.arms_sharing.is_some(), "arms_sharing", what)?;
        self.check_pairs()?;
        self.check_forecasts()?;
        self.check_earned()?;
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
        self.check_bell()?;
        self.check_glm()?;
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
            let path = format_args!("{name}.observations");
            let at_most = |most| sums.is_none_or(|sums| sums.observations <= most);
            if self.counted {
                require(at_most(MOST_OUTCOMES), path, "must be at most 2^58")?;
            } else {
                let most = decision - 1;
                let what = "the number of decisions before this one";
                require(at_most(most), path, format_args!("must be at most {most}, {what}"))?;
            }
        }
        let later = self.counted || self.outcomes != Outcomes::Number;
        require(self.format >= 2 || !later, "counted", "must not be set in format 1")?;
        let Amended { retracted, corrected, dropped } = self.amended;
        let has_lines = [retracted, corrected, dropped].iter().all(|count| *count <= lines);
        let none = self.amended == Amended::default();
        let fits = has_lines && (self.format >= 2 || none);
        require(fits, "amended", "must count lines of the log, and not be set in format 1")
    }

    /// Checks how verdicts between pairs share δ.
    fn check_pairs(&self) -> Result<(), GroundsError> {
        let what = "must be set for actions without features from format 2 on, never in format 1, \
                    and not for vectors as given";
        let (set, arms) = (self.pairs_sharing.is_some(), self.dim() == 0);
        let fits = if self.format < 2 { !set } else { set || !arms };
        require(fits && !(set && self.as_given), "pairs_sharing", what)?;
        let Some(PairsSharing { first, ever, changed }) = self.pairs_sharing else {
            return Ok(());
        };
        let offered = self.offered() as u64;
        let what = "must be from 1 to the number of actions ever added";
        require((1..=ever).contains(&first), "pairs_sharing.first", what)?;
        let what = "must be from the number of actions on offer to the number of lines";
        require((offered..=self.log.seq).contains(&ever), "pairs_sharing.ever", what)?;
        let what = "must be set: another number of actions is on offer than at first";
        require(changed || first == offered, "pairs_sharing.changed", what)
    }

    /// Checks the sums over forecasts. Each error is a sum of squares, and one candidate counted at
    /// a time, so `D + Σy²` is one too.
    fn check_forecasts(&self) -> Result<(), GroundsError> {
        let expected = self.dim() > 0 && self.format >= 2;
        let what = "must be set for actions with features from format 2 on, and only for those";
        require(expected == self.forecasts.is_some(), "forecasts", what)?;
        let Some(ForecastGrounds { sum, errors }) = self.forecasts else { return Ok(()) };
        let what = "must be sums that forecasts can have";
        let squares = self.statistics.squares.first().copied().unwrap_or(0.0);
        let possible = errors.iter().all(|error| error.is_finite() && *error >= 0.0)
            && sum.is_finite()
            && sum + squares >= -1e-9 * squares;
        require(possible, "forecasts", what)
    }

    /// Checks what actions with features have paid.
    fn check_earned(&self) -> Result<(), GroundsError> {
        if self.earned.is_empty() {
            return Ok(());
        }
        let what = "must be set only for actions with features that share δ in pairs";
        let fits = self.dim() > 0 && self.pairs_sharing.is_some();
        require(fits, "earned", what)?;
        let what = "must be one for each action";
        require(self.earned.len() == self.actions.len(), "earned", what)?;
        let possible = |one: &Earned| could_be_paid(one.plays, one.paid, one.squares);
        let plays = self.earned.iter().try_fold(0_u64, |all, one| all.checked_add(one.plays));
        let sound = self.earned.iter().all(possible)
            && plays.is_some_and(|plays| plays <= self.statistics.observations);
        require(sound, "earned", "must have sums that such plays can have")
    }

    /// Whether sums have squares as this format does, and as such rewards can have.
    fn has_squares(&self, sums: &Sums) -> bool {
        if self.format < 2 {
            return sums.squares.is_empty();
        }
        if self.dim() > 0 {
            return matches!(sums.squares[..], [squares] if squares >= 0.0 && squares.is_finite());
        }
        let arms = sums.plays.iter().zip(&sums.moment).zip(&sums.squares);
        sums.squares.len() == sums.plays.len()
            && arms.into_iter().all(|((plays, paid), squares)| {
                // Pending decisions count as plays.
                could_be_paid(*plays, *paid, *squares)
            })
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
        shaped
            && possible
            && self.has_squares(sums)
            && plays.is_some_and(|plays| plays <= sums.observations)
    }
}

/// Whether this many scaled rewards, or fewer, can have this sum and this sum of squares.
pub(super) fn could_be_paid(plays: u64, paid: f64, squares: f64) -> bool {
    let plays = plays as f64;
    // Scaled rewards are at most ½. Rounding may carry the least sum of squares a little too high.
    (0.0..=0.25 * plays).contains(&squares) && paid * paid <= plays * squares * (1.0 + 1e-9)
}
