"""What the tests of directions run: every score in every form, and pairs of numbers."""

from itertools import product

import numpy as np

from privcore.extras.pairs import Pair

SCORES = ("spearman", "kendall", "hsic", "hsic-root", "iqr", "iqr-ptr", "all")
PROVEN = [
    {"protects": protects, "score": score}
    for protects, score in product(("both", "test", "training"), SCORES)
]
PUBLISHED = [
    {"protects": protects, "score": score, "calibration": "published"}
    for protects, score in product(
        ("test", "training"), ("spearman", "kendall", "hsic", "iqr-ptr", "all")
    )
]


def pair_of(x, y, **rest):
    return Pair.from_values(("a", "b"), (np.array(x), np.array(y)), ((-1, 1), (-1, 1)), **rest)
