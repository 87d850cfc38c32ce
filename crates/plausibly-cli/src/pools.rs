//! Environments made from data sets.

use crate::args::Cache;
use crate::data;
use plausibly::spec::{Fields, Range};
use plausibly_data::{DataError, Store, Table};
use plausibly_sim::{LoadPool, Pool, Pools};
use std::sync::Arc;

/// `movielens`, `wine` and `heart`, from the cache.
pub(crate) struct DataPools<'a> {
    cache: &'a Cache,
}

impl<'a> DataPools<'a> {
    pub(crate) fn new(cache: &'a Cache) -> Self {
        Self { cache }
    }

    fn store(&self) -> Result<Store, String> {
        data::store(self.cache).map_err(|error| format!("{error:#}"))
    }

    /// A table whose rows are the actions and whose linear fit is `θ*`.
    fn fitted(
        &self,
        read: fn(&Store) -> Result<Table, DataError>,
        options: TableOptions,
    ) -> Result<Arc<Pool>, String> {
        let mut table = read(&self.store()?).map_err(|error| error.to_string())?;
        if options.scaled {
            table = table.min_max_scaled();
        }
        if options.reversed {
            table.target.iter_mut().for_each(|target| *target = 1.0 - *target);
        }
        let theta = table.least_squares().map_err(|error| error.to_string())?;
        let pool = Pool::new(table.dim(), table.features, theta, options.noise);
        pool.map(Arc::new).map_err(|error| error.to_string())
    }

    /// Users are the parameters, movies the actions, and what the factors leave of the ratings is the noise.
    fn factorised(&self, noise: Option<f64>) -> Result<Arc<Pool>, String> {
        let ratings = plausibly_data::movielens(&self.store()?).map_err(|error| error.to_string())?;
        let factors = plausibly_data::factorise(&ratings, RANK);
        let noise = noise.unwrap_or(factors.residual);
        let pool = Pool::new(RANK, factors.movies, factors.users, noise);
        pool.map(Arc::new).map_err(|error| error.to_string())
    }
}

/// Of the paper's factorisation.
const RANK: usize = 5;

#[derive(Clone, Copy)]
struct TableOptions {
    noise: f64,
    scaled: bool,
    /// The target is one minus the file's.
    reversed: bool,
}

const NOISE: &str = "standard deviation of the Gaussian noise";

fn read_table_options(fields: &mut Fields<'_>) -> TableOptions {
    let noise = fields.number("noise", NOISE, 0.5, Range::POSITIVE);
    let scaling = fields.choice("scaling", "how features are scaled", Some("min-max"), &["min-max", "none"]);
    TableOptions { noise, scaled: scaling != Some("none"), reversed: false }
}

impl Pools for DataPools<'_> {
    fn kinds(&self) -> &'static [&'static str] {
        &["movielens", "wine", "heart"]
    }

    fn default_actions(&self, kind: &str) -> i64 {
        // All patients are actions; of wines and films a hundred are drawn.
        if kind == "heart" { 299 } else { 100 }
    }

    fn read(&self, kind: &str, fields: &mut Fields<'_>) -> Box<LoadPool<'_>> {
        match kind {
            "wine" => {
                let options = read_table_options(fields);
                Box::new(move || self.fitted(plausibly_data::wine, options))
            }
            "heart" => {
                let options = read_table_options(fields);
                let meaning = "what the reward stands for: the file's column, 1 for a death, or 1 minus it";
                let target = fields.choice("target", meaning, Some("death"), &["death", "survival"]);
                let options = TableOptions { reversed: target == Some("survival"), ..options };
                Box::new(move || self.fitted(plausibly_data::heart, options))
            }
            _ => {
                let noise =
                    fields.number_or("noise", NOISE, "the residual of the factorisation", Range::POSITIVE);
                Box::new(move || self.factorised(noise))
            }
        }
    }
}
