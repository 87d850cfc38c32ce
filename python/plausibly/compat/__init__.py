"""Interfaces of other libraries, on top of Plausibly's estimates and policies."""
