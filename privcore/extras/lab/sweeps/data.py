"""The data of a sweep: descriptions from which any process draws a sample, or a table in memory."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from privcore.data import Dataset, StructuralExample, intervals, load_network
from privcore.data.network import check_rows, check_seed
from privcore.errors import DataError
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.text import short

SAMPLED_ROWS = 100_000


class SweepData(Protocol):
    """One data set of a plan.

    label: name in the rows of a sweep. seed: seed of the sample. usual_rows: default number of
    rows, None for all rows.
    """

    @property
    def label(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def usual_rows(self) -> int | None: ...

    def describe(self) -> dict[str, Any]:
        """A JSON-ready description that identifies the data set, without its rows."""
        ...

    def load(self, rows: int | None) -> Dataset:
        """Load `rows` rows (None: `usual_rows`), always the same rows.

        Raises ParameterError for a bad number of rows, and DataError for more rows than there are.
        """
        ...


@dataclass(frozen=True)
class NetworkData:
    """A sample from a built-in network.

    hide: columns that are left out of the data but stay in the true graph. Raises ParameterError
    for an unknown name or a bad seed, and DataError if a column cannot be hidden.
    """

    name: str
    seed: int = 1
    hide: tuple[str, ...] = ()
    usual_rows = SAMPLED_ROWS

    def __post_init__(self) -> None:
        check_seed(self.seed)
        load_network(self.name).sample(2, self.seed).hiding(self.hide)

    @property
    def label(self) -> str:
        """The label of the data, such as "asia without smoke"."""
        return f"{self.name} without {', '.join(self.hide)}" if self.hide else self.name

    def describe(self) -> dict[str, Any]:
        hidden = {"hide": list(self.hide)} if self.hide else {}
        return {"network": self.name, "seed": self.seed, **hidden}

    def load(self, rows: int | None) -> Dataset:
        return load_network(self.name).sample(_checked(rows), self.seed).hiding(self.hide)


@dataclass(frozen=True)
class ExampleData:
    """A sample from a structural example.

    intervals: number of equal intervals into which each column is cut, None for no cuts. Raises
    ParameterError for a bad seed.
    """

    example: StructuralExample
    seed: int = 1
    intervals: int | None = None
    usual_rows = SAMPLED_ROWS

    def __post_init__(self) -> None:
        check_seed(self.seed)

    @property
    def label(self) -> str:
        """The label, such as "linear-gaussian 10 0.3 1": kind, nodes, density and graph seed."""
        e = self.example
        cut = "" if self.intervals is None else f" in {self.intervals}"
        return f"{e.kind} {e.nodes} {e.density:g} {e.graph_seed}{cut}"

    def describe(self) -> dict[str, Any]:
        return {
            "example": self.example.kind,
            **self.example.parameters,
            "intervals": self.intervals,
            "seed": self.seed,
        }

    def load(self, rows: int | None) -> Dataset:
        dataset = self.example.sample(_checked(rows), self.seed)
        return dataset if self.intervals is None else intervals(dataset, self.intervals)


@dataclass(frozen=True, eq=False)
class TableData:
    """A table held in memory.

    The table reaches other processes through pipes and is never written to disk. If the plan
    requires fewer rows than the table has, `seed` determines a sample without replacement.
    """

    dataset: Dataset
    seed: int = 1
    usual_rows = None

    def __post_init__(self) -> None:
        check_seed(self.seed)

    @property
    def label(self) -> str:
        return short(self.dataset.name)

    @cached_property
    def content(self) -> str:
        """A hash of the columns, the rows and the true graph."""
        digest = hashlib.sha256()
        columns = [vars(column) for column in self.dataset.columns]
        digest.update(json.dumps([columns, self.dataset.true_edges]).encode())
        for values in self.dataset.values:
            digest.update(str(values.dtype).encode())
            digest.update(values.tobytes())
        return digest.hexdigest()

    def describe(self) -> dict[str, Any]:
        return {"table": self.dataset.name, "content": self.content, "seed": self.seed}

    def load(self, rows: int | None) -> Dataset:
        have = self.dataset.n
        if rows is None or rows == have:
            return self.dataset
        if rows > have:
            raise DataError("table-rows-but-sweep-requires", have=have, rows=rows)
        kept = np.sort(SimulatedNoise(self.seed).permutation(have)[:rows])
        values = tuple(column[kept] for column in self.dataset.values)
        return replace(self.dataset, values=values)


def _checked(rows: int | None) -> int:
    return SAMPLED_ROWS if rows is None else check_rows(rows)
