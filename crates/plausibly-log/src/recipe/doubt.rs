//! Finds what the user may not have meant about a first table. A log asks before it begins, because
//! the recipe cannot be changed later.

use super::column::used;
use super::{Encoding, Recipe};
use crate::table::{ColumnKind, NumberFormat, Table};
use thiserror::Error;

/// Something about a first table that may not be meant.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// Labels that are bare numbers.
    #[error(
        "labels come from the column `{column}`, whose values are bare numbers such as {example}; \
         --label COLUMN takes another column"
    )]
    NumbersAsLabels {
        /// The column.
        column: String,
        /// A label.
        example: String,
    },
    /// Labels that are dates.
    #[error(
        "labels come from the column `{column}`, whose values are dates such as {example}; --label \
         COLUMN takes another column"
    )]
    DatesAsLabels {
        /// The column.
        column: String,
        /// A label.
        example: String,
    },
    /// A column that numbers the rows and would become a feature.
    #[error(
        "the first column, `{column}`, has a different whole number in every row, as if it \
         numbered the rows, and becomes a feature; --label {column} takes it as the label, \
         --leave-out {column} leaves it out"
    )]
    Numbered {
        /// The column.
        column: String,
    },
    /// Dates that would become categories.
    #[error(
        "the column `{column}` holds dates such as {example}, and each date becomes a category of \
         its own; --leave-out {column} leaves it out"
    )]
    Dates {
        /// The column.
        column: String,
        /// A date in it.
        example: String,
    },
}

impl Recipe {
    /// What the user may not have meant about the table that this recipe was inferred from.
    pub fn doubts(&self, table: &Table) -> Vec<Doubt> {
        let mut doubts: Vec<Doubt> = doubt_about_labels(table).into_iter().collect();
        let first = table.columns().first();
        for column in used(&self.columns) {
            let name = || column.name.clone();
            let cells: Vec<&str> =
                table.rows().filter_map(|row| row.cell(&column.name).flatten()).collect();
            if !self.is_given() && first == Some(&column.name) && numbers_rows(&cells, table.len())
            {
                doubts.push(Doubt::Numbered { column: name() });
            }
            if let (Encoding::Categories {}, Some(example)) = (&column.encoding, dates(&cells)) {
                doubts.push(Doubt::Dates { column: name(), example: example.into() });
            }
        }
        doubts
    }
}

fn doubt_about_labels(table: &Table) -> Option<Doubt> {
    let column = table.label_column()?.to_string();
    let labels: Vec<&str> = table.labels().iter().map(String::as_str).collect();
    if let Some(example) = dates(&labels) {
        return Some(Doubt::DatesAsLabels { column, example: example.into() });
    }
    let numbers = matches!(table.kind(&column)?, ColumnKind::Numbers(_) | ColumnKind::Ambiguous);
    numbers.then(|| Doubt::NumbersAsLabels { column, example: table.labels()[0].clone() })
}

/// Whether there are at least three rows, each with a different whole number.
fn numbers_rows(cells: &[&str], rows: usize) -> bool {
    let mut numbers: Vec<i64> = cells.iter().filter_map(|cell| cell.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.dedup();
    rows >= 3 && numbers.len() == rows
}

/// The first value, if all are dates.
fn dates<'a>(cells: &[&'a str]) -> Option<&'a str> {
    cells.iter().all(|cell| is_date(cell)).then_some(())?;
    cells.first().copied()
}

/// `2026-11-01`, `2026/11/1`, `1.11.2026`, `11/1/2026`, and each with a time behind it.
pub(crate) fn is_date(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().unwrap_or(text);
    let separator = ['-', '/'].into_iter().find(|one| day.contains(*one)).unwrap_or('.');
    let parts: Vec<&str> = day.split(separator).collect();
    let number = |text: &str| NumberFormat::Plain.parse(text.trim_start_matches('0'));
    let is_year = |text: &str| text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    let within = |text: &str, most: f64| {
        text.len() <= 2 && number(text).is_some_and(|x| (1.0..=most).contains(&x))
    };
    match parts[..] {
        [year, month, day] if is_year(year) => within(month, 12.0) && within(day, 31.0),
        [one, other, year] if is_year(year) => {
            within(one, 31.0) && within(other, 31.0) && (within(one, 12.0) || within(other, 12.0))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::Context;

    fn doubts(table: &str) -> Vec<Doubt> {
        let table = Table::read(table.as_bytes()).unwrap();
        Recipe::infer(&table, &Context::default()).unwrap().doubts(&table)
    }

    #[test]
    fn dates_are_known_by_their_look() {
        for date in [
            "2026-11-01",
            "2026/1/9",
            "1.11.2026",
            "11/30/2026",
            "2026-11-01T08:00:00Z",
            "01.11.2026 08:00",
        ] {
            assert!(is_date(date), "{date}");
        }
        for other in [
            "2026",
            "1.2.3",
            "2026-13-01",
            "31/31/2026",
            "a-b-c",
            "2026-11",
            "",
            "1.11.26",
            "0-0-2026",
        ] {
            assert!(!is_date(other), "{other}");
        }
    }

    #[test]
    fn what_may_not_be_meant_is_doubted_and_nothing_else() {
        let column = |name: &str| name.to_string();
        assert_eq!(
            doubts("id,price\n1,4.5\n2,3.5\n"),
            [Doubt::NumbersAsLabels { column: column("id"), example: "1".into() }]
        );
        assert_eq!(
            doubts("nr,name,price\n10,mug,4.5\n12,jug,3.5\n11,cup,2\n"),
            [Doubt::Numbered { column: column("nr") }]
        );
        assert_eq!(
            doubts("name,since\nmug,2026-11-01\njug,2026-11-02\ncup,\n"),
            [Doubt::Dates { column: column("since"), example: "2026-11-01".into() }]
        );
        assert_eq!(
            doubts("day,weight\n1.11.2026,2.5\n2.11.2026,3.5\n"),
            [Doubt::DatesAsLabels { column: column("day"), example: "1.11.2026".into() }]
        );
        for fine in [
            "name\nA question\nA number\n",
            "name,price,colour\nmug,4,red\njug,6,blue\ncup,5,red\n",
            "acidity,sugar\n7.1,20\n6.2,1.5\n7.1,6\n",
            "version,name\n1.2.3,a\n1.2.4,b\n1.2.5,c\n",
        ] {
            assert_eq!(doubts(fine), [], "{fine}");
        }
    }
}
