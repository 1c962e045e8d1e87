"""How many examples a property test makes: all of them under `make test-all`, fewer before."""

from hypothesis import settings


def examples(full: int) -> int:
    """As many of `full` as the profile makes of hypothesis's 100 (`tests/conftest.py`), at least
    ten."""
    return min(full, max(10, full * settings().max_examples // 100))
