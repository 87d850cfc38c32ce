//! Laws of the library, checked against brute force and against arithmetic of twice the precision.
#![expect(clippy::float_cmp, reason = "bits are promised, so bits are compared")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail like tests")]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "measurements and skipped parts are shown"
)]

mod alarms; // a scale of the noise that rewards contradict
mod allocations; // a round allocates nothing
mod autotraits; // every public type can cross threads and be printed
mod bounded; // CODE on arms with rewards in a range
mod brute_force; // every policy against a brute force that shares no code, and against itself
mod code; // CODE against direct determinants; K-armed against linear
mod coverage; // radii hold the truth as often as they say, and mutants do not
mod curved; // models on a curved scale: bounds of a round on the good event, limits, mutants
mod deadline; // what is promised in advance is kept
mod design; // the duality gap of optimal designs
mod drift; // long runs against double-double arithmetic
mod exact; // exact statistics: order leaves no trace, and what rounding costs
mod explain; // standings and witnesses; asking changes nothing
mod extremes; // many dimensions, huge features, and what does not fit
mod good_event; // bounded arms and small tables: bounds of a round on the good event, and mutants
mod instruction_sets; // the same bits on every one
mod insured; // any rule, while CODE explores: bounds in every round, and mutants
mod outcomes; // forecasts belong to decisions; counts; two actions compared
mod outlook; // forecasts of verdicts against what came
mod pairs; // verdicts between pairs of arms, against a grid
mod pending; // decisions whose rewards are outstanding
mod policies; // every policy: ties, value stability
mod radius; // radii against their formulas
mod recalled; // an explanation at hand changes no choice
mod ridge; // the estimator against brute force
mod samplers; // value stability of the samplers
mod state; // written down and read back, a policy goes on to the bit
mod two_point; // ends of intervals for rewards in a range, against bisection
mod verdicts; // what rules an action out is true, and mutants are not

/// Scores of all actions, from scratch.
pub(crate) fn scores(
    model: &impl plausibly::Estimator,
    actions: plausibly::Actions<'_>,
) -> plausibly::Scores {
    let mut scores = plausibly::Scores::new();
    model.score_into(actions, &mut scores);
    scores
}
