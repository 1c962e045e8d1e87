"""EM-PC: tests chosen by the exponential mechanism."""
