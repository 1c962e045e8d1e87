"""The choice of data, algorithm and parameters, and the URL that stores this choice."""
