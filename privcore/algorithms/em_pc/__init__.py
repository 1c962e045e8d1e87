"""EM-PC: the exponential mechanism chooses which edges to remove."""
