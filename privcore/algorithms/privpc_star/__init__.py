"""PrivPC*: PC on one noisy correlation matrix."""
