//! Tables of features with a target: wine and heart.

use crate::catalogue::{HEART, WINE};
use crate::error::DataError;
use crate::store::Store;

/// Rows of features, each with a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the features.
    pub columns: Vec<String>,
    /// Features, row-major.
    pub features: Vec<f64>,
    /// One target a row.
    pub target: Vec<f64>,
}

/// White wines: eleven chemical measurements, and the tasters' rating.
///
/// # Errors
/// If the data set is not in the cache or damaged.
pub fn wine(store: &Store) -> Result<Table, DataError> {
    let member = &WINE.members[0];
    parse(&store.read(&WINE, member)?, member.path, ';')
}

/// Heart failure: twelve clinical features, and whether the patient died during the follow-up.
///
/// # Errors
/// If the data set is not in the cache or damaged.
pub fn heart(store: &Store) -> Result<Table, DataError> {
    let member = &HEART.members[0];
    parse(&store.read(&HEART, member)?, member.path, ',')
}

/// Numbers under a heading, the last column being the target.
fn parse(bytes: &[u8], member: &'static str, separator: char) -> Result<Table, DataError> {
    let text = String::from_utf8_lossy(bytes);
    let form = |line: usize, text: &str| DataError::Form { member, line, text: text.into() };
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (_, heading) = lines.next().ok_or_else(|| form(1, ""))?;
    let mut columns: Vec<String> =
        heading.split(separator).map(|name| name.trim_matches('"').to_string()).collect();
    columns.pop();
    let mut table = Table { columns, features: Vec::new(), target: Vec::new() };
    for (number, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        let row: Option<Vec<f64>> = line.split(separator).map(|cell| cell.trim().parse().ok()).collect();
        let row = row.filter(|row| row.len() == table.columns.len() + 1).ok_or_else(|| form(number, line))?;
        table.target.push(row[row.len() - 1]);
        table.features.extend_from_slice(&row[..row.len() - 1]);
    }
    Ok(table)
}
