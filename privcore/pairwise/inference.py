"""From a pair to a direction: split, fit both ways, score what is left, release.

Algorithm 1 of Kusner et al. 2016.  The split does not depend on the data, so one record is either
a training or a test record; with `protects` both, the first meets the noise of the regressions and
the second that of the scores, and ε of each is the ε of the run.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privcore.errors import ParameterError
from privcore.mechanisms import NoiseSource, SimulatedNoise
from privcore.pairwise.evaluation import Input, Sides, Widths, sides
from privcore.pairwise.model import Curves, Inference, ScoreRelease, Split, Tested
from privcore.pairwise.pair import Pair
from privcore.pairwise.parameters import check_parameters, scores_of
from privcore.pairwise.plan import guarantee_of, plan_of
from privcore.pairwise.private_regression import (
    automatic_bins,
    fit_from_table,
    joint_table,
    noisy_table,
)
from privcore.pairwise.releases import release
from privcore.pairwise.ridge import Fit, fit
from privcore.threads import one_thread

Given = Mapping[str, Any] | None
Matrix = NDArray[np.float64]

_GRID = np.linspace(-1.0, 1.0, 201)
_CODES = {"x->y": 1, "y->x": -1, None: 0}


class Prepared:
    """A split pair with its exact regressions, for many releases.  Nothing in it is private."""

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
        """Both directions of the test records under regressions of y on x and of x on y."""
        return sides(self.x, self.y, fits, self.widths.residual)

    def table(self, bins: int) -> Matrix:
        """The training records' `joint_table`."""
        if bins not in self._tables:
            self._tables[bins] = joint_table(*self.train, bins)
        return self._tables[bins]

    @property
    def n_train(self) -> int:
        return int(self.drawn.train.size)

    def values_for(self, parameters: Given) -> dict[str, Any]:
        """Checked parameters; raises ParameterError if they need another split or other fits."""
        values = check_parameters(parameters or {})
        for name, used in self.settings.items():
            if values[name] != used:
                raise ParameterError(
                    f"{name.replace('_', '-')} is {values[name]:g} and the regressions were fitted "
                    f"with {used:g}; prepare them again."
                )
        return values


def split(pair: Pair, parameters: Given, noise: NoiseSource) -> Split:
    """Training and test records, drawn by the noise source.  Raises as `infer`."""
    return _split(pair, check_parameters(parameters or {}), noise)


def prepare(pair: Pair, drawn: Split, parameters: Given = None) -> Prepared:
    """The exact regressions on a split, for `decide_many` and `baseline`.  Raises as `infer`."""
    with one_thread():
        return Prepared(pair, drawn, check_parameters(parameters or {}))


def infer(
    pair: Pair,
    parameters: Given = None,
    *,
    seed: int | None = None,
    noise: NoiseSource | None = None,
) -> Inference:
    """One inference of the direction.

    parameters: by name, as `PARAMETERS` declares them; those not given take their defaults.
    seed: of a simulation; noise: a source of one's own, such as `SecureNoise()`; one of the two.
    Raises ParameterError.
    """
    values = check_parameters(parameters or {})
    if seed is not None and noise is not None:
        raise ParameterError("Give either a seed or a noise source, not both.")
    source = noise if seed is None else SimulatedNoise(seed)
    if source is None:
        raise ParameterError("An inference needs a seed, or a noise source.")
    start = time.perf_counter()
    with one_thread():
        prepared = Prepared(pair, _split(pair, values, source), values)
        fits, bins = _fits(prepared, values, source)
        now = prepared.exact if bins == 0 else prepared.under(fits)
        releases = _release_all(prepared, now, values, source)
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
    """Decisions of `repeats` independent releases on one split, by score, each shape (repeats,).

    1: x → y, −1: y → x, 0: none.  Each repeats the whole release, private regressions included.
    Raises ParameterError for parameters that need another split or other exact regressions.
    """
    values = prepared.values_for(parameters)
    decided = {score: np.zeros(repeats, dtype=np.int8) for score in scores_of(values)}
    noise = SimulatedNoise(seed)
    with one_thread():
        for number in range(repeats):
            fits, bins = _fits(prepared, values, noise)
            now = prepared.exact if bins == 0 else prepared.under(fits)
            for made in _release_all(prepared, now, values, noise):
                decided[made.score][number] = _CODES[made.decision]
    return decided


def baseline(prepared: Prepared, parameters: Given = None) -> dict[str, tuple[float, float]]:
    """The exact scores on the split, x → y first, by score; *not private*.  Raises as above."""
    with one_thread():
        scores = scores_of(prepared.values_for(parameters))
        return {score: prepared.exact.scores(score) for score in scores}


def _fixed(values: Mapping[str, Any]) -> dict[str, float]:
    """The parameters that the split and the exact regressions depend on."""
    names = ("train_share", "penalty", "width", "width_input", "width_residual")
    return {name: values[name] for name in names}


def _split(pair: Pair, values: Mapping[str, Any], noise: NoiseSource) -> Split:
    order = noise.shuffled(pair.n)
    count = round(values["train_share"] * pair.n)
    return Split(order[:count], order[count:])


def _fits(
    prepared: Prepared, values: Mapping[str, Any], noise: NoiseSource
) -> tuple[tuple[Fit, Fit], int]:
    """The regressions in use and the bins of private ones, 0 if they are the exact ones."""
    if values["protects"] != "both":
        return prepared.fits, 0
    n, epsilon = prepared.n_train, values["epsilon"]
    bins = values["bins"] or automatic_bins(n, epsilon)
    table = noisy_table(prepared.table(bins), epsilon, noise)
    width, penalty = prepared.widths.regression, values["penalty"]
    forward = fit_from_table(table, n, width, penalty)
    return (forward, fit_from_table(table.T, n, width, penalty)), bins


def _release_all(
    prepared: Prepared, now: Sides, values: Mapping[str, Any], noise: NoiseSource
) -> tuple[ScoreRelease, ...]:
    plan = plan_of(values, prepared.n_train)
    return tuple(release(score, now, prepared.exact, plan, noise) for score in scores_of(values))


def _curves(fits: tuple[Fit, Fit], private: bool) -> Curves:
    forward, backward = (each.predict(_GRID) for each in fits)
    return Curves(_GRID, forward, backward, private)
