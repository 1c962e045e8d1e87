"""Links found in a folder of real tables, and the links that two non-private references share.

    python -m benchmarks.real_tables FOLDER [--algorithms moment-search,privpc-star] [--epsilon 1]
        [--seeds 1] [--limit 60] [--every 1] [--rivals]

Every CSV file of the folder is read as a first try would read it.  References: PC on levels (G²),
and PC on lines and groups (`score=lines`), both at their defaults.  A link in both is supported, a
link in neither is doubtful.  Printed per algorithm: tables, share of supported links found, share
of drawn links that are doubtful, seconds of a run (median, longest), and tables that are refused.
Runs longer than --limit seconds count, and are named.  --every: every n-th file by name.  --rivals:
MST and AIM too, each then PC on its private rows (`private_rows`), with the same ε and δ for one
record replaced; these are ended, and count as refused, at --limit seconds.  Without FOLDER, the
tables that statsmodels ships are used, where it is installed.
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import privcore
from benchmarks import parsed
from benchmarks.private_rows import RIVALS, NotMade, graph_of
from privcore import kernels
from privcore.algorithms import discover, get_algorithm
from privcore.data import Dataset
from privcore.graphs import PDAG

_FEWEST_ROWS = 100
_TESTS = 200_000


def links(graph: PDAG) -> set[tuple[int, int]]:
    return set(graph.skeleton)


def shipped(folder: Path) -> None:
    """The data sets of statsmodels as CSV files; raises ImportError where it is not installed."""
    datasets = importlib.import_module("statsmodels.datasets")
    for name in sorted(datasets.__all__):
        module = getattr(datasets, name)
        if hasattr(module, "load_pandas"):
            module.load_pandas().data.to_csv(folder / f"{name}.csv", index=False)


def read(path: Path) -> Dataset | None:
    """None for a table that cannot be read, or has few rows."""
    try:
        data = privcore.read_table(path)
    except privcore.PrivcoreError:
        return None
    return data if data.n >= _FEWEST_ROWS and data.p > 2 else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--algorithms", default="moment-search,privpc-star")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--rivals", action="store_true")
    given = parsed(parser, algorithms="pc", rivals=False)
    warnings.simplefilter("ignore")
    kernels.load()
    with tempfile.TemporaryDirectory() as made:
        folder = given.folder or Path(made)
        if given.folder is None:
            shipped(folder)
        tables = {path.name: read(path) for path in sorted(folder.glob("*.csv"))[:: given.every]}
    read_ones = {name: data for name, data in tables.items() if data is not None}
    print(f"{len(read_ones)} of {len(tables)} tables can be used")
    both: dict[str, tuple[set[tuple[int, int]], set[tuple[int, int]]]] = {}
    for name, data in read_ones.items():
        one, other = (
            links(discover(data, "pc", {"score": score}, test_limit=_TESTS).graph)
            for score in ("g2", "lines")
        )
        both[name] = one & other, one | other
    print("| algorithm | tables | supported | found | doubtful | s: median | longest |")
    print("|---|---|---|---|---|---|---|")
    for algorithm in [*given.algorithms.split(","), *(RIVALS if given.rivals else ())]:
        supported = found = drawn = doubtful = refused = 0
        seconds, late = [], []
        rival = algorithm in RIVALS
        private = not rival and get_algorithm(algorithm).private
        budget = {"epsilon": given.epsilon} if private else {}
        for name, data in read_ones.items():
            for seed in range(1, given.seeds + 1):
                start = time.perf_counter()
                try:
                    graph = (
                        graph_of(algorithm, data, given.epsilon, seed, given.limit)
                        if rival
                        else privcore.discover(data, algorithm, seed=seed, **budget).graph
                    )
                except (privcore.PrivcoreError, NotMade):
                    refused += 1
                    continue
                seconds.append(time.perf_counter() - start)
                late += [name] if seconds[-1] > given.limit else []
                shared, either = both[name]
                made_links = links(graph)
                supported, drawn = supported + len(shared), drawn + len(made_links)
                found += len(made_links & shared)
                doubtful += len(made_links - either)
        print(
            f"| {algorithm} | {len(read_ones)} | {supported} | {found / max(supported, 1):.2f} | "
            f"{doubtful / max(drawn, 1):.2f} | {statistics.median(seconds):.2f} | "
            f"{max(seconds):.1f} |",
            flush=True,
        )
        if refused or late:
            print(f"{algorithm}: {refused} refused; longer than {given.limit:g} s: {late}")


if __name__ == "__main__":
    main()
