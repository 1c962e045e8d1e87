"""A sweep as a declaration: data, algorithms, grids and replicates, and the resulting runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

from privcore.algorithms import Algorithm, get_algorithm
from privcore.data.network import check_rows
from privcore.errors import ParameterError
from privcore.extras.lab.sweeps.data import SweepData
from privcore.extras.lab.sweeps.settings import (
    Cell,
    Choice,
    Reference,
    Setting,
    check_values,
    choices,
    own_values,
    replicated,
    settings_and_references,
)
from privcore.measures.references import NON_PRIVATE, NonPrivate
from privcore.text import short
from privcore.version import __version__

Calibration = Literal["proven", "published"]
MAX_RUNS = 10_000_000
# Columns that every row has, whether swept or not.
_BUDGET = ("epsilon", "delta")


@dataclass(frozen=True)
class SweepPlan:
    """The declaration of a sweep.

    grids: values of any declared parameters; all combinations are run. settings: fixed values for
        every algorithm that has the parameter. own: fixed values for one algorithm, by its name.
        Parameters that an algorithm lacks, or that have no effect given the other parameters, are
        left out. unused: parameters that none of the algorithms has. calibrations: calibrations to
        run for each private algorithm that has them. rows: grid of numbers of rows; if empty,
        samples have 100,000 rows and tables all their rows. seeds: number of replicates, each with
        fresh noise; a non-private algorithm has a single run. same: whether runs are also compared
        with the same algorithm without noise, which takes one additional run for all replicates.

    Raises ParameterError for names that do not exist, values that no algorithm accepts, and a plan
    without runs.
    """

    data: tuple[SweepData, ...]
    algorithms: tuple[str, ...]
    grids: Mapping[str, Sequence[Any]] = field(default_factory=lambda: {"epsilon": (0.1, 1, 10)})
    settings: Mapping[str, Any] = field(default_factory=dict)
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    calibrations: tuple[Calibration, ...] = ("proven",)
    rows: tuple[int, ...] = ()
    seeds: int = 20
    master_seed: int = 1
    same: bool = False
    unused: tuple[str, ...] = field(init=False, default=())

    def __post_init__(self) -> None:
        _check_distinct("data set", [f"{d.label} (data seed {d.seed})" for d in self.data])
        _check_distinct("algorithm", self.algorithms)
        _check_distinct("calibration", self.calibrations)
        _check_distinct("number of rows", self.rows, needed=False)
        for calibration in self.calibrations:
            if calibration not in ("proven", "published"):
                raise ParameterError("no-such-calibration", name=short(calibration))
        for rows in self.rows:
            check_rows(rows)
        if not 1 <= self.seeds <= 100_000:
            raise ParameterError("seeds-out-of-range", seeds=self.seeds)
        if not 0 <= self.master_seed < 2**63:
            raise ParameterError("sweep-seed-out-of-range", master_seed=short(self.master_seed))
        self._check_parameters()
        if not self._choices:
            raise ParameterError("none-of-the-calibrations", choices=" ".join(self.left_out))
        if self.size > MAX_RUNS:
            raise ParameterError("too-many-runs", size=self.size, limit=MAX_RUNS)

    def _check_parameters(self) -> None:
        """Parse the values, so that 1, 1.0 and "1" give the same plan."""
        grids, settings = _by_name(self.grids), _by_name(self.settings)
        own = {name: _by_name(values) for name, values in self.own.items()}
        for name in own:
            if name not in self.algorithms:
                raise ParameterError("not-among-the-algorithms", name=short(name))
        fixed = set(settings).union(*own.values())
        if twice := sorted(fixed & set(grids)):
            raise ParameterError("fixed-and-in-a-grid", twice=twice[0])
        if "calibration" in fixed | set(grids):
            raise ParameterError("calibrations-have-a-list")
        parsed = check_values(self._algorithms, grids)
        constant = check_values(self._algorithms, {k: (v,) for k, v in settings.items()})
        unused = [name for name in (*grids, *settings) if name not in parsed | constant]
        # A frozen class may normalise its own arguments in its initialiser.
        object.__setattr__(self, "unused", tuple(unused))
        object.__setattr__(self, "grids", parsed)
        object.__setattr__(self, "settings", {k: v for k, (v,) in constant.items()})
        object.__setattr__(self, "own", {n: own_values(n, values) for n, values in own.items()})

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickling, without the list of runs, which is long and not needed."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @property
    def _algorithms(self) -> list[Algorithm]:
        return [get_algorithm(name) for name in self.algorithms]

    @property
    def swept(self) -> tuple[str, ...]:
        """The parameters in a grid, except epsilon and delta, which every row contains."""
        return tuple(name for name in self.grids if name not in _BUDGET)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Sentences about parameters and calibrations that have no effect."""
        unused = (f"No algorithm of the sweep has the parameter {name}." for name in self.unused)
        lacking = (
            f"{algorithm.name} has no {calibration} calibration."
            for algorithm in self._algorithms
            for calibration in self.calibrations
            if algorithm.private and calibration not in algorithm.calibrations
        )
        return (*unused, *lacking)

    @cached_property
    def _choices(self) -> tuple[Choice, ...]:
        possible: list[Choice] = []
        for algorithm in self._algorithms:
            wanted = [c for c in self.calibrations if c in algorithm.calibrations]
            fixed = {**self.settings, **self.own.get(algorithm.name, {})}
            for calibration in wanted if algorithm.private else ["none"]:
                possible += choices(
                    algorithm, calibration, fixed, self.grids, (*_BUDGET, *self.swept)
                )
        return tuple(possible)

    @property
    def size(self) -> int:
        """The number of runs, which equals the number of rows."""
        each = sum(self.seeds if choice.private else 1 for choice in self._choices)
        return each * sum(len(self._rows_of(data)) for data in self.data)

    def _rows_of(self, data: SweepData) -> tuple[int | None, ...]:
        return self.rows or (data.usual_rows,)

    @cached_property
    def _planned(self) -> tuple[tuple[Setting, ...], tuple[Reference, ...]]:
        rows = [self._rows_of(data) for data in self.data]
        return settings_and_references(rows, self._choices, self.kinds)

    @property
    def kinds(self) -> tuple[NonPrivate, ...]:
        """Kinds of reference runs without noise."""
        return NON_PRIVATE[: 1 + self.same]

    @property
    def references(self) -> tuple[Reference, ...]:
        """The non-private reference runs, without duplicates."""
        return self._planned[1]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All runs, in the order of the rows of a finished sweep."""
        described = [data.describe() for data in self.data]
        return replicated(self._planned[0], described, self.seeds, self.master_seed)

    def describe(self) -> dict[str, Any]:
        """JSON-ready settings that determine the rows; a table in memory is described by a hash."""
        return {
            "data": [data.describe() for data in self.data],
            "rows": list(self.rows),
            "algorithms": list(self.algorithms),
            "calibrations": list(self.calibrations),
            "grids": {name: list(values) for name, values in self.grids.items()},
            "settings": dict(self.settings),
            "own": {name: dict(own) for name, own in self.own.items()},
            "seeds": self.seeds,
            "master_seed": self.master_seed,
            # Left out if false, so that the description of such plans is unchanged.
            **({"same": True} if self.same else {}),
        }

    @property
    def digest(self) -> str:
        """A hash that identifies the plan and the version of the product."""
        text = json.dumps([__version__, self.describe()])
        return hashlib.sha256(text.encode()).hexdigest()


def _by_name(stated: Mapping[str, Any]) -> dict[str, Any]:
    """The values by name, with names such as max-order converted to max_order."""
    return {name.replace("-", "_"): value for name, value in stated.items()}


def _check_distinct(noun: str, values: Sequence[Any], *, needed: bool = True) -> None:
    if needed and not values:
        raise ParameterError("sweep-without", noun=noun)
    if len(set(values)) < len(values):
        raise ParameterError("sweep-same-twice", noun=noun)
