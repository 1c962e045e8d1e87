"""Time and memory against rows and columns: `python -m benchmarks.scale`."""
