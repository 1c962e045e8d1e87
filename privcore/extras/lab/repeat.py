"""Further runs of one algorithm on one data set, at other values of ε and with fresh noise.

The runs can be made in a separate process, so that the caller need not wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from privcore.algorithms import count, discover
from privcore.algorithms.search.result import Discovery
from privcore.data import Dataset
from privcore.errors import PrivcoreError
from privcore.threads import one_thread


class Roll(NamedTuple):
    """The settings of one run: ε, the seed of the noise, and whether to keep the trace."""

    epsilon: float
    seed: int
    trace: bool = False


class Repeat:
    """Makes runs with one thread each; can be pickled and sent to a worker process.

    settings: parameters of the algorithm except ε, which each `Roll` sets.
    """

    def __init__(self, dataset: Dataset, algorithm: str, settings: Mapping[str, Any]) -> None:
        self._dataset, self._algorithm = dataset, algorithm
        self._settings = dict(settings)
        self._source: Any = None

    def __call__(self, roll: Roll) -> Discovery | str:
        """Make the run; returns its result, or the error message if it was refused."""
        values = {**self._settings, "epsilon": roll.epsilon}
        try:
            with one_thread():
                if self._source is None:
                    self._source = count(self._dataset)
                return discover(
                    self._source, self._algorithm, values, seed=roll.seed, keep_trace=roll.trace
                )
        except PrivcoreError as error:
            return str(error)
