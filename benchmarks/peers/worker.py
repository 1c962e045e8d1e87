"""Runs one library's PC on request; a script, run by that library's own Python.

    python worker.py LIBRARY [ROOT]

Reads one JSON object a line and answers each with one: {"load": folder} takes codes.npy, shape
(n, p), and columns.json into the library's own form, which is not timed (but for ours, where the
encoding of the rows is part of a run); {"test": "chi2" or "g2", "alpha": level} runs PC with
skeleton and orientation as often as fits into a fifth of a second, at least once, and gives the
median seconds of processor time of a run, the arrows [i, j] for i → j, and the lines.
"""

import importlib
import json
import os
import statistics
import sys
import time
from functools import partial
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402 (the number of threads is read when it is imported)


def causal_learn(codes, columns, folder):
    pc = importlib.import_module("causallearn.search.ConstraintBased.PC").pc
    rows = codes.astype(np.int64)
    names = {"chi2": "chisq", "g2": "gsq"}

    def run(test, alpha):
        return lambda: pc(rows, alpha, names[test], stable=True, show_progress=False)

    def edges(found):
        marks = found.G.graph
        p = len(marks)
        pairs = [(i, j) for i in range(p) for j in range(p) if marks[i, j] == -1]
        return (
            [(i, j) for i, j in pairs if marks[j, i] == 1],
            [(i, j) for i, j in pairs if marks[j, i] == -1 and i < j],
        )

    return run, edges


def pgmpy(codes, columns, folder):
    pandas = importlib.import_module("pandas")
    learner = importlib.import_module("pgmpy.causal_discovery").PC
    frame = pandas.DataFrame({i: pandas.Categorical(codes[:, i]) for i in range(codes.shape[1])})
    names = {"chi2": "chi_square", "g2": "g_sq"}

    def run(test, alpha):
        fresh = learner(
            variant="stable",
            ci_test=names[test],
            significance_level=alpha,
            n_jobs=1,
            max_cond_vars=min(11, codes.shape[1] - 2),
            show_progress=False,
        )
        return lambda: fresh.fit(frame)

    def edges(found):
        graph = found.causal_graph_
        return list(graph.directed_edges), [sorted(e) for e in graph.undirected_edges]

    return run, edges


def pyagrum(codes, columns, folder):
    gum = importlib.import_module("pyagrum")
    header = ",".join(f"c{i}" for i in range(codes.shape[1]))
    table = str(folder / "codes.csv")
    np.savetxt(table, codes, fmt="%d", delimiter=",", header=header, comments="")

    def run(test, alpha):
        # Reading the table is not timed, and a learner keeps what it has counted.
        learner = gum.BNLearner(table)
        learner.setNumberOfThreads(1)
        learner.usePC()
        learner.setPCStable(True)
        learner.setPCAlpha(alpha)
        learner.useChi2Test() if test == "chi2" else learner.useG2Test()
        return learner.learnPDAG

    def edges(graph):
        return list(graph.arcs()), [sorted(e) for e in graph.edges()]

    return run, edges


def ours(codes, columns, folder, cached=False):
    from privcore import kernels
    from privcore.algorithms import count, discover
    from privcore.data import Column, Dataset

    kernels.load()
    described = tuple(
        Column(name, "nominal", tuple(map(str, range(levels))), declared=True)
        for name, levels in zip(columns["names"], columns["levels"], strict=True)
    )
    values = tuple(np.ascontiguousarray(codes[:, i]) for i in range(codes.shape[1]))
    dataset = Dataset("measured", described, values)
    counts = count(dataset)

    def run(test, alpha):
        settings = {"score": test, "threshold": alpha, "max_order": None}
        return lambda: discover(
            counts if cached else count(dataset), "pc", settings, keep_trace=False
        )

    def edges(found):
        return list(found.graph.directed), list(found.graph.undirected)

    return run, edges


_TURN, _RUNS = 0.2, 50

LIBRARIES = {
    "causal-learn": causal_learn,
    "pgmpy": pgmpy,
    "pyagrum": pyagrum,
    "ours": ours,
    "ours, cached": partial(ours, cached=True),
}


def answered(run, edges, request):
    """Runs as often as fits into a turn: their median time, and the graph of the last."""
    times = []
    while sum(times) < _TURN and len(times) < _RUNS:
        learn = run(request["test"], request["alpha"])
        start = time.process_time()
        found = learn()
        times.append(time.process_time() - start)
    arrows, lines = edges(found)
    return {
        "seconds": statistics.median(times),
        "directed": sorted([int(i), int(j)] for i, j in arrows),
        "undirected": sorted([int(i), int(j)] for i, j in lines),
    }


def main():
    library = sys.argv[1]
    sys.path[0] = sys.argv[2] if len(sys.argv) > 2 else sys.path[0]
    run = edges = None
    for line in sys.stdin:
        request = json.loads(line)
        if "load" in request:
            folder = Path(request["load"])
            columns = json.loads((folder / "columns.json").read_text())
            run, edges = LIBRARIES[library](np.load(folder / "codes.npy"), columns, folder)
            answer = {}
        else:
            try:
                answer = answered(run, edges, request)
            except Exception as error:  # whatever a library raises: the others go on
                answer = {"failed": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    # Whatever the libraries print goes where it does not mix with the answers.
    sys.stdout = sys.stderr
    main()
