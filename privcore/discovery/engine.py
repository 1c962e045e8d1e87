"""The one call that pages, scripts and the command line make."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from privcore.counts import CountSource, InMemoryCounts
from privcore.dataset import Dataset, constant_columns
from privcore.discovery.model import Discovery, Hooks, NoHooks, Run
from privcore.discovery.parameter import parse_all
from privcore.discovery.registry import get_algorithm
from privcore.errors import DataError, ParameterError
from privcore.mechanisms import NoiseSource, SimulatedNoise
from privcore.text import short


def discover(
    data: Dataset | CountSource,
    algorithm: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    seed: int | None = None,
    noise: NoiseSource | None = None,
    hooks: Hooks | None = None,
    keep_trace: bool = True,
) -> Discovery:
    """Run an algorithm on a data set, or on counts made from one.

    parameters: by name; those not given take their defaults.
    seed: of a simulation; noise: a source of one's own, such as `SecureNoise()`.  Private
        algorithms need one of the two.

    Raises ParameterError, DataError, or Cancelled if the hooks say so.
    """
    chosen = get_algorithm(algorithm)
    checked = parse_all(chosen.parameters, parameters or {}, chosen.name)
    if seed is not None and noise is not None:
        raise ParameterError("Give either a seed or a noise source, not both.")
    if seed is not None:
        noise = SimulatedNoise(seed)
    if chosen.private and noise is None:
        raise ParameterError(f"{chosen.name} needs a seed, or a noise source.")
    source: CountSource = count(data) if isinstance(data, Dataset) else data

    run = Run(source, checked, noise or SimulatedNoise(0), hooks or NoHooks(), keep_trace)
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
        trace=outcome.trace,
    )


def count(dataset: Dataset) -> InMemoryCounts:
    """Counts of a categorical data set.

    Raises DataError for continuous or constant columns.
    """
    constant = constant_columns(dataset)
    if constant:
        raise DataError(
            f"Column {short(constant[0])!r} has the same value in every row; leave it out."
        )
    return InMemoryCounts.from_dataset(dataset)
