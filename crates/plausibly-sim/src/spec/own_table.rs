//! The kind `csv`: a table of your own.

use super::environment::{LARGEST_SET, Pools, read_reward_noise, read_rule};
use super::glm::{LARGEST_RATE, read_ends};
use crate::environment::{
    ARM_REWARDS, ColumnMeans, DRAWN_NORM_BOUND, Environment, GlmProblems, Rewards, TABLE_REWARDS,
    TableProblems, TableRows,
};
use plausibly::spec::{Complaint, FieldDefault, Fields, Setting};
use plausibly::{Link, Stream};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Problems over the rows of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OwnTable {
    /// With the means of a column.
    Column(ColumnMeans),
    /// With means by a rule, drawn in every run.
    Rule { rows: Arc<TableRows>, problems: TableProblems },
    /// With the means of clicks or counts by a rule, drawn in every run.
    Glm { rows: Arc<TableRows>, problems: GlmProblems },
}

impl OwnTable {
    pub(super) fn setting(&self) -> Setting {
        match self {
            Self::Column(column) if column.has_no_features() => Setting::Arms,
            Self::Column(_) | Self::Rule { .. } | Self::Glm { .. } => Setting::Fixed,
        }
    }

    pub(super) fn reward_range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Column(column) => column.reward_range(),
            Self::Rule { problems, .. } => problems.rewards.range(TABLE_REWARDS),
            Self::Glm { problems, .. } => problems.reward_range(),
        }
    }

    pub(super) fn draw(&self, rng: &mut Stream) -> Box<dyn Environment> {
        match self {
            Self::Column(column) => Box::new(column.problem()),
            Self::Rule { rows, problems } => {
                Box::new(problems.draw_rule(rows.features.clone(), rng))
            }
            Self::Glm { rows, problems } => Box::new(problems.draw_rule(rows, rng)),
        }
    }
}

/// The rewards of a table.
#[derive(Clone, Copy, PartialEq)]
enum Law {
    /// With ½ subtracted, as logs do, if they have a range.
    Logged(Rewards),
    /// As clicks and counts are: 0 or 1, or a Poisson count.
    AsTheyAre(Link),
}

impl Law {
    fn read(fields: &mut Fields<'_>) -> Self {
        let meaning = "yes-no: one end of the range or the other; bounded: uniform about the \
                       mean, in the range; normal: Gaussian; clicks: 0 or 1; poisson: counts. \
                       With clicks and poisson there is no noise, and lowest and highest, as in \
                       the kinds of these names, take the place of centre, spread, rule and \
                       misspecified";
        let kinds = ["yes-no", "bounded", "normal", "clicks", "poisson"];
        match fields.choice("rewards", meaning, Some("bounded"), &kinds) {
            Some("yes-no") => Self::Logged(Rewards::YesNo),
            Some("normal") => Self::Logged(Rewards::Normal),
            Some("clicks") => Self::AsTheyAre(Link::Logistic),
            Some("poisson") => Self::AsTheyAre(Link::Poisson),
            _ => Self::Logged(Rewards::Bounded),
        }
    }

    /// How rewards scatter, and where they lie if they have a range.
    fn rewards(self) -> (Rewards, (f64, f64)) {
        match self {
            Self::Logged(rewards) => (rewards, TABLE_REWARDS),
            Self::AsTheyAre(Link::Logistic) => (Rewards::YesNo, ARM_REWARDS),
            Self::AsTheyAre(Link::Poisson) => (Rewards::Count, ARM_REWARDS),
        }
    }
}

/// Reads the fields of a table and then its file. Without the file the other fields are still
/// checked.
pub(super) fn read(fields: &mut Fields<'_>, pools: &dyn Pools) -> Option<OwnTable> {
    let meaning = "a CSV file with one row per action, relative to the folder of the spec";
    let path = fields.text("path", meaning, FieldDefault::Required);
    let meaning = "the column of mean rewards, which is then not a feature; with it there is no \
                   centre, spread, rule and misspecified, and no lowest and highest";
    let by_rule = FieldDefault::Derived("means by a rule");
    let column = fields.text("mean_column", meaning, by_rule);
    let rows = path.as_deref().and_then(|path| {
        let read = pools.table(path, column.as_deref()).and_then(checked);
        let complain = |reason| {
            fields.object("path", Complaint::Unavailable { reason: format!("{path}: {reason}") });
        };
        read.map_err(complain).ok()
    });
    let law = Law::read(fields);
    let (rewards, range) = law.rewards();
    let quiet = matches!(rewards, Rewards::YesNo | Rewards::Count);
    let noise = if quiet { 0.0 } else { read_reward_noise(fields) };
    if column.is_some() {
        let mut rows = rows?;
        let means = rows.means.take()?;
        if let Some(complaint) = out_of_range(&rows, &means, rewards, noise) {
            fields.object("mean_column", complaint);
            return None;
        }
        let column = ColumnMeans::new(Arc::new(rows), means, (rewards, range), noise);
        return Some(OwnTable::Column(column));
    }
    let (actions, dim, bound) = rows.as_ref().map_or((1, 1, DRAWN_NORM_BOUND), |rows| {
        (rows.lines.len(), rows.dim, rows.theta_norm_bound)
    });
    if let Law::AsTheyAre(link) = law {
        let placing = read_ends(fields, link);
        let problems = GlmProblems { link, dim, actions, intercept: true, hidden: false, placing };
        return Some(OwnTable::Glm { rows: Arc::new(rows?), problems });
    }
    let problems = read_rule(fields, actions, (rewards, noise), bound);
    Some(OwnTable::Rule { rows: Arc::new(rows?), problems })
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
    let largest = if rewards == Rewards::Count { LARGEST_RATE } else { 1.0 };
    let fits = |mean: f64| mean - reach >= 0.0 && mean + reach <= largest;
    let (line, mean) = rows.lines.iter().zip(means).find(|(_, mean)| !fits(**mean))?;
    let found = format!("the mean {mean} on line {line}");
    let allowed = match rewards {
        Rewards::Bounded => format!(
            "from 0 to 1, with {reach:.3} (√3·noise) to either end; make the noise smaller, divide \
             by the largest possible reward, or use normal rewards"
        ),
        Rewards::Count => format!("from 0 to {LARGEST_RATE}, the mean of a count"),
        _ => "from 0 to 1, the share of yes; for percentages, divide them by 100".into(),
    };
    Some(Complaint::OutOfRange { found, allowed })
}
