"""Run a sweep with a single call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from privcore.algorithms.registry import RECOMMENDED
from privcore.data import Dataset
from privcore.errors import ParameterError
from privcore.extras.lab.sweeps.sweep import SweepPlan, TableData, run_sweep
from privcore.text import short


def sweep(
    data: Dataset,
    algorithms: Sequence[str] = (RECOMMENDED,),
    *,
    epsilons: Sequence[float] = (0.1, 1.0, 10.0),
    seeds: int = 20,
    workers: int | None = 0,
    scheduler: str | None = None,
    same: bool = False,
    **settings: Any,
) -> pd.DataFrame:
    """Run each algorithm at each budget, with simulated noise, and measure the graphs.

    Args:
        data: a data set; its true graph, if known, is a reference.
        algorithms: names from `privcore.ALGORITHMS`.
        epsilons: budgets to try.
        seeds: number of runs per algorithm and budget, each with fresh noise.
        workers: number of processes; 0 for this process only, None for one per processor.
        scheduler: address of a Dask scheduler, whose workers replace local processes.
        same: whether to compare with the graph of the same algorithm without noise as well.
        **settings: values of other parameters, for every algorithm that has the parameter.

    Returns:
        One row per run: the requested settings, `skeleton_f1` and other measures against each
        reference, and the seconds that the run took.

    Example:
        >>> from privcore import load_network
        >>> data = load_network("cancer").sample(2_000, seed=1)
        >>> rows = sweep(data, ["laplace-pc"], epsilons=(1.0, 10.0), seeds=2)
        >>> sorted(set(rows["epsilon"]))
        [1.0, 10.0]
    """
    plan = SweepPlan(
        data=(TableData(data),),
        algorithms=tuple(algorithms),
        grids={"epsilon": tuple(epsilons)},
        settings=settings,
        seeds=seeds,
        same=same,
    )
    if plan.unused:
        raise ParameterError("none-of-algorithms-parameter", unused=short(plan.unused[0]))
    return pd.DataFrame(list(run_sweep(plan, workers=workers, scheduler=scheduler)))
