//! Tests of the acceptor, over real sockets.

mod encrypted;
mod leaving;
mod room;
mod sizes;
mod slow;
mod support;
mod trouble;
