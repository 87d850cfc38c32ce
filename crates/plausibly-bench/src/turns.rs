//! A contender is a process that plays one turn per request, so that rivals in many languages can
//! take turns.

use std::fs;
use std::io::{self, BufRead, Write};
use std::time::Instant;

/// Plays this number of rounds of a problem with an untrained policy, and pushes its choices.
pub type Play<'a> = dyn FnMut(usize, &mut Vec<usize>) + 'a;

/// Says that it is ready, then answers `turn ROUNDS [FILE]` by playing, writing the choices to the
/// file if there is one and saying how long it took, until the input ends. Lines said are JSON.
///
/// # Errors
/// If input or output fails, or a command is not understood.
pub fn serve(about: &str, resident_before_kb: u64, play: &mut Play<'_>) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{{\"ready\": \"{about}\", \"before_kb\": {resident_before_kb}}}")?;
    out.flush()?;
    let mut choices = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.split_whitespace();
        let (verb, rounds) =
            (words.next(), words.next().and_then(|rounds| rounds.parse::<usize>().ok()));
        let (Some("turn"), Some(rounds)) = (verb, rounds) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("`turn ROUNDS [FILE]`, got `{line}`"),
            ));
        };
        choices.clear();
        choices.reserve(rounds);
        let (on_core, begun) = (on_core_seconds(), Instant::now());
        play(rounds, &mut choices);
        let seconds = begun.elapsed().as_secs_f64();
        let on_core = on_core_seconds() - on_core;
        if let Some(file) = words.next() {
            fs::write(
                file,
                choices
                    .iter()
                    .flat_map(|choice| (*choice as u64).to_ne_bytes())
                    .collect::<Vec<u8>>(),
            )?;
        }
        writeln!(
            out,
            "{{\"seconds\": {seconds:e}, \"on_core\": {on_core:e}, \"peak_kb\": {}}}",
            status("VmHWM")
        )?;
        out.flush()?;
    }
    Ok(())
}

/// A line of what Linux knows of this process, in kB; zero elsewhere.
pub fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// For how long this process has had a core, as Linux counts; zero elsewhere.
fn on_core_seconds() -> f64 {
    let counted = fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    counted.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(0.0)
        * 1e-9
}
