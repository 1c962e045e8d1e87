"""Infer the direction of a pair: split, fit both ways, score the residuals, release.

This is Algorithm 1 of Kusner et al. 2016. The split does not depend on the data, and every record
is either a training or a test record. If `protects` is both, the noise on the regressions protects
training records and the noise on the scores protects test records. Both use the full ε of the run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.errors import ParameterError
from privcore.extras.pairs.model import Curves, Inference, Split, Tested
from privcore.extras.pairs.pair import Pair
from privcore.extras.pairs.parameters import check_parameters, scores_of
from privcore.extras.pairs.plan import guarantee_of, plan_of
from privcore.extras.pairs.prepared import Prepared, release_many
from privcore.extras.pairs.ridge import Fit
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.threads import one_thread

Given = Mapping[str, Any] | None

_GRID = np.linspace(-1.0, 1.0, 201)
_CODES = {"x->y": 1, "y->x": -1, None: 0}


def split(pair: Pair, parameters: Given, noise: NoiseSource) -> Split:
    """Draw the training and test records at random with the noise source.

    Raises ParameterError for a bad parameter.
    """
    return _split(pair, check_parameters(parameters or {}), noise)


def prepare(pair: Pair, drawn: Split, parameters: Given = None) -> Prepared:
    """Fit the exact regressions on a split, for `decide_many` and `baseline`.

    Raises ParameterError for a bad parameter.
    """
    with one_thread():
        return Prepared(pair, drawn, check_parameters(parameters or {}))


def infer(
    pair: Pair,
    parameters: Given = None,
    *,
    seed: int | None = None,
    noise: NoiseSource | None = None,
) -> Inference:
    """Infer the direction of a pair once.

    parameters: values by name, as `PARAMETERS` declares them; missing parameters take their
        defaults.
    seed: seed of simulated noise. noise: a noise source, such as `SecureNoise()`. Give either seed
        or noise.
    Raises ParameterError for a bad parameter, and unless exactly one of seed and noise is given.
    """
    values = check_parameters(parameters or {})
    if seed is not None and noise is not None:
        raise ParameterError("seed-and-noise")
    source = noise if seed is None else SimulatedNoise(seed)
    if source is None:
        raise ParameterError("inference-needs-seed-noise-source")
    start = time.perf_counter()
    with one_thread():
        prepared = Prepared(pair, _split(pair, values, source), values)
        fits, bins, now, releases = next(release_many(prepared, values, 1, source))
        curves, exact_curves = _curves(fits, bins > 0), _curves(prepared.fits, False)
    seconds = time.perf_counter() - start
    plan = plan_of(values, prepared.n_train)
    return Inference(
        names=pair.names,
        parameters=values,
        guarantee=guarantee_of(plan, scores_of(values), pair.caveats),
        noise=source.kind,
        n_train=prepared.n_train,
        n_test=int(prepared.drawn.test.size),
        bins=bins,
        seconds=seconds,
        releases=releases,
        fits=curves,
        exact_fits=exact_curves,
        tested=Tested(
            now.forward.input.values,
            now.backward.input.values,
            now.forward.rest.values,
            now.backward.rest.values,
        ),
    )


def decide_many(
    prepared: Prepared, parameters: Given, repeats: int, seed: int
) -> dict[str, NDArray[np.int8]]:
    """For each score, the decisions of `repeats` independent releases on one split.

    Each array has shape (repeats,): 1 for x → y, −1 for y → x, 0 for no decision. Every release
    repeats the private regressions as well. Raises ParameterError for parameters that need another
    split or other exact regressions.
    """
    values = prepared.values_for(parameters)
    decided = {score: np.zeros(repeats, dtype=np.int8) for score in scores_of(values)}
    noise = SimulatedNoise(seed)
    with one_thread():
        for number, releases in enumerate(release_many(prepared, values, repeats, noise)):
            for made in releases.scores:
                decided[made.score][number] = _CODES[made.decision]
    return decided


def baseline(prepared: Prepared, parameters: Given = None) -> dict[str, tuple[float, float]]:
    """The exact scores on the split, by name, each as the pair (x → y, y → x); *not private*.

    Raises ParameterError as `decide_many` does.
    """
    with one_thread():
        scores = scores_of(prepared.values_for(parameters))
        return {score: prepared.exact.scores(score) for score in scores}


def _split(pair: Pair, values: Mapping[str, Any], noise: NoiseSource) -> Split:
    order = noise.permutation(pair.n)
    count = round(values["train_share"] * pair.n)
    return Split(order[:count], order[count:])


def _curves(fits: tuple[Fit, Fit], private: bool) -> Curves:
    forward, backward = (each.predict(_GRID) for each in fits)
    return Curves(_GRID, forward, backward, private)
