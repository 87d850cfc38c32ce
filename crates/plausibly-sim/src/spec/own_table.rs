//! The kind `csv`: a table of your own.

use super::environment::{LARGEST_SET, Pools, read_rewards, read_rule};
use crate::environment::{
    ColumnMeans, DRAWN_NORM_BOUND, Environment, Rewards, TABLE_REWARDS, TableProblems, TableRows,
};
use plausibly::Stream;
use plausibly::spec::{Complaint, FieldDefault, Fields, Setting};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Problems over the rows of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnTable {
    /// With the means of a column.
    Column(ColumnMeans),
    /// With means by a rule, drawn in every run.
    Rule { rows: Arc<TableRows>, problems: TableProblems },
}

impl OwnTable {
    pub(super) fn setting(&self) -> Setting {
        match self {
            Self::Column(column) if column.has_no_features() => Setting::Arms,
            Self::Column(_) | Self::Rule { .. } => Setting::Fixed,
        }
    }

    pub(super) fn reward_range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Column(column) => column.reward_range(),
            Self::Rule { problems, .. } => problems.rewards.range(TABLE_REWARDS),
        }
    }

    pub(super) fn draw(&self, rng: &mut Stream) -> Box<dyn Environment> {
        match self {
            Self::Column(column) => Box::new(column.problem()),
            Self::Rule { rows, problems } => {
                Box::new(problems.draw_rule(rows.features.clone(), rng))
            }
        }
    }
}

/// Reads the fields of a table and then its file. Without the file the other fields are still
/// checked.
pub(super) fn read(fields: &mut Fields<'_>, pools: &dyn Pools) -> Option<OwnTable> {
    let meaning = "a CSV file with one row per action, relative to the folder of the spec";
    let path = fields.text("path", meaning, FieldDefault::Required);
    let meaning = "the column of mean rewards, which is then not a feature; with it there is no \
                   centre, spread, rule and misspecified";
    let by_rule = FieldDefault::Derived("means by a rule");
    let column = fields.text("mean_column", meaning, by_rule);
    let rows = path.as_deref().and_then(|path| {
        let read = pools.table(path, column.as_deref()).and_then(checked);
        let complain = |reason| {
            fields.object("path", Complaint::Unavailable { reason: format!("{path}: {reason}") });
        };
        read.map_err(complain).ok()
    });
    if column.is_none() {
        let (actions, bound) = rows
            .as_ref()
            .map_or((1, DRAWN_NORM_BOUND), |rows| (rows.lines.len(), rows.theta_norm_bound));
        let problems = read_rule(fields, actions, bound);
        return Some(OwnTable::Rule { rows: Arc::new(rows?), problems });
    }
    let meaning = "yes-no: one end of the range or the other; bounded: uniform about the mean, in \
                   the range; normal: Gaussian";
    let (rewards, noise) = read_rewards(fields, meaning);
    let mut rows = rows?;
    let means = rows.means.take()?;
    if let Some(complaint) = out_of_range(&rows, &means, rewards, noise) {
        fields.object("mean_column", complaint);
        return None;
    }
    Some(OwnTable::Column(ColumnMeans::new(Arc::new(rows), means, rewards, noise)))
}

/// Refuses rows that no comparison can be made on.
fn checked(rows: TableRows) -> Result<TableRows, String> {
    let count = rows.lines.len();
    if count < 2 {
        return Err("the table has one action, and a policy needs a choice; add a row".into());
    }
    if (count as u64).saturating_mul(rows.dim as u64) > LARGEST_SET {
        return Err(format!(
            "{count} actions of {} features are more than {LARGEST_SET} features in all; leave out \
             rows or columns",
            rows.dim
        ));
    }
    if rows.dim == 0 {
        let how = "no column of the table is a feature, so no rule can give means; name a \
                   mean_column, or add columns";
        return if rows.means.is_some() { Ok(rows) } else { Err(how.into()) };
    }
    let mut seen = BTreeMap::new();
    for (row, line) in rows.features.chunks_exact(rows.dim).zip(&rows.lines) {
        let bits: Vec<u64> = row.iter().map(|x| x.to_bits()).collect();
        if let Some(first) = seen.insert(bits, line) {
            return Err(format!(
                "lines {first} and {line} have the same features, so no model can tell these \
                 actions apart; remove one, or add a column in which they differ"
            ));
        }
    }
    Ok(rows)
}

/// The first mean at which a reward could leave the range.
fn out_of_range(
    rows: &TableRows,
    means: &[f64],
    rewards: Rewards,
    noise: f64,
) -> Option<Complaint> {
    if rewards == Rewards::Normal {
        return None;
    }
    let reach = rewards.reach(noise);
    let fits = |mean: f64| mean - reach >= 0.0 && mean + reach <= 1.0;
    let (line, mean) = rows.lines.iter().zip(means).find(|(_, mean)| !fits(**mean))?;
    let found = format!("the mean {mean} on line {line}");
    let allowed = match rewards {
        Rewards::Bounded => format!(
            "from 0 to 1, with {reach:.3} (√3·noise) to either end; make the noise smaller, divide \
             by the largest possible reward, or use normal rewards"
        ),
        _ => "from 0 to 1, the share of yes; for percentages, divide them by 100".into(),
    };
    Some(Complaint::OutOfRange { found, allowed })
}
