//! The system's trace of the service: the disk confirms a line before its answer leaves.

use super::client::Client;
use super::{Home, Service, begin, wait_until};
use serde_json::json;
use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::process::Command;

const CLIENTS: usize = 8;
const REQUESTS: usize = 12;

/// What a trace says, in its order.
#[derive(Debug, PartialEq)]
enum Seen {
    /// Lines up to this one were written to the log.
    Written(u64),
    /// The disk was asked for what is written so far.
    Asked,
    /// It has confirmed what it was asked for.
    Synced,
    /// An answer of 2xx about this line, or one before it, began to leave.
    Answered(u64),
}

/// The largest number after this text in a call.
fn largest(call: &str, before: &str) -> Option<u64> {
    let numbers = call
        .split(before)
        .skip(1)
        .filter_map(|rest| rest.split(|other: char| !other.is_ascii_digit()).next()?.parse().ok());
    numbers.max()
}

/// Reads the calls of all threads.
fn seen(trace: &str) -> Vec<Seen> {
    let (mut seen, mut syncing) = (Vec::new(), HashMap::<&str, bool>::new());
    for call in trace.lines() {
        let (thread, call) = call.split_once(' ').unwrap();
        let call = call.trim_start();
        let of_log = call.contains("/shop/log>");
        if call.starts_with("write") && of_log {
            seen.extend(largest(call, r#"{\"v\":1,\"seq\":"#).map(Seen::Written));
        } else if call.starts_with("fdatasync(") && of_log {
            seen.push(Seen::Asked);
            syncing.insert(thread, true);
            if call.ends_with("= 0") {
                seen.push(Seen::Synced);
            }
        } else if call.starts_with("<... fdatasync resumed") && call.ends_with("= 0") {
            seen.extend(syncing.remove(thread).map(|_| Seen::Synced));
        } else if call.contains("HTTP/1.1 20") {
            seen.extend(largest(call, r#"\"seq\":"#).map(Seen::Answered));
        }
    }
    seen
}

/// Checks that each answer comes after a sync that covers its line, and returns the number of
/// answers.
fn check_order(seen: &[Seen]) -> Result<usize, String> {
    let (mut written, mut asked, mut synced, mut answers) = (0, 0, 0, 0);
    for (place, one) in seen.iter().enumerate() {
        match one {
            Seen::Written(line) => written = *line,
            Seen::Asked => asked = written,
            Seen::Synced => synced = asked,
            Seen::Answered(line) if *line <= synced => answers += 1,
            Seen::Answered(line) => {
                let before = &seen[place.saturating_sub(8)..=place];
                return Err(format!("line {line} is answered after {synced}: {before:?}"));
            }
        }
    }
    Ok(answers)
}

/// Takes decisions and rewards them.
fn talk(address: SocketAddr) {
    let mut client = Client::new(address);
    for _ in 0..REQUESTS {
        let taken = client.post("/v1/experiments/shop/decisions", &json!({})).expect(201);
        let path = format!("/v1/experiments/shop/decisions/{}/reward", taken["decision"]);
        client.put(&path, &json!({"value": 1})).expect(200);
    }
}

#[test]
fn a_trace_shows_a_sync_before_every_answer() {
    let home = Home::new();
    let trace = home.0.path().join("trace");
    let own = home.serve();
    let mut command = Command::new("strace");
    // The service is the child, so that the tracer ends with it. The lines of a batch and the whole
    // of an answer are shown.
    command.args(["-D", "-f", "-y", "-s", "100000", "-o"]).arg(&trace).arg("-e");
    command.arg("trace=write,writev,pwrite64,sendto,sendmsg,fsync,fdatasync,rename,renameat2");
    command.arg(own.get_program()).args(own.get_args()).stderr(home.said());
    match Command::new("strace").args(["-o", "/dev/null", "true"]).output() {
        Ok(output) if output.status.success() => {}
        Ok(_) => return eprintln!("skipped: strace may not trace here"),
        Err(error) => return eprintln!("skipped: there is no strace ({error})"),
    }
    let service = Service::begin(&mut command);
    begin(&mut service.client(), "shop");
    let address = service.address;
    std::thread::scope(|scope| {
        (0..CLIENTS).for_each(|_| drop(scope.spawn(move || talk(address))));
    });
    service.kill();
    let read = || fs::read_to_string(&trace).unwrap();
    wait_until("the trace is complete", || read().contains("+++ killed by SIGKILL"));
    let trace = read();
    let seen = seen(&trace);
    let answers = check_order(&seen).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answers, CLIENTS * REQUESTS * 2, "{seen:?}");
    let syncs = seen.iter().filter(|one| **one == Seen::Synced).count();
    assert!(syncs < answers, "one sync is for the lines of several answers");
    check_creation(&trace);
    eprintln!("{answers} answers, each after one of {syncs} syncs that covers its line");
}

/// Checks that a new experiment is answered once the disk has its name.
fn check_creation(trace: &str) {
    let at = |what: &dyn Fn(&str) -> bool, from: usize| {
        let found = trace.lines().skip(from).position(what);
        from + found.unwrap_or_else(|| panic!("{trace}"))
    };
    let named = at(&|call| call.contains("rename") && call.contains("/shop\""), 0);
    let synced = at(&|call| call.contains("fsync(") && call.contains("/data>"), named);
    let answered = at(&|call| call.contains("HTTP/1.1 201"), 0);
    assert!(named < synced && synced < answered, "{named} {synced} {answered}");
}

/// The check finds an answer that leaves too early.
#[test]
fn an_answer_before_its_sync_is_found() {
    use Seen::{Answered, Asked, Synced, Written};
    assert_eq!(check_order(&[Written(4), Asked, Synced, Answered(4)]), Ok(1));
    for early in [
        vec![Written(4), Asked, Answered(4), Synced],
        vec![Written(4), Answered(4), Asked, Synced],
        vec![Written(3), Asked, Written(4), Synced, Answered(4)],
        vec![Answered(4), Written(4), Asked, Synced],
    ] {
        assert!(check_order(&early).is_err(), "{early:?}");
    }
}
