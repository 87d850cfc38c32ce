//! The arguments of the commands of the service. Doc comments here are the text of `--help`.

use crate::args::whole_number;
use clap::{Args, Subcommand, ValueEnum};
use plausibly_server::keys::Role;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The data folder of the service.
#[derive(Debug, Args)]
pub(crate) struct DataFolder {
    /// The data folder of the service [default: `plausibly/service` in the platform's folder for
    /// data]
    #[arg(
        long = "data",
        value_name = "DIR",
        env = "PLAUSIBLY_SERVICE_DATA",
        hide_env_values = true
    )]
    pub(crate) folder: Option<PathBuf>,
}

/// Add, list and revoke the keys of the service
///
/// Before the first key is added, the service takes requests from its own machine only, and these
/// need no key. From the first key on, every caller needs a key, also after the last one is
/// revoked. A running service knows of a change within a second.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  plausibly key add web --role decide --role reward")]
pub(crate) enum KeyCommand {
    /// Add a key, and print it this once
    ///
    /// The key is the only line on stdout. It is stored nowhere: the data folder has its SHA-256,
    /// so a lost key cannot be shown again. To replace a key, add another under a new name, give
    /// that to the program, and revoke the old one.
    #[command(after_help = "Examples:\n  plausibly key add web --role decide --role reward\n  \
                            plausibly key add shop-report --role read --experiment shop --rate 5\n\
                            \x20 plausibly key add me --role admin > me.key\n  curl -H \
                            \"Authorization: Bearer $(cat me.key)\" \
                            http://127.0.0.1:8017/v1/experiments")]
    Add(Add),

    /// List all keys by name, with what they allow; never their text
    #[command(after_help = "Example:\n  plausibly key list")]
    List {
        #[command(flatten)]
        data: DataFolder,

        /// Print JSON
        #[arg(long)]
        json: bool,
    },

    /// Revoke a key: requests with it are refused within a second, for good
    #[command(after_help = "Example:\n  plausibly key revoke web")]
    Revoke {
        /// The name of the key, or its id from `plausibly key list`
        #[arg(value_name = "NAME")]
        name: String,

        #[command(flatten)]
        data: DataFolder,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    /// What you call it, such as the program that uses it: 1 to 64 of the characters A-Z a-z 0-9 .
    /// _ -
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// What it allows; give it again for more roles
    #[arg(long = "role", value_name = "ROLE", required = true)]
    pub(crate) roles: Vec<RoleArg>,

    /// The only experiment that it is for [default: all]. It need not exist yet
    #[arg(long, value_name = "EXPERIMENT")]
    pub(crate) experiment: Option<String>,

    /// How many requests per second it may send, at once or spread [default: any number]
    #[arg(
        long, value_name = "N", allow_negative_numbers = true,
        value_parser = whole_number::<1, 1_000_000>
    )]
    pub(crate) rate: Option<u64>,

    #[command(flatten)]
    pub(crate) data: DataFolder,
}

/// What a key allows.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleArg {
    /// Ask for decisions
    Decide,
    /// Report outcomes
    Reward,
    /// Read experiments, decisions and metrics
    Read,
    /// Create, change, pause and delete experiments, and all that the other roles allow
    Admin,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Decide => Self::Decide,
            RoleArg::Reward => Self::Reward,
            RoleArg::Read => Self::Read,
            RoleArg::Admin => Self::Admin,
        }
    }
}

/// Take decisions over HTTP, for programs on this machine or elsewhere
///
/// One process serves all experiments of its data folder. Each has a log of its own, `NAME/log`,
/// the same file that the other commands read: `plausibly status --log DIR/NAME/log` works while
/// the service runs. The service answers a request once the disk has its line, so nothing that was
/// answered is lost when the process or the machine stops.
///
/// The first line on stdout is the address, and its page /docs describes every request.
/// Reports on stderr are lines of JSON, between a few words for people at the start and the end.
/// After SIGTERM or Ctrl-C the service takes no new requests, answers those that it has, and ends
/// within 10 seconds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  plausibly serve\n  plausibly key add me --role admin --data \
                  /srv/decisions\n  plausibly serve --data /srv/decisions --listen \
                  0.0.0.0:8443 --host decisions.example.com \\\n    --tls-cert cert.pem --tls-key \
                  key.pem")]
pub(crate) struct Serve {
    #[command(flatten)]
    pub(crate) data: DataFolder,

    /// The address to listen on. One that other machines can reach needs a key first (`plausibly
    /// key add`)
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8017")]
    pub(crate) listen: SocketAddr,

    /// A name by which clients reach the service, beside its addresses; give it again for more. A
    /// request for another host is refused
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,

    /// PEM file of the certificate for TLS, followed by those that lead to its root
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// PEM file of the private key of that certificate
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,

    /// Report every request on stderr, not failures alone: route, status, time, name of the key
    /// and `traceparent`
    #[arg(long)]
    pub(crate) log_requests: bool,
}
