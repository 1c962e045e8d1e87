"""Corrects thresholds for ties in the columns, using one-way marginals that are released once.

Proof and derivation: docs/proofs/one_way_marginals.md.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import sqrt

import numpy as np

from privcore.algorithms.search.model import Run
from privcore.algorithms.search.parameters import PerTestParameters
from privcore.errors import ParameterError
from privcore.independence import SCORES, Measure, ScoreMeasure, z_threshold
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms.no_noise import width_of
from privcore.rounding import down, up

# Share of the total ε; the tests get the rest, and all of δ.
SHARE = 0.1


def share_for_tests(run: Run[PerTestParameters]) -> float:
    """The share of ε that remains for the tests, rounded down slightly."""
    return 1.0 if run.parameters.correction == "none" else down(1.0 - SHARE)


def planned_release(run: Run[PerTestParameters]) -> tuple[Event, ...]:
    """The planned release of one-way marginals; empty if the run needs none."""
    if run.parameters.correction == "none":
        return ()
    return (Event("pure", down(SHARE * run.parameters.epsilon)),)


def corrected(run: Run[PerTestParameters], measure: Measure, noise_variance: float) -> Measure:
    """The measure with a threshold for each pair if the run corrects for ties, else unchanged.

    The correction releases the counts of every column with Laplace noise. This release is
    SHARE·ε-DP, since a replaced record changes two counts per column. noise_variance: variance of
    the noise on a test, in units of Z².
    """
    wanted = run.parameters.correction
    if wanted == "none":
        return measure
    if (
        not isinstance(measure, ScoreMeasure)
        or measure.space != "z"
        or not measure.score.corrects_ties
    ):
        known = [name for name, score in SCORES.items() if score.corrects_ties]
        raise ParameterError(
            "The threshold correction needs a rank score in space z: choose the score "
            f"{', '.join(known[:-1])} or {known[-1]} and space z, or correction none."
        )
    p = len(run.source.names)
    scale = up(2 * p / down(SHARE * run.parameters.epsilon))
    spread = []
    for column in range(p):
        counts = run.source.table([column]).astype(np.float64)
        noisy = np.maximum(run.noise.laplace_array(counts, scale), 0.0)
        probabilities = noisy / max(noisy.sum(), 1.0)
        # At least the value for a level with one record, so that no threshold is 0.
        spread.append(max(3.0 / run.source.n, 1.0 - float((probabilities**3).sum())))
    extra = noise_variance * width_of(run.noise, 1.0) ** 2 if wanted == "ties and noise" else 0.0
    quantile = z_threshold(measure.level)
    thresholds = {
        (x, y): quantile * sqrt(spread[x] * spread[y] + extra) for x, y in combinations(range(p), 2)
    }
    return replace(measure, corrected=thresholds)
