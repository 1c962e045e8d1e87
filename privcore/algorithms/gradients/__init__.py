"""Graph search as continuous optimisation: least squares under a smooth acyclicity constraint."""
