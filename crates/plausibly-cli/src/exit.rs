//! How the command ends. `docs/reference/cli.md` documents the codes.

use plausibly_log::input::InputError;
use std::fmt;

/// What became of the command.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It did what it was asked.
    Done,
    /// It could not: a file, a folder, a thread.
    Failed(anyhow::Error),
    /// It was asked for something that makes no sense; the text says what, where and what is
    /// allowed.
    Refused(String),
    /// The log has it, and what comes after failed; the text says what the log has.
    Recorded(String),
    /// The user stopped it.
    Interrupted(String),
}

/// An error that says how the command ends; any other one is a failure.
#[derive(Debug)]
pub(crate) enum Ending {
    /// What was asked for is at fault.
    Refused(String),
    /// This was recorded, and what came next failed.
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

/// What is wrong with a file that was read is the fault of what was asked for; that it cannot be
/// read is a failure.
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
            "interrupted: what was fetched is kept, and the next fetch continues from there".into(),
        )
    }

    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed(_) => 1,
            // As clap does for a bad command line.
            Self::Refused(_) => 2,
            Self::Recorded(_) => 4,
            // 128 + SIGINT, as shells report it.
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

/// An error and its causes. Many say in their own words what their cause says, which is then left
/// out.
pub(crate) fn message(error: &anyhow::Error) -> String {
    let mut told: Vec<String> = Vec::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.iter().any(|text| text.contains(&cause)) {
            continue;
        }
        told.retain(|text| !cause.contains(text.as_str()));
        told.push(cause);
    }
    told.join(": ")
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
