"""How a total (ε, δ) is split over the releases, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from privcore.algorithms.moment_search.release.features import (
    pair_features_sensitivity,
    rounding_of_features,
)
from privcore.privacy.mechanisms.gaussian import planned_mu, planned_sigma
from privcore.rounding import down

# Below this many cells no table would hold more than what the pairs say already.
LEAST_CELLS = 16
MOST_CELLS = 1_000_000
# Rounds of tables, with equal shares.
_ROUNDS = 3
# Noise against chance up to which tests lose fewer edges than the scores' search adds by mistake.
_LITTLE_NOISE = 0.02


@dataclass(frozen=True)
class MomentPlan:
    """mu_pairs, mu_tables: Gaussian-DP parameters of the pairs and of all tables; mu_tables is 0
    where these are left out.  sensitivity: of the pairs' features.  cells: of a table, at most.
    noise: variance of that on a pair, as a part of what n balanced rows vary by chance.
    """

    mu_pairs: float
    mu_tables: float
    sensitivity: float
    cells: int
    noise: float

    @property
    def pairs_sigma(self) -> float:
        """Noise on each feature's sum, in counts."""
        return planned_sigma(self.sensitivity, self.mu_pairs)

    @property
    def rounds(self) -> int:
        """How many rounds of tables there are."""
        return _ROUNDS if self.cells else 0

    @property
    def candidate_order(self) -> int:
        """Most columns that the search on pairs conditions on: each test may lose an edge."""
        return 1 if self.noise > 1 else 2

    @property
    def refined(self) -> bool:
        """Whether directions are searched for among the edges that tests on tables left, and not
        among all candidates: with much noise, such tests lose more edges than they save."""
        return self.noise <= _LITTLE_NOISE

    @property
    def mu_round(self) -> float:
        """μ of each round; there must be at least one."""
        return down(self.mu_tables / math.sqrt(self.rounds))

    def tables_sigma(self, tables: int) -> float:
        """Noise on each cell of a round's tables: a replaced record moves each by √2 at most."""
        return planned_sigma(math.sqrt(2 * tables), self.mu_round)

    @property
    def pairs_share(self) -> float:
        """Part of μ² that the pairs take."""
        return self.mu_pairs**2 / (self.mu_pairs**2 + self.mu_tables**2)


def plan_moments(
    n: int, levels: Sequence[int], epsilon: float, delta: float, *, share: float, tables: float
) -> MomentPlan:
    """share: of μ² that the tables get.  tables: how much larger than the sampling variance the
    noise's part may be in a test on a whole table, which limits the number of cells.

    A test on a table of c cells has a noise variance of about c σ²/n of its sampling variance;
    with a table for each column σ² = 2p/μ².
    """
    mu = planned_mu(epsilon, delta)
    second = share * mu * mu
    cells = min(tables * n * second / (2 * len(levels)), MOST_CELLS)
    sensitivity = pair_features_sensitivity(levels) + rounding_of_features(levels, n)
    if cells < LEAST_CELLS or len(levels) < 3:
        return MomentPlan(mu, 0.0, sensitivity, 0, sensitivity**2 / (n * mu**2))
    first = mu * math.sqrt(1 - share)
    noise = sensitivity**2 / (n * first**2)
    return MomentPlan(first, mu * math.sqrt(share), sensitivity, int(cells), noise)
