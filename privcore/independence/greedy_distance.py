"""The distance score of EM-PC: the number of records whose change would reverse a test's decision.

Equation 5 of Xu, Yuan & Wu 2017 defines the score as the smallest number of records to change; the
authors' code removes records greedily instead. The result is not a distance: replacing one record
can change the score by 8 (docs/proofs/em_pc.md), so only the published form of EM-PC uses this
score.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from privcore import kernels
from privcore.independence.frequencies import degrees_of_freedom, tested
from privcore.independence.order_scan import critical_values

Tables = NDArray[np.int64]

# Far from the boundary, this share of the removals so far is removed at once, so that thousands
# of removals take a few hundred steps; the last step is halved until it is exact.
_STRIDE = 32
# For up to this many cells, critical values are computed for all possible degrees of freedom.
_CELLS = 4096


def greedy_distance(tables: Tables, level: float) -> int:
    """Signed number of removed records after which the p-value of G² crosses `level`.

    The sign is positive if the pair counts as independent (p ≥ level). Each step removes the record
    that moves G² most towards the boundary. If the boundary is never crossed, the result is the
    number of removable records, with this sign.
    """
    strata, rx, ry = tables.shape
    most = strata * (rx - 1) * (ry - 1) if tables.size <= _CELLS else degrees_of_freedom(tables)
    # Few sizes, so that critical values are computed once for most tables.
    size = 1 << int(most).bit_length()
    left = np.array(tables, dtype=np.int64, order="C")
    return int(kernels.distance.greedy_removals(left, critical_values(level, size), _STRIDE))


def p_value(tables: Tables) -> float:
    """The p-value of G²; 1 if there are 0 degrees of freedom."""
    value, degrees = tested(tables, "g2")
    return float(chdtrc(degrees, value)) if degrees > 0 else 1.0
