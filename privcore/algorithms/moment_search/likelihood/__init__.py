"""What the release says of a graph: statistics whose null knows the noise."""
