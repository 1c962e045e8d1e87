"""Seconds of PC here and in other libraries, side by side on the same data, and their graphs.

    python -m benchmarks.peers [--data asia,child] [--rows 100000,…] [--repeats 5] [--full]
        [--alpha 0.05] [--limit 60] [--environments FOLDER] [--fixture FILE]

Each library runs in a process and an environment of its own (made from requirements-NAME.txt on
first use), with one thread on one processor, in turn with ours.  Timed: skeleton and orientation
of stable PC without a limit on the order, on data already in the library's own form; for ours also
the encoding of the rows, and separately a run on cached counts.  Medians of processor time, which
with one thread is what the clock shows on an idle machine, after one run that is not counted.
--full takes all eight networks and 10⁴, 10⁵ and 10⁶ rows; a library whose first run takes longer
than --limit seconds is left out at more rows of the same network, and one that fails has a dash.

Below the times: how our graphs differ from causal-learn's, and under its rules of orientation.
--fixture stores what causal-learn found, for the tests.  Private algorithms:
`python -m benchmarks.peers.private`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks import parsed
from benchmarks.peers.comparison import differences, theirs
from benchmarks.peers.environments import PEERS, default_folder, interpreter
from privcore.algorithms import count, discover
from privcore.data import NETWORKS, Dataset, load_network
from privcore.graphs import PDAG

_ROOT = Path(__file__).parents[2]
_SMALL = "cancer,earthquake,survey,asia,sachs"


class Contestant:
    """A library in a process of its own."""

    def __init__(self, name: str, python: Path, processor: int | None) -> None:
        def pin() -> None:
            if processor is not None:
                os.sched_setaffinity(0, {processor})

        self.name = name
        self._process = subprocess.Popen(
            [python, Path(__file__).parent / "worker.py", name, _ROOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            preexec_fn=pin if processor is not None else None,
        )

    def ask(self, **question: Any) -> dict[str, Any]:
        """The worker's answer; {"failed": why} if the library raised an error or took it down."""
        if self._process.poll() is not None:
            return {"failed": "the process ended"}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            return {"failed": "the process ended"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


@dataclass
class Times:
    """Seconds of the counted runs by library; none for failed runs."""

    seconds: dict[str, list[float]] = field(default_factory=dict)


def measure(
    contestants: list[Contestant], test: str, alpha: float, repeats: int, limit: float
) -> Times:
    """Runs in turn; a run above a fifth of the limit is not repeated."""
    times = Times()
    for turn in range(repeats + 1):
        for contestant in contestants:
            known = times.seconds.setdefault(contestant.name, [])
            if known and known[0] > limit / 5:
                continue
            answer = contestant.ask(test=test, alpha=alpha)
            if "failed" in answer:
                print(f"{contestant.name}: {answer['failed']}", file=sys.stderr, flush=True)
                del times.seconds[contestant.name]
                continue
            if turn == 1 and known[0] < limit / 5:
                known.clear()
            known.append(answer["seconds"])
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=_SMALL)
    parser.add_argument("--rows", default="100000")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--alpha", type=float, default=0.05)
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--environments", type=Path, default=default_folder())
    parser.add_argument("--fixture", type=Path)
    parser.add_argument("--full", action="store_true")
    # No other library's environment is made.
    small = {"data": "cancer", "rows": "1000", "repeats": 1, "full": False}
    options = parsed(parser, peers="", fixture=None, **small)
    names = list(NETWORKS) if options.full else options.data.split(",")
    sizes = [10_000, 100_000, 1_000_000] if options.full else map(int, options.rows.split(","))
    peers = filter(None, options.peers.split(","))
    pythons = {peer: interpreter(peer, options.environments) for peer in peers}
    pythons |= {"ours": Path(sys.executable), "ours, cached": Path(sys.executable)}
    processor = max(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    lines: dict[str, list[str]] = {"chi2": [], "g2": []}
    notes: list[str] = []
    slow: set[tuple[str, str]] = set()
    stored: dict[str, Any] = {}
    for rows in sizes:
        for name in names:
            dataset = load_network(name).sample(rows, 1)
            with tempfile.TemporaryDirectory() as folder:
                _save(dataset, Path(folder))
                running = [
                    Contestant(peer, python, processor)
                    for peer, python in pythons.items()
                    if (peer, name) not in slow
                ]
                try:
                    for contestant in running:
                        contestant.ask(load=folder)
                    for test, table in lines.items():
                        times = measure(
                            running, test, options.alpha, options.repeats, options.limit
                        )
                        table.append(_line(name, rows, pythons, times))
                        print(f"{test:<5}{table[-1]}", file=sys.stderr, flush=True)
                        slow |= {
                            (p, name) for p, s in times.seconds.items() if s[0] > options.limit
                        }
                    by_name = {contestant.name: contestant for contestant in running}
                    if "causal-learn" in by_name:
                        found = _equality(dataset, by_name["causal-learn"], notes)
                        stored[f"{name}, {rows}"] = found
                finally:
                    for contestant in running:
                        contestant.close()
    for test, table in lines.items():
        print(f"\n{test}, alpha = {options.alpha}: median ms of processor time (times ours)\n")
        heads = [*pythons, "fastest / ours"]
        print(f"| network | n | {' | '.join(heads)} |")
        print("|---" * (2 + len(heads)) + "|")
        print("\n".join(table))
    print("\nOurs beside causal-learn:\n")
    print("\n".join(notes))
    if options.fixture:
        options.fixture.write_text(json.dumps(stored) + "\n")


def _save(dataset: Dataset, folder: Path) -> None:
    np.save(folder / "codes.npy", np.column_stack(dataset.values))
    described = {"names": list(dataset.names), "levels": list(dataset.levels)}
    (folder / "columns.json").write_text(json.dumps(described))


def _line(name: str, rows: int, peers: dict[str, Path], times: Times) -> str:
    medians = {peer: median(seconds) for peer, seconds in times.seconds.items()}
    ours = medians["ours"]
    cells = []
    for peer in peers:
        if peer not in medians:
            cells.append("–")
        else:
            ratio = f" ({medians[peer] / ours:.0f}×)" if not peer.startswith("ours") else ""
            cells.append(f"{1000 * medians[peer]:.2f}{ratio}")
    others = [seconds for peer, seconds in medians.items() if not peer.startswith("ours")]
    cells.append(f"{min(others) / ours:.1f}×" if others else "–")
    return f"| {name} | {rows:,} | {' | '.join(cells)} |"


def _equality(dataset: Dataset, peer: Contestant, notes: list[str]) -> list[dict[str, Any]]:
    """Both tests at both levels; adds a line for each, and what causal-learn found."""
    source = count(dataset)
    stored = []
    for test in ("chi2", "g2"):
        for alpha in (0.05, 0.01):
            answer = peer.ask(test=test, alpha=alpha)
            if "failed" in answer:
                notes.append(f"- {dataset.name}, {test}, alpha = {alpha}: {answer['failed']}")
                continue
            found = theirs(dataset.names, answer["directed"], answer["undirected"])
            settings = {"score": test, "threshold": alpha, "max_order": None}
            mine = discover(source, "pc", settings, keep_trace=False)
            left = differences(source, mine, found)
            same = "same" if mine.graph.skeleton == found.skeleton else "DIFFERENT"
            notes.append(
                f"- {dataset.name}, n = {dataset.n:,}, {test}, alpha = {alpha}: {same} skeleton, "
                f"{_agreement(mine.graph, found)}"
                + ("" if left or mine.graph == found else ", none under their rules")
            )
            notes += [f"    - {sentence}" for sentence in left]
            graph = {kind: answer[kind] for kind in ("directed", "undirected")}
            stored.append({"test": test, "alpha": alpha, **graph})
    return stored


def _agreement(mine: PDAG, found: PDAG) -> str:
    if mine == found:
        return "same CPDAG"
    pairs = mine.skeleton | found.skeleton
    differ = sum(mine.mark(i, j) != found.mark(i, j) for i, j in pairs)
    return f"{differ} of {len(pairs)} edges differ"


if __name__ == "__main__":
    main()
