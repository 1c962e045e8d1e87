"""Makes a reproduction: our values case by case, next to the paper's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from benchmarks.papers.model import Reproduction, Sample, Work
from privcore.errors import ParameterError
from privcore.extras.lab.reproductions import Case, Line, Mean, Reproduced
from privcore.threads import one_thread

MOST_RUNS = 10_000


def reproduce(reproduction: Reproduction, work: Work) -> Reproduced:
    """All lines of a table or figure; all but times depend on the settings, runs and seed only.

    Raises ParameterError for a bad number of runs or seed, and where a table of the user's is
    needed and missing.
    """
    if not 1 <= work.runs <= MOST_RUNS:
        raise ParameterError(f"runs is {work.runs:,}; it must be from 1 to {MOST_RUNS:,}.")
    if not 0 <= work.seed < 2**31:
        raise ParameterError(f"The seed is {work.seed}; it must be from 0 to 2,147,483,647.")
    if reproduction.needs_table and work.table is None:
        raise ParameterError(
            f"{reproduction.name} needs the data, which are not shipped; give them as a CSV, TSV "
            "or Parquet file with --table FILE."
        )
    refused: dict[str, None] = {}
    noted = replace(work, note=lambda sentence: refused.update({sentence: None}))
    with one_thread():
        samples = list(reproduction.make(reproduction.settings, noted))
    lines = collect(samples, reproduction.published)
    return Reproduced(reproduction.name, lines, work.runs, work.seed, tuple(refused))


def collect(samples: Iterable[Sample], published: Mapping[Case, str]) -> tuple[Line, ...]:
    """One line for each case: the paper's first, then others in order of occurrence."""
    values: dict[Case, dict[str, list[Sample]]] = {case: {} for case in published}
    for sample in samples:
        values.setdefault(sample.case, {}).setdefault(sample.series, []).append(sample)
    return tuple(
        Line(case, published.get(case), {s: _mean(repeats) for s, repeats in by_series.items()})
        for case, by_series in values.items()
    )


def _mean(samples: list[Sample]) -> Mean:
    numbers = [sample.value for sample in samples if not math.isnan(sample.value)]
    places = [sample.x for sample in samples if sample.x is not None]
    if not numbers:
        return Mean(math.nan, math.nan, 0)
    return Mean(
        float(np.mean(numbers)),
        float(np.std(numbers, ddof=1)) if len(numbers) > 1 else 0.0,
        len(numbers),
        float(np.mean(places)) if places else None,
    )
