//! How the command ends, and with which exit code. `docs/reference/cli.md` documents the codes.
//!
//! A command returns an error unless it succeeded. An [`Ending`] in the error decides the exit
//! code.

use plausibly_log::LogError;
use plausibly_log::input::InputError;
use plausibly_log::state::StepError;
use std::fmt;

/// An error that decides how the command ends; any other error is a failure.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The request is wrong; the text says what, where and what is allowed.
    Refused(String),
    /// The log has recorded it, and a later step failed; the text says what was recorded.
    Recorded(String),
    /// The user stopped it; the text says what remains.
    Interrupted(String),
}

/// Ends the function with an [`Ending::Refused`], as `anyhow::bail` ends it with any error.
macro_rules! refuse {
    ($($text:tt)*) => {
        anyhow::bail!($crate::exit::Ending::Refused(format!($($text)*)))
    };
}
pub(crate) use refuse;

impl Ending {
    /// Stopped by the user, before anything was written.
    pub(crate) fn interrupted() -> Self {
        Self::Interrupted("interrupted: nothing was written".into())
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Refused(text) | Self::Recorded(text) | Self::Interrupted(text)) = self;
        to.write_str(text)
    }
}

impl std::error::Error for Ending {}

/// A file with wrong content is a refusal; a file that cannot be read is a failure.
pub(crate) fn of_input(error: InputError) -> anyhow::Error {
    match error {
        InputError::Io { .. } => error.into(),
        wrong => Ending::Refused(wrong.to_string()).into(),
    }
}

/// The exit code of a command that ended with this error.
pub(crate) fn code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(Ending::Interrupted(_)) => 130, // 128 + SIGINT, as in shells.
        Some(Ending::Recorded(_)) => 4,
        Some(Ending::Refused(_)) => 2, // The code that clap uses for a wrong command line.
        None if is_wrong_request(error) => 2,
        None => 1,
    }
}

/// Whether a log refused the request. Any other error of a log is a problem with its file.
fn is_wrong_request(error: &anyhow::Error) -> bool {
    use LogError::{Begun, Empty, Grounds, Recipe, Step, Upgraded};
    match error.downcast_ref() {
        Some(error) => {
            matches!(error, Step(_) | Recipe(_) | Grounds(_) | Begun | Empty | Upgraded(_))
        }
        None => error.is::<StepError>(),
    }
}

/// What the command prints when it ends with this error.
pub(crate) fn text(error: &anyhow::Error) -> String {
    match error.downcast_ref() {
        Some(Ending::Interrupted(text)) => text.clone(),
        _ => format!("error: {}", message(error)),
    }
}

/// An error with its causes. Leaves out a cause that the text of another already contains.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if parts.iter().any(|text| text.contains(&cause)) {
            continue;
        }
        parts.retain(|text| !cause.contains(text.as_str()));
        parts.push(cause);
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::{Context as _, anyhow};

    #[test]
    fn what_a_cause_says_is_said_once() {
        let failed = |text: &'static str| Err::<(), _>(anyhow!(text));
        let twice = failed("cannot open a.log: denied").context("cannot open a.log").unwrap_err();
        assert_eq!(message(&twice), "cannot open a.log: denied");
        let inside = failed("denied").context("cannot open a.log: denied").unwrap_err();
        assert_eq!(message(&inside), "cannot open a.log: denied");
        let apart = failed("denied").context("cannot open a.log").unwrap_err();
        assert_eq!(message(&apart), "cannot open a.log: denied");
    }
}
