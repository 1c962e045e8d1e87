"""The choice of data, algorithm and parameters, and the address that keeps it."""
