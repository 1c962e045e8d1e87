"""Private synthetic rows, made by dpmm in an environment and a process of its own; PC on them."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.peers.environments import default_folder, interpreter
from privcore.algorithms import discover
from privcore.data import Dataset
from privcore.graphs import PDAG

DELTA = 1e-6
# The methods of the script, by what is made of them; PC reads the rows as if they were real.
RIVALS = {"MST + PC": "mst", "AIM + PC": "aim", "AIM merging + PC": "aim-merged"}
PC = {"score": "g2", "threshold": 0.01}
_SCRIPT = Path(__file__).parent / "peers" / "synthesiser.py"
# zCDP for one record replaced, over that for one added or removed: twice for each table, four times
# for each choice by the exponential mechanism.  MST spends a third of ρ on choices, AIM a tenth.
COSTS = {"mst": (2 + 4 + 2) / 3} | dict.fromkeys(("aim", "aim-merged"), 0.9 * 2 + 0.1 * 4)


class NotMade(Exception):
    """No synthetic rows: why, in two or three words."""


def synthetic(
    python: Path,
    method: str,
    data: Dataset,
    epsilon: float,
    seed: int,
    limit: int,
    script: Path = _SCRIPT,
    *,
    cost: float | None = None,
) -> tuple[Dataset, float]:
    """As many private rows as `data` has, with its columns, and the seconds that they took.

    cost: by how much the zCDP budget is lowered, see `COSTS`.
    Raises NotMade if the script takes more than `limit` seconds of processor time, or fails.
    """

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))

    with tempfile.TemporaryDirectory() as folder:
        np.savez(
            Path(folder) / "data.npz",
            codes=np.column_stack(data.values),
            levels=np.array(data.levels),
        )
        words = (method, epsilon, DELTA, data.n, seed, folder, *([] if cost is None else [cost]))
        done = subprocess.run(
            [python, script, *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            preexec_fn=limited,
        )
        if done.returncode == -signal.SIGXCPU:
            raise NotMade(f"over {limit} s")
        if done.returncode:
            print(done.stderr[-500:], file=sys.stderr, flush=True)
            raise NotMade("failed")
        codes = np.load(Path(folder) / "synthetic.npy")
    values = tuple(np.ascontiguousarray(column) for column in codes.T)
    # The levels are public, so a column of which one level is left is no fault of the table.
    columns = tuple(replace(column, declared=True) for column in data.columns)
    rows = replace(data, columns=columns, values=values)
    return rows, json.loads(done.stdout)["seconds"]


def graph_of(rival: str, data: Dataset, epsilon: float, seed: int, limit: int) -> PDAG:
    """PC's graph of private rows, which have (ε, DELTA) for one record replaced.

    Raises NotMade as `synthetic` does; makes the environment of dpmm if there is none.
    """
    method, python = RIVALS[rival], interpreter("dpmm", default_folder())
    rows, _ = synthetic(python, method, data, epsilon, seed, limit, cost=COSTS[method])
    return discover(rows, "pc", PC, keep_trace=False).graph
