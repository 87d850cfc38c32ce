//! TLS from a certificate and a key in PEM files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{self, InconsistentKeys, ServerConfig};

/// Why a certificate and a key cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file cannot be read.
    #[error("cannot read {}: {error}; --tls-cert and --tls-key take PEM files", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        error: io::Error,
    },
    /// A file has no certificate.
    #[error(
        "{} has no certificate; --tls-cert takes a PEM file with `-----BEGIN CERTIFICATE-----`, \
         the server's certificate first and those that signed it after it",
        path.display()
    )]
    NoCertificate {
        /// The file.
        path: PathBuf,
    },
    /// A file has no private key.
    #[error(
        "{} has no private key that can be read; --tls-key takes a PEM file with \
         `-----BEGIN PRIVATE KEY-----` (or RSA or EC), without a password",
        path.display()
    )]
    NoKey {
        /// The file.
        path: PathBuf,
    },
    /// A file is not PEM.
    #[error("{} is not a PEM file: {error}", path.display())]
    NotPem {
        /// The file.
        path: PathBuf,
        /// Where it differs from PEM.
        error: pem::Error,
    },
    /// The key belongs to another certificate.
    #[error(
        "the key in {} does not belong to the first certificate in {}; give the pair that was \
         made together, and put the server's own certificate first",
        key.display(), cert.display()
    )]
    OtherKey {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
    },
    /// The certificate or the key is of a kind that cannot be used.
    #[error("cannot use {} with {}: {error}", cert.display(), key.display())]
    Unusable {
        /// The file of the certificate.
        cert: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// What the library of TLS says.
        error: rustls::Error,
    },
}

/// Accepts TLS 1.2 and 1.3 with the certificate and the key in these files.
///
/// # Errors
/// If a file cannot be read or used, or the key does not fit the certificate.
pub fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor, TlsError> {
    let chain = certificates(cert)?;
    let private = private_key(key)?;
    let unusable = |error| match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            TlsError::OtherKey { cert: cert.into(), key: key.into() }
        }
        error => TlsError::Unusable { cert: cert.into(), key: key.into(), error },
    };
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bytes = read(path)?;
    let chain = CertificateDer::pem_slice_iter(&bytes).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| TlsError::NotPem { path: path.into(), error })?;
    if chain.is_empty() { Err(TlsError::NoCertificate { path: path.into() }) } else { Ok(chain) }
}

fn private_key(path: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(|error| match error {
        pem::Error::NoItemsFound => TlsError::NoKey { path: path.into() },
        error => TlsError::NotPem { path: path.into(), error },
    })
}

fn read(path: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(path).map_err(|error| TlsError::Unreadable { path: path.into(), error })
}
