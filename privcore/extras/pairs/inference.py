"""Inference of a direction, from prepared samples.

A pair of variables with its split and its exact regressions, for many complete releases.

Infer the direction of a pair: split, fit both ways, score the residuals, release.

This is Algorithm 1 of Kusner et al. 2016. The split does not depend on the data, and every record
is either a training or a test record. If `protects` is both, the noise on the regressions protects
training records and the noise on the scores protects test records. Both use the full ε of the run.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from privcore.arrays import Matrix
from privcore.errors import ParameterError
from privcore.extras.pairs.evaluation import Input, Sides, Widths, sides
from privcore.extras.pairs.pair import Curves, Inference, Pair, ScoreRelease, Split, Tested
from privcore.extras.pairs.parameters import check_parameters, scores_of
from privcore.extras.pairs.plan import guarantee_of, plan_of
from privcore.extras.pairs.releases import release
from privcore.extras.pairs.ridge import (
    Fit,
    automatic_bins,
    fit,
    fit_from_table,
    joint_table,
    noisy_table,
)
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.threads import one_thread


class Prepared:
    """A pair with its split and its exact regressions, for many releases; *not private*."""

    def __init__(self, pair: Pair, drawn: Split, values: Mapping[str, Any]) -> None:
        self.pair = pair
        self.drawn = drawn
        self.settings = _fixed(values)
        self.widths = Widths(values["width"], values["width_input"], values["width_residual"])
        self.train = pair.x[drawn.train], pair.y[drawn.train]
        self.x = Input(pair.x[drawn.test], self.widths)
        self.y = Input(pair.y[drawn.test], self.widths)
        x, y = self.train
        self.fits = (
            fit(x, y, self.widths.regression, values["penalty"]),
            fit(y, x, self.widths.regression, values["penalty"]),
        )
        self.exact = self.under(self.fits)
        self._tables: dict[int, Matrix] = {}

    def under(self, fits: tuple[Fit, Fit]) -> Sides:
        """Both directions on the test records, given the regressions of y on x and of x on y."""
        return sides(self.x, self.y, fits, self.widths.residual)

    def table(self, bins: int) -> Matrix:
        """The `joint_table` of the training records; computed once per number of bins."""
        if bins not in self._tables:
            self._tables[bins] = joint_table(*self.train, bins)
        return self._tables[bins]

    @property
    def n_train(self) -> int:
        return int(self.drawn.train.size)

    def values_for(self, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
        """Return the checked parameters; raises ParameterError if they need a new split or fit."""
        values = check_parameters(parameters or {})
        for name, used in self.settings.items():
            if values[name] != used:
                raise ParameterError(
                    "prepare-again", name=name.replace("_", "-"), values=values[name], used=used
                )
        return values


class Releases(NamedTuple):
    """One complete release on a split: the regressions, and every score computed from them.

    fits: the regressions, private or exact.
    bins: number of bins of private regressions, 0 if the regressions are exact.
    now: both directions, evaluated on the test records with these regressions; *not private*.
    """

    fits: tuple[Fit, Fit]
    bins: int
    now: Sides
    scores: tuple[ScoreRelease, ...]


def release_many(
    prepared: Prepared, values: Mapping[str, Any], repeats: int, noise: NoiseSource
) -> Iterator[Releases]:
    """Yield `repeats` independent releases.

    values: checked parameters, from `Prepared.values_for`. Each release repeats every step,
    including private regressions.
    """
    plan = plan_of(values, prepared.n_train)
    for _ in range(repeats):
        fits, bins = _fits(prepared, values, noise)
        now = prepared.exact if bins == 0 else prepared.under(fits)
        made = [release(score, now, prepared.exact, plan, noise) for score in scores_of(values)]
        yield Releases(fits, bins, now, tuple(made))


def _fixed(values: Mapping[str, Any]) -> dict[str, float]:
    """The parameters that the split and the exact regressions depend on."""
    names = ("train_share", "penalty", "width", "width_input", "width_residual")
    return {name: values[name] for name in names}


def _fits(
    prepared: Prepared, values: Mapping[str, Any], noise: NoiseSource
) -> tuple[tuple[Fit, Fit], int]:
    """The regressions in use, and their number of bins, which is 0 for exact regressions."""
    if values["protects"] != "both":
        return prepared.fits, 0
    n, epsilon = prepared.n_train, values["epsilon"]
    bins = values["bins"] or automatic_bins(n, epsilon)
    table = noisy_table(prepared.table(bins), epsilon, noise)
    width, penalty = prepared.widths.regression, values["penalty"]
    forward = fit_from_table(table, n, width, penalty)
    return (forward, fit_from_table(table.T, n, width, penalty)), bins


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
