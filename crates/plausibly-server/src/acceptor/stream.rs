//! A client's byte stream: it closes when the client takes nothing for too long, and tells the
//! connection when a response has left.

use super::Limits;
use super::connections::Activity;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How many bytes are thrown away at a time while a closed connection lingers.
const DISCARDED: usize = 8 << 10;

/// A client takes at least this many bytes of a response in [`Limits::stall_time`].
const ENOUGH: usize = 64 << 10;

/// A client's byte stream.
#[derive(Debug)]
pub(super) struct Stream<S> {
    inner: S,
    activity: Arc<Activity>,
    stall_time: Duration,
    linger_time: Duration,
    /// Runs from a write that waits for the client until enough is taken.
    stalled: Option<Pin<Box<Sleep>>>,
    /// The bytes that the client has taken in this time.
    taken: usize,
    /// Runs once the end of writing is sent.
    lingering: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Stream<S> {
    pub(super) fn new(inner: S, activity: Arc<Activity>, limits: &Limits) -> Self {
        let Limits { stall_time, linger_time, .. } = *limits;
        Self { inner, activity, stall_time, linger_time, stalled: None, taken: 0, lingering: None }
    }

    /// Counts what the client has taken. A client that takes a little now and then must not hold
    /// its connection for long, so a pause ends when enough was taken.
    fn taken(&mut self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.taken += bytes;
            if self.taken >= ENOUGH {
                (self.taken, self.stalled) = (0, None);
            }
        }
    }

    /// Passes on the result of a write, and an error if the client takes too little for too long.
    fn within_time<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            return written;
        }
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(sleep(self.stall_time)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Throws away what the client still sends, until it ends or the time is over.
    fn linger(&mut self, over: &mut Pin<Box<Sleep>>, context: &mut Context<'_>) -> Poll<()> {
        let mut discarded = [0; DISCARDED];
        while over.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut discarded);
            let read = ready!(Pin::new(&mut self.inner).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
        }
        Poll::Ready(())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.taken(&written);
        self.within_time(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.taken(&written);
        self.within_time(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    /// Hyper flushes once all of its own bytes are written, so the response has left after this.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        ready!(self.within_time(context, flushed))?;
        (self.taken, self.stalled) = (0, None);
        self.activity.flushed();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut over = if let Some(over) = self.lingering.take() {
            over
        } else {
            let ended = Pin::new(&mut self.inner).poll_shutdown(context);
            ready!(self.within_time(context, ended))?;
            Box::pin(sleep(self.linger_time))
        };
        let lingered = self.linger(&mut over, context);
        self.lingering = Some(over);
        lingered.map(Ok)
    }
}
