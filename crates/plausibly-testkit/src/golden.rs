//! Files that a program must reproduce.

use std::fs;
use std::path::Path;

/// Asserts that `path` holds exactly `actual`; with `BLESS=1` in the environment, writes it
/// instead.
///
/// # Panics
/// If the file differs or cannot be read or written.
#[track_caller]
pub fn assert_golden(path: &Path, actual: &str) {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one switch that tests read from their environment"
    )]
    let bless = std::env::var("BLESS").is_ok_and(|value| value == "1");
    if bless {
        fs::write(path, actual)
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        return;
    }
    let expected = fs::read_to_string(path)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    let differs = expected.lines().zip(actual.lines()).position(|(a, b)| a != b);
    let line = differs.unwrap_or_else(|| expected.lines().count().min(actual.lines().count()));
    assert!(
        expected == actual,
        "{} differs from line {} on; to accept the change, run again with BLESS=1.\n  \
         stored: {}\n  now:    {}",
        path.display(),
        line + 1,
        expected.lines().nth(line).unwrap_or("(nothing)"),
        actual.lines().nth(line).unwrap_or("(nothing)"),
    );
}
