"""Moments of numbers, released in units that fit them.

First the mean and mean square of each column get noise, a small part of the budget; rows are then
shifted and scaled by what these say, shortened to a public length, and their second moments get
the rest (docs/proofs/moment_search.md, statement 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from privcore.algorithms.moment_search.release.kept import KeptNumbers
from privcore.algorithms.moment_search.release.plan import NumbersPlan
from privcore.arrays import Matrix
from privcore.counts import NumberSource
from privcore.privacy.mechanisms import NoiseSource
from privcore.privacy.mechanisms.moment_release import SQUARES, with_noise


def release_numbers(
    source: NumberSource,
    plan: NumbersPlan,
    units: tuple[Matrix, Matrix],
    noise: NoiseSource,
    mu: float,
) -> KeptNumbers:
    """Noisy second moments.

    units: middle and spread of the columns, as `released_scales` gives them.  mu: Gaussian-DP
    parameter of all releases so far.
    """
    p, (centre, scale) = len(source.names), units
    exact = source.moments_about(centre, scale, plan.radius * math.sqrt(p))
    weight = np.ones(p + 1)
    weight[0] = plan.mean_share
    sigma = plan.moments_sigma
    noisy = with_noise(exact * np.outer(weight, weight), sigma, noise)
    half = np.array([(high - low) / 2 for low, high in source.bounds])
    return KeptNumbers(
        source.n,
        centre,
        scale,
        plan.radius,
        half,
        noisy,
        sigma,
        mu,
        SQUARES,
        plan.mean_share,
    )


def released_scales(
    source: NumberSource, sigma: float, noise: NoiseSource, of: Sequence[int] | None = None
) -> tuple[Matrix, Matrix]:
    """Middle and spread of each column, from noisy means and mean squares.

    of: the columns, where not all; the others get 0 and 1.
    """
    columns = np.arange(len(source.names)) if of is None else np.array(of, dtype=np.intp)
    p = len(columns)
    exact = source.moments(math.sqrt(len(source.names)))
    means_and_squares = np.concatenate([exact[0, 1 + columns], np.diag(exact)[1 + columns]])
    noisy = noise.gaussian_array(means_and_squares, sigma)
    centre = np.clip(noisy[:p], -1, 1)
    variance = noisy[p:] - centre * centre
    # Shrunk to their mean as far as they differ by no more than noise (James & Stein 1961).
    own = max(1 - sigma * sigma / max(float(np.var(variance)), 1e-300), 0.0)
    shrunk = own * variance + (1 - own) * variance.mean()
    middle, spread = np.zeros(len(source.names)), np.ones(len(source.names))
    middle[columns], spread[columns] = centre, np.sqrt(np.clip(shrunk, min(sigma, 1.0), 1.0))
    return middle, spread
