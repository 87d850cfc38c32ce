//! Environments made from data sets.
//!
//! The simulator knows only [`Pool`]s, so that it needs neither downloads nor archives; this module
//! turns the cached data sets into pools when a spec names one.

use crate::error::DataError;
use crate::movielens::{self, Factors};
use crate::store::Store;
use crate::table::{self, Table};
use plausibly::spec::{Fields, Range};
use plausibly_sim::{LoadPool, Pool, Pools};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The kinds `movielens`, `wine` and `heart`, from the cache of data sets. Pools are kept, because
/// a thousand specs may use the same one.
#[derive(Debug)]
pub struct DataPools {
    folder: Option<PathBuf>,
    remedy: fn(&str) -> String,
    factors: Mutex<Option<Factors>>,
    made: Mutex<Vec<(String, Arc<Pool>)>>,
}

impl DataPools {
    /// Reads the cache in this folder, or in the usual one; `remedy` says how to get a missing data
    /// set.
    pub fn new(folder: Option<PathBuf>, remedy: fn(&str) -> String) -> Self {
        Self { folder, remedy, factors: Mutex::default(), made: Mutex::default() }
    }

    fn read<T>(&self, read: fn(&Store) -> Result<T, DataError>) -> Result<T, String> {
        let store = Store::at(self.folder.clone())
            .ok_or("this platform has no folder for data; name a cache folder")?;
        read(&store).map_err(|error| match error {
            DataError::NotFetched { name } => {
                format!("the data set {name} is not in the cache; {}", (self.remedy)(name))
            }
            other => other.to_string(),
        })
    }

    /// Returns the pool of this name, and makes it the first time.
    fn shared(
        &self,
        name: String,
        make: impl FnOnce() -> Result<Pool, String>,
    ) -> Result<Arc<Pool>, String> {
        // Entries are pushed whole, so they are valid even if a thread panicked.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pool)) = made.iter().find(|(known, _)| *known == name) {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(make()?);
        made.push((name, Arc::clone(&pool)));
        Ok(pool)
    }

    /// A pool whose actions are the rows of a table and whose `θ*` is its linear fit.
    fn fitted(
        &self,
        read: fn(&Store) -> Result<Table, DataError>,
        options: TableOptions,
    ) -> Result<Pool, String> {
        let mut table = self.read(read)?;
        if options.scaled {
            table = table.min_max_scaled();
        }
        if options.reversed {
            table.target.iter_mut().for_each(|target| *target = 1.0 - *target);
        }
        let theta = table.least_squares().map_err(|error| error.to_string())?;
        Pool::new(table.dim(), table.features, theta, options.noise)
            .map_err(|error| error.to_string())
    }

    /// A pool whose parameters are users and whose actions are movies; the noise is the residual of
    /// the factorisation.
    fn factorised(&self, noise: Option<f64>) -> Result<Pool, String> {
        let mut kept = self.factors.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none() {
            let ratings = self.read(movielens::movielens)?;
            *kept = Some(movielens::factorise(&ratings, RANK));
        }
        let factors = kept.as_ref().expect("they were just kept");
        let noise = noise.unwrap_or(factors.residual);
        Pool::new(RANK, factors.movies.clone(), factors.users.clone(), noise)
            .map_err(|error| error.to_string())
    }
}

/// Rank of the paper's factorisation.
const RANK: usize = 5;

#[derive(Clone, Copy, Debug)]
struct TableOptions {
    noise: f64,
    scaled: bool,
    /// The target is one minus the file's.
    reversed: bool,
}

const NOISE: &str = "standard deviation of the Gaussian noise";

fn read_table_options(fields: &mut Fields<'_>) -> TableOptions {
    let noise = fields.number("noise", NOISE, 0.5, Range::POSITIVE);
    let scaling =
        fields.choice("scaling", "how features are scaled", Some("min-max"), &["min-max", "none"]);
    TableOptions { noise, scaled: scaling != Some("none"), reversed: false }
}

impl Pools for DataPools {
    fn kinds(&self) -> &'static [&'static str] {
        &["movielens", "wine", "heart"]
    }

    fn default_actions(&self, kind: &str) -> i64 {
        // All 299 patients are actions; of wines and films each run draws a hundred.
        if kind == "heart" { 299 } else { 100 }
    }

    fn read(&self, kind: &str, fields: &mut Fields<'_>) -> Box<LoadPool<'_>> {
        let read = match kind {
            "wine" => table::wine,
            "heart" => table::heart,
            _ => {
                let residual = "the residual of the factorisation";
                let noise = fields.number_or("noise", NOISE, residual, Range::POSITIVE);
                let name = format!("movielens {noise:?}");
                return Box::new(move || self.shared(name, || self.factorised(noise)));
            }
        };
        let mut options = read_table_options(fields);
        if kind == "heart" {
            let meaning = "what a reward of 1 means: a death, as in the file, or survival";
            let target = fields.choice("target", meaning, Some("death"), &["death", "survival"]);
            options.reversed = target == Some("survival");
        }
        let name = format!("{kind} {options:?}");
        Box::new(move || self.shared(name, || self.fitted(read, options)))
    }
}
