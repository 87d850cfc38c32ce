//! How two actions of a log compare now.

use crate::certificate::{Between, Position};
use crate::desk::Desk;
use crate::event::Event;
use crate::fold::fold;
use crate::journal::Storage;
use crate::log::LogError;
use crate::state::{Occasion, StepError};
use crate::time::Time;
use serde::Serialize;
use std::fmt;

/// What is known about the difference between two actions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The name of the action with the higher estimate.
    pub ahead: String,
    /// The name of the other one.
    pub behind: String,
    /// How far the true average of `ahead` is above that of `behind` at least, in units of reward;
    /// negative if it may be below.
    pub at_least: f64,
    /// How far it is above at most.
    pub at_most: f64,
    /// Whether `ahead` is certain to be better. What has been paid may show that although
    /// `at_least` is negative.
    pub decided: bool,
    /// About how many further outcomes decide it, if they go on as they did; `null` if that cannot
    /// be said, and if it is decided.
    pub outcomes: Option<u64>,
    /// The probability that this and everything else that the log says is right, at all times;
    /// `null` where bounds are a rule of thumb.
    pub confidence: Option<f64>,
    /// Two averages with their difference, in words.
    #[serde(skip)]
    words: String,
}

/// Compares two actions that the last decision offered, however they were picked.
///
/// An action that is out need not be decided against another one that is not the best either: to
/// show for any two actions which is better takes more than to show that one is not the best.
///
/// # Errors
/// If the log is damaged or has no decision yet, or its last set does not have both actions.
pub fn compare<S: Storage>(
    storage: &S,
    now: impl Into<Time>,
    names: [&str; 2],
) -> Result<Difference, LogError> {
    let (mut id, mut last_rows) = (String::new(), None);
    let (state, end) = fold(storage, |step| {
        id = step.position().id;
        if let Event::Decided { rows, .. } = step.event {
            last_rows.clone_from(rows);
        }
        Ok(())
    })?;
    let state = state.ok_or(LogError::Empty)?;
    let (set, offered) = state.last_set().ok_or(LogError::Empty)?;
    let places = names.map(|name| {
        let place = state.live(name).and_then(|action| offered.binary_search(&action).ok());
        place.ok_or_else(|| StepError::NotOffered { label: name.into() })
    });
    let [first, second] = places;
    let places = [first?, second?];
    let position = Position { id, seq: end.last.seq, hash: end.last.hash.to_string() };
    let at = Time::from_micros(now.into().micros().max(end.last.at_us));
    let rows = last_rows.as_ref();
    let occasion = Occasion { position, at, set, context: state.last_context(), rows };
    let state = state.not_waiting();
    let mut desk = Desk::default();
    let numbers = desk.derive(&state, occasion.about(), None)?;
    let Between { ahead, behind, at_least, at_most, decided, outcomes, confidence } =
        numbers.between(places);
    let grounds = state.dressed(&occasion, &numbers.basis);
    let number = |value: f64| grounds.gap(value);
    let [ahead, behind] = [ahead, behind].map(|place| grounds.actions[place].label.clone());
    let ends = (at_least, at_most);
    Ok(Difference::new(ahead, behind, ends, decided, outcomes, confidence, number))
}

impl Difference {
    /// What is known about the difference of two actions with these names: how far the first is
    /// above the second at least and at most, and the other fields. `number` writes numbers.
    pub fn new(
        ahead: String,
        behind: String,
        (at_least, at_most): (f64, f64),
        decided: bool,
        outcomes: Option<u64>,
        confidence: Option<f64>,
        number: impl Fn(f64) -> String,
    ) -> Self {
        let sure =
            confidence.map_or_else(String::new, |sure| format!(" ({:.0} % sure)", 100.0 * sure));
        let words = if decided && at_least > 0.0 {
            format!(
                "\"{ahead}\" beats \"{behind}\" by {} to {}{sure}.",
                number(at_least),
                number(at_most)
            )
        } else if decided {
            format!(
                "\"{ahead}\" beats \"{behind}\" by at most {}: the outcomes show it{sure}.",
                number(at_most)
            )
        } else {
            let when = outcomes.map_or_else(
                || "How many more outcomes decide it cannot be said yet.".into(),
                |more| format!("If outcomes go on like this, about {more} more decide it."),
            );
            let apart = if at_least.is_finite() && at_most.is_finite() {
                format!(
                    " The average of \"{ahead}\" is between {} below and {} above that of \
                     \"{behind}\"{sure}.",
                    number(-at_least),
                    number(at_most)
                )
            } else {
                String::new()
            };
            format!("\"{ahead}\" and \"{behind}\" cannot be told apart yet.{apart} {when}")
        };
        Self { ahead, behind, at_least, at_most, decided, outcomes, confidence, words }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}
