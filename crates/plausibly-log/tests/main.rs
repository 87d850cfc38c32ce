//! Laws of the log: nothing acknowledged is lost, nothing is invented, and everything can be re-derived.
