//! Tables of features with a target: wine and heart.

use crate::catalogue::{HEART, WINE};
use crate::error::DataError;
use crate::store::Store;
use plausibly::{Ridge, RidgeError};

/// Rows of features, each with a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Names of the features.
    pub columns: Vec<String>,
    /// Features, row-major.
    pub features: Vec<f64>,
    /// One target per row.
    pub target: Vec<f64>,
}

impl Table {
    /// d, features of a row.
    pub fn dim(&self) -> usize {
        self.columns.len()
    }

    /// Scales every feature to run from 0 to 1; a constant one becomes 0.
    #[must_use]
    pub fn min_max_scaled(mut self) -> Self {
        let dim = self.dim();
        for column in 0..dim {
            let values = || self.features.iter().skip(column).step_by(dim).copied();
            let low = values().fold(f64::INFINITY, f64::min);
            let range = values().fold(f64::NEG_INFINITY, f64::max) - low;
            for x in self.features.iter_mut().skip(column).step_by(dim) {
                *x = if range > 0.0 { (*x - low) / range } else { 0.0 };
            }
        }
        self
    }

    /// `θ*` of the linear model that fits the target best, without intercept.
    ///
    /// # Errors
    /// If the features are linearly dependent.
    pub fn least_squares(&self) -> Result<Vec<f64>, RidgeError> {
        let dim = self.dim();
        let (mut gram, mut moment) = (vec![0.0; dim * dim], vec![0.0; dim]);
        for (row, target) in self.features.chunks_exact(dim).zip(&self.target) {
            for (i, x) in row.iter().enumerate() {
                moment[i] += x * target;
                for (entry, y) in gram[i * dim..].iter_mut().zip(row) {
                    *entry += x * y;
                }
            }
        }
        let model = Ridge::from_statistics(dim, 0.0, &gram, &moment, self.target.len() as u64)?;
        Ok(model.theta_hat().to_vec())
    }
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

/// Parses numbers under a heading; the last column is the target.
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
        let row: Option<Vec<f64>> =
            line.split(separator).map(|cell| cell.trim().parse().ok()).collect();
        let row = row
            .filter(|row| row.len() == table.columns.len() + 1)
            .ok_or_else(|| form(number, line))?;
        table.target.push(row[row.len() - 1]);
        table.features.extend_from_slice(&row[..row.len() - 1]);
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_finds_the_model_that_made_the_targets() {
        let text = b"\"a\";\"b\";\"y\"\n1;0;2\n0;1;-1\n2;1;3\n";
        let table = parse(text, "test", ';').unwrap();
        assert_eq!(
            (table.columns.as_slice(), table.target.len()),
            (&["a".to_string(), "b".into()][..], 3)
        );
        let theta = table.least_squares().unwrap();
        assert!((theta[0] - 2.0).abs() < 1e-12 && (theta[1] + 1.0).abs() < 1e-12, "{theta:?}");
        assert_eq!(table.min_max_scaled().features, [0.5, 0.0, 0.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn a_row_of_another_form_is_named() {
        for text in ["a,y\n1,2\n1\n", "a,y\n1,2\nx,3\n"] {
            let error = parse(text.as_bytes(), "test", ',').unwrap_err();
            assert!(matches!(error, DataError::Form { line: 3, .. }), "{error}");
        }
    }
}
