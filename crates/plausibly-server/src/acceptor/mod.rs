//! The acceptor: connections are limited in number, in time and in size, so that slow and hostile
//! clients cannot take the service away from the others.

mod accept;
mod body;
mod connections;
mod stream;
pub mod tls;

#[cfg(test)]
mod tests;

pub(crate) use accept::Acceptor;
pub(crate) use body::read_body;
pub(crate) use connections::Connections;

use std::time::Duration;

/// What a client may use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Open connections.
    pub(crate) connections: usize,
    /// Bytes of a request's first line and headers.
    pub(crate) header_bytes: usize,
    /// From the end of a response, or the beginning of a connection, to the end of the next
    /// request's headers. So an idle connection is closed after this time, too.
    pub(crate) header_time: Duration,
    /// Bytes of a request's body.
    pub(crate) body_bytes: usize,
    /// From the end of the headers to the end of the body.
    pub(crate) body_time: Duration,
    /// From the beginning of a connection to the end of the handshake of TLS.
    pub(crate) handshake_time: Duration,
    /// For how long a client may take nothing of a response that waits for it.
    pub(crate) stall_time: Duration,
    /// For how long a client may go on sending after its last response. What arrives in this time
    /// is thrown away; a socket that is closed with unread bytes would reset the connection, and
    /// the client would lose the response.
    pub(crate) linger_time: Duration,
    /// From the signal to stop to the end of the last connection.
    pub(crate) leave_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1_024,
            header_bytes: 16 << 10,
            header_time: Duration::from_secs(10),
            body_bytes: 1 << 20,
            body_time: Duration::from_secs(30),
            handshake_time: Duration::from_secs(10),
            stall_time: Duration::from_secs(30),
            linger_time: Duration::from_secs(1),
            // The process has 10 s; the last two are for what comes after the connections.
            leave_time: Duration::from_secs(8),
        }
    }
}
