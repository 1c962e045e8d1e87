"""Finds v-structures by further tests, for searches whose tests cost no privacy.

A search stops at the first set that separates a pair, so v-structures at the pair's common
neighbours would depend on a single test. If tests use exact data, or a noisy release that is
already paid for, all sets of neighbours can be tested.

Finds the edges and the edge marks of a PAG by tests that cost no privacy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from privcore.algorithms.search.model import Hooks, Run
from privcore.algorithms.search.parameters import GraphParameters, OrientedParameters
from privcore.algorithms.search.result import HiddenStage
from privcore.algorithms.search.skeleton import Decision, Skeleton, conditioning_sets, count_sets
from privcore.arrays import Columns
from privcore.errors import Cancelled
from privcore.graphs import PDAG, orient, unshielded
from privcore.graphs.constraints import Constraints, Triple
from privcore.graphs.fci import (
    Independent,
    Neighbours,
    Separating,
    confirm_triples,
    count_path_tests,
    orient_pag,
    separate_along_paths,
    smallest,
)
from privcore.graphs.orientation import ColliderRule, Sets, Triples, overruled, read_triples
from privcore.graphs.pdag import Edge

# If Possible-D-Sep needs more tests than this, RFCI is used, which needs few.
MOST_TESTS = 5_000


@dataclass
class HiddenEdges:
    """A skeleton whose edges may be removed, and separating sets for the pairs without an edge.

    removed: the pairs whose edge was removed.
    """

    nodes: tuple[str, ...]
    neighbours: Neighbours
    separating: Separating
    known: Constraints
    removed: frozenset[Edge] = frozenset()

    @classmethod
    def of(cls, graph: PDAG, separating: Sets, known: Constraints) -> HiddenEdges:
        neighbours = [graph.adjacent(node) for node in range(len(graph.nodes))]
        return cls(graph.nodes, neighbours, dict(separating), known)

    @property
    def skeleton(self) -> PDAG:
        pairs = ((i, j) for i, around in enumerate(self.neighbours) for j in around if i < j)
        return PDAG(self.nodes, undirected=frozenset(pairs))

    def test(
        self,
        independent: Independent,
        triples: Triples,
        max_order: int | None,
        most: int | None = None,
    ) -> HiddenStage:
        """Remove edges by Possible-D-Sep or by RFCI, and return the method used.

        RFCI is used if Possible-D-Sep needs more than `MOST_TESTS` tests, or more than `most`.
        """
        before, required = self.skeleton.skeleton, self.known.required
        tests = count_path_tests(self.neighbours, triples, max_order)
        stage: HiddenStage
        if tests <= (MOST_TESTS if most is None else min(most, MOST_TESTS)):
            stage = "possible-d-sep"
            separate_along_paths(
                self.neighbours, self.separating, independent, triples, max_order, required
            )
        else:
            stage = "rfci"
            confirm_triples(self.neighbours, self.separating, independent, required)
        self.removed = before - self.skeleton.skeleton
        return stage


class Answered(NamedTuple):
    """The result of a test: whether it found independence, and the logarithm of its p-value."""

    independent: bool
    log_p: float


class FreeDecision(Decision):
    """A decision whose tests cost no privacy, so that further tests can follow the search."""

    @abstractmethod
    def answer(self, x: int, y: int, conditioning_set: Columns) -> Answered:
        """The same decision as `independent`, with the logarithm of the p-value."""

    def prepare(self, families: list[tuple[int, ...]]) -> None:
        """Prepare for tests within these sets of columns, so that rows that are not in memory are
        read only once.
        """

    def answers(
        self, first: int, last: int, pairs: list[Edge], adjacent: list[set[int]]
    ) -> Iterator[list[Answered] | None] | None:
        """All answers for each pair in turn, given every set of `first` to `last` neighbours.

        A decision overrides this method if many tests are faster when made together. Smaller sets
        come first, in the order of `conditioning_sets`. None in place of a pair's answers, or of
        the iterator, means that the caller must use `answer` for each test.
        """
        return None


class _Wanted(NamedTuple):
    """Pairs to test given each set of `first` to `last` of their neighbours."""

    first: int
    last: int
    pairs: list[Edge]
    adjacent: list[set[int]]

    def tests(self) -> Counter[int]:
        """Number of tests by the size of the conditioning set."""
        return Counter(
            {
                order: sum(count_sets(self.adjacent, x, y, order) for x, y in self.pairs)
                for order in range(self.first, self.last + 1)
            }
        )

    def families(self) -> Iterator[tuple[int, ...]]:
        """Sets of columns, each of which contains all columns of some of the tests."""
        for x, y in self.pairs:
            for end in (x, y):
                yield tuple({x, y} | self.adjacent[end])

    def sets(self, x: int, y: int) -> Iterator[tuple[int, ...]]:
        for order in range(self.first, self.last + 1):
            yield from conditioning_sets(self.adjacent, x, y, order)


class _Tests:
    """All tests of some pairs; only the results that orientation needs are kept.

    separating: the sets given which each pair is independent.
    """

    def __init__(self, wanted: Iterable[_Wanted], decision: FreeDecision, hooks: Hooks) -> None:
        self.separating: dict[Edge, list[tuple[int, ...]]] = {}
        self._largest: dict[tuple[Edge, int], float] = {}
        for each in wanted:
            quick = decision.answers(*each)
            for x, y in each.pairs:
                if hooks.cancelled():
                    raise Cancelled
                sets = list(each.sets(x, y))
                answers = next(quick) if quick else None
                if answers is None:
                    sets = [z for z in sets if decision.fits(x, y, z)]
                    answers = [decision.answer(x, y, z) for z in sets]
                self._keep((x, y), sets, answers)

    def _keep(self, pair: Edge, sets: list[tuple[int, ...]], answers: list[Answered]) -> None:
        answered = list(zip(sets, answers, strict=True))
        self.separating[pair] = [z for z, answer in answered if answer.independent]
        for conditioning_set, answer in answered:
            for node in conditioning_set:
                known = self._largest.get((pair, node), -inf)
                if answer.log_p > known:
                    self._largest[pair, node] = answer.log_p

    def strength(self, triple: Triple) -> float:
        """Strength of the evidence that the ends of a v-structure are dependent given its middle.

        This is the smallest −log p over conditioning sets that contain the middle, rounded to nine
        digits, because the order of the columns may change the last bits of a sum.
        """
        x, z, y = triple
        return float(f"{-self._largest.get(((x, y), z), 0.0):.9g}")


class _Read(NamedTuple):
    """The separating sets by which v-structures are decided, and the rule for the decision.

    strength: function from a v-structure to its strength, by which contradictions are resolved;
    None if only the sets that the search found are used.
    """

    skeleton: Skeleton
    sets: Sets
    rule: ColliderRule
    strength: Callable[[Triple], float] | None


def with_v_structures(
    run: Run[OrientedParameters], skeleton: Skeleton, decision: FreeDecision
) -> Skeleton:
    """The skeleton, oriented by the run's rules.

    The rules may need further tests. If these exceed the run's test limit, no further test is made,
    and the separating sets of the search decide, as under the rule "first". Raises Cancelled if
    `hooks.cancelled` returns True.
    """
    rule, conflicts = run.parameters.collider_rule, run.parameters.conflict_rule
    if run.parameters.hidden_causes:
        return with_hidden_causes(run, skeleton, decision, rule, run.parameters.max_order)
    read = _read(run, skeleton, decision, rule, run.parameters.max_order, conflicts == "strength")
    skeleton, known = read.skeleton, run.known
    return skeleton._replace(
        graph=orient(
            skeleton.graph,
            read.sets,
            read.rule,
            conflicts,
            read.strength,
            in_turn=run.parameters.in_turn,
            known=known,
        ),
        overruled=overruled(skeleton.graph, read.sets, read.rule, known),
    )


def with_hidden_causes(
    run: Run[GraphParameters],
    skeleton: Skeleton,
    decision: FreeDecision,
    rule: ColliderRule,
    max_order: int | None,
    *,
    given: Sets | None = None,
) -> Skeleton:
    """The skeleton oriented as a PAG, without edges that further tests remove.

    The search leaves edges that are due to unobserved confounders alone; further tests remove them.
    Where no set of neighbours separates a pair, all sets of the size at which the search separated
    it decide, and not the one set that the search found, which depends on the order of the columns.
    Under the rule "first", too, all of these sets decide, and a triple on which they differ is
    ambiguous.  given: separating sets of the pairs that the search did not look at.  These sets and
    the sets of the search then decide on discriminating paths, and a triple is also ambiguous if
    they contradict the rule.
    """
    known, searched = run.known, skeleton
    found: dict[Edge, Collection[Collection[int]]] = dict(given or {})
    shown = _shown(found) | skeleton.separating_sets
    skeleton = skeleton._replace(separating_sets=shown)

    def independent(x: int, y: int, held: Columns) -> bool:
        if run.hooks.cancelled():
            raise Cancelled
        # Given what repeats x or y there is nothing left to test.
        if known.repeats.keys() & set(held):
            return False
        return decision.fits(x, y, held) and decision.answer(x, y, held).independent

    def read(skeleton: Skeleton) -> tuple[_Read, Triples]:
        reading = _read(run, skeleton, decision, "union" if rule == "first" else rule, max_order)
        own = {pair: sets for pair, sets in reading.sets.items() if sets}
        pairs = {(x, y) for x, _, y in unshielded(skeleton.graph)} & searched.separating_sets.keys()
        pairs -= found.keys() if given is not None else found.keys() | own.keys()
        found.update(_of_one_size(run, searched, decision, sorted(pairs)))
        by: ColliderRule = "conservative" if "first" in (rule, reading.rule) else rule
        reading = reading._replace(sets=found | own, rule=by)
        triples = read_triples(skeleton.graph, reading.sets, by, known)
        if given is not None:
            reading = reading._replace(sets=found, rule="conservative")
            triples = triples.agreeing(read_triples(skeleton.graph, found, "conservative", known))
        return reading, triples

    reading, triples = read(skeleton)
    edges = HiddenEdges.of(skeleton.graph, reading.sets, known)
    stage = edges.test(independent, triples, max_order, most=run.test_limit)
    if edges.removed:
        cuts = {pair: edges.separating[pair] for pair in edges.removed}
        found.update(cuts)
        skeleton = reading.skeleton._replace(
            graph=edges.skeleton,
            separating_sets=reading.skeleton.separating_sets | _shown(cuts),
        )
        reading, triples = read(skeleton)
    skeleton = reading.skeleton
    return skeleton._replace(
        # After RFCI, rule R4 is left out, because it would need further tests.
        graph=orient_pag(
            skeleton.graph.nodes,
            edges.neighbours,
            reading.sets,
            triples,
            reading.rule,
            known=known,
            discriminating=stage == "possible-d-sep",
        ),
        overruled=overruled(skeleton.graph, reading.sets, reading.rule, known),
        hidden_stage=stage,
    )


def _of_one_size(
    run: Run[GraphParameters], skeleton: Skeleton, decision: FreeDecision, pairs: list[Edge]
) -> Sets:
    """All separating sets of the size at which the search separated each pair, or the set that it
    found if the test limit allows no more tests.
    """
    wanted = list(_levels(skeleton, pairs, run.known))
    if run.test_limit is not None and sum(w.tests().total() for w in wanted) > run.test_limit:
        return {pair: [skeleton.separating_sets[pair]] for pair in pairs}
    decision.prepare([family for each in wanted for family in each.families()])
    sets = _Tests(wanted, decision, run.hooks).separating
    return {pair: own or [skeleton.separating_sets[pair]] for pair, own in sets.items()}


def _shown(sets: Sets) -> dict[Edge, frozenset[int]]:
    """One of the smallest separating sets of each pair."""
    return {pair: frozenset(min(smallest(own), key=sorted)) for pair, own in sets.items()}


def _read(
    run: Run[GraphParameters],
    skeleton: Skeleton,
    decision: FreeDecision,
    rule: ColliderRule,
    max_order: int | None,
    strengths: bool = False,
) -> _Read:
    """Make the tests that the rule needs, and collect the separating sets that they find.

    strengths: whether strengths of v-structures are needed.
    """
    graph, known = skeleton.graph, run.known
    ends = {(x, y) for x, _, y in unshielded(graph)}
    adjacent = known.possible_parents([graph.adjacent(node) for node in range(len(graph.nodes))])
    most = max(map(len, adjacent))
    every = _Wanted(0, most if max_order is None else min(max_order, most), [], adjacent)
    # The search did not look for separating sets of pairs that knowledge rules out.
    unasked = every._replace(pairs=sorted(ends & known.ruled_out))
    if rule in ("first", "union"):
        skeleton = _separated(run, skeleton, decision, unasked)
        unasked = unasked._replace(pairs=[])
    if rule == "first":
        return _Read(skeleton, skeleton.found_sets, "first", None)
    pairs = sorted(ends & (skeleton.separating_sets.keys() | set(unasked.pairs)))
    around: list[_Wanted] = []
    if rule != "union" or strengths:
        around = [every._replace(pairs=pairs)]
    level = list(_levels(skeleton, pairs, known)) if rule == "union" else []

    left: Counter[int] = Counter()
    for wanted in (*around, *level):
        left += wanted.tests()
    if run.test_limit is not None and left.total() > run.test_limit:
        unreached = skeleton.unreached if skeleton.stopped else dict(left)
        skeleton = skeleton._replace(stopped=skeleton.stopped or "work", unreached=unreached)
        return _Read(skeleton, skeleton.found_sets, "first", None)

    decision.prepare([family for wanted in (*around, *level) for family in wanted.families()])
    tests = _Tests(around, decision, run.hooks)
    looked = _Tests(level, decision, run.hooks) if rule == "union" else tests
    return _Read(skeleton, looked.separating, rule, tests.strength)


def _separated(
    run: Run[GraphParameters], skeleton: Skeleton, decision: FreeDecision, unasked: _Wanted
) -> Skeleton:
    """Add the first separating set of each untested pair, if it has any and the limit allows."""
    if run.test_limit is not None and unasked.tests().total() > run.test_limit:
        return skeleton
    separating = dict(skeleton.separating_sets)
    for x, y in unasked.pairs:
        for conditioning_set in unasked.sets(x, y):
            if run.hooks.cancelled():
                raise Cancelled
            fits = decision.fits(x, y, conditioning_set)
            if fits and decision.answer(x, y, conditioning_set).independent:
                separating[x, y] = frozenset(conditioning_set)
                break
    return skeleton._replace(separating_sets=separating)


def _levels(skeleton: Skeleton, pairs: Iterable[Edge], known: Constraints) -> Iterator[_Wanted]:
    """Each pair with the neighbours of its ends at the start of the order that separated it."""
    by_order: dict[int, list[Edge]] = {}
    for pair in pairs:
        by_order.setdefault(len(skeleton.separating_sets[pair]), []).append(pair)
    for order, own in by_order.items():
        # A pair that was separated at this order or later was adjacent then, if it ever was.
        there = {p for p, known_set in skeleton.separating_sets.items() if len(known_set) >= order}
        there -= known.ruled_out
        adjacent: list[set[int]] = [set() for _ in skeleton.graph.nodes]
        for i, j in there | skeleton.graph.skeleton:
            adjacent[i].add(j)
            adjacent[j].add(i)
        yield _Wanted(order, order, own, known.possible_parents(adjacent))
