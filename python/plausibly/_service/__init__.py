"""What the two clients of the decision service have in common, without a network."""
