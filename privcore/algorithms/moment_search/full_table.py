"""Moment search where the columns have few combinations of levels: all of their counts, once.

One release of pure DP takes the whole budget; everything else is post-processing: the best DAG by
its posterior score, and samplers that say how probable each edge is.
Proof: docs/proofs/moment_search.md, statement 5.

Twice the log of a DAG's posterior probability, up to a constant, is

    2 log L(θ̂) + 2 Σ [BDeu(e) − log-likelihood of e] − 2 log C(p(p − 1)/2, k)

The last part is the prior: every number k of edges is as likely as any other before, and so is
every choice of so many pairs (Scott & Berger 2010), so that the more pairs there are, the more is
wanted of the first edges.  Beyond half of the pairs, k stays there: a graph of all of them is no
choice of one.

L is the likelihood of the noisy counts, θ̂ its maximum for the DAG, and e of a cell the rows that
the noisy count is worth: m² times the information on its expectation m, summed to each family.
Without noise e are the counts and the score is BDeu's (Heckerman, Geiger & Chickering 1995) with an
equivalent sample size of 1; where the noise says everything, it is the prior.  Equivalent DAGs have
the same score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from privcore import kernels
from privcore.algorithms.moment_search.dags.dag_search import Parents, edges_of
from privcore.algorithms.moment_search.dags.obeying import parent_worth
from privcore.algorithms.moment_search.likelihood.cell_likelihood import (
    CellLikelihood,
    cell_information,
)
from privcore.algorithms.moment_search.likelihood.findings import smallest_seen, stated_finding
from privcore.algorithms.moment_search.likelihood.whole_evidence import WholeEvidence
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.posterior import (
    Between,
    Families,
    Masks,
    Posterior,
    bits,
    share_of_arrows,
    two_samples,
)
from privcore.algorithms.moment_search.release.kept import KeptTable
from privcore.algorithms.moment_search.release.plan import WholePlan, plan_whole
from privcore.algorithms.moment_search.release.releases import release_whole
from privcore.algorithms.moment_search.steps import (
    between,
    most_parents,
    record_release,
    released_margins,
)
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import (
    Beyond,
    Edge,
    PairFinding,
    Released,
    Spent,
    Step,
    Verdict,
)
from privcore.arrays import Matrix, Vector
from privcore.errors import ParameterError
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered
from privcore.kernels.arguments import Near
from privcore.privacy.accounting.events import Event

_PROOFS = ("docs/proofs/moment_search.md",)
# With noise of a smaller scale a count is wrong with a probability below 1e-8, and the likelihood,
# which is made for noise, loses its digits.
_LEAST_SCALE = 0.05
# Part of the noisy counts in the expectations that scores are near, so that cells in which a fit
# expects nothing can come back.
_MIXED = 0.01
# Fits end that far from their top.
_TOO_SMALL = 0.01
# Samplers that meet a DAG so much better begin again from it.
_BETTER = 1.0
# A pair without an edge is called so where an edge is no more probable than that.
_NO_EDGE = 0.1
# An arrow is drawn where it is more probable than its opposite; and what an edge is before anything
# is seen.
_EVEN = 0.5


class Fit(NamedTuple):
    """value: the score, or if the fit is not `exact`, less than that.

    expected: of each cell; slopes: of the log-likelihood in it.
    """

    value: float
    exact: bool
    expected: Vector
    slopes: Vector


class TableScore:
    """counts: noisy, shape = levels.  n: rows, public.  scale: of the discrete Laplace noise."""

    def __init__(
        self,
        counts: NDArray[np.float64],
        n: int,
        scale: float,
        *,
        max_parents: int,
        known: Constraints | None = None,
    ) -> None:
        self.levels, self.n, self.scale = counts.shape, float(n), max(scale, _LEAST_SCALE)
        self.columns, self.max_parents = counts.ndim, min(max_parents, counts.ndim - 1)
        self.known = known or Constraints.none(counts.ndim)
        self._worth = parent_worth(self.known, n)
        self._prior = _log_prior(math.comb(self.columns, 2))
        self._counts = counts.ravel()
        self._likelihood = CellLikelihood(self._counts, self.scale)
        places = np.unravel_index(np.arange(counts.size), counts.shape)
        self._places = np.array(places, dtype=np.int64)
        self._levels = np.array(self.levels, dtype=np.int64)
        self._sample = nearest_table(self._counts, self.n)
        # A cell that begins with nothing cannot come back.
        self._start = np.maximum(self._sample, 0.5)
        self._fits: dict[Any, Fit] = {}

    def fit(self, dag: Masks, wanted: float = -math.inf) -> Fit:
        """wanted: a score; what is far below it is not fitted to the end.

        Kept by Markov equivalence class, without what is known beforehand.  Every fit begins from
        the nearest table: one that begins from the fit of a DAG alike is often caught where that
        DAG's expectations are next to nothing, and so would the search be.
        """
        beside = sum(self._known_worth(*family) for family in enumerate(dag))
        beside += float(self._prior[sum(mask.bit_count() for mask in dag)])
        key, hopeless = class_of(dag), wanted - beside - kernels.table_fits.HOPELESS
        fit = self._fits.get(key)
        if fit is None or not (fit.exact or fit.value < hopeless):
            masks = np.array(dag, dtype=np.int64)
            fit = self._fits[key] = Fit(
                *kernels.table_fits.fit_dag(
                    self._likelihood.noisy,
                    self.n,
                    self._places,
                    self._levels,
                    masks,
                    self._start,
                    wanted - beside,
                )
            )
        return fit._replace(value=fit.value + beside)

    def _known_worth(self, column: int, parents: int) -> float:
        """What the parents of a column are worth by background knowledge alone."""
        if self.known.empty:
            return 0.0
        return float(sum(self._worth[column, parent] for parent in bits(parents)))

    def near(self, fit: Fit) -> Families:
        """Scores of families near a fit, all columns being candidates.

        Each family's probabilities are taken one step of Fisher scoring away from the fit, and
        scored by BDeu as if as many rows had shown them as the noisy counts have information of.
        """
        near = self.counts_near(fit)

        def score(column: int, parents: int) -> float:
            scored = float(kernels.table_fits.family_score(column, parents, near))
            return scored + self._known_worth(column, parents)

        every = [range(self.columns)] * self.columns
        return Families(score, every, self._prior, self.max_parents)

    def counts_near(self, fit: Fit) -> Near:
        """What these scores are made of."""
        expected = np.maximum((1 - _MIXED) * fit.expected + _MIXED * self._sample, 1e-9)
        rows = expected * expected * cell_information(expected, self.scale)
        size = self._places.shape[1]
        return Near(
            np.array([expected, rows, expected * self._likelihood.at(expected).slopes]),
            self._places,
            self._levels,
            np.empty(size, np.int64),
            np.empty((3, size * max(self.levels))),
        )

    @property
    def fitted(self) -> int:
        """How many classes of DAGs were fitted."""
        return len(self._fits)


def class_of(dag: Masks) -> tuple[Masks, frozenset[tuple[int, int, int]]]:
    """Skeleton and v-structures, which are the same of equivalent DAGs (Verma & Pearl 1990)."""
    near = list(dag)
    for effect, mask in enumerate(dag):
        for cause in bits(mask):
            near[cause] |= 1 << effect
    colliders = frozenset(
        (a, b, effect)
        for effect, mask in enumerate(dag)
        for a in bits(mask)
        for b in bits(mask & ~near[a])
        if a < b
    )
    return tuple(near), colliders


def _log_prior(pairs: int) -> Vector:
    """Twice its logarithm, by the number of edges, up to a constant.

    >>> [round(float(value), 2) for value in _log_prior(3)]
    [0.0, -2.2, -2.2, -2.2]
    """
    many = np.minimum(np.arange(pairs + 1), pairs // 2)
    ways = gammaln(pairs + 1) - gammaln(many + 1) - gammaln(pairs - many + 1)
    return np.asarray(-2 * ways)


def nearest_table(counts: Vector, n: float) -> Vector:
    """The table without negative counts that adds up to n and is nearest to the noisy one.

    The projection on a simplex (Duchi et al. 2008).
    """
    falling = np.sort(counts)[::-1]
    shift = (np.cumsum(falling) - n) / np.arange(1, counts.size + 1)
    last = np.flatnonzero(falling > shift)[-1]
    return np.asarray(np.maximum(counts - shift[last], 0.0))


def neighbours(dag: Masks, most: int) -> list[Masks]:
    """DAGs with one edge more, less or turned; most: parents of a column."""
    near = []
    for i, j in combinations(range(len(dag)), 2):
        for backward, forward in ((0, 0), (1, 0), (0, 1)):
            new = list(dag)
            new[i] = dag[i] & ~(1 << j) | backward << j
            new[j] = dag[j] & ~(1 << i) | forward << i
            if max(new[i].bit_count(), new[j].bit_count()) <= most and is_acyclic(new):
                near.append(tuple(new))
    return [new for new in near if new != dag]


def is_acyclic(dag: Sequence[int]) -> bool:
    left = (1 << len(dag)) - 1
    while left:
        first = sum(1 << column for column in bits(left) if not dag[column] & left)
        if not first:
            return False
        left ^= first
    return True


def climbed(score: TableScore, dag: Masks, between: Between) -> tuple[Masks, Fit]:
    """Where steps to better neighbours end, those tried first that promise most near the fit."""
    fit, moves = score.fit(dag), 0
    while True:
        between(moves)
        moves += 1
        promised = score.near(fit).value
        for new in sorted(neighbours(dag, score.max_parents), key=promised, reverse=True):
            reached = score.fit(new, fit.value)
            if reached.value > fit.value + _TOO_SMALL:
                dag, fit = new, reached
                break
        else:
            return dag, fit


class _Better(Exception):
    """Samplers met a DAG that is better than the one they began from."""


class _Best:
    """The best DAG that samplers met, and its fit."""

    def __init__(self, score: TableScore, dag: Masks, fit: Fit) -> None:
        self._score, self._start, self.dag, self.fit = score, fit.value, dag, fit

    def exact(self, dag: Masks, wanted: float) -> float:
        """The score, −∞ if it is far below what is wanted; raises _Better."""
        fit = self._score.fit(dag, wanted)
        if fit.exact and fit.value > self.fit.value:
            self.dag, self.fit = dag, fit
        if self.fit.value > self._start + _BETTER:
            raise _Better
        return fit.value if fit.exact else -math.inf


class Sampled(NamedTuple):
    """dag: the best one that was met, and its fit."""

    dag: Masks
    fit: Fit
    posterior: Posterior

    @property
    def parents(self) -> Parents:
        return tuple(frozenset(bits(mask)) for mask in self.dag)


def sampled(score: TableScore, between: Between = lambda moves: None) -> Sampled:
    """The posterior of DAGs; the same for the same score.

    between: called now and then with the number of steps made; it may raise.
    """
    empty: Parents = (frozenset(),) * score.columns
    # With the edges that have to be there.
    dag = tuple(sum(1 << c for c in causes) for causes in score.known.repaired(empty))
    while True:
        dag, fit = climbed(score, dag, between)
        best, near = _Best(score, dag, fit), score.near(fit)
        try:
            first, second = two_samples(near, dag, between, best.exact)
            break
        except _Better:
            dag = best.dag
    shares = [share_of_arrows([near.parents_of(one) for one in met]) for met in (first, second)]
    apart = np.abs(shares[0] + shares[0].T - shares[1] - shares[1].T)
    times = Counter(first + second)
    many = times.total()
    # Half a draw with the edge and half a draw without: none of so many is not never.
    directed = (many * (shares[0] + shares[1]) / 2 + (1 - np.eye(score.columns)) / 4) / (many + 1)
    dags = tuple((near.parents_of(one), time / many) for one, time in times.items())
    posterior = Posterior(directed, float(apart.max()), _EVEN, score.known, dags)
    return Sampled(best.dag, best.fit, posterior)


def plan_again(run: Run[MomentSearchParameters], before: KeptTable) -> WholePlan:
    """The counts of a run before, with less noise."""
    plan = plan_whole(before.n, before.levels, run.parameters.epsilon, cells=before.counts.size)
    assert plan is not None
    return plan


def events_of_whole(run: Run[MomentSearchParameters]) -> tuple[Event, ...]:
    """Two counts move by 1 each."""
    return (Event("discrete laplace", run.parameters.epsilon / 2, 2),)


def run_on_whole_table(
    run: Run[MomentSearchParameters], plan: WholePlan, recorder: common.Recorder
) -> Outcome:
    before = run.earlier.kept if isinstance(run.earlier.kept, KeptTable) else None
    if before is not None and (before.scale <= plan.scale or before.levels != run.source.levels):
        raise ParameterError(
            f"The release before has used all of ε = {run.parameters.epsilon:g}, or has other "
            "levels; give a larger total, and the table that was released."
        )
    counts = release_whole(run.source, plan, run.noise, before)
    record_release(recorder, plan.scale, 1.0, 1)
    return searched_whole(run, KeptTable(plan.n, counts, plan.scale), recorder)


def searched_whole(
    run: Run[MomentSearchParameters], kept: KeptTable, recorder: common.Recorder
) -> Outcome:
    """What the noisy counts show, and nothing else: they can be searched again."""
    parameters, names, counts = run.parameters, run.source.names, kept.counts
    moments = kept.moments
    known = run.known
    score = TableScore(counts, kept.n, kept.scale, max_parents=most_parents(run), known=known)
    best = sampled(score, lambda moves: between(run, moves))
    edges = likely_edges(best, parameters.false_edges, known)
    graph = drawn(names, best.posterior, edges, known)
    directed = best.posterior.stated
    stated = directed + directed.T
    for i, j in combinations(range(len(names)), 2):
        if (i, j) in known.ruled_out:
            continue
        probability, apart = float(stated[i, j]), (i, j) not in graph.skeleton
        recorder.add(Step.noiseless(i, j, (), probability, math.nan, apart))
    return Outcome(
        graph=graph,
        separating_sets={},
        guarantee=common.proven_guarantee(run, "pure DP", _PROOFS, 0.0),
        spent=Spent("share", 1.0, 1.0, 1, 1, "releases"),
        tests_run=score.fitted,
        orders_run=1 + max(mask.bit_count() for mask in best.dag),
        stopped=None,
        trace=tuple(recorder.steps),
        unit="probability",
        beyond=Beyond(
            _findings(parameters, score, best, graph, directed),
            released_margins(moments),
            settled=best.posterior.settled,
            released=Released(best.posterior.dags, moments, kept=kept),
        ),
    )


def likely_edges(best: Sampled, level: float, known: Constraints) -> set[Edge]:
    """The edges of the best DAG that stay: those required, and of the others as many as there may
    be with a share of false ones, by the probabilities of each, of no more than the level."""
    dag, probable = known.repaired(best.parents), best.posterior.edges
    held = {edge for edge in edges_of(dag) if ordered(*edge) in known.required}
    ranked = sorted(edges_of(dag) - held, key=lambda edge: (-probable[edge], edge))
    false, many = 0.0, 0
    for k, edge in enumerate(ranked, 1):
        false += 1 - float(probable[edge])
        if false <= level * k:
            many = k
    return held.union(ranked[:many])


def drawn(
    names: tuple[str, ...], posterior: Posterior, kept: set[Edge], known: Constraints
) -> PDAG:
    """The class of the DAG with these edges, but without arrows that are not probable."""
    graph = known.completed(cpdag_of_dag(names, kept))
    arrows = {
        (cause, effect)
        for cause, effect in graph.directed
        if posterior.directed[cause, effect] > _EVEN * posterior.edges[cause, effect]
        or not known.allowed[effect, cause]
    }
    others = {(min(edge), max(edge)) for edge in graph.directed - arrows}
    return PDAG(graph.nodes, frozenset(arrows), graph.undirected | others)


def _findings(
    parameters: MomentSearchParameters,
    score: TableScore,
    best: Sampled,
    graph: PDAG,
    stated: Matrix,
) -> dict[Edge, PairFinding]:
    """Post-processing, as all that follows from the noisy counts."""
    seen = WholeEvidence(score.levels, score.scale, best.fit.expected, parameters.false_edges)
    findings = {}
    for pair in combinations(range(score.columns), 2):
        if pair in score.known.ruled_out:
            continue
        effect = seen.effect(*pair)
        if pair in graph.skeleton:
            findings[pair] = stated_finding("edge", pair, stated, effect, arrows=graph.directed)
            continue
        visible = smallest_seen(seen, best.parents, pair, frozenset(), 1.0, 1.0)
        told = visible is not None and visible <= parameters.reference_effect
        told = told and stated[pair] + stated[pair[::-1]] <= _NO_EDGE
        verdict: Verdict = "no edge seen" if told else "not enough budget"
        findings[pair] = stated_finding(verdict, pair, stated, effect, visible)
    return findings
