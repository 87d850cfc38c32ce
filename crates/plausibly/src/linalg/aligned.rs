//! Numbers that begin where a cache line does.

use std::ops::{Deref, DerefMut};

/// Bytes in a line of a cache.
const LINE: usize = 64;

/// A buffer of numbers that begins where a cache line does, so that no load of a vector of them
/// touches two.
#[derive(Debug, Default)]
pub(crate) struct Aligned<T = f64> {
    storage: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// Numbers by which a line can begin late.
    const SPARE: usize = LINE / size_of::<T>() - 1;

    pub(crate) fn zeros(len: usize) -> Self {
        let mut buffer = Self::default();
        buffer.set_zeros(len);
        buffer
    }

    /// Zeros in place of what it held; allocates only for more than it ever held.
    pub(crate) fn set_zeros(&mut self, len: usize) {
        self.storage.clear();
        self.storage.resize(len + Self::SPARE, T::default());
        self.start = start_of(&self.storage);
        self.len = len;
    }

    /// These, followed by zeros up to `len`, without a second copy of them.
    pub(crate) fn from_vec(mut storage: Vec<T>, len: usize) -> Self {
        let filled = storage.len();
        storage.reserve_exact(len + Self::SPARE - filled);
        storage.resize(len + Self::SPARE, T::default());
        let start = start_of(&storage);
        storage.copy_within(..filled, start);
        storage[..start].fill(T::default());
        Self { storage, start, len }
    }
}

/// How many numbers come before the first line that begins among them.
fn start_of<T>(storage: &[T]) -> usize {
    let before = storage.as_ptr().align_offset(LINE);
    // An address may be kept from us; what is not aligned is slower, and the same.
    if before < LINE / size_of::<T>() { before } else { 0 }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.storage[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.storage[self.start..self.start + self.len]
    }
}

impl<T: Copy + Default> Clone for Aligned<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_it_was_given_where_a_line_begins() {
        let mut buffer = Aligned::<f64>::default();
        for len in [0, 1, 8, 40, 1000, 16] {
            let given: Vec<f64> = (0..len).map(|at| at as f64 + 1.0).collect();
            let taken = Aligned::from_vec(given.clone(), len + 3);
            buffer.set_zeros(len);
            assert!(buffer.iter().all(|x| *x == 0.0) && buffer.len() == len);
            buffer.copy_from_slice(&given);
            for aligned in [&taken, &buffer, &taken.clone()] {
                assert!((aligned.as_ptr() as usize).is_multiple_of(64), "{len}");
                assert_eq!(aligned[..len], given);
            }
            assert_eq!(taken[len..], [0.0; 3]);
            assert!((Aligned::<f32>::zeros(len).as_ptr() as usize).is_multiple_of(64), "{len}");
        }
    }
}
