"""The interfaces people know from other libraries, with Plausibly's estimates and policies behind them."""
