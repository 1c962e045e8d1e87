"""The stability of a graph, a check that needs no true graph.

Runs with fresh noise on all rows show the variation from noise alone; runs on disjoint halves of
the rows show the variation from sampling as well. A run on a half has half of the rows at the
same ε, so its tests have less power. Not private: every figure comes from many further runs on the
exact rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from privcore.algorithms.engine import discover, levelled, source_of
from privcore.algorithms.registry import get_algorithm
from privcore.algorithms.search.model import Hooks, NoHooks
from privcore.algorithms.search.result import Discovery
from privcore.counts import (
    Source,
    StoredTable,
)
from privcore.data import Dataset
from privcore.data.model import Described
from privcore.errors import Cancelled, DataError
from privcore.graphs import PDAG
from privcore.graphs.pdag import Edge
from privcore.measures.comparison import skeleton_metrics
from privcore.parameter import Parameter
from privcore.privacy.mechanisms import NoiseSource, SimulatedNoise
from privcore.text import percent, short

RUNS = Parameter(
    name="stability",
    title="Runs to check stability",
    symbol="k",
    kind="int",
    default=20,
    range="[2, 1000]",
    help="How many runs use all rows with fresh noise, and how many runs use halves of the rows.",
    source="privcore.extras.lab.stability",
)
NOT_PRIVATE = "Not private: this comes from many runs on the exact rows."
# Edges that occur in a smaller share of the halves are named.
_SELDOM = 0.5
# Most edges that a sentence names; beyond that it gives their number.
_NAMED = 8
_FEWEST_ROWS = 4
# Parts of a seed, by what is drawn.
_ROLL, _CUT, _HALF = range(3)


class Frequency(NamedTuple):
    """For a pair (i, j), i < j: the frequencies of any edge, of i → j and of j → i, in [0, 1]."""

    adjacent: float
    forward: float
    backward: float


@dataclass(frozen=True)
class Stability:
    """The graph of a run, and the graphs of further runs on the same data.  Not private.

    shown: the graph of the run. rolls: graphs from all rows with fresh noise; empty if the
    algorithm adds no noise. halves: pairs of graphs from two disjoint halves of the rows, with
    independent noise. refused: the error message for each halving on which the algorithm could not
    run, for example because a column had only one level left.
    """

    shown: PDAG
    rolls: tuple[PDAG, ...]
    halves: tuple[tuple[PDAG, PDAG], ...]
    refused: tuple[str, ...] = ()

    @property
    def same(self) -> int:
        """The number of noise draws that gave the shown graph, directions included."""
        return sum(graph == self.shown for graph in self.rolls)

    @cached_property
    def roll_f1(self) -> float | None:
        """Mean skeleton F1 of the noise draws against the shown graph; None without noise."""
        if not self.rolls:
            return None
        return fmean(skeleton_metrics(graph, self.shown).f1 for graph in self.rolls)

    @cached_property
    def half_f1(self) -> float:
        """Mean over halvings of the skeleton F1 between the graphs of the two halves."""
        return fmean(skeleton_metrics(*pair).f1 for pair in self.halves)

    @cached_property
    def over_rolls(self) -> dict[Edge, Frequency]:
        """Frequencies over noise draws for each pair that is adjacent in at least one draw."""
        return frequencies(self.rolls)

    @cached_property
    def over_halves(self) -> dict[Edge, Frequency]:
        """Frequencies over halves for each pair that is adjacent in at least one half."""
        return frequencies(graph for pair in self.halves for graph in pair)

    @property
    def pairs(self) -> list[Edge]:
        """The sorted pairs that are adjacent in at least one of the graphs."""
        return sorted({*self.shown.skeleton, *self.over_rolls, *self.over_halves})

    @property
    def seldom(self) -> list[Edge]:
        """Edges of the shown graph that occur in under 50 % of the graphs from halves."""
        edges = sorted(self.shown.skeleton)
        return [edge for edge in edges if often(self.over_halves, edge).adjacent < _SELDOM]

    def sentence(self) -> str:
        """The stability of the whole graph, in one or two sentences."""
        count = len(self.halves)
        over = "one halving" if count == 1 else f"{count:,} halvings"
        if self.over_halves:
            sentence = (
                f"Two halves of the rows agree on {percent(self.half_f1)} of the edges "
                f"(F1 {self.half_f1:.2f}, mean over {over})."
            )
        else:
            sentence = f"No half of the rows gives an edge ({over})."
        if self.refused:
            halvings = "halving" if len(self.refused) == 1 else "halvings"
            sentence += (
                f" {len(self.refused):,} more {halvings} could not be run: {self.refused[0]}"
            )
        if self.roll_f1 is None:
            return sentence
        times = {1: "once"}.get(self.same, f"{self.same:,} times")
        return (
            f"In {len(self.rolls):,} noise draws the shown graph came out {times} (mean F1 "
            f"against the shown graph {self.roll_f1:.2f}). {sentence}"
        )

    def seldom_sentence(self) -> str:
        """A sentence that names the edges in `seldom`; empty if there are none."""
        if not self.seldom:
            return ""
        names = [short(name, 20) for name in self.shown.nodes]
        named = ", ".join(
            f"{names[i]} – {names[j]} ({percent(often(self.over_halves, (i, j)).adjacent)})"
            for i, j in self.seldom[:_NAMED]
        )
        more = len(self.seldom) - _NAMED
        rest = f" and {more:,} more" if more > 0 else ""
        return f"Shown edges that occur in under 50 % of the graphs from halves: {named}{rest}."

    def as_dict(self) -> dict[str, Any]:
        """The figures as JSON-ready data, with pairs by column name."""
        names = self.shown.nodes
        rolls = None
        if self.rolls:
            rolls = {"runs": len(self.rolls), "same": self.same, "f1": self.roll_f1}
        return {
            "rolls": rolls,
            "halves": {
                "halvings": len(self.halves),
                "f1": self.half_f1,
                "refused": list(self.refused),
            },
            "pairs": [
                {
                    "pair": [names[i], names[j]],
                    "shown": (i, j) in self.shown.skeleton,
                    "over_rolls": often(self.over_rolls, (i, j))._asdict() if rolls else None,
                    "over_halves": often(self.over_halves, (i, j))._asdict(),
                }
                for i, j in self.pairs
            ],
            "seldom": [[names[i], names[j]] for i, j in self.seldom],
            "note": NOT_PRIVATE,
        }


def often(of: Mapping[Edge, Frequency], pair: Edge) -> Frequency:
    """The frequencies of a pair; all 0 if the pair is never adjacent."""
    return of.get(pair, Frequency(0.0, 0.0, 0.0))


def frequencies(graphs: Iterable[PDAG]) -> dict[Edge, Frequency]:
    """The frequencies of each pair that is adjacent in any of the graphs."""
    adjacent: Counter[Edge] = Counter()
    arrows: Counter[Edge] = Counter()
    count = 0
    for graph in graphs:
        count += 1
        adjacent.update(graph.skeleton)
        arrows.update(graph.directed)
    return {
        (i, j): Frequency(seen / count, arrows[i, j] / count, arrows[j, i] / count)
        for (i, j), seen in adjacent.items()
    }


def judge(
    data: Dataset | StoredTable | Source,
    result: Discovery,
    *,
    runs: int = 20,
    seed: int = 1,
    test_limit: int | None = None,
    watch: Callable[[int, int], Hooks] = lambda done, of: NoHooks(),
) -> Stability:
    """Check the stability of a graph over noise draws and over halves of the rows.

    data: the data of the result.
    runs: the number of noise draws, and twice the number of halvings; an algorithm without noise
        gets halvings only. Every run uses the algorithm, the parameters and the ε of the result,
        and simulated noise from the seed.
    watch: maps the number of runs done and the total number to the hooks of the next run.

    The stability is not private, even if the result is: no guarantee covers its figures. Raises
    ParameterError for too few runs, and DataError for fewer than 4 rows, for rows that are not in
    memory, and if no halving can be run. Raises Cancelled if the hooks cancel.

    Example:
        >>> from privcore import discover, load_network
        >>> data = load_network("cancer").sample(20_000, seed=1)
        >>> stability = judge(data, discover(data, "pc"), runs=4)
        >>> stability.rolls, len(stability.halves), stability.half_f1
        ((), 2, 1.0)
    """
    runs = RUNS.parse(runs)
    algorithm = get_algorithm(result.algorithm)
    counted = source_of(data) if isinstance(data, Described) else data
    source = levelled(counted, algorithm, result.parameters)
    rolls, cuts = runs if algorithm.private else 0, runs // 2
    done = 0

    def run(rows: Source, noise: NoiseSource) -> PDAG:
        nonlocal done
        hooks = watch(done, rolls + 2 * cuts)
        if hooks.cancelled():
            raise Cancelled
        done += 1
        return discover(
            rows,
            result.algorithm,
            result.parameters,
            noise=noise,
            hooks=hooks,
            keep_trace=False,
            test_limit=test_limit,
        ).graph

    rolled = tuple(run(source, _noise(seed, _ROLL, k)) for k in range(rolls))
    halved, refused = [], []
    for k in range(cuts):
        one, other = halves(source, _noise(seed, _CUT, k))
        try:
            first = run(one, _noise(seed, _HALF, 2 * k))
            halved.append((first, run(other, _noise(seed, _HALF, 2 * k + 1))))
        except DataError as error:
            refused.append(str(error))
    if not halved:
        raise DataError("no-half-could-be-run", reason=refused[0])
    return Stability(result.graph, rolled, tuple(halved), tuple(refused))


def halves(source: Source, noise: NoiseSource) -> tuple[Source, Source]:
    """Split the rows at random into two disjoint sources; the second has one row more if n is odd.

    Raises DataError for fewer than 4 rows, and for rows that are not in memory.
    """
    if source.n < _FEWEST_ROWS:
        raise DataError("table-rows-but-halving-needs-least", n=source.n, fewest_rows=_FEWEST_ROWS)
    return source.halved(noise)


def _noise(seed: int, part: int, number: int) -> NoiseSource:
    return SimulatedNoise(np.random.SeedSequence([seed, part, number]))
