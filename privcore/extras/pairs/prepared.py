"""A pair of variables with its split and its exact regressions, for many complete releases."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from privcore.arrays import Matrix
from privcore.errors import ParameterError
from privcore.extras.pairs.evaluation import Input, Sides, Widths, sides
from privcore.extras.pairs.model import ScoreRelease, Split
from privcore.extras.pairs.pair import Pair
from privcore.extras.pairs.parameters import check_parameters, scores_of
from privcore.extras.pairs.plan import plan_of
from privcore.extras.pairs.private_regression import (
    automatic_bins,
    fit_from_table,
    joint_table,
    noisy_table,
)
from privcore.extras.pairs.releases import release
from privcore.extras.pairs.ridge import Fit, fit
from privcore.privacy.mechanisms import NoiseSource


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
