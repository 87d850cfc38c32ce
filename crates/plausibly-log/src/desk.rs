//! Derives the numbers of one decision after the other. Between two outcomes only the pending
//! decisions change, so what follows from the settled ones is kept until an outcome comes. What is
//! kept follows from the lines, and a desk that keeps nothing derives the same bits.

use crate::certificate::{Numbers, Terms};
use crate::log::LogError;
use crate::policy::PolicyTable;
use crate::recipe::Context;
use crate::state::{About, Lent, Offer, State, StepError};
use std::sync::Arc;

/// Derives decisions of a log in the order of its lines.
#[derive(Debug, Default)]
pub(crate) struct Desk {
    /// The policy to decide by, with its horizon; `None` for the log's own.
    policy: Option<(PolicyTable, Option<u64>)>,
    kept: Option<Kept>,
}

/// The last numbers, and what they were derived from.
#[derive(Debug)]
struct Kept {
    rules: u32,
    terms_at: u64,
    settled_at: u64,
    set: u64,
    context: Context,
    /// Whether the decision was about rows of its own.
    had_rows: bool,
    numbers: Numbers,
}

impl Desk {
    /// Decides by this policy in place of the log's own.
    pub(crate) fn by(policy: PolicyTable, horizon: Option<u64>) -> Self {
        Self { policy: Some((policy, horizon)), kept: None }
    }

    /// The numbers of a decision taken now. Takes over what is the same from the numbers of this
    /// decision under another policy, if there are any, else from those of the last decision.
    ///
    /// # Errors
    /// If no decision can be taken.
    pub(crate) fn derive(
        &mut self,
        state: &State,
        about: About<'_>,
        other: Option<&Numbers>,
    ) -> Result<&Numbers, LogError> {
        let About { set, context, rows } = about;
        let kept = self.kept.take();
        let rules = self.rules(state);
        let same_terms =
            kept.as_ref().filter(|kept| (kept.rules, kept.terms_at) == (rules, state.terms_at()));
        let terms = match same_terms {
            Some(kept) => Arc::clone(&kept.numbers.basis.terms),
            None => Arc::new(self.terms(state, rules)?),
        };
        let same_set = |kept: &Kept| {
            // Rows of one decision are never those of another.
            rows.is_none() && !kept.had_rows && kept.set == set && kept.context == *context
        };
        let lent = match (other, same_terms) {
            (Some(other), _) => Some(Lent {
                basis: &other.basis,
                settled: other.basis.terms.has_sums_of(&terms),
                set: true,
            }),
            (None, Some(kept)) => Some(Lent {
                basis: &kept.numbers.basis,
                // The sums of arms are those of the arms on offer.
                settled: kept.settled_at == state.settled_at() && (terms.dim > 0 || same_set(kept)),
                set: same_set(kept),
            }),
            (None, None) => None,
        };
        let basis = state.basis(&terms, Offer { about, listed: None }, lent)?;
        let numbers = Numbers::of(basis, other.or(same_terms.map(|kept| &kept.numbers)))?;
        let context = match kept {
            Some(kept) if kept.context == *context => kept.context,
            _ => context.clone(),
        };
        let (terms_at, settled_at) = (state.terms_at(), state.settled_at());
        let had_rows = rows.is_some();
        let kept = Kept { rules, terms_at, settled_at, set, context, had_rows, numbers };
        Ok(&self.kept.insert(kept).numbers)
    }

    /// The format whose rules apply: another policy is always judged by those of today.
    fn rules(&self, state: &State) -> u32 {
        if self.policy.is_some() { state.format() } else { state.rules() }
    }

    fn terms(&self, state: &State, rules: u32) -> Result<Terms, StepError> {
        match &self.policy {
            None => state.own_terms(),
            Some((policy, horizon)) => {
                let horizon = horizon.or(state.horizon());
                let (_, settled) = state.resolved(policy, horizon, rules)?;
                state.terms(&settled, horizon, rules)
            }
        }
    }
}
