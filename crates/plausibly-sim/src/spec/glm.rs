//! The kinds `logistic`, `clicks` and `poisson`.

use super::environment::read_actions;
use crate::environment::{GlmProblems, Placing};
use plausibly::Link;
use plausibly::spec::{Complaint, Fields, Range};

/// Actions and features of the kinds whose problems need not be described.
const ACTIONS: i64 = 100;
const FEATURES: i64 = 5;

/// The largest mean of a count.
pub(super) const LARGEST_RATE: f64 = 500.0;

/// `logistic`: clicks with means wherever `θ*` puts them.
pub(super) fn read_logistic(fields: &mut Fields<'_>) -> GlmProblems {
    let meaning = "whether the first feature of every action is 1, with a θ* of 0 there: it \
                   changes no mean, and gives linear models something to fit the usual mean by";
    let intercept = fields.boolean("intercept", meaning, false);
    let (dim, actions) = read_size(fields, "d, features of an action", intercept);
    let meaning = "standard deviation of the entries of θ*";
    let scale = fields.number("scale", meaning, 1.0, Range::from_to(1e-6, 1e3));
    let placing = Placing::Drawn { scale };
    GlmProblems { link: Link::Logistic, dim, actions, intercept, hidden: false, placing }
}

/// `clicks` and `poisson`: means from one to another. Only clicks can hide their features: nothing
/// is known about the range of counts, which the sets for arms ask for.
pub(super) fn read_between(fields: &mut Fields<'_>, link: Link) -> GlmProblems {
    let meaning = "d, features of an action, the first of which is 1";
    let (dim, actions) = read_size(fields, meaning, true);
    let placing = read_ends(fields, link);
    let meaning = "whether policies see arms without features, with the same means and the same \
                   luck: it shows what features are worth";
    let hidden = link == Link::Logistic && fields.boolean("hide_features", meaning, false);
    GlmProblems { link, dim, actions, intercept: true, hidden, placing }
}

fn read_size(fields: &mut Fields<'_>, meaning: &'static str, intercept: bool) -> (usize, usize) {
    let dim = fields.integer("dim", meaning, Some(FEATURES), (1 + i64::from(intercept), 1024));
    let actions = read_actions(fields, Some(ACTIONS), dim);
    (usize::try_from(dim).unwrap_or(usize::MAX), actions)
}

/// The least and the largest mean.
pub(super) fn read_ends(fields: &mut Fields<'_>, link: Link) -> Placing {
    let (defaults, range) = match link {
        Link::Logistic => ((0.01, 0.1), Range::from_to(1e-6, 0.999_999)),
        Link::Poisson => ((0.2, 5.0), Range::from_to(1e-6, LARGEST_RATE)),
    };
    let lowest = fields.number("lowest", "least mean", defaults.0, range);
    let highest = fields.number("highest", "largest mean", defaults.1, range);
    if highest < lowest {
        let (found, allowed) = (highest.to_string(), format!("at least lowest, {lowest}"));
        fields.object("highest", Complaint::OutOfRange { found, allowed });
    }
    Placing::Between { lowest, highest }
}
