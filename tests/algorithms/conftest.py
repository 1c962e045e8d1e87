"""A table that several tests of algorithms share."""

import pytest

from privcore.algorithms import count
from privcore.data import load_network


@pytest.fixture(scope="module")
def asia():
    return count(load_network("asia").sample(20_000, 3))
