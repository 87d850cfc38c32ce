//! Plain arms that come and go: what is known of an arm follows its label, or its index where arms
//! have no labels.
//!
//! A policy of the library is over a fixed list of arms. Here it is over those on duty, which are
//! the ones offered last; what is known of the others is kept beside it, and offering another list
//! makes a policy over that list of all that is known. δ is shared among all arms ever offered, so
//! the intervals of all of them hold at once from the moment the last new arm came.

use crate::action::PyAction;
use crate::actions::{MOST_ARMS, PySet};
use plausibly::Whole;
use plausibly::state::{ArmState, DeadlineState, ModelState, OwnState, PendingState, PolicyState};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The arms of a policy, each under a number that it keeps.
pub(crate) struct Roster {
    /// Number by label; `None` where the index is the number.
    numbers: Option<Py<PyDict>>,
    /// All arms ever offered.
    pub(crate) size: usize,
    /// The numbers of the arms that the policy is over, in its order.
    pub(crate) duty: Vec<usize>,
    /// What is known of those that are not on duty.
    away: Record,
}

/// What is known of every arm, by number.
#[derive(Clone, Default)]
struct Record {
    counts: Vec<u64>,
    totals: Vec<f64>,
    committed: Option<(Vec<u64>, Vec<f64>)>,
    /// Arms whose rewards are outstanding, the oldest first.
    pending: Vec<usize>,
}

impl Roster {
    /// Those of a set, all on duty.
    pub(crate) fn of(set: &Bound<'_, PySet>) -> PyResult<Self> {
        let size = set.get().set.view().len();
        let numbers = set.get().positions(set.py()).map(PyDictMethods::copy).transpose()?;
        let away = Record { counts: vec![0; size], totals: vec![0.0; size], ..Record::default() };
        Ok(Self { numbers: numbers.map(Bound::unbind), size, duty: (0..size).collect(), away })
    }

    /// Those without labels, all on duty.
    pub(crate) fn unlabelled(size: usize) -> Self {
        let away = Record { counts: vec![0; size], totals: vec![0.0; size], ..Record::default() };
        Self { numbers: None, size, duty: (0..size).collect(), away }
    }

    /// One arm alone, where nothing was offered yet.
    pub(crate) fn of_action(py: Python<'_>, action: &PyAction) -> PyResult<Self> {
        let Some(label) = action.label(py) else { return Ok(Self::unlabelled(action.of)) };
        let numbers = PyDict::new(py);
        numbers.set_item(label, 0)?;
        Ok(Self { numbers: Some(numbers.unbind()), ..Self::unlabelled(1) })
    }

    /// Whether all arms are on duty in the order of their numbers.
    pub(crate) fn is_full(&self) -> bool {
        self.duty.len() == self.size
            && self.duty.iter().enumerate().all(|(place, number)| place == *number)
    }

    /// All arms ever offered, as a set.
    pub(crate) fn as_set(&self, py: Python<'_>) -> PyResult<Py<PySet>> {
        let labels = self.numbers.as_ref().map(|numbers| numbers.bind(py).keys());
        Py::new(py, PySet::of_arms(self.size, labels.as_ref().map(Bound::as_any))?)
    }

    /// Whether the arms of a set are those on duty, in their order.
    pub(crate) fn has_on_duty(&self, set: &Bound<'_, PySet>) -> PyResult<bool> {
        let (py, len) = (set.py(), set.get().set.view().len());
        self.same_naming(set.get().positions(py).is_some())?;
        if len != self.duty.len() {
            return Ok(false);
        }
        let (Some(numbers), Some(labels)) = (&self.numbers, set.get().labels(py)) else {
            return Ok(self.duty.iter().copied().eq(0..len));
        };
        for (label, on_duty) in labels.iter().zip(&self.duty) {
            match numbers.bind(py).get_item(label)? {
                Some(number) if number.extract::<usize>()? == *on_duty => {}
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// The arms of a set by number, and this roster with those it has not seen before.
    pub(crate) fn calling(&self, set: &Bound<'_, PySet>) -> PyResult<(Self, Vec<usize>)> {
        let (py, len) = (set.py(), set.get().set.view().len());
        self.same_naming(set.get().positions(py).is_some())?;
        let mut known = self.copied(py)?;
        let Some(numbers) = &known.numbers else {
            known.size = known.size.max(len);
            return Ok((known.filled(), (0..len).collect()));
        };
        let labels = set.get().labels(py).unwrap_or_else(|| PyList::empty(py));
        let mut called = Vec::with_capacity(len);
        for label in labels {
            called.push(enlisted(numbers.bind(py), label, &mut known.size)?);
        }
        known.fits()?;
        Ok((known.filled(), called))
    }

    /// The number of the arm that an action is, and this roster with it.
    pub(crate) fn calling_one(&self, py: Python<'_>, action: &PyAction) -> PyResult<(Self, usize)> {
        self.same_naming(action.has_label())?;
        let mut known = self.copied(py)?;
        let number = if let (Some(numbers), Some(label)) = (&known.numbers, action.label(py)) {
            enlisted(numbers.bind(py), label.into_bound(py), &mut known.size)?
        } else {
            known.size = known.size.max(action.index + 1);
            action.index
        };
        known.fits()?;
        Ok((known.filled(), number))
    }

    /// The place on duty of the arm that an action is.
    pub(crate) fn place(&self, py: Python<'_>, action: &PyAction) -> PyResult<Option<usize>> {
        self.same_naming(action.has_label())?;
        let number = match (&self.numbers, action.label(py)) {
            (Some(numbers), Some(label)) => match numbers.bind(py).get_item(label)? {
                Some(number) => number.extract()?,
                None => return Ok(None),
            },
            _ => action.index,
        };
        if self.duty.get(number) == Some(&number) {
            return Ok(Some(number));
        }
        Ok(self.duty.iter().position(|on_duty| *on_duty == number))
    }

    /// The state of the policy over `duty` in place of those on duty now, whose state this is.
    pub(crate) fn transferred(
        &self,
        state: PolicyState,
        to: &mut Self,
        duty: Vec<usize>,
    ) -> PolicyState {
        let (record, own) = self.record(state, to.size);
        let state = PolicyState { model: record.model(&duty), own: record.own(own, &duty) };
        (to.away, to.duty) = (record, duty);
        state
    }

    /// All that is known of `size` arms, and what the policy keeps beside it.
    fn record(&self, state: PolicyState, size: usize) -> (Record, OwnState) {
        let mut record = self.away.clone();
        record.grow(size);
        let PolicyState { model, own } = state;
        record.note(&model, &self.duty);
        let committed = match &own {
            OwnState::Rounds { committed: Some(committed), .. } => Some(committed),
            _ => None,
        };
        if let Some(committed) = committed {
            // An arm that was away when the policy committed counts with what was known of it.
            let known = (record.counts.clone(), record.totals.clone());
            let (counts, totals) = record.committed.take().unwrap_or(known);
            let mut then = Record { counts, totals, ..Record::default() };
            then.note(committed, &self.duty);
            record.committed = Some((then.counts, then.totals));
        }
        let places = places(&self.duty, size);
        record.pending.retain(|number| places[*number].is_none());
        if let OwnState::Code { pending: Some(pending), .. } = &own {
            record.pending.extend(pending.decisions.iter().map(|(place, _)| self.duty[*place]));
        }
        (record, own)
    }

    pub(crate) fn same_naming(&self, labelled: bool) -> PyResult<()> {
        let message = match (&self.numbers, labelled) {
            (Some(_), false) => "actions: the policy knows its arms by label, and these have none",
            (None, true) => {
                "actions: the policy began with arms that have no labels, and these have some"
            }
            _ => return Ok(()),
        };
        Err(PyValueError::new_err(message))
    }

    /// A copy that may be added to.
    pub(crate) fn copied(&self, py: Python<'_>) -> PyResult<Self> {
        let numbers = self.numbers.as_ref().map(|numbers| numbers.bind(py).copy()).transpose()?;
        Ok(Self {
            numbers: numbers.map(Bound::unbind),
            size: self.size,
            duty: self.duty.clone(),
            away: self.away.clone(),
        })
    }

    fn filled(mut self) -> Self {
        self.away.grow(self.size);
        self
    }

    fn fits(&self) -> PyResult<()> {
        let message = || {
            format!("actions: {} arms so far, and a policy takes at most {MOST_ARMS}", self.size)
        };
        if self.size <= MOST_ARMS { Ok(()) } else { Err(PyValueError::new_err(message())) }
    }
}

/// The number of a label, which gets the next one if it has none.
fn enlisted(
    numbers: &Bound<'_, PyDict>,
    label: Bound<'_, PyAny>,
    size: &mut usize,
) -> PyResult<usize> {
    if let Some(number) = numbers.get_item(&label)? {
        return number.extract();
    }
    numbers.set_item(label, *size)?;
    *size += 1;
    Ok(*size - 1)
}

impl Record {
    fn grow(&mut self, size: usize) {
        let grow = |counts: &mut Vec<u64>, totals: &mut Vec<f64>| {
            counts.resize(size, 0);
            totals.resize(size, 0.0);
        };
        grow(&mut self.counts, &mut self.totals);
        if let Some((counts, totals)) = &mut self.committed {
            grow(counts, totals);
        }
    }

    fn note(&mut self, model: &ModelState, duty: &[usize]) {
        let ModelState::Arms(ArmState { counts, totals, .. }) = model else { return };
        for ((number, count), total) in duty.iter().zip(counts).zip(totals) {
            (self.counts[*number], self.totals[*number]) = (*count, *total);
        }
    }

    fn model(&self, duty: &[usize]) -> ModelState {
        arms(&self.counts, &self.totals, duty)
    }

    fn own(&self, own: OwnState, duty: &[usize]) -> OwnState {
        match own {
            OwnState::Rounds { decisions, .. } => {
                let committed = self.committed.as_ref();
                let committed =
                    committed.map(|(counts, totals)| Box::new(arms(counts, totals, duty)));
                OwnState::Rounds { decisions, committed }
            }
            OwnState::Code { pending, deadline } => {
                let places = places(duty, self.counts.len());
                let on_duty = self.pending.iter().filter_map(|number| places[*number]);
                let decisions = on_duty.map(|place| (place, Vec::new())).collect();
                // Without a design, which is made again of the model and the decisions.
                let pending =
                    pending.map(|_| PendingState { decisions, design: None, unlisted: false });
                // Other arms are another set, on which no end was foreseen.
                let elsewhere = |deadline| DeadlineState {
                    set: None,
                    foreseen: false,
                    survivors: vec![],
                    ..deadline
                };
                OwnState::Code { pending, deadline: deadline.map(elsewhere) }
            }
            other => other,
        }
    }
}

/// The place on duty of each number.
fn places(duty: &[usize], size: usize) -> Vec<Option<usize>> {
    let mut places = vec![None; size];
    duty.iter().enumerate().for_each(|(place, number)| places[*number] = Some(place));
    places
}

fn arms(counts: &[u64], totals: &[f64], duty: &[usize]) -> ModelState {
    let on_duty: Vec<u64> = duty.iter().map(|number| counts[*number]).collect();
    let others = counts.iter().sum::<u64>() - on_duty.iter().sum::<u64>();
    ModelState::Arms(ArmState {
        totals: duty.iter().map(|number| totals[*number]).collect(),
        whole: Whole { arms: duty.len(), shares: counts.len() as u64, other_observations: others },
        counts: on_duty,
    })
}
