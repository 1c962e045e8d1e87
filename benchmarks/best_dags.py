"""Quality of the best DAG found by `moment-search` if all combinations of levels are counted.

    python -m benchmarks.best_dags [--random 12] [--first 61000] [--cells 0,2047]
        [--rows 20000,100000] [--epsilons 0.1,1,10]

One line for each random network, number of rows and ε: the score of the DAG that is found, of
the true one, and seconds of one core.  Data seed 1000, noise seed 500.
"""

from __future__ import annotations

import argparse
from itertools import islice, product
from time import process_time

from benchmarks import parsed
from benchmarks.random_networks import networks_from
from privcore.algorithms import count
from privcore.algorithms.moment_search.full_table import TableScore, sampled
from privcore.algorithms.moment_search.plan import plan_whole
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.threads import one_thread


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--random", type=int, default=12)
    parser.add_argument("--first", type=int, default=61000)
    parser.add_argument("--cells", default="0,2047")
    parser.add_argument("--rows", default="20000,100000")
    parser.add_argument("--epsilons", default="0.1,1,10")
    options = parsed(parser, random=1, rows="1000", epsilons="1")
    rows, epsilons = options.rows.split(","), options.epsilons.split(",")
    networks = islice(networks_from(options.first, options.cells), options.random)
    for network, n, epsilon in product(networks, rows, epsilons):
        source, names = count(network.sample(int(n), 1000)), network.names
        plan = plan_whole(source.n, source.levels, float(epsilon), cells=2**12)
        assert plan is not None
        assert plan.whole is not None
        table = plan.whole.measure(source, SimulatedNoise(500)).values
        score, began = TableScore(table, plan.n, plan.whole.scale, max_parents=4), process_time()
        with one_thread():
            found = sampled(score).fit.value
        took, true = process_time() - began, [0] * len(names)
        for cause, effect in network.edges:
            true[names.index(effect)] |= 1 << names.index(cause)
        value = score.fit(tuple(true)).value
        print(f"{network.name}, {n} rows, ε = {epsilon}: {found:.1f}, {value:.1f}, {took:.2f} s")


if __name__ == "__main__":
    main()
