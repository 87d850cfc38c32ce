//! `plausibly serve`.

use super::args::Serve;
use super::data_folder;
use crate::decisions::now;
use crate::output;
use anyhow::{Context as _, Result};
use plausibly_server::{Clock, Server, Settings, Stop, World, serve, tls};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The clocks of this machine.
struct OwnClock(Instant);

impl Clock for OwnClock {
    fn now_us(&self) -> i64 {
        now()
    }

    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

pub(crate) fn run(args: &Serve) -> Result<()> {
    let tls = match (&args.tls_cert, &args.tls_key) {
        (Some(cert), Some(key)) => Some(tls::acceptor(cert, key)?),
        _ => None,
    };
    let scheme = if tls.is_some() { "https" } else { "http" };
    let data = data_folder(&args.data)?;
    let settings = Settings {
        hosts: args.hosts.clone(),
        tls,
        report_requests: args.log_requests,
        ..Settings::new(data.clone(), args.listen)
    };
    let world = World::on_disk(Arc::new(OwnClock(Instant::now())), Arc::new(output::note));
    let stop = stop_at_signals()?;
    let mut told = Ok(());
    serve(settings, world, &stop, |server: &Server| {
        let address = format!("{scheme}://{}", server.address());
        // Programs that start the service wait for this line.
        told = output::answer(&format!("listening on {address}\n"), false);
        output::note(&format!(
            "data in {}; {address}/docs describes the interface",
            data.display()
        ));
        output::note(&first_steps(&address, server.is_open()));
    })?;
    told.context("cannot write to standard output")?;
    output::note("stopped: everything answered with 2xx is on the disk");
    Ok(())
}

/// Stops the service at the first signal, and the process at the second.
fn stop_at_signals() -> Result<Arc<Stop>> {
    let stop = Arc::new(Stop::default());
    let (stops, asked) = (Arc::clone(&stop), AtomicBool::new(false));
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        output::note("stopping: what waits is answered, for at most 10 s");
        stops.stop();
    })
    .context("cannot catch signals")?;
    Ok(stop)
}

/// What to try first.
fn first_steps(address: &str, is_open: bool) -> String {
    let key = if is_open { "" } else { " -H \"Authorization: Bearer $KEY\"" };
    format!(
        "try:\n  curl {address}/v1/experiments{key} -H 'Content-Type: application/json' \\\n    \
         -d '{{\"name\": \"mugs\", \"actions\": [{{\"name\": \"red\", \"price\": 4}}, {{\"name\": \
         \"blue\", \"price\": 6}}]}}'\n  curl {address}/v1/experiments/mugs/decisions{key} -H \
         'Content-Type: application/json' -d '{{}}'"
    )
}
