//! From a person's table to vectors.
