//! Forged certificates.
