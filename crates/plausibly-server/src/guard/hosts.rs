//! The hosts that the service answers for.
//!
//! A web page can make a browser send requests to a service on loopback, by a name of its own that
//! it points there. Such requests carry that name, so they are refused.

use crate::problem::{Code, Problem};
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};
use std::net::{IpAddr, Ipv6Addr};

/// The hosts that the service answers for.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    /// Whether only this machine can reach the service.
    loopback: bool,
    names: Vec<String>,
    addresses: Vec<IpAddr>,
}

impl Hosts {
    /// For a service that listens on this address, and is also reached by these names or addresses.
    ///
    /// # Errors
    /// If a name is not the name of a host; the text is for people.
    pub(crate) fn new(listen: IpAddr, names: &[String]) -> Result<Self, String> {
        let loopback = listen.to_canonical().is_loopback();
        let mut hosts = Self { loopback, names: Vec::new(), addresses: Vec::new() };
        for name in names {
            let letters = |c: u8| c.is_ascii_alphanumeric() || b".-_".contains(&c);
            if let Some(address) = address(name) {
                hosts.addresses.push(address);
            } else if !name.is_empty() && name.bytes().all(letters) {
                hosts.names.push(name.clone());
            } else {
                return Err(format!(
                    "`{name}` is not a name of a host; give the name alone, without a scheme, port \
                     or path, such as bandit.example.com"
                ));
            }
        }
        Ok(hosts)
    }

    /// Refuses a request for another host. Where the address of the request names a host, as for a
    /// proxy, that and the header must both be right.
    pub(super) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let authority = uri.authority().map(Authority::as_str);
        let mut values = headers.get_all(HOST).iter();
        let (header, second) = (values.next(), values.next());
        let named = header.map(|value| value.to_str().unwrap_or_default());
        let ours = |host: &str| self.have(host);
        let allowed = authority.is_none_or(ours) && named.is_none_or(ours) && second.is_none();
        if allowed && (authority.is_some() || named.is_some()) {
            return Ok(());
        }
        Err(Problem::new(
            Code::OtherHost,
            format!(
                "the Host of the request is not one of this service, which answers for {}{}; \
                 `plausibly serve --host NAME` adds a name",
                if self.loopback {
                    "localhost and addresses of loopback"
                } else {
                    "localhost and IP addresses"
                },
                if self.names.is_empty() && self.addresses.is_empty() {
                    ""
                } else {
                    ", and the names it was started with"
                },
            ),
        ))
    }

    /// Whether this is a host of the service, with any port or none.
    fn have(&self, host: &str) -> bool {
        let Some(host) = without_port(host) else { return false };
        match address(host) {
            Some(address) => {
                !self.loopback || address.is_loopback() || self.addresses.contains(&address)
            }
            None => {
                host.eq_ignore_ascii_case("localhost")
                    || self.names.iter().any(|name| host.eq_ignore_ascii_case(name))
            }
        }
    }
}

/// An IP address, with or without the brackets that one of version 6 has before a port.
fn address(host: &str) -> Option<IpAddr> {
    let inside = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let address = match inside {
        Some(inside) => inside.parse::<Ipv6Addr>().ok()?.into(),
        None => host.parse().ok()?,
    };
    Some(IpAddr::to_canonical(&address))
}

/// A host without its port; none if what follows it is not a port.
fn without_port(host: &str) -> Option<&str> {
    // Within brackets, colons do not begin a port.
    let from = host.rfind(']').map_or(0, |at| at + 1);
    let Some(colon) = host[from..].find(':') else { return Some(host) };
    let (host, port) = host.split_at(from + colon);
    port[1..].bytes().all(|c| c.is_ascii_digit()).then_some(host)
}
