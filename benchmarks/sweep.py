"""Speed of a sweep in runs a second, and the shares of its time.

    python -m benchmarks.sweep [--networks cancer,…] [--algorithms laplace-pc,…] [--rows 100000]
        [--epsilons 21] [--seeds 20] [--workers 2]

`--epsilons` values of ε from 0.1 to 10 on a log scale, proven calibration, defaults otherwise.
Prints wall time, runs a second, processor time of this process and its workers, and the engine's
seconds by algorithm and network (on a machine that does other things too these add up to more than
the processor time).
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
import pandas as pd

from benchmarks import parsed
from privcore.extras.lab.sweeps.sweep import NetworkData, SweepPlan, processors, run_sweep

_NETWORKS = "cancer,earthquake,survey,asia,sachs,child"
_ALGORITHMS = "laplace-pc,svt-pc,priv-pc,sg-pc,em-pc,lapmech,privpc-star,curate"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default=_NETWORKS)
    parser.add_argument("--algorithms", default=_ALGORITHMS)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--epsilons", type=int, default=21)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--workers", type=int, default=processors())
    options = parsed(parser, networks="cancer", rows=1_000, epsilons=1, seeds=1)
    plan = SweepPlan(
        tuple(NetworkData(name) for name in options.networks.split(",")),
        tuple(options.algorithms.split(",")),
        grids={"epsilon": tuple(np.logspace(-1, 1, options.epsilons).round(4).tolist())},
        rows=(options.rows,),
        seeds=options.seeds,
    )
    start = time.perf_counter()
    rows = list(run_sweep(plan, workers=options.workers))
    wall = time.perf_counter() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    processor = sum(usage.ru_utime + usage.ru_stime for usage in used)
    print(f"{len(rows):,} runs, {options.rows:,} rows, {options.workers} workers")
    print(f"{wall:.1f} s, {len(rows) / wall:.1f} runs a second, {processor:.1f} s processor time")
    table = pd.DataFrame(rows)
    spent = table.pivot_table(index="algorithm", columns="data", values="seconds", aggfunc="sum")
    print(f"\nSeconds in the engine, {table['seconds'].sum():.1f} in all:")
    print(spent.round(1).to_string())


if __name__ == "__main__":
    main()
