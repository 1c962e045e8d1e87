"""Which dependences a test on noisy counts or moments can see.

The test compares a statistic of f degrees of freedom with a threshold.  A dependence of size V
makes it noncentral χ², with V² times the test's information as noncentrality; the smallest V that
is seen with probability `POWER` follows.  Exact where all parts of the statistic weigh the same;
otherwise the dependence is taken as spread evenly over them, and the distribution as that of a
scaled χ² (see `statistic`).

V is Cramér's V of two columns with levels, the size of the correlation of two numbers; given other
columns, that of what these leave unexplained.
"""

from __future__ import annotations

import math

from scipy.special import chndtrinc, gammaln

from privcore.algorithms.moment_search.statistic import Statistic

POWER = 0.9


def table_information(n: float, levels: tuple[int, int], statistic: Statistic) -> float:
    """Noncentrality of a test of two columns with levels for V = 1.

    n: rows.  statistic: of the test, for the weights of its (r − 1)(s − 1) parts.
    """
    r, s = levels
    return n * (min(r, s) - 1) * statistic.first / ((r - 1) * (s - 1))


def smallest_visible(dof: float, threshold: float, information: float) -> float | None:
    """The smallest V from 0 to 1 that is seen with probability `POWER`; None if not even 1 is."""
    if not (dof > 0 and information > 0):
        return None
    needed = math.sqrt(max(float(chndtrinc(threshold, dof, 1 - POWER)), 0.0) / information)
    return needed if needed <= 1 else None


def probable_from(rows: float, levels: tuple[int, int], strata: int, level: float) -> float:
    """The deviance from which an edge between two columns is as probable as 1 − level.

    What BDeu takes off for the numbers that the edge adds, of balanced columns with an equivalent
    sample size of 1, and the odds that are wanted, less those of two directions before.
    rows: that the noisy counts are worth.  levels: of cause and effect.  strata: configurations of
    the effect's other parents.
    """
    cause, effect = levels

    def spread(configurations: int) -> float:
        many = configurations * effect
        above = gammaln(1 / configurations) - gammaln((1 + rows) / configurations)
        below = gammaln((1 + rows) / many) - gammaln(1 / many)
        return float(configurations * above + many * below) + rows * math.log(effect)

    odds = max((1 - level) / level, 1.0)
    return 2 * (spread(strata) - spread(strata * cause)) + 2 * math.log(odds / 2)
