"""The one call that pages, scripts and the command line make."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

from privcore.accounting.events import Event
from privcore.counts import CountSource, InMemoryCounts, MomentSource, NumericRows
from privcore.dataset import Dataset, constant_columns
from privcore.discovery.model import Algorithm, Discovery, Hooks, NoHooks, Run
from privcore.discovery.registry import get_algorithm
from privcore.errors import DataError, ParameterError
from privcore.mechanisms import NoiseSource, SimulatedNoise
from privcore.parameter import parse_all
from privcore.text import short


def discover(
    data: Dataset | MomentSource,
    algorithm: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    noise: NoiseSource | None = None,
    hooks: Hooks | None = None,
    keep_trace: bool = True,
) -> Discovery:
    """Run an algorithm on a data set, or on the counts or moments made from one (`count`).

    parameters: by name; those not given take their defaults.
    seed: of a simulation; noise: a source of one's own, such as `SecureNoise()`.  Private
        algorithms need one of the two.

    Raises ParameterError, DataError, or Cancelled if the hooks say so.
    """
    chosen = get_algorithm(algorithm)
    checked = checked_parameters(algorithm, parameters)
    if seed is not None and noise is not None:
        raise ParameterError("Give either a seed or a noise source, not both.")
    if seed is not None:
        noise = SimulatedNoise(seed)
    if chosen.private and noise is None:
        raise ParameterError(f"{chosen.name} needs a seed, or a noise source.")
    source: MomentSource = count(data) if isinstance(data, Dataset) else data
    if chosen.needs == "tables" and not hasattr(source, "levels"):
        raise DataError(
            f"Column {short(source.names[0])!r} is continuous, and {chosen.name} needs levels; cut "
            "the columns into intervals, or choose an algorithm for numbers, such as privpc-star."
        )

    # Algorithms that need only moments use nothing else of the source.
    run = Run(
        cast(CountSource, source),
        checked,
        noise or SimulatedNoise(0),
        hooks or NoHooks(),
        keep_trace,
    )
    start = time.perf_counter()
    outcome = chosen.run(run)
    seconds = time.perf_counter() - start
    guarantee = outcome.guarantee
    if chosen.private:
        guarantee = replace(guarantee, caveats=guarantee.caveats + source.caveats)
    return Discovery(
        algorithm=chosen.name,
        graph=outcome.graph,
        separating_sets=outcome.separating_sets,
        guarantee=guarantee,
        spent=outcome.spent,
        tests_run=outcome.tests_run,
        orders_run=outcome.orders_run,
        seconds=seconds,
        parameters=checked,
        noise=noise.kind if chosen.private and noise else "none",
        stopped=outcome.stopped,
        unreached=outcome.unreached,
        unit=outcome.unit,
        weights=outcome.weights,
        weight_threshold=outcome.weight_threshold,
        convergence=outcome.convergence,
        trace=outcome.trace,
        planned=_planned(chosen, run),
    )


def planned_events(
    algorithm: str, parameters: Mapping[str, Any], source: MomentSource
) -> tuple[Event, ...]:
    """The steps that a proven run would take, without running it; empty where none are fixed.

    Of the source only its number of rows, its columns' names and what is public of them are used.
    Raises ParameterError.
    """
    checked = checked_parameters(algorithm, parameters)
    run = Run(cast(CountSource, source), checked, SimulatedNoise(0), NoHooks(), keep_trace=False)
    return _planned(get_algorithm(algorithm), run)


def checked_parameters(algorithm: str, parameters: Mapping[str, Any] | None) -> dict[str, Any]:
    """All parameters of an algorithm, with defaults; raises ParameterError."""
    chosen = get_algorithm(algorithm)
    return parse_all(chosen.parameters, parameters or {}, chosen.name)


def _planned(chosen: Algorithm, run: Run) -> tuple[Event, ...]:
    return chosen.planned(run) if run.parameters.get("calibration") == "proven" else ()


def count(dataset: Dataset) -> InMemoryCounts | NumericRows:
    """What algorithms need of a data set: counts of levels, or moments of numbers.

    Raises DataError for constant columns, and where some columns have levels and others are
    continuous.
    """
    constant = constant_columns(dataset)
    if constant:
        raise DataError(
            f"Column {short(constant[0])!r} has the same value in every row; leave it out."
        )
    kinds = {column.is_categorical for column in dataset.columns}
    if len(kinds) == 2:
        number = next(c.name for c in dataset.columns if not c.is_categorical)
        level = next(c.name for c in dataset.columns if c.is_categorical)
        raise DataError(
            f"Column {short(number)!r} is continuous and {short(level)!r} has levels; cut the "
            "continuous columns into levels, or leave one kind out."
        )
    if kinds == {False}:
        return NumericRows.from_dataset(dataset)
    return InMemoryCounts.from_dataset(dataset)
