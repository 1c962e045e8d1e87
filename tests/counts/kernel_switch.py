"""Choosing in a test whether the compiled kernels count, or numpy."""

from contextlib import contextmanager

from privcore.kernels import compiled


@contextmanager
def counting_with(kernels):
    """Inside, the kernels are used (True, and must be there) or not (False)."""
    assert compiled.start(wait=True), "numba is among the requirements"
    loaded = compiled._state.kernels
    compiled._state.kernels = loaded if kernels else None
    try:
        yield
    finally:
        compiled._state.kernels = loaded
