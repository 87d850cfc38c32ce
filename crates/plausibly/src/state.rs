//! Policies as bytes: what was learned, and what a policy promised, so that it can go on later.
//!
//! A choice depends on what was learned, on the actions and on the randomness it is given, never on
//! what was computed in earlier rounds. So a state is small: the model, and what a policy keeps
//! beside it (decisions on their way, a phase, a deadline). [`Durable::state`] writes it, and
//! [`Durable::restore`] reads it into a fresh policy of the same parameters, which then makes the
//! same choices as the original, to the last bit. Action sets are not part of it.
//!
//! The bytes begin with a version and the kind of the policy. They are read by this crate alone:
//! other versions are refused by name.
//!
//! ```
//! use plausibly::state::Durable;
//! use plausibly::{ActionSet, Fixed, LinUcb, Policy, Ridge, Stream};
//! let set = ActionSet::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?;
//! let fresh = || LinUcb::new(Ridge::new(2, 1.0).unwrap(), Fixed { sqrt_beta: 1.0 });
//! let (mut policy, mut rng) = (fresh(), Stream::new(7, 0, "policy"));
//! let chosen = policy.select(set.view(), &mut rng);
//! policy.update(set.view().get(chosen), 0.5);
//!
//! let state = policy.state();
//! let mut again = fresh();
//! again.restore(&state)?;
//! assert_eq!(again.select(set.view(), &mut rng), policy.select(set.view(), &mut rng));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::actions::ActionIndex;
use crate::arms::ArmMove;
use crate::model::Estimator;
use crate::policy::Explain;
use thiserror::Error;

/// A policy that can be written down and read back.
pub trait Durable: Explain {
    /// All that its next choices depend on beside its parameters and its randomness.
    fn state(&self) -> PolicyState;

    /// Goes on from a state of a policy of the same kind and parameters.
    ///
    /// # Errors
    /// If the state is not one of such a policy, or this one has learned something already. The
    /// policy is unchanged then.
    fn restore(&mut self, state: &PolicyState) -> Result<(), StateError>;

    /// The state of the same policy over another list of arms; see [`ArmRecord`](crate::ArmRecord).
    /// Policies of actions with features have no arms to move, and return their own state.
    fn state_over(&self, moved: &mut ArmMove<'_>) -> PolicyState;
}

/// The state of a policy, as bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyState(Vec<u8>);

/// The first bytes of every state of this version.
const HEADER: &[u8] = b"plausibly policy 4\n";

impl PolicyState {
    /// The bytes, to keep.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// From bytes that were kept. Their contents are checked by [`Durable::restore`].
    ///
    /// # Errors
    /// If they are not the state of a policy, or one of another version.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self, StateError> {
        if bytes.starts_with(HEADER) { Ok(Self(bytes)) } else { Err(StateError::Version) }
    }
}

/// In text formats a state is its bytes in hexadecimal.
#[cfg(feature = "serde")]
impl serde::Serialize for PolicyState {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digit = |half: u8| char::from_digit(half.into(), 16).unwrap_or('0');
        let text = self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
        serializer.serialize_str(&text.collect::<String>())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for PolicyState {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error as _;
        let text = String::deserialize(deserializer)?;
        let digits: Option<Vec<u32>> = text.chars().map(|digit| digit.to_digit(16)).collect();
        let (pairs, []) = digits.as_deref().unwrap_or(&[0]).as_chunks::<2>() else {
            return Err(D::Error::custom("a state is pairs of hexadecimal digits"));
        };
        #[expect(clippy::cast_possible_truncation, reason = "two hexadecimal digits")]
        let bytes = pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect();
        Self::from_bytes(bytes).map_err(D::Error::custom)
    }
}

/// Why a state was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// Not a state, or one that another version wrote.
    #[error("not the state of a policy, or one of another version; this version reads version 4")]
    Version,
    /// Of another kind of policy or model, or of one with other parameters.
    #[error(
        "the state belongs to another kind of policy, or to other parameters: {what} does not fit"
    )]
    Kind {
        /// What does not fit.
        what: &'static str,
    },
    /// A list of another length than the parameters ask for.
    #[error("{what} must have {expected} entries, but has {found}")]
    Length {
        /// Which list.
        what: &'static str,
        /// How many entries it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A number that no policy can reach.
    #[error("{what} holds a number that no policy can reach")]
    Number {
        /// The part of the state that holds it.
        what: &'static str,
    },
    /// Bytes are missing, or too many.
    #[error("the state is cut short, or has bytes after its end")]
    Cut,
    /// The policy has learned something already.
    #[error(
        "only a new policy can take a state, but this one has learned from {observations} rewards"
    )]
    NotFresh {
        /// From how much.
        observations: u64,
    },
}

/// A policy as it writes and reads what it keeps: all that [`Durable`] needs to know of it.
pub trait Keep: Explain + Clone {
    /// Stands in the state.
    const KIND: &'static str;

    /// Writes all that the next choices depend on beside parameters and randomness.
    fn write(&self, out: &mut Writer);

    /// Reads what `write` wrote over what a fresh policy keeps.
    ///
    /// # Errors
    /// If it is not the state of such a policy.
    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError>;

    /// Moves everything that is known of arms to another list of arms.
    fn move_arms(&mut self, moved: &mut ArmMove<'_>);
}

impl<P: Keep> Durable for P {
    fn state(&self) -> PolicyState {
        let mut out = Writer(HEADER.to_vec());
        out.text(P::KIND);
        self.write(&mut out);
        PolicyState(out.0)
    }

    fn restore(&mut self, state: &PolicyState) -> Result<(), StateError> {
        let observations = self.model().evidence().observations;
        if observations > 0 {
            return Err(StateError::NotFresh { observations });
        }
        let mut from = Reader(state.0.strip_prefix(HEADER).ok_or(StateError::Version)?);
        from.text(P::KIND, "the policy")?;
        let mut restored = self.clone();
        restored.read(&mut from)?;
        if !from.0.is_empty() {
            return Err(StateError::Cut);
        }
        *self = restored;
        Ok(())
    }

    fn state_over(&self, moved: &mut ArmMove<'_>) -> PolicyState {
        let mut copy = self.clone();
        copy.move_arms(moved);
        copy.state()
    }
}

/// A model that can be written down and read back.
pub trait DurableModel: Estimator + Clone {
    /// Writes what was learned.
    fn write(&self, out: &mut Writer);

    /// Reads what `write` wrote into a model of the same parameters.
    ///
    /// # Errors
    /// If it is not the state of such a model. The model can be half read then.
    fn read(&mut self, from: &mut Reader<'_>) -> Result<(), StateError>;

    /// Whether an action that a state speaks of is one the model could learn from.
    fn takes(&self, index: ActionIndex, features: &[f64]) -> bool;

    /// Moves what is known of arms to another list of arms, with `committed` where this is the
    /// model that a policy has committed to. Models of features have no arms.
    fn move_arms(&mut self, _: &mut ArmMove<'_>, _committed: bool) {}
}

/// Writes a state: numbers as eight bytes, lists with their length first.
#[derive(Debug)]
pub struct Writer(Vec<u8>);

impl Writer {
    pub(crate) fn count(&mut self, count: u64) {
        self.0.extend_from_slice(&count.to_le_bytes());
    }

    pub(crate) fn number(&mut self, number: f64) {
        self.count(number.to_bits());
    }

    pub(crate) fn flag(&mut self, flag: bool) {
        self.count(flag.into());
    }

    pub(crate) fn counts(&mut self, counts: impl ExactSizeIterator<Item = u64>) {
        self.count(counts.len() as u64);
        counts.for_each(|count| self.count(count));
    }

    pub(crate) fn numbers(&mut self, numbers: &[f64]) {
        self.counts(numbers.iter().map(|number| number.to_bits()));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.counts(text.bytes().map(u64::from));
    }
}

/// Reads what a [`Writer`] wrote, and refuses what no policy can reach.
#[derive(Debug)]
pub struct Reader<'a>(&'a [u8]);

/// The largest count that a state may hold. Beyond it, counts are not exact as doubles, and their
/// sums may overflow.
const MOST: u64 = 1 << 53;

impl Reader<'_> {
    fn word(&mut self) -> Result<u64, StateError> {
        let (word, rest) = self.0.split_first_chunk().ok_or(StateError::Cut)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*word))
    }

    fn words(&mut self) -> Result<Vec<u64>, StateError> {
        let len = usize::try_from(self.word()?).unwrap_or(usize::MAX);
        // Before any memory is taken for it.
        if len > self.0.len() / 8 {
            return Err(StateError::Cut);
        }
        (0..len).map(|_| self.word()).collect()
    }

    /// Reads a text that must be this one.
    pub(crate) fn text(&mut self, expected: &str, what: &'static str) -> Result<(), StateError> {
        let same = self.words()?.into_iter().eq(expected.bytes().map(u64::from));
        if same { Ok(()) } else { Err(StateError::Kind { what }) }
    }

    pub(crate) fn count(&mut self, what: &'static str) -> Result<u64, StateError> {
        self.word().and_then(|count| holds(what, count <= MOST).map(|()| count))
    }

    pub(crate) fn any_number(&mut self) -> Result<f64, StateError> {
        self.word().map(f64::from_bits)
    }

    pub(crate) fn flag(&mut self, what: &'static str) -> Result<bool, StateError> {
        self.word().and_then(|flag| holds(what, flag <= 1).map(|()| flag == 1))
    }

    /// Reads counts, and refuses those with a sum that overflows.
    pub(crate) fn counts(&mut self, what: &'static str) -> Result<Vec<u64>, StateError> {
        let counts = self.words()?;
        let add = |sum: u64, count: &u64| sum.checked_add(*count).filter(|sum| *sum <= MOST);
        holds(what, counts.iter().try_fold(0, add).is_some())?;
        Ok(counts)
    }

    /// Places in a list of this many actions.
    pub(crate) fn places(
        &mut self,
        what: &'static str,
        actions: usize,
    ) -> Result<Vec<ActionIndex>, StateError> {
        let words = self.words()?;
        let place = |word: u64| usize::try_from(word).ok().filter(|place| *place < actions);
        words.into_iter().map(|word| place(word).ok_or(StateError::Number { what })).collect()
    }

    /// Finite numbers, as many as there are.
    pub(crate) fn some_numbers(&mut self, what: &'static str) -> Result<Vec<f64>, StateError> {
        let numbers: Vec<f64> = self.words()?.into_iter().map(f64::from_bits).collect();
        holds(what, numbers.iter().all(|number| number.is_finite()))?;
        Ok(numbers)
    }

    /// This many finite numbers.
    pub(crate) fn numbers(
        &mut self,
        what: &'static str,
        expected: usize,
    ) -> Result<Vec<f64>, StateError> {
        let numbers = self.some_numbers(what)?;
        let found = numbers.len();
        if found == expected {
            Ok(numbers)
        } else {
            Err(StateError::Length { what, expected, found })
        }
    }
}

/// Refuses a state in which something does not hold that holds in every policy.
pub(crate) fn holds(what: &'static str, so: bool) -> Result<(), StateError> {
    if so { Ok(()) } else { Err(StateError::Number { what }) }
}
