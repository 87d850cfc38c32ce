//! An append-only file of lines, chained by their hashes.
