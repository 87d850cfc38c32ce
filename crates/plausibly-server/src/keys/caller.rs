//! What a caller may do.

use super::stored::{Key, Role};
use crate::problem::{Code, Problem};
use std::sync::Arc;

/// A set of roles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Roles(u8);

impl Roles {
    fn of(roles: &[Role]) -> Self {
        Self(roles.iter().fold(0, |set, &role| set | Self::bit(role)))
    }

    fn bit(role: Role) -> u8 {
        1 << role as u8
    }

    /// Whether the set has this role. Admin has every role.
    fn have(self, role: Role) -> bool {
        self.0 & (Self::bit(role) | Self::bit(Role::Admin)) != 0
    }
}

/// Who sent a request: an extension of every request that [`crate::guard::guard`] lets through.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The name of the key; none where a service without keys serves its own machine.
    pub(crate) name: Option<Arc<str>>,
    roles: Roles,
    experiment: Option<Arc<str>>,
}

impl Caller {
    /// A caller on the same machine, of a service that never had a key.
    pub(super) fn local() -> Self {
        Self { name: None, roles: Roles::of(&[Role::Admin]), experiment: None }
    }

    pub(super) fn with_key(key: &Key) -> Self {
        Self {
            name: Some(key.name.as_str().into()),
            roles: Roles::of(&key.roles),
            experiment: key.experiment.as_deref().map(Arc::from),
        }
    }

    /// For routes about all experiments, such as the creation of one: a key of one experiment is
    /// refused.
    pub(crate) fn may(&self, role: Role) -> Result<(), Problem> {
        self.holds(role)?;
        let Some(experiment) = &self.experiment else { return Ok(()) };
        Err(Problem::new(
            Code::WrongRole,
            format!(
                "{} is for the experiment `{experiment}` alone, and this is about all experiments; \
                 use a key that was added without --experiment",
                self.described()
            ),
        ))
    }

    /// For routes that serve keys of one experiment too, such as the list of the experiments that
    /// the caller [sees](Self::sees).
    pub(crate) fn holds(&self, role: Role) -> Result<(), Problem> {
        if self.roles.have(role) {
            return Ok(());
        }
        let role = role.text();
        Err(Problem::new(
            Code::WrongRole,
            format!(
                "this needs the role `{role}`, and {} does not have it; use a key that was added \
                 with --role {role}",
                self.described()
            ),
        ))
    }

    /// For routes about one experiment. An experiment that the key is not for is answered like one
    /// that does not exist, so that keys do not find out the names of others.
    pub(crate) fn may_in(&self, role: Role, experiment: &str) -> Result<(), Problem> {
        if !self.sees(experiment) {
            return Err(no_experiment(experiment));
        }
        self.holds(role)
    }

    /// Whether the caller may know of this experiment.
    pub(crate) fn sees(&self, experiment: &str) -> bool {
        self.experiment.as_deref().is_none_or(|own| own == experiment)
    }

    fn described(&self) -> String {
        self.name.as_deref().map_or_else(|| "the caller".into(), |name| format!("the key `{name}`"))
    }
}

/// The problem of an unknown experiment, and of one that the caller may not know of. They must be
/// the same to the byte, so all code makes them here.
pub(crate) fn no_experiment(name: &str) -> Problem {
    let shown: String = name.chars().take(128).collect();
    Problem::new(
        Code::NoExperiment,
        format!(
            "there is no experiment `{shown}` that this caller may see; GET /v1/experiments lists \
             those that it may"
        ),
    )
}
