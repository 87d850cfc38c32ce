//! The open connections: how many there are, which of them wait for a request, and which of these
//! has waited longest.

use super::Limits;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// The service is carrying out a request of the connection.
const BUSY: u64 = 0;
/// The connection will be closed, and begins no request any more.
const CLOSING: u64 = u64::MAX;
/// The response is complete, but parts of it are not yet with the operating system.
const SENDING: u64 = u64::MAX - 1;

/// The open connections.
#[derive(Debug)]
pub(crate) struct Connections {
    capacity: usize,
    free: Arc<Semaphore>,
    /// By the ticket with which the connection began.
    open: Mutex<BTreeMap<u64, Arc<Activity>>>,
    tickets: Arc<AtomicU64>,
    evicted: AtomicU64,
    refused: AtomicU64,
}

impl Connections {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        let capacity = limits.connections;
        Arc::new(Self {
            capacity,
            free: Arc::new(Semaphore::new(capacity)),
            open: Mutex::default(),
            tickets: Arc::new(AtomicU64::new(1)),
            evicted: AtomicU64::new(0),
            refused: AtomicU64::new(0),
        })
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        self.capacity - self.free.available_permits()
    }

    /// How many of the open connections wait for a request.
    #[cfg(test)]
    pub(super) fn waiting(&self) -> usize {
        self.lock().values().filter(|activity| activity.waits().is_some()).count()
    }

    /// How many connections were closed while they waited, to make room for others.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Ordering::Relaxed)
    }

    /// How many connections were closed at once, because all others were in a request.
    pub(crate) fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    /// A place for another connection. If there is none, the connection that has waited longest
    /// is closed, and the place is given once that one is gone.
    pub(super) async fn enter(self: &Arc<Self>) -> Option<Place> {
        let free = if let Ok(free) = Arc::clone(&self.free).try_acquire_owned() {
            free
        } else if self.evict() {
            Arc::clone(&self.free).acquire_owned().await.ok()?
        } else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        let ticket = take(&self.tickets);
        let activity = Arc::new(Activity {
            state: AtomicU64::new(ticket),
            tickets: Arc::clone(&self.tickets),
            closed: Notify::new(),
        });
        self.lock().insert(ticket, Arc::clone(&activity));
        Some(Place { connections: Arc::clone(self), ticket, activity, _free: free })
    }

    /// Closes the connection that has waited longest, if one waits.
    pub(super) fn evict(&self) -> bool {
        let open = self.lock();
        loop {
            let waiting = open.values().filter_map(|activity| Some((activity.waits()?, activity)));
            let Some((since, activity)) = waiting.min_by_key(|&(since, _)| since) else {
                return false;
            };
            // It may have begun a request since it was looked at.
            if activity.change(since, CLOSING) {
                activity.closed.notify_one();
                self.evicted.fetch_add(1, Ordering::Relaxed);
                return true;
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<Activity>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The place of one connection, which is free again when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    connections: Arc<Connections>,
    ticket: u64,
    activity: Arc<Activity>,
    _free: OwnedSemaphorePermit,
}

impl Place {
    pub(super) fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.lock().remove(&self.ticket);
    }
}

/// What one connection is doing.
#[derive(Debug)]
pub(super) struct Activity {
    /// `BUSY`, `SENDING`, `CLOSING`, or the ticket with which it began to wait. Tickets are given
    /// in ascending order, so the smallest one has waited longest.
    state: AtomicU64,
    tickets: Arc<AtomicU64>,
    closed: Notify,
}

impl Activity {
    /// A request begins, unless the connection is being closed.
    pub(super) fn begin(&self) -> bool {
        let begin = |state| (state != CLOSING).then_some(BUSY);
        self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, begin).is_ok()
    }

    /// The response is complete.
    pub(super) fn answered(&self) {
        self.change(BUSY, SENDING);
    }

    /// All bytes that were written are with the operating system.
    pub(super) fn flushed(&self) {
        if self.state.load(Ordering::Acquire) == SENDING {
            self.change(SENDING, take(&self.tickets));
        }
    }

    /// Whether it waits for a request, and since which ticket.
    pub(super) fn waits(&self) -> Option<u64> {
        let state = self.state.load(Ordering::Acquire);
        (!matches!(state, BUSY | SENDING | CLOSING)).then_some(state)
    }

    /// Returns when the connection must be closed.
    pub(super) async fn closed(&self) {
        self.closed.notified().await;
    }

    fn change(&self, from: u64, to: u64) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

fn take(tickets: &AtomicU64) -> u64 {
    tickets.fetch_add(1, Ordering::Relaxed)
}
