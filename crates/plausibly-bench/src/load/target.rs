//! The service that gets the load: always on this machine.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The address of a service on loopback, and the key that its requests carry.
#[derive(Clone, Debug)]
pub struct Target {
    address: SocketAddr,
    key: Option<String>,
}

impl Target {
    /// Reads `http://127.0.0.1:PORT`; `localhost` means 127.0.0.1.
    ///
    /// # Errors
    /// Describes what is wrong with the address; any address that is not loopback is refused,
    /// because the load would harm a machine that is not ours.
    pub fn parse(url: &str) -> Result<Self, String> {
        let usage = "use http://127.0.0.1:PORT";
        let rest = url.strip_prefix("http://").ok_or_else(|| format!("{url}: no http; {usage}"))?;
        let authority = rest.trim_end_matches('/');
        let (host, port) =
            authority.rsplit_once(':').ok_or_else(|| format!("{url}: no port; {usage}"))?;
        let port: u16 = port.parse().map_err(|error| format!("{url}: {error}; {usage}"))?;
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let address: IpAddr = if host == "localhost" {
            Ipv4Addr::LOCALHOST.into()
        } else {
            host.parse().map_err(|error| format!("{url}: {error}; {usage}"))?
        };
        if !address.is_loopback() {
            return Err(format!("{url}: {address} is not loopback, and gets no load; {usage}"));
        }
        Ok(Self { address: SocketAddr::new(address, port), key: None })
    }

    /// The same service, for requests with this key.
    #[must_use]
    pub fn with_key(self, key: Option<String>) -> Self {
        Self { key, ..self }
    }

    /// The address to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A request in full.
    pub fn request(&self, method: &str, path: &str, body: &[u8]) -> Vec<u8> {
        let mut request = self.head(method, path, Some(body.len())).into_bytes();
        request.extend_from_slice(body);
        request
    }

    /// The head of a request; it has a length and a type only if it has a body.
    pub(super) fn head(&self, method: &str, path: &str, length: Option<usize>) -> String {
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", self.address);
        if let Some(key) = &self.key {
            head.extend(["Authorization: Bearer ", key, "\r\n"]);
        }
        if let Some(length) = length.filter(|_| method != "GET") {
            let length = length.to_string();
            head.extend(["Content-Type: application/json\r\nContent-Length: ", &length, "\r\n"]);
        }
        head + "\r\n"
    }
}
