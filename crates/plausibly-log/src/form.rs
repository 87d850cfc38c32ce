//! Decisions as a CSV that is also the form for their outcomes: a person exports pending decisions
//! with [`form`], fills in rewards in a spreadsheet, and records them with [`read_form`].
//!
//! Spreadsheets run a cell that begins with `=`, `+`, `-` or `@` as a formula. Labels and context
//! come from tables of other people, so [`form`] puts an apostrophe before text that begins with
//! one of these characters, a tab, a carriage return or an apostrophe. [`read_form`] removes one
//! leading apostrophe, which restores every text.

use crate::history::{OutcomeStatus, PastDecision};
use crate::reward::Reward;
use crate::table::{NumberError, Records, Size, TableError, listed, present, read_number, records};
use csv::{QuoteStyle, WriterBuilder};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use thiserror::Error;

/// The word in the column of rewards that drops a decision.
const DROP: &str = "drop";

/// An outcome to record for a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NewOutcome {
    /// The reward.
    Reward(Reward),
    /// The reward will never come.
    Drop,
}

/// A row of a form in which the reward was filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct FormRow {
    /// The line of the file, from 1.
    pub line: u64,
    /// The number of the decision.
    pub decision: u64,
    /// The outcome to record.
    pub outcome: NewOutcome,
    /// The label in the form, if it has a column `label`.
    pub label: Option<String>,
}

/// Why a form was refused: what is wrong, where, and how to correct it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FormError {
    /// It is not a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Nothing at all.
    #[error("the file is empty; its first line must be a header such as `decision,reward`")]
    Empty,
    /// A column that is missing, or that occurs twice.
    #[error(
        "line {line}: the header must name `decision` and `reward` once each, and `{name}` {}; the \
         columns are {}",
        if *.twice { "occurs twice" } else { "is missing" }, listed(.columns)
    )]
    Column {
        /// The line of the header.
        line: u64,
        /// The column.
        name: &'static str,
        /// Whether it occurs twice.
        twice: bool,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// A cell that is not the number of a decision.
    #[error("line {line}: `{found}` is not the number of a decision, such as 17")]
    Decision {
        /// The line.
        line: u64,
        /// The text of the cell.
        found: String,
    },
    /// A cell that is not an outcome.
    #[error(
        "line {line}: {source}, or `drop` for an outcome that will never come; leave it blank \
         while the reward is pending"
    )]
    Reward {
        /// The line.
        line: u64,
        /// What is wrong with it.
        source: NumberError,
    },
    /// A number of outcomes that is not one.
    #[error("line {line}: `{found}` is not a number of outcomes; write a count such as 21 of 100")]
    Of {
        /// The line.
        line: u64,
        /// The text after `of`.
        found: String,
    },
    /// A decision with two rows.
    #[error("lines {first} and {second} are both about decision {decision}; keep one of them")]
    Twice {
        /// The decision.
        decision: u64,
        /// The line of the first row.
        first: u64,
        /// The line of the second.
        second: u64,
    },
}

/// Decisions as CSV: `decision`, `at`, `label`, one column `context.KEY` per context key, `reward`,
/// `outcome_at`.
///
/// The reward of a pending decision is blank, that of a dropped one is the word `drop`.
///
/// # Panics
/// Never: the rows are as wide as the header, and memory takes them.
pub fn form(past: &[PastDecision]) -> String {
    let keys: BTreeSet<&str> =
        past.iter().flat_map(|one| one.context.iter().map(|(key, _)| key)).collect();
    let mut header = vec!["decision".to_string(), "at".into(), "label".into()];
    header.extend(keys.iter().map(|key| format!("context.{key}")));
    header.extend(["reward".into(), "outcome_at".into()]);
    // A key with another separator in it must not mislead a reader that looks for the separator.
    let other = |name: &String| name.contains([';', '\t']);
    let style = if header.iter().any(other) { QuoteStyle::Always } else { QuoteStyle::Necessary };
    let mut writer = WriterBuilder::new().quote_style(style).from_writer(Vec::new());
    let mut write = |row: &[String]| writer.write_record(row).expect("a row goes to memory");
    write(&header);
    for one in past {
        let mut row = vec![one.decision.to_string(), one.at.clone(), as_text(&one.label)];
        row.extend(keys.iter().map(|key| one.context.get(key).map(as_text).unwrap_or_default()));
        row.push(match one.outcome {
            OutcomeStatus::Dropped => DROP.into(),
            _ => one.told_reward(),
        });
        row.push(one.outcome_at.clone().unwrap_or_default());
        write(&row);
    }
    let bytes = writer.into_inner().expect("rows are in memory");
    String::from_utf8(bytes).expect("rows are made of text")
}

/// The text in a form that no spreadsheet runs as a formula.
fn as_text(text: &str) -> String {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) {
        format!("'{text}")
    } else {
        text.into()
    }
}

/// Undoes [`as_text`].
fn from_text(cell: &str) -> &str {
    cell.strip_prefix('\'').unwrap_or(cell)
}

/// The rows of a form with a reward or `drop`, in order; rows with a blank reward are skipped.
/// Reads only the columns `decision`, `reward` and `label`.
///
/// # Errors
/// If it is not a table, lacks a column, a cell cannot be read, or a decision has two rows.
pub fn read_form(reader: impl Read) -> Result<Vec<FormRow>, FormError> {
    let form = records(reader, Size::OUTCOMES)?;
    if form.header.is_empty() {
        return Err(FormError::Empty);
    }
    let (decision, reward) = (column(&form, "decision")?, column(&form, "reward")?);
    let label = column(&form, "label").ok();
    let mut seen = BTreeMap::new();
    let mut filled_in = Vec::new();
    for (row, &line) in form.rows.iter().zip(&form.lines) {
        let Some(outcome) = outcome(&row[reward], line)? else { continue };
        let found = row[decision].trim();
        let decision =
            found.parse().map_err(|_unusable| FormError::Decision { line, found: found.into() })?;
        if let Some(first) = seen.insert(decision, line) {
            return Err(FormError::Twice { decision, first, second: line });
        }
        let label = label.map(|label| from_text(&row[label]).to_string());
        filled_in.push(FormRow { line, decision, outcome, label });
    }
    Ok(filled_in)
}

fn outcome(cell: &str, line: u64) -> Result<Option<NewOutcome>, FormError> {
    let Some(cell) = present(cell) else { return Ok(None) };
    if cell.eq_ignore_ascii_case(DROP) {
        return Ok(Some(NewOutcome::Drop));
    }
    let number = |text| read_number(text).map_err(|source| FormError::Reward { line, source });
    let reward = match cell.split_once(" of ") {
        Some((yes, of)) => {
            let of = of.trim();
            let wrong = |_| FormError::Of { line, found: of.into() };
            Reward { value: number(yes.trim())? + 0.0, of: Some(of.parse().map_err(wrong)?) }
        }
        None => Reward::from(number(cell)?),
    };
    Ok(Some(NewOutcome::Reward(reward)))
}

/// The position of a column.
fn column(form: &Records, name: &'static str) -> Result<usize, FormError> {
    let called = |at: &usize| form.header[*at].eq_ignore_ascii_case(name);
    let mut found = (0..form.header.len()).filter(called);
    let refused = |twice| {
        let columns = form.header.clone();
        FormError::Column { line: form.header_line, name, twice, columns }
    };
    match (found.next(), found.next()) {
        (Some(at), None) => Ok(at),
        (first, _) => Err(refused(first.is_some())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Context;
    use proptest::prelude::*;

    fn past(
        decision: u64,
        label: &str,
        outcome: OutcomeStatus,
        reward: Option<f64>,
    ) -> PastDecision {
        past_in("device==1+1", decision, label, outcome, reward)
    }

    fn past_in(
        pair: &str,
        decision: u64,
        label: &str,
        outcome: OutcomeStatus,
        reward: Option<f64>,
    ) -> PastDecision {
        let context = Context::parse([pair]).unwrap();
        let at = "2026-11-01T08:00:00.000000Z".to_string();
        PastDecision {
            decision,
            at,
            label: label.into(),
            context,
            outcome,
            reward,
            of: None,
            outcome_at: None,
            late: false,
        }
    }

    proptest! {
        #[test]
        fn every_text_comes_back_and_none_is_a_formula(text in "[=+@'\\-\t\r\na-z,;\" ]{1,8}") {
            let cell = as_text(&text);
            prop_assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']));
            prop_assert_eq!(from_text(&cell), &text);
            let written = form(&[past(1, &text, OutcomeStatus::Rewarded, Some(0.5))]);
            let read = read_form(written.as_bytes()).unwrap();
            prop_assert_eq!(read[0].label.as_deref(), Some(text.as_str()));
        }

        #[test]
        fn every_reward_comes_back_to_the_bit(reward in -1e300..1e300_f64) {
            let written = form(&[past(7, "a", OutcomeStatus::Rewarded, Some(reward))]);
            let read = read_form(written.as_bytes()).unwrap();
            let expected = NewOutcome::Reward(reward.into());
            prop_assert_eq!((read[0].decision, read[0].outcome), (7, expected));
        }
    }

    #[test]
    fn outcomes_are_told_and_what_is_outstanding_is_not() {
        let all = [
            past(1, "a", OutcomeStatus::Pending, None),
            past(2, "b", OutcomeStatus::Dropped, None),
            past(3, "=1+1", OutcomeStatus::Rewarded, Some(-0.25)),
        ];
        let written = form(&all);
        assert!(
            written.starts_with("decision,at,label,context.device,reward,outcome_at\n1,"),
            "{written}"
        );
        assert!(written.contains(",'=1+1,'=1+1,-0.25,"), "{written}");
        let told: Vec<_> = read_form(written.as_bytes())
            .unwrap()
            .iter()
            .map(|row| (row.line, row.outcome))
            .collect();
        assert_eq!(told, [(3, NewOutcome::Drop), (4, NewOutcome::Reward(Reward::from(-0.25)))]);
    }

    #[test]
    fn keys_with_separators_do_not_confuse_the_reader() {
        for key in ["a;b", "a\tb", "a,b", "a\"b"] {
            let written =
                form(&[past_in(&format!("{key}=x;y"), 1, "p;q", OutcomeStatus::Dropped, None)]);
            let read = read_form(written.as_bytes()).unwrap();
            assert_eq!(
                (read[0].outcome, read[0].label.as_deref()),
                (NewOutcome::Drop, Some("p;q")),
                "{written}"
            );
        }
    }

    #[test]
    fn what_is_wrong_is_named_by_its_line() {
        for (form, words) in [
            ("decision,paid\n1,2\n", "line 1: the header must name `decision` and `reward`"),
            ("decision,reward,Reward\n1,2,3\n", "`reward` occurs twice"),
            ("decision,reward\n1,0.5\nx,0.5\n", "line 3: `x` is not the number of a decision"),
            ("decision;reward\n1;0,21\n", "line 2: `0,21` is not a number; write 0.21"),
            ("decision,reward\n1,yes\n", "line 2: `yes` is not a number"),
            ("decision,reward\n1,0.5\n\n1,0.5\n", "lines 2 and 4 are both about decision 1"),
        ] {
            let error = read_form(form.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(words), "{form}: {error}");
        }
    }
}
