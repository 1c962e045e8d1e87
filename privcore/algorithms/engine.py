"""Run an algorithm: the functions that pages, scripts and the command line share."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from privcore.algorithms.protecting import Protection, of_source, with_budget
from privcore.algorithms.registry import ALGORITHMS, get_algorithm
from privcore.algorithms.search.model import Algorithm, Hooks, NoHooks, Outcome, Run
from privcore.algorithms.search.parameters import (
    HIDDEN_CAUSES,
    GraphParameters,
    PrivateParameters,
)
from privcore.algorithms.search.result import Discovery, Keepable
from privcore.counts import (
    AvailableCases,
    CountSource,
    InMemoryCounts,
    MixedRows,
    NumericRows,
    PublicColumns,
    Source,
    StoredTable,
    available_cases,
    gaps_of,
    require_levels,
)
from privcore.data import Dataset, constant_columns
from privcore.data.model import Described
from privcore.errors import DataError, ParameterError
from privcore.parameter import Parameter, parse_all
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event
from privcore.privacy.accounting.guarantee import row_budget
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.privacy.mechanisms.noise import NoiseKind
from privcore.text import short
from privcore.unit import ADDED, REPLACED

MISSING_AT_RANDOM = (
    "missing values are assumed to be missing at random: each test uses the rows in which its "
    "columns have values"
)
NO_NOISE = "this run has no noise: it is not private, and its output may reveal any record"
LIKE = "an earlier release: how it measured the columns, and in which units"
TEST_LIMIT = Parameter(
    name="test_limit",
    title="Maximum number of tests",
    symbol="limit",
    kind="int",
    default=None,
    range="[1, 1e12]",
    optional=True,
    auto_help="no limit",
    help="A search by independence tests stops after this number of tests and reports the orders "
    "that it did not finish. The limit is on tests rather than on time, because time depends on "
    "the exact data.",
    source="privcore.extras.lab.work",
)


def discover(
    data: Dataset | StoredTable | Source,
    algorithm: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    noise: NoiseSource | None = None,
    hooks: Hooks | None = None,
    keep_trace: bool = True,
    test_limit: int | None = None,
    like: Keepable | None = None,
) -> Discovery:
    """Run an algorithm on a data set, or on counts or moments of a data set (see `source_of`).

    parameters: values by name; all other parameters take their defaults.
    seed: seed of simulated noise; noise: a noise source, such as `SecureNoise()`. Private
        algorithms need one of the two. With `NoNoise()` there is no guarantee (see `no_noise`).
    test_limit: maximum number of tests for a search by tests, None for no limit; edges that are not
        tested within the limit stay (see `work`).
    like: the numbers of an earlier release (`Released.statistics`) of the same columns: this run
        measures in the same form and units, so that both can be pooled.

    Raises ParameterError if a parameter is not allowed, DataError if the algorithm cannot use the
    data, and Cancelled if `hooks.cancelled` returns True.
    """
    chosen = get_algorithm(algorithm)
    checked = checked_parameters(algorithm, parameters)
    if seed is not None and noise is not None:
        raise ParameterError("seed-and-noise")
    if seed is not None:
        noise = SimulatedNoise(seed)
    if chosen.private and noise is None:
        raise ParameterError("algorithm-needs-noise", name=chosen.name)
    counted = source_of(data) if isinstance(data, Described) else data
    protection = of_source(chosen, checked, counted)
    noise = noise or SimulatedNoise(0)
    if chosen.needs == "tables":
        require_levels(
            counted, chosen.name, "an algorithm for numeric columns, such as privpc-star"
        )
    noisy = chosen.private and noise.kind != "none"
    if noisy:
        counted = protection.sized(counted, checked["epsilon"], noise)
    source = levelled(counted, chosen, checked)
    parameters, planned = _on_rows(chosen, checked, source, protection, like)

    # Algorithms that need only moments use nothing else of the source.
    run = Run(
        cast(CountSource, source),
        chosen.takes(**parameters),
        noise,
        hooks or NoHooks(),
        keep_trace,
        TEST_LIMIT.parse(test_limit),
        like,
    )
    # Knowledge or a question about an unknown column is refused before anything is spent.
    _ = run.known, run.target
    start = time.perf_counter()
    outcome = chosen.run(run)
    seconds = time.perf_counter() - start
    check_outcome(chosen, run, outcome)
    outcome = _about(run.target, outcome)
    if not noisy:
        outcome = _unpromised(chosen, outcome)
    elif not protection.plain:
        outcome = protection.promised(outcome, checked, source.n, counted.unit.rows)
    guarantee = outcome.guarantee
    if noisy:
        guarantee = replace(guarantee, caveats=guarantee.caveats + source.caveats)
    if source.gaps:
        if noisy:
            guarantee = replace(guarantee, public=(*guarantee.public, MISSING_AT_RANDOM))
        else:
            guarantee = replace(guarantee, caveats=(*guarantee.caveats, MISSING_AT_RANDOM))
    if like is not None:
        guarantee = replace(guarantee, public=(*guarantee.public, LIKE))
    elif cut := cut_sentence(counted, chosen, parameters):
        guarantee = replace(guarantee, public=(*guarantee.public, cut))
    return _discovery(
        chosen,
        outcome._replace(guarantee=guarantee),
        protection.stated(checked),
        seconds,
        noise=noise.kind if noisy else "none",
        planned=planned if noisy else (),
        rows=source.n if noisy and protection.relation == ADDED else None,
    )


def _about(target: int | None, outcome: Outcome) -> Outcome:
    """The part of an outcome that is about one column; None: all of it."""
    if target is None:
        return outcome
    findings = {pair: own for pair, own in outcome.beyond.findings.items() if target in pair}
    beyond = replace(outcome.beyond, findings=findings)
    return outcome._replace(graph=outcome.graph.near(target), beyond=beyond)


def _unpromised(chosen: Algorithm, outcome: Outcome) -> Outcome:
    """The outcome of a run without noise, stripped of its guarantee and of exact numbers."""
    if not chosen.private:
        return outcome
    return outcome._replace(
        guarantee=replace(Guarantee.none(), caveats=(NO_NOISE,)),
        beyond=replace(outcome.beyond, released=None),
    )


def search_again(
    algorithm: str,
    statistics: Keepable,
    columns: Sequence[str],
    parameters: Mapping[str, Any] | None,
    guarantee: Guarantee,
    *,
    hooks: Hooks | None = None,
    keep_trace: bool = True,
) -> Discovery:
    """Search released numbers again with different settings.

    The search is post-processing and costs nothing.

    statistics: the released numbers (`Released.statistics`). columns: column names. parameters:
    settings of the search, by name; the budget is not used. guarantee: the guarantee of the
    release, which covers all results computed from the released numbers.

    Raises ParameterError if the algorithm keeps no released numbers, and DataError if the release
    has a different number of columns.
    """
    chosen, checked = get_algorithm(algorithm), checked_parameters(algorithm, parameters)
    if chosen.again is None:
        raise ParameterError("keeps-nothing", name=chosen.name)
    source = PublicColumns(tuple(columns), statistics.n, statistics.levels)
    if len(source.own_levels) != len(columns):
        raise DataError("file-names-other-columns")
    run = Run(
        cast(CountSource, source),
        chosen.takes(**checked),
        SimulatedNoise(0),
        hooks or NoHooks(),
        keep_trace,
    )
    start = time.perf_counter()
    outcome = chosen.again(run, statistics)._replace(guarantee=guarantee)
    seconds = time.perf_counter() - start
    wrong = run.known.violation(outcome.graph)
    outcome = _about(run.target, outcome)
    if wrong is not None:
        raise ParameterError("graph-contradicts-background-knowledge", wrong=wrong)
    return _discovery(chosen, outcome, checked, seconds, noise="secure", planned=(), rows=None)


def _discovery(
    chosen: Algorithm,
    outcome: Outcome,
    checked: Mapping[str, Any],
    seconds: float,
    *,
    noise: NoiseKind,
    planned: tuple[Event, ...],
    rows: int | None,
) -> Discovery:
    return Discovery(
        algorithm=chosen.name,
        graph=outcome.graph,
        separating_sets=outcome.separating_sets,
        guarantee=outcome.guarantee,
        spent=outcome.spent,
        tests_run=outcome.tests_run,
        orders_run=outcome.orders_run,
        seconds=seconds,
        parameters=checked,
        noise=noise,
        stopped=outcome.stopped,
        unreached=outcome.unreached,
        unit=outcome.unit,
        weights=outcome.weights,
        weight_threshold=outcome.weight_threshold,
        convergence=outcome.convergence,
        trace=outcome.trace,
        planned=planned,
        overruled=outcome.overruled,
        **vars(outcome.beyond),
        rows=rows,
    )


def check_outcome(algorithm: Algorithm, run: Run[Any], outcome: Outcome) -> None:
    """Check that the outcome of a run has the requested guarantee and a graph that is allowed.

    Raises ParameterError if the guarantee differs from the requested guarantee, if the graph's
    columns are not the data's columns, or if the graph contradicts the background knowledge.
    """
    requested = _calibration(run)
    stated = outcome.guarantee
    if stated.calibration != requested:
        raise ParameterError(
            "run-calibration-but-returned-guarantee",
            name=algorithm.name,
            requested=requested,
            calibration=stated.calibration,
        )
    if requested == "proven" and stated.epsilon != run.parameters.epsilon:
        raise ParameterError(
            "release-promises",
            name=algorithm.name,
            epsilon=run.parameters.epsilon,
            epsilon2=stated.epsilon,
        )
    if outcome.graph.nodes != tuple(run.source.names):
        raise ParameterError("returned-graph-whose-columns-not-columns", name=algorithm.name)
    wrong = run.known.violation(outcome.graph)
    if wrong is not None:
        raise ParameterError(
            "returned-graph-contradicts-knowledge", name=algorithm.name, wrong=wrong
        )


def accepts(algorithm: Algorithm, source: Source) -> bool:
    """Whether an algorithm can work on the columns of this source."""
    if source.gaps and not algorithm.available_cases:
        return False
    if source.holds == "both":
        declared = any(parameter.name == "mixed_levels" for parameter in algorithm.parameters)
        return declared or algorithm.mixed is not None
    return algorithm.needs != "tables" or source.holds == "levels"


def levelled(source: Source, algorithm: Algorithm, checked: Mapping[str, Any]) -> Source:
    """Convert a source to the form that an algorithm needs.

    A mixed source becomes counts, with numeric columns cut into levels, or numbers throughout.
    Raises DataError if the algorithm can use neither form, and for values missing at random if the
    algorithm cannot handle such values.
    """
    if source.gaps and not algorithm.available_cases:
        raise DataError("no-form-for-missing", name=algorithm.name)
    if source.holds == "both" and not accepts(algorithm, source):
        number = source.names[source.own_levels.index(0)]
        level = next(n for n, own in zip(source.names, source.own_levels, strict=True) if own)
        raise DataError("columns-of-two-kinds", number=short(number), level=short(level))
    return source.numbers() if algorithm.mixed else source.cut(checked.get("mixed_levels", 0))


def cut_sentence(source: Source, algorithm: Algorithm, checked: Mapping[str, Any]) -> str:
    """A sentence on how a run treats numeric columns if other columns of the table have levels.

    Empty if all columns are of one kind.
    """
    if not isinstance(source, MixedRows):
        return ""
    if algorithm.mixed is not None:
        return algorithm.mixed(source, checked)
    return (
        f"{source.cut_words} cut into {checked['mixed_levels']} levels of equal width between "
        "their bounds"
    )


def planned_events(
    algorithm: str,
    parameters: Mapping[str, Any],
    source: Source,
    like: Keepable | None = None,
) -> tuple[Event, ...]:
    """The steps that a proven run would take; empty if they are not fixed before the run.

    The steps follow from public facts of the source alone: the number of rows and the columns'
    names, levels or bounds.
    like: see `discover`.

    Raises ParameterError or DataError if the algorithm cannot run with these parameters on this
    source.
    """
    return _row_level(algorithm, parameters, source, like)[1]


def row_parameters(algorithm: str, parameters: Mapping[str, Any], source: Source) -> dict[str, Any]:
    """Parameters for a run that protects single rows, with a budget that protects each unit.

    The budget is smaller if a unit can have several rows, so that each unit has the requested
    guarantee. The parameters are unchanged if the unit is one replaced row. The function uses the
    same public facts as `planned_events` and raises the same errors.
    """
    return _row_level(algorithm, parameters, source)[0]


def _row_level(
    algorithm: str,
    parameters: Mapping[str, Any],
    source: Source,
    like: Keepable | None = None,
) -> tuple[dict[str, Any], tuple[Event, ...]]:
    chosen, checked = get_algorithm(algorithm), checked_parameters(algorithm, parameters)
    counts = levelled(source, chosen, checked)
    protection = of_source(chosen, checked, source)
    return _on_rows(chosen, checked, counts, protection, like)


def _on_rows(
    chosen: Algorithm,
    checked: dict[str, Any],
    source: Source,
    protection: Protection,
    like: Keepable | None,
) -> tuple[dict[str, Any], tuple[Event, ...]]:
    """Parameters of the run on rows, and the steps of a proven run at their cost per person."""
    if protection.plain:
        return checked, _planned(chosen, _public_run(chosen, checked, source, like))
    checked = _fixed(chosen, checked, source, protection, like)
    own = {**checked, "rows_per_unit": 1, "neighbours": REPLACED}

    def planned(epsilon: float, delta: float) -> tuple[Event, ...]:
        tried = with_budget(own, epsilon, delta)
        return _planned(chosen, _public_run(chosen, tried, source, like))

    delta = _delta_of(chosen, checked, source, like)
    first, epsilon = protection.split(checked["epsilon"])
    # If the number of rows is private, the run counts as one step, because the steps within the run
    # may depend on that number.
    whole = (Event("pure", first), Event("pure", epsilon, 1, delta)) if first else ()
    if protection.unit.rows == 1:
        return with_budget(own, epsilon, delta), whole or planned(epsilon, delta)
    budget = row_budget(epsilon, delta, protection.unit.rows, planned)
    return with_budget(own, budget.epsilon, budget.delta), whole or budget.events


def _fixed(
    chosen: Algorithm,
    checked: Mapping[str, Any],
    source: Source,
    protection: Protection,
    like: Keepable | None,
) -> dict[str, Any]:
    """The parameters, with all values filled in that must be fixed before the budget is split."""
    run = _public_run(chosen, checked, source, like)
    private = protection.relation == ADDED
    return {**checked, **chosen.fixed(run, protection.unit.rows, private)}


def planned_delta(
    algorithm: str,
    parameters: Mapping[str, Any],
    source: Source,
    like: Keepable | None = None,
) -> float:
    """Total δ of a proven run, computed from the same public facts as `planned_events`.

    like: see `discover`.  Raises the same errors as `planned_events`.
    """
    chosen, checked = get_algorithm(algorithm), checked_parameters(algorithm, parameters)
    counts = levelled(source, chosen, checked)
    protection = of_source(chosen, checked, source)
    return _delta_of(chosen, _fixed(chosen, checked, counts, protection, like), counts, like)


def _delta_of(
    chosen: Algorithm,
    checked: Mapping[str, Any],
    source: Source,
    like: Keepable | None,
) -> float:
    if chosen.planned_delta is not None:
        return chosen.planned_delta(_public_run(chosen, checked, source, like))
    declared = {parameter.name: parameter for parameter in chosen.parameters}
    matters = "delta" in declared and declared["delta"].matters(checked)
    return float(checked["delta"]) if matters else 0.0


def _public_run(
    chosen: Algorithm,
    checked: Mapping[str, Any],
    source: Source,
    like: Keepable | None,
) -> Run[GraphParameters]:
    if like is not None and (chosen.again is None or not like.fits(source.own_levels)):
        raise DataError("like-of-other-columns")
    # A plan uses public facts only.
    return Run(
        cast(CountSource, source),
        chosen.takes(**checked),
        SimulatedNoise(0),
        NoHooks(),
        keep_trace=False,
        like=like,
    )


def checked_parameters(algorithm: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """All parameters of an algorithm by name: the given values, checked, and defaults for the rest.

    Raises ParameterError for an unknown algorithm, as in `parse_all`, and if unobserved confounders
    are to be allowed but the algorithm assumes that there are none.
    """
    chosen, stated = get_algorithm(algorithm), dict(parameters or {})
    if not any(parameter.name == HIDDEN_CAUSES.name for parameter in chosen.parameters):
        wanted = [stated.pop(name, None) for name in (HIDDEN_CAUSES.name, HIDDEN_CAUSES.option)]
        if any(value is not None and HIDDEN_CAUSES.parse(value) for value in wanted):
            able = [a.name for a in ALGORITHMS.values() if HIDDEN_CAUSES in a.parameters]
            raise ParameterError(
                "assumes-no-hidden-causes", name=chosen.name, choices=", ".join(able)
            )
    return parse_all(chosen.parameters, stated, chosen.name)


def _planned(chosen: Algorithm, run: Run[GraphParameters]) -> tuple[Event, ...]:
    return chosen.planned(run) if _calibration(run) == "proven" else ()


def _calibration(run: Run[GraphParameters]) -> Literal["proven", "published", "none"]:
    parameters = run.parameters
    return parameters.calibration if isinstance(parameters, PrivateParameters) else "none"


def source_of(data: Dataset | StoredTable) -> Source:
    """Counts or moments of a data set (see `count`) or of a table in files.

    Raises DataError if a column is constant, or if Parquet files need too much memory.
    """
    if isinstance(data, Dataset):
        return count(data)
    return available_cases(data.count(), gaps_of(data))


def count(dataset: Dataset) -> InMemoryCounts | AvailableCases | NumericRows | MixedRows:
    """Make the source that algorithms read: counts of levels, moments of numbers, or both.

    Raises DataError for constant columns.
    """
    constant = constant_columns(dataset)
    if constant:
        raise DataError("column-constant", constant=short(constant[0]))
    kinds = {column.is_categorical for column in dataset.columns}
    if len(kinds) == 2:
        return MixedRows(dataset)
    if kinds == {False}:
        return NumericRows.from_dataset(dataset)
    counts, gaps = InMemoryCounts.from_dataset(dataset), gaps_of(dataset)
    return AvailableCases(counts, gaps) if gaps else counts
