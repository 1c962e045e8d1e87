"""The declaration of an algorithm, its input and result, and the hooks of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms.search.parameters import GraphParameters, PrivateParameters
from privcore.algorithms.search.result import (
    Beyond,
    Edge,
    Iteration,
    Keepable,
    Spent,
    Step,
    Stopped,
    Unreached,
)
from privcore.counts import CountSource, MixedRows
from privcore.errors import ParameterError
from privcore.graphs import PDAG
from privcore.graphs.constraints import Constraints, Triple
from privcore.graphs.knowledge import Knowledge
from privcore.parameter import CALIBRATIONS, Parameter
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event
from privcore.privacy.mechanisms import NoiseSource
from privcore.text import nearest, short


class Progress(NamedTuple):
    """Progress of a search: in order `order`, `done` of `pairs` pairs are finished.

    noun: what is counted; an optimiser counts iterations or gradients in place of pairs. pairs: the
    total number; 0 if this is not known, as for changes to a graph.
    """

    order: int
    done: int
    pairs: int
    tests_run: int
    noun: Literal["pair", "iteration", "gradient", "change"] = "pair"


class Hooks(Protocol):
    """Callbacks of a run. `cancelled` is called between tests and returns True to stop the run."""

    def progress(self, progress: Progress) -> None: ...

    def cancelled(self) -> bool: ...


class NoHooks:
    """Hooks that do nothing."""

    def progress(self, progress: Progress) -> None:
        return None

    def cancelled(self) -> bool:
        return False


P_co = TypeVar("P_co", bound=GraphParameters, covariant=True)


@dataclass(frozen=True)
class Run(Generic[P_co]):
    """The input of an algorithm: counts, checked parameters, noise, and hooks.

    source: counts if the algorithm needs "tables"; otherwise counts or rows of numbers.
    test_limit: maximum number of tests of a search, None for no limit; see `work`.
    like: the numbers of an earlier release, whose form and units this run uses; None for its own.
    repeated: pairs (i < j) of columns that repeat each other, found in what the search may look at.
    """

    source: CountSource
    parameters: P_co
    noise: NoiseSource
    hooks: Hooks
    keep_trace: bool = True
    test_limit: int | None = None
    like: Keepable | None = None
    repeated: tuple[Edge, ...] = ()

    @cached_property
    def known(self) -> Constraints:
        """The run's background knowledge, and what follows from pairs that repeat each other.

        Raises ParameterError if the knowledge names a column that the data do not have.
        """
        known = Knowledge.read(self.parameters.knowledge).on(self.source.names)
        # Of two columns alone, neither takes a link of the other away.
        return known.repeating(self.repeated) if len(self.source.names) > 2 else known

    @cached_property
    def target(self) -> int | None:
        """The column that the question is about; None for the whole graph.

        Raises ParameterError if the data have no such column.
        """
        name, names = getattr(self.parameters, "target", ""), self.source.names
        if not name:
            return None
        if name not in names:
            raise ParameterError(
                "target-names-no-column", name=short(name), nearest=short(nearest(name, names))
            )
        return names.index(name)


class Outcome(NamedTuple):
    """The result of an algorithm; `discover` adds the time and the parameters.

    beyond: optional results in addition to the graph.
    """

    graph: PDAG
    separating_sets: Mapping[Edge, frozenset[int]]
    guarantee: Guarantee
    spent: Spent
    tests_run: int
    orders_run: int
    stopped: Stopped | None
    trace: tuple[Step, ...]
    unreached: Unreached | None = None
    unit: str = ""
    weights: NDArray[np.float64] | None = None
    weight_threshold: float | None = None
    convergence: tuple[Iteration, ...] = ()
    overruled: frozenset[Triple] = frozenset()
    beyond: Beyond = Beyond()


def _nothing_fixed(run: Run[Any], rows: int, private: bool) -> Mapping[str, Any]:
    return {}


def _no_plan(run: Run[Any]) -> tuple[Event, ...]:
    return ()


@dataclass(frozen=True)
class Algorithm:
    """One algorithm, as declared in its own file and listed in the registry.

    line: what it does, in a few words for a list; summary: the same in a few sentences.
    takes: class of the parameters.
    calibrations: the available calibrations, the default first.
    published_flaw: why the published calibration is not proven.
    published_epsilon: the meaning of ε in the published calibration. "round": the cost of one round
        or test; the total is computed after the run. "split": a total that is split over the steps;
        the part spent is computed after the run. "total": the total, as in the proven calibration.
    planned: returns the steps of a proven run from public facts alone, which are the parameters,
        the number of rows, and the columns.
    planned_delta: returns the total δ of a run from the same facts, if the total may be less than
        the parameter δ.
    fixed: returns the parameters that must be fixed before a person's budget is split, computed
        from public facts. The arguments are a run, the number of rows per person, and whether the
        total number of rows is private.
    needs: contingency "tables" of categorical columns; "moments", which numeric columns have as
        well; or "either" (tables for columns with levels, moments for numeric columns).
    reference: maps parameters to the parameters of the non-private reference algorithm
        (`reference_algorithm`).
    output: whether the graph is a CPDAG or a DAG.
    mixed: for an algorithm that uses numeric columns uncut in a table with levels
        (`MixedRows.numbers`), returns a sentence that describes this. For other algorithms, numeric
        columns are cut into `mixed_levels` levels.
    available_cases: whether values may be missing at random. Tests then use exact counts without a
        guarantee, or noisy counts in which missing values are a level.
    again: for an algorithm that returns its released numbers, a function that searches these
        numbers at no cost. A further run can measure in the same units (`Run.like`).

    Raises ParameterError for a declaration that contradicts itself.
    """

    name: str
    title: str
    citation: str
    line: str
    summary: str
    takes: type[GraphParameters]
    calibrations: tuple[Literal["proven", "published", "none"], ...]
    run: Callable[[Run[Any]], Outcome]
    reference: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    reference_algorithm: Literal["pc", "notears"] = "pc"
    output: Literal["cpdag", "dag"] = "cpdag"
    needs: Literal["tables", "moments", "either"] = "tables"
    published_flaw: str = ""
    published_epsilon: Literal["round", "split", "total"] = "round"
    planned: Callable[[Run[Any]], tuple[Event, ...]] = _no_plan
    planned_delta: Callable[[Run[Any]], float] | None = None
    fixed: Callable[[Run[Any], int, bool], Mapping[str, Any]] = _nothing_fixed
    available_cases: bool = False
    mixed: Callable[[MixedRows, Mapping[str, Any]], str] | None = None
    again: Callable[[Run[Any], Any], Outcome] | None = None

    def __post_init__(self) -> None:
        for wrong, sentence in self._faults():
            if wrong:
                raise ParameterError(
                    "algorithm-wrongly-declared", name=self.name, sentence=sentence
                )

    def _faults(self) -> Iterator[tuple[bool, str]]:
        """Conditions that a declaration must not meet, each with the end of an error message."""
        declared = {parameter.name: parameter for parameter in self.parameters}
        had = self.calibrations
        yield (
            not all((self.name, self.title, self.citation, self.line, self.summary)),
            "has no description: give the algorithm a name, a title, a citation, a line and a "
            "summary",
        )
        yield (
            not 0 < len(set(had) & set(CALIBRATIONS)) == len(had),
            f"has the calibrations {had}; each must be one of {CALIBRATIONS} and occur once",
        )
        yield (
            "none" in had and len(had) > 1,
            "must be either private or non-private, but has calibrations of both kinds",
        )
        for parameter in self.parameters:
            if parameter.only_with is not None:
                other, values = parameter.only_with
                known = other in declared and any(map(declared[other].takes, values))
                yield (
                    not known,
                    (f"makes {parameter.name!r} depend on a value that {other!r} cannot have"),
                )
        calibration = declared.get("calibration")
        if not self.private:
            yield (
                calibration is not None or "epsilon" in declared,
                "spends nothing, but has a privacy budget; leave out 'calibration' and 'epsilon'",
            )
            return
        offered = (calibration.choices, calibration.default) if calibration else ((), None)
        yield (
            offered != (had, had[0]),
            f"has the calibrations {had}, but offers {offered[0]}, by default {offered[1]}; let "
            f"{self.takes.__name__} extend ProvenParameters (proven alone) or PrivateParameters "
            "(proven and published) of privcore/algorithms/search/parameters.py",
        )
        yield (
            "epsilon" not in declared,
            "is private, but has no parameter 'epsilon'; declare the field with EPSILON.field()",
        )
        yield (
            not issubclass(self.takes, PrivateParameters),
            f"is private; let {self.takes.__name__} extend ProvenParameters or PrivateParameters "
            "of privcore/algorithms/search/parameters.py, since the guarantee is checked against "
            "their fields",
        )
        yield (
            ("published" in had) != bool(self.published_flaw),
            (
                "needs a published_flaw that states why its published calibration is not "
                "proven; leave it empty if there is no such calibration"
            ),
        )
        yield (
            "proven" in had and self.planned is _no_plan,
            "is proven, but has no plan; set `planned` to a function that returns the events of a "
            "run from public facts",
        )
        yield (
            self.reference is dict,
            "has no reference for its runs; set `reference` to a function from its parameters to "
            f"the parameters of {self.reference_algorithm}",
        )

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters that a user may set."""
        return self.takes.declared()

    @property
    def private(self) -> bool:
        return "none" not in self.calibrations
