//! A problem as the benchmark's driver wrote it: the same numbers for every contender.

use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

/// Features, true means and noise, drawn in advance: the reward of action `a` in round `t` is
/// `means[a] + noise[t]`.
#[derive(Debug)]
pub struct Problem {
    /// d.
    pub dim: usize,
    /// K.
    pub actions: usize,
    /// The scale of the noise.
    pub sigma: f64,
    /// K rows of d.
    pub features: Vec<f64>,
    /// One an action.
    pub means: Vec<f64>,
    /// One a round.
    pub noise: Vec<f64>,
    /// Sets to be offered in turn; empty in a problem with a fixed set.
    pub sets: Sets,
}

/// Action sets that follow one another.
#[derive(Debug)]
pub struct Sets {
    /// K rows of d, set after set.
    pub features: Vec<f64>,
    /// K a set.
    pub means: Vec<f64>,
}

impl Problem {
    /// Reads the files of a folder: `shape.txt` with `d K σ`, and doubles in the order of this
    /// machine.
    ///
    /// # Errors
    /// If a file is missing or malformed.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let shape = fs::read_to_string(folder.join("shape.txt"))?;
        let mut fields = shape.split_whitespace();
        let mut next = || fields.next().ok_or_else(|| invalid("shape.txt must hold d, K and σ"));
        let (dim, actions, sigma) = (next()?, next()?, next()?);
        Ok(Self {
            dim: dim.parse().map_err(invalid)?,
            actions: actions.parse().map_err(invalid)?,
            sigma: sigma.parse().map_err(invalid)?,
            features: doubles(&folder.join("features.f64"))?,
            means: doubles(&folder.join("means.f64"))?,
            noise: doubles(&folder.join("noise.f64"))?,
            sets: Sets {
                features: doubles(&folder.join("set-features.f64"))?,
                means: doubles(&folder.join("set-means.f64"))?,
            },
        })
    }

    /// A range that holds every reward of a fixed set: from the least mean with the least noise to
    /// the largest with the largest.
    pub fn range(&self) -> (f64, f64) {
        let least = |of: &[f64]| of.iter().copied().fold(f64::INFINITY, f64::min);
        let largest = |of: &[f64]| of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (least(&self.means) + least(&self.noise), largest(&self.means) + largest(&self.noise))
    }
}

fn invalid(why: impl Into<Box<dyn Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn doubles(path: &Path) -> io::Result<Vec<f64>> {
    let bytes = fs::read(path)?;
    let (doubles, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(invalid(format!("{} is cut short", path.display())));
    }
    Ok(doubles.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect())
}
