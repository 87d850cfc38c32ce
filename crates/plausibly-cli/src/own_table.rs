//! Reads the tables that specs name: the kind `csv`.

use plausibly::spec::Fields;
use plausibly_data::DataPools;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::{ColumnKind, FirstLine, Row, Table, read_number};
use plausibly_sim::{LoadPool, Pools, TableRows};
use std::fs::File;
use std::path::Path;

/// The data sets, and tables of your own beside a spec.
pub(crate) struct SpecPools<'a> {
    data: DataPools,
    folder: &'a Path,
}

impl<'a> SpecPools<'a> {
    /// For a spec in this file.
    pub(crate) fn new(data: DataPools, spec: &'a Path) -> Self {
        Self { data, folder: spec.parent().unwrap_or(Path::new("")) }
    }
}

impl Pools for SpecPools<'_> {
    fn kinds(&self) -> &'static [&'static str] {
        self.data.kinds()
    }

    fn default_actions(&self, kind: &str) -> i64 {
        self.data.default_actions(kind)
    }

    fn read(&self, kind: &str, fields: &mut Fields<'_>) -> Box<LoadPool<'_>> {
        Pools::read(&self.data, kind, fields)
    }

    fn table(&self, path: &str, mean_column: Option<&str>) -> Result<TableRows, String> {
        let path = self.folder.join(path);
        let file = File::open(&path).map_err(|error| {
            format!(
                "cannot read {}: {error}; a path is relative to the folder of the spec",
                path.display()
            )
        })?;
        let table = Table::read(file).map_err(|error| error.to_string())?;
        rows(table, mean_column)
    }
}

/// The actions of a table by the recipe that a log would begin with, and the means in a column.
fn rows(table: Table, mean_column: Option<&str>) -> Result<TableRows, String> {
    if table.first_line() == FirstLine::Data {
        return Err("the first line looks like a row, not like names of columns; put a line with \
                    names above it, such as `name,price`"
            .into());
    }
    let means = mean_column.map(|column| means(&table, column)).transpose()?;
    // Labels are not features, and neither are means.
    let of_labels = mean_column.is_some() && table.label_column() == mean_column;
    let table = if of_labels { table.with_label(None) } else { Ok(table) };
    let table = table.map_err(|error| error.to_string())?;
    let recipe = Recipe::infer_without(&table, &Context::default(), mean_column.as_slice());
    let recipe = recipe.map_err(|error| error.to_string())?;
    let features = recipe.features_of_all(&table, &Context::default());
    Ok(TableRows {
        dim: recipe.dim(),
        features: features.map_err(|error| error.to_string())?.concat(),
        lines: table.rows().map(|row| row.line()).collect(),
        theta_norm_bound: recipe.theta_norm_bound(1.0),
        means,
    })
}

/// The numbers of a column.
fn means(table: &Table, column: &str) -> Result<Vec<f64>, String> {
    let Some(kind) = table.kind(column) else {
        let names = table.columns().join(", ");
        return Err(format!("there is no column `{column}` of means; the columns are {names}"));
    };
    let number = |cell: &str| match kind {
        ColumnKind::Numbers(format) => format.parse(cell).ok_or_else(String::new),
        _ => read_number(cell).map_err(|error| error.to_string()),
    };
    let mean = |row: Row<'_>| {
        let cell = row.cell(column).flatten();
        let mean = cell.map_or_else(|| Err("no mean; write a number".into()), number);
        mean.map_err(|reason| format!("line {}, column `{column}`: {reason}", row.line()))
    };
    table.rows().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, mean_column: Option<&str>) -> Result<TableRows, String> {
        rows(Table::read(text.as_bytes()).unwrap(), mean_column)
    }

    #[test]
    fn columns_become_features_as_in_a_log_and_means_do_not() {
        let text = "name,price,colour,rate\nmug,4,red,0.2\nbowl,8,blue,0.5\njug,6,red,0.3\n";
        let table = read(text, Some("rate")).unwrap();
        assert_eq!((table.dim, &table.lines[..]), (4, &[2, 3, 4][..]));
        assert_eq!(table.features[..4], [1.0, -1.0, 0.0, 1.0]);
        assert_eq!(table.means, Some(vec![0.2, 0.5, 0.3]));
        // ½·√2 for the two categories.
        assert!((table.theta_norm_bound - 0.5_f64.sqrt()).abs() < 1e-15);
        let by_rule = read(text, None).unwrap();
        assert_eq!((by_rule.dim, by_rule.means), (5, None));
    }

    #[test]
    fn means_may_be_in_the_column_of_labels_or_written_with_a_comma() {
        let table = read("id,x\n0.5,1\n0.25,2\n", Some("id")).unwrap();
        assert_eq!((table.dim, table.means), (2, Some(vec![0.5, 0.25])));
        let table = read("name;rate\na;0,5\nb;0,25\n", Some("rate")).unwrap();
        assert_eq!((table.dim, table.means), (0, Some(vec![0.5, 0.25])));
    }

    #[test]
    fn what_is_not_a_mean_is_refused_with_its_line() {
        for (text, words) in [
            ("name,rate\na,0.5\nb,half\n", "line 3, column `rate`: `half` is not a number; write"),
            ("name,rate\na,0.5\nb,NA\n", "line 3, column `rate`: no mean; write a number"),
            ("name,rate\na,5%\nb,7%\n", "line 2, column `rate`: `5%` is not a number; write 0.05"),
            ("name,price\na,1\nb,2\n", "no column `rate` of means; the columns are name, price"),
            ("1,2\n3,4\n5,6\n", "the first line looks like a row"),
        ] {
            let refusal = read(text, Some("rate")).unwrap_err();
            assert!(refusal.contains(words), "{refusal}");
        }
    }
}
