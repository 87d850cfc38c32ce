//! Ledgers as bytes, and their digests: equal ledgers have equal bytes.

use super::forecasts::ForecastSums;
use super::ledger::{Ledger, MAX_DIM, MAX_OBSERVATIONS, triangle};
use sha2::{Digest, Sha256};
use std::fmt;
use thiserror::Error;

const NAME: [u8; 6] = *b"ledger";
/// The version of a ledger without forecasts, and of one with them.
const PLAIN: u16 = 1;
const WITH_FORECASTS: u16 = 2;
/// The first byte of each part.
const VERSION_AT: usize = 6;
const DIM_AT: usize = 8;
const OBSERVATIONS_AT: usize = 12;
const SUMS_AT: usize = 20;
const SUM_LEN: usize = 16;
/// The number of forecasts, D and three sums of errors.
const FORECASTS_LEN: usize = 8 + 4 * SUM_LEN;
const DIGEST_LEN: usize = 32;

/// Why bytes are not a ledger.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum MalformedLedger {
    /// Fewer bytes than the shortest ledger, or not the number that follows from its dimension.
    #[error("a ledger of {dim} features takes {expected} bytes, got {found}")]
    Length {
        /// The dimension in the header; 1, that of the shortest ledger, if the header is cut off.
        dim: usize,
        /// Bytes expected.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// Not a ledger: those begin with the six letters `ledger`.
    #[error("byte {at} is {found:#04x}; a ledger begins with the letters \"ledger\"")]
    Name {
        /// The first byte that differs.
        at: usize,
        /// That byte.
        found: u8,
    },
    /// A version of the form that this library does not know.
    #[error("version {found} of the form, at byte 6, is not known; this library reads 1 and 2")]
    Version {
        /// The version found.
        found: u16,
    },
    /// A dimension of zero or above 4096.
    #[error("the dimension at byte 8 is {found}; a ledger has between 1 and 4096 features")]
    Dim {
        /// The dimension found.
        found: u32,
    },
    /// The digest is not that of the bytes before it: the bytes were damaged.
    #[error("the digest at byte {at} is not that of the bytes before it")]
    Damaged {
        /// The byte where the digest begins.
        at: usize,
    },
    /// More observations than the sums have room for.
    #[error("{found} observations, at byte 12, are more than the 2^58 a ledger holds")]
    Observations {
        /// The number found.
        found: u64,
    },
    /// A sum that this number of observations cannot have.
    #[error(
        "the sum ({row}, {column}), at byte {at}, is impossible for {observations} observations"
    )]
    Impossible {
        /// Its row; the dimension stands for the reward.
        row: usize,
        /// Its column.
        column: usize,
        /// The byte where it begins.
        at: usize,
        /// The number of observations in the header.
        observations: u64,
    },
    /// Sums over forecasts that this number of observations cannot have. Without forecasts, a
    /// ledger is written in version 1.
    #[error(
        "the sums over {found} forecasts, at byte {at}, are impossible for {observations} \
         observations"
    )]
    Forecasts {
        /// The number of observations with forecasts.
        found: u64,
        /// The byte where the number begins.
        at: usize,
        /// The number of observations in the header.
        observations: u64,
    },
}

/// SHA-256 (FIPS 180-4) of a ledger: equal for equal ledgers, and different for others unless
/// SHA-256 is broken.
///
/// Displays as 64 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LedgerDigest([u8; DIGEST_LEN]);

impl LedgerDigest {
    fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; DIGEST_LEN] {
        &self.0
    }
}

impl fmt::Display for LedgerDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Ledger {
    /// The ledger as bytes. Equal ledgers give equal bytes.
    ///
    /// ```text
    /// at   bytes   what, little-endian
    ///  0     6     the letters "ledger"
    ///  6     2     version of the form, which also fixes the grid, 2⁻²⁴ up to 2¹⁰: 1, or 2 if any
    ///              observation has forecasts
    ///  8     4     d
    /// 12     8     n
    /// 20    16·m   Σ zᵢ·zⱼ, signed, for i = 1 … d+1 and within it j = i … d+1, the reward last;
    ///              m = (d+1)(d+2)/2
    ///       72     in version 2: the number of observations with forecasts in 8 bytes, then D and
    ///              Σ (y − ŷ_κ)² of the three candidates, signed, in 16 each
    /// end   32     SHA-256 of all bytes before
    /// ```
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.body();
        let digest = LedgerDigest::of(&bytes);
        bytes.extend_from_slice(digest.as_bytes());
        bytes
    }

    /// The digest that ends [`Ledger::to_bytes`]: SHA-256 of the bytes before it. Replicas compare
    /// it, and an audit derives it again from the log. O(d²).
    pub fn digest(&self) -> LedgerDigest {
        LedgerDigest::of(&self.body())
    }

    /// Reads what [`Ledger::to_bytes`] wrote.
    ///
    /// The digest finds accidents, not forgeries: anyone who can write a ledger can write its
    /// digest too. The sums are checked as well, so that no later arithmetic overflows. Sums that
    /// pass may still belong to no observations; only the observations themselves can prove that
    /// they do.
    ///
    /// # Errors
    /// Says what is wrong and where. Nothing is allocated before the length was checked.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, MalformedLedger> {
        let found = bytes.len();
        if let Some(at) = bytes.iter().zip(&NAME).position(|(found, expected)| found != expected) {
            return Err(MalformedLedger::Name { at, found: bytes[at] });
        }
        // The version is checked before the length, which depends on it.
        let version =
            if found >= DIM_AT { u16::from_le_bytes(part(bytes, VERSION_AT)) } else { PLAIN };
        let forecasts_len = match version {
            PLAIN => 0,
            WITH_FORECASTS => FORECASTS_LEN,
            found => return Err(MalformedLedger::Version { found }),
        };
        let forecasts_at = |dim: usize| SUMS_AT + SUM_LEN * triangle(dim);
        let length = |dim: usize| forecasts_at(dim) + forecasts_len + DIGEST_LEN;
        if found < length(1) {
            return Err(MalformedLedger::Length { dim: 1, expected: length(1), found });
        }
        let claimed = u32::from_le_bytes(part(bytes, DIM_AT));
        let dim = usize::try_from(claimed).ok().filter(|dim| (1..=MAX_DIM).contains(dim));
        let dim = dim.ok_or(MalformedLedger::Dim { found: claimed })?;
        if found != length(dim) {
            return Err(MalformedLedger::Length { dim, expected: length(dim), found });
        }
        let (body, digest) = bytes.split_at(found - DIGEST_LEN);
        if LedgerDigest::of(body).as_bytes() != digest {
            return Err(MalformedLedger::Damaged { at: body.len() });
        }
        let observations = u64::from_le_bytes(part(body, OBSERVATIONS_AT));
        if observations > MAX_OBSERVATIONS {
            return Err(MalformedLedger::Observations { found: observations });
        }
        let (sums, forecasts) = body[SUMS_AT..].split_at(SUM_LEN * triangle(dim));
        let sums = sums.chunks_exact(SUM_LEN).map(|sum| i128::from_le_bytes(part(sum, 0)));
        let forecasts =
            if forecasts.is_empty() { ForecastSums::default() } else { read(forecasts) };
        let ledger = Self { dim, observations, sums: sums.collect(), forecasts };
        if let Some((row, column)) = ledger.impossible() {
            let at = SUMS_AT + SUM_LEN * ledger.at(row, column);
            return Err(MalformedLedger::Impossible { row, column, at, observations });
        }
        // A ledger without forecasts has one form, that of version 1.
        let expected = (version == WITH_FORECASTS) == (forecasts.count > 0);
        if !expected || !forecasts.possible(observations, ledger.sum(dim, dim)) {
            let at = forecasts_at(dim);
            return Err(MalformedLedger::Forecasts { found: forecasts.count, at, observations });
        }
        Ok(ledger)
    }

    /// The bytes without the digest.
    fn body(&self) -> Vec<u8> {
        let ForecastSums { count, sum, errors } = self.forecasts;
        let (version, more) = if count > 0 { (WITH_FORECASTS, FORECASTS_LEN) } else { (PLAIN, 0) };
        let length = SUMS_AT + SUM_LEN * self.sums.len() + more + DIGEST_LEN;
        let mut bytes = Vec::with_capacity(length);
        bytes.extend_from_slice(&NAME);
        bytes.extend_from_slice(&version.to_le_bytes());
        #[expect(clippy::cast_possible_truncation, reason = "a dimension is at most 4096")]
        bytes.extend_from_slice(&(self.dim as u32).to_le_bytes());
        bytes.extend_from_slice(&self.observations.to_le_bytes());
        for sum in &self.sums {
            bytes.extend_from_slice(&sum.to_le_bytes());
        }
        if count > 0 {
            bytes.extend_from_slice(&count.to_le_bytes());
            for sum in [sum].iter().chain(&errors) {
                bytes.extend_from_slice(&sum.to_le_bytes());
            }
        }
        bytes
    }
}

/// The sums over forecasts in their 72 bytes.
fn read(bytes: &[u8]) -> ForecastSums {
    let sum = |k: usize| i128::from_le_bytes(part(bytes, 8 + SUM_LEN * k));
    ForecastSums {
        count: u64::from_le_bytes(part(bytes, 0)),
        sum: sum(0),
        errors: std::array::from_fn(|k| sum(k + 1)),
    }
}

/// `N` bytes from `at` on. The caller has checked the length.
pub(super) fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    std::array::from_fn(|k| bytes[at + k])
}
