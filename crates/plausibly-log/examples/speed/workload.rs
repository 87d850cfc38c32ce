//! Logs in memory of given sizes, to measure decisions without a disk. Uses only what versions of
//! the library have had for long, so that an earlier one can be measured beside this one.

use plausibly::Stream;
use plausibly_log::journal::Storage;
use plausibly_log::recipe::{Context, Recipe};
use plausibly_log::table::Table;
use plausibly_log::{Log, Opening};
use std::error::Error;
use std::fmt::Write;
use std::io::{self, Cursor};
use std::path::Path;

/// The numbers of features and actions; no features for arms.
pub(crate) type Size = (usize, usize);

/// Outcomes that are known before anything is measured.
const SETTLED: u64 = 200;

/// A disk that takes lines and forgets them.
#[derive(Debug, Default)]
pub(crate) struct Nowhere {
    length: u64,
}

impl Storage for Nowhere {
    type Reader = Cursor<Vec<u8>>;

    fn path(&self) -> &Path {
        Path::new("nowhere")
    }

    fn lock(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn reader(&self) -> io::Result<Self::Reader> {
        Ok(Cursor::default())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.length)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.length = len;
        Ok(())
    }

    fn sync_folder(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn read_side(&self, _: &str) -> io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn write_side(&mut self, _: &str, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn rename_side(&mut self, _: &str, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// A table of this size.
pub(crate) fn table((dim, actions): Size) -> Result<Table, Box<dyn Error>> {
    let mut text = String::from("name");
    // The recipe adds an intercept.
    let columns = dim.saturating_sub(1);
    for column in 0..columns {
        write!(text, ",x{column}")?;
    }
    let mut rng = Stream::new(1, 0, "table");
    for row in 0..actions {
        write!(text, "\naction {row}")?;
        for _ in 0..columns {
            write!(text, ",{:.3}", rng.normal())?;
        }
    }
    Ok(Table::read(text.as_bytes())?.with_label(Some("name"))?)
}

/// A log with some outcomes.
pub(crate) fn log<S: Storage>(storage: S, table: &Table) -> Result<Log<S>, Box<dyn Error>> {
    let none = Context::default();
    let mut log = Log::open(storage)?;
    let recipe = Recipe::infer(table, &none)?;
    log.begin(1, Opening::new(recipe, (0.0, 1.0), 1))?;
    let mut rng = Stream::new(2, 0, "outcomes");
    for decision in 1..=SETTLED {
        log.decide(1, table, &none, 1)?;
        log.reward(1, decision, rng.uniform())?;
    }
    Ok(log)
}
