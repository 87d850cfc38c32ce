//! How the command ends, and with which exit code. `docs/reference/cli.md` documents the codes.

use plausibly_log::input::InputError;
use std::fmt;

/// The outcome of the command.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It succeeded.
    Done,
    /// It failed because of a file, a folder or a thread.
    Failed(anyhow::Error),
    /// The request is wrong; the text says what, where and what is allowed.
    Refused(String),
    /// The log has recorded it, and a later step failed; the text says what was recorded.
    Recorded(String),
    /// The user stopped it.
    Interrupted(String),
}

/// An error that decides how the command ends; any other error is a failure.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The request is wrong.
    Refused(String),
    /// This was recorded, and the next step failed.
    Recorded(String),
    /// The user stopped it before anything was written.
    Interrupted,
}

impl fmt::Display for Ending {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(text) | Self::Recorded(text) => to.write_str(text),
            Self::Interrupted => to.write_str("interrupted"),
        }
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

impl Outcome {
    /// Stopped by the user, before anything was written.
    pub(crate) fn interrupted() -> Self {
        Self::Interrupted("interrupted: nothing was written".into())
    }

    /// Stopped by the user while data sets were fetched.
    pub(crate) fn fetch_interrupted() -> Self {
        Self::Interrupted(
            "interrupted: the download so far is kept, and the next fetch continues it".into(),
        )
    }

    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed(_) => 1,
            // The code that clap uses for a wrong command line.
            Self::Refused(_) => 2,
            Self::Recorded(_) => 4,
            // 128 + SIGINT, as in shells.
            Self::Interrupted(_) => 130,
        }
    }

    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Failed(error) => Some(format!("error: {}", message(error))),
            Self::Refused(text) | Self::Recorded(text) | Self::Interrupted(text) => {
                Some(text.clone())
            }
        }
    }
}

impl From<anyhow::Error> for Outcome {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast_ref() {
            None => Self::Failed(error),
            Some(Ending::Refused(_)) => Self::Refused(format!("error: {}", message(&error))),
            Some(Ending::Recorded(_)) => Self::Recorded(format!("error: {}", message(&error))),
            Some(Ending::Interrupted) => Self::interrupted(),
        }
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
