//! The keys that the service knows: a copy of the file in memory, replaced as a whole.

use super::caller::Caller;
use super::store::path_in;
use super::stored::{Hash, Key, KeyError, parse, text};
use crate::problem::{Code, Problem};
use crate::world;
use governor::clock::{Clock as _, Reference as _};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::error::Error;
use std::fmt;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use subtle::ConstantTimeEq as _;

/// The hash of a key that a caller has sent.
pub(crate) struct KeyHash(Hash);

impl KeyHash {
    /// The hash of the text of a key.
    pub(crate) fn of(key: &[u8]) -> Self {
        Self(Hash::of(key))
    }
}

/// The clock of the service, as limiters need it.
#[derive(Clone)]
struct Watch(Arc<dyn world::Clock>);

impl governor::clock::Clock for Watch {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

type Limiter = RateLimiter<NotKeyed, InMemoryState, Watch, NoOpMiddleware<Duration>>;

/// A key that has not been revoked.
struct LiveKey {
    hash: Hash,
    caller: Caller,
    rate: Option<Rate>,
}

/// The rate of a key and what was used of it. It stays when the file is read again.
#[derive(Clone)]
struct Rate {
    per_second: NonZeroU32,
    limiter: Arc<Limiter>,
}

/// What follows from one state of the file.
struct Known {
    live: Vec<LiveKey>,
    /// Whether there has never been a key, so that callers on this machine need none.
    open: bool,
}

/// What was last seen of the file.
struct Seen {
    content: Option<String>,
    fault: Option<String>,
}

/// What a new look at the file has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Its keys are in use now.
    Read {
        /// The number of live keys.
        live: usize,
    },
    /// It cannot be used, so the keys that were known stay in use.
    Kept {
        /// Why, and what to do.
        reason: String,
    },
}

/// The keys that the service knows.
pub(crate) struct Ring {
    path: PathBuf,
    watch: Watch,
    known: RwLock<Arc<Known>>,
    seen: Mutex<Seen>,
}

impl fmt::Debug for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Ring {
    /// Reads the keys in a data folder.
    ///
    /// # Errors
    /// If the file exists and cannot be used: without its keys, callers without a key would have
    /// every role.
    pub(crate) fn open(data: &Path, clock: Arc<dyn world::Clock>) -> Result<Self, KeyError> {
        let (path, watch) = (path_in(data), Watch(clock));
        let content = text(&path)?;
        let keys = content.as_deref().map_or_else(|| Ok(Vec::new()), |text| parse(&path, text))?;
        let known = Known { live: live(&keys, &[], &watch), open: keys.is_empty() };
        let seen = Seen { content, fault: None };
        Ok(Self { path, watch, known: RwLock::new(Arc::new(known)), seen: Mutex::new(seen) })
    }

    /// Whether there has never been a key. The service then listens on loopback only.
    pub(crate) fn is_open(&self) -> bool {
        self.known().open
    }

    /// Reads the file again, and uses its keys if it has changed. A timer calls this each 500 ms.
    ///
    /// Compares the content, because times and numbers of files may be equal for different ones.
    /// Returns news once, not with each call.
    pub(crate) fn reread(&self) -> Option<News> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        match self.look(&seen) {
            Ok(None) => {
                // Usable again, and the same as before.
                let live = self.known().live.len();
                seen.fault.take().map(|_| News::Read { live })
            }
            Ok(Some((content, known))) => {
                let live = known.live.len();
                *self.known.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
                *seen = Seen { content: Some(content), fault: None };
                Some(News::Read { live })
            }
            Err(reason) => {
                let is_new = seen.fault.as_ref() != Some(&reason);
                seen.fault = Some(reason.clone());
                is_new.then_some(News::Kept { reason })
            }
        }
    }

    /// What the file says now, if that is another content than the one seen last.
    fn look(&self, seen: &Seen) -> Result<Option<(String, Known)>, String> {
        let content = text(&self.path).map_err(|error| with_causes(&error))?;
        if content == seen.content {
            return Ok(None);
        }
        let Some(content) = content else {
            return Err(format!(
                "{} is gone; the keys that it had stay valid until the service ends; put it back",
                self.path.display()
            ));
        };
        let keys = parse(&self.path, &content).map_err(|error| with_causes(&error))?;
        let old = self.known();
        // Once closed, always closed: an emptied list must not give every role to callers without a
        // key.
        let open = old.open && keys.is_empty();
        Ok(Some((content, Known { live: live(&keys, &old.live, &self.watch), open })))
    }

    /// The caller with this key.
    ///
    /// # Errors
    /// 401 without a live key, except on this machine while there has never been a key; 429 if the
    /// key has reached its rate.
    pub(crate) fn admit(&self, key: Option<&KeyHash>, is_local: bool) -> Result<Caller, Problem> {
        let known = self.known();
        if known.open {
            return if is_local { Ok(Caller::local()) } else { Err(no_key_yet()) };
        }
        let Some(KeyHash(hash)) = key else {
            return Err(Problem::new(
                Code::NoKey,
                "send the header `Authorization: Bearer` with a key; `plausibly key add` makes one",
            ));
        };
        let mut found = None;
        // To the end in any case, so that the time does not tell which key was right.
        for key in &known.live {
            if bool::from(key.hash.0.ct_eq(&hash.0)) {
                found = Some(key);
            }
        }
        let Some(found) = found else {
            return Err(Problem::new(
                Code::NoKey,
                "this key is not valid here, or was revoked; `plausibly key list` shows which are \
                 valid",
            ));
        };
        found.rate.as_ref().map_or(Ok(()), Rate::take)?;
        Ok(found.caller.clone())
    }

    fn known(&self) -> Arc<Known> {
        Arc::clone(&self.known.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn no_key_yet() -> Problem {
    Problem::new(
        Code::NoKey,
        "this service has no keys yet, so it serves its own machine only; `plausibly key add` \
         makes one",
    )
}

/// The live keys. A key that was known with the same rate keeps its limiter: reading again must
/// not give it a second burst.
fn live(keys: &[Key], old: &[LiveKey], watch: &Watch) -> Vec<LiveKey> {
    let rate_of = |key: &Key, per_second| {
        let before = old.iter().find(|old| old.hash == key.sha256);
        let same = before.and_then(|old| old.rate.clone().filter(|it| it.per_second == per_second));
        same.unwrap_or_else(|| Rate::new(per_second, watch))
    };
    let live = keys.iter().filter(|key| key.is_live());
    live.map(|key| LiveKey {
        hash: key.sha256,
        caller: Caller::with_key(key),
        rate: key.rate.map(|per_second| rate_of(key, per_second)),
    })
    .collect()
}

impl Rate {
    fn new(per_second: NonZeroU32, watch: &Watch) -> Self {
        let quota = Quota::per_second(per_second);
        let limiter = Arc::new(RateLimiter::direct_with_clock(quota, watch.clone()));
        Self { per_second, limiter }
    }

    /// Uses one request of the rate.
    fn take(&self) -> Result<(), Problem> {
        self.limiter.check().map_err(|until| {
            let wait = until.earliest_possible().duration_since(self.limiter.clock().now());
            // Rounded up, so that a client that waits this long is let through. At least 1: the
            // clock has gone on since the check.
            let seconds = Duration::from(wait).as_nanos().div_ceil(1_000_000_000).max(1);
            let detail = format!("the key may send {} requests per second", self.per_second);
            Problem {
                retry_after: Some(u32::try_from(seconds).unwrap_or(u32::MAX)),
                ..Problem::new(Code::TooFast, detail)
            }
        })
    }
}

/// An error with its causes, in one line.
fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
