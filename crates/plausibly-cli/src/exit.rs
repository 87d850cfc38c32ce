//! How the command ends. `docs/reference/cli.md` documents the codes.

/// What became of the command.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It did what it was asked.
    Done,
    /// It could not: a file, a folder, a thread.
    Failed(anyhow::Error),
    /// It was asked for something that makes no sense; the text says what, where and what is allowed.
    Refused(String),
    /// The user stopped it.
    Interrupted(String),
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
            // 128 + SIGINT, as shells report it.
            Self::Interrupted(_) => 130,
        }
    }

    pub(crate) fn message(&self) -> Option<String> {
        match self {
            Self::Done => None,
            Self::Failed(error) => Some(format!("error: {error:#}")),
            Self::Refused(text) | Self::Interrupted(text) => Some(text.clone()),
        }
    }
}
