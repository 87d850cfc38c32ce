//! Jobs that clients carry out while the service is killed again and again.

use super::client::Client;
use super::{CONNECTIONS, Home, wait_until};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::ScopedJoinHandle;

/// Has all connections carry out jobs in an order near the given one, and kills the service about
/// `kills` times between them. A job without an answer is done again. Returns the number of kills.
pub(super) fn carry_out<J: Send>(
    home: &Home,
    jobs: Vec<J>,
    kills: usize,
    carry_out: impl Fn(&mut Client, &J) -> io::Result<()> + Sync,
) -> usize {
    let (count, done) = (jobs.len(), AtomicUsize::new(0));
    let queue = Mutex::new(jobs.into_iter().rev().collect::<Vec<_>>());
    let take = || queue.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let finished = || done.load(Ordering::SeqCst) >= count;
    let mut lives = 0;
    while !finished() {
        lives += 1;
        let service = home.start();
        let address = service.address;
        std::thread::scope(|scope| {
            let work = |_| {
                scope.spawn(|| {
                    let mut client = Client::new(address);
                    while let Some(job) = take() {
                        if carry_out(&mut client, &job).is_err() {
                            queue.lock().unwrap_or_else(PoisonError::into_inner).push(job);
                            return;
                        }
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                })
            };
            let clients: Vec<_> = (0..CONNECTIONS).map(work).collect();
            // All have ended if the service has, or a check has failed.
            let ended = || clients.iter().all(ScopedJoinHandle::is_finished);
            let until = if lives <= kills { count * lives / (kills + 1) } else { count };
            let reached = || done.load(Ordering::SeqCst) >= until;
            wait_until("the clients go on", || reached() || ended());
            service.kill();
        });
    }
    lives
}
