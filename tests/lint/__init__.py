"""What can be seen without running anything: `python -m tests.lint`, part of `make lint`."""
