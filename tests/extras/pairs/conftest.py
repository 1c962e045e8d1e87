"""Pairs that several tests of directions share."""

import pytest

from privcore.extras.pairs import PairGenerator


@pytest.fixture(scope="module")
def pair():
    return PairGenerator("polynomial").sample(4_000, 1)


@pytest.fixture(scope="module")
def small():
    return PairGenerator("polynomial").sample(60, 2)
