"""Moment search on noisy counts of all combinations of levels: the posterior of DAGs, and a search.

**Likelihood.** A count with expectation m is a Poisson variable plus discrete Laplace noise of
scale b. This likelihood contains twice as much information about small cells as a likelihood with
normal noise of the same variance. Cells that are empty under every model do not affect the
comparison of models.

**Score.** Twice the log of a DAG's posterior probability, up to a constant, is

    2 log L(θ̂) + 2 Σ [BDeu(e) − log-likelihood of e] − 2 log C(p(p − 1)/2, k)

The last term is the prior: all numbers of edges k are equally probable, and given k, all choices of
k pairs are equally probable (Scott & Berger 2010). The more pairs there are, the more evidence the
first edges therefore need. If k is above half the number of pairs, the prior uses half the number
of pairs instead of k: otherwise the complete graph, which is a single choice, would be favoured.

L is the likelihood of the noisy counts, and θ̂ maximises L for the DAG. The effective number of
rows in a noisy count is m² times the information about the count's expectation m; e holds the sums
of these numbers over the cells of each family. Without noise, e holds the counts themselves, and
the score is the BDeu score (Heckerman, Geiger & Chickering 1995) with an equivalent sample size of
1. If the noise dominates, the score is the prior. Equivalent DAGs have the same score.

**Search.** The score is not a sum over families. The search moves from a DAG to a better neighbour
of this DAG or of another DAG in the same equivalence class (Castelo & Kočka 2003). The other DAG is
reached by a few random reversals of covered edges. Neighbours are tried in the order of their
approximate gain. At a local optimum the search restarts from a changed copy of the best DAG:
without the edges of one column, or with one edge reversed and fixed until the rest of the DAG has
adapted. A better optimum becomes the best DAG.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from privcore import kernels
from privcore.algorithms.moment_search.evidence import Power, TableEvidence
from privcore.algorithms.moment_search.findings import Found, Rules
from privcore.algorithms.moment_search.log_linear import margin, nearest_table
from privcore.algorithms.moment_search.moments import Moments
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.posterior import (
    Families,
    Masks,
    Posterior,
    bits,
    share_of_arrows,
    two_samples,
)
from privcore.algorithms.moment_search.released import ReleasedNumbers
from privcore.algorithms.moment_search.search import (
    Between,
    Parents,
    between,
    edges_of,
    most_parents,
    parent_log_prior,
)
from privcore.algorithms.moment_search.statistic import cell_information
from privcore.algorithms.moment_search.visible import probable_from
from privcore.algorithms.search import common
from privcore.algorithms.search.model import Run
from privcore.algorithms.search.result import Edge, Step
from privcore.arrays import Columns, Vector
from privcore.graphs import PDAG, cpdag_of_dag
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import ordered
from privcore.kernels.arguments import Near, Noisy

# Below this expectation, and for noise of a smaller scale, the Poisson distribution is summed.
_SUMMED = 10.0
_WIDE = 5.0
# A Poisson count with expectation `_SUMMED` is larger with probability below 1e-15.
_LARGEST = 45
# Less likely counts use the normal distribution, whose logarithm does not underflow.
_LEAST = 1e-200
# With noise of a smaller scale the likelihood loses precision.
_LEAST_SCALE = 0.05
# Usual weight of the noisy counts in the expectations near which scores are computed.
_MIXED = 0.01
# Numbers of neighbours that are fitted, and of class members whose neighbours are considered.
_FITTED, _MEMBERS = 24, 6
_TURNS = 10
# Fits stop this far below their maximum.
_TOO_SMALL = 0.01
# The same weight, in each of the first searches.
_FIRST_MIXED = (0.0, 0.01, 0.05, 1.0)
_COOLING = (25.0, 12.0, 6.0, 3.0, 1.5, 0.5, 0.1)
# If samplers find a DAG better by this much, they restart from it.
_BETTER = 1.0
_ANY = (-1, -1)
# Prior probability of an edge.
_EVEN = 0.5
# "No edge" is stated only if an edge is at most this probable.
_NO_EDGE = 0.1
# Smallest denominator of a share.
_EMPTY = 1e-9
# An arrow is drawn if it is more probable than its opposite.
_EVEN_ARROW = 0.5


def noisy_cells(counts: Vector, scale: float) -> Noisy:
    """Noisy counts with precomputed parts of their likelihood.

    counts: noisy whole numbers, shape (cells,). scale: the scale b of the noise, positive.
    """
    # Probability of the noise between each true count and the noisy one, scaled in each cell so
    # that the largest is 1.
    distance = np.abs(counts[:, None] - np.arange(_LARGEST + 1))
    nearest = distance.min(axis=1)
    noise = np.exp((nearest[:, None] - distance) / scale)
    factor = np.log(np.tanh(0.5 / scale)) - nearest / scale
    return Noisy(counts, noise, factor, float(scale), _SUMMED if scale < _WIDE else 0.0, _LEAST)


def log_likelihood(noisy: Noisy, expected: Vector) -> tuple[float, Vector]:
    """The log-likelihood of the counts, and its slope by the expectation of each cell.

    expected: positive, shape (cells,).
    """
    slopes = np.empty_like(expected)
    return kernels.cells.cells_likelihood(noisy, expected, slopes), slopes


class Fit(NamedTuple):
    """The fit of a DAG.

    value: the score, or a lower bound on the score if the fit is not `exact`. expected: expectation
    of each cell. slopes: derivative of the log-likelihood with respect to each expectation.
    """

    value: float
    exact: bool
    expected: Vector
    slopes: Vector


class TableScore:
    """Scores of DAGs on a noisy table.

    counts: noisy counts, shape = levels. n: public number of rows. scale: scale of the discrete
    Laplace noise.
    """

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
        self._parent_log_prior = parent_log_prior(self.known, n)
        self._prior = _log_prior(math.comb(self.columns, 2))
        self._counts = counts.ravel()
        self._noisy = noisy_cells(self._counts, self.scale)
        places = np.unravel_index(np.arange(counts.size), counts.shape)
        self._places = np.array(places, dtype=np.int64)
        self._levels = np.array(self.levels, dtype=np.int64)
        self._sample = nearest_table(self._counts, self.n)
        # A cell that starts at 0 stays at 0.
        self._start = np.maximum(self._sample, 0.5)
        self._fits: dict[Any, Fit] = {}

    def fit(self, dag: Masks, wanted: float = -math.inf) -> Fit:
        """The fit of a DAG; a fit whose score is far below `wanted` is not completed.

        Fits are cached by Markov equivalence class, without the prior from background knowledge.
        Every fit starts from the table nearest to the noisy counts. A fit that started from the fit
        of a similar DAG would often get stuck where that DAG's expectations are close to 0, and the
        search would get stuck too.
        """
        prior = self.knowledge_log_prior(dag) + float(
            self._prior[sum(mask.bit_count() for mask in dag)]
        )
        key, hopeless = class_of(dag), wanted - prior - kernels.table_fits.HOPELESS
        fit = self._fits.get(key)
        if fit is None or not (fit.exact or fit.value < hopeless):
            masks = np.array(dag, dtype=np.int64)
            fit = self._fits[key] = Fit(
                *kernels.table_fits.fit_dag(
                    self._noisy,
                    self.n,
                    self._places,
                    self._levels,
                    masks,
                    self._start,
                    wanted - prior,
                )
            )
        return fit._replace(value=fit.value + prior)

    def knowledge_log_prior(self, dag: Masks) -> float:
        """Log prior of a DAG from background knowledge alone."""
        return sum(self._family_log_prior(*family) for family in enumerate(dag))

    def _family_log_prior(self, column: int, parents: int) -> float:
        """Log prior of the parents of a column from background knowledge alone."""
        if self.known.empty:
            return 0.0
        return float(sum(self._parent_log_prior[column, parent] for parent in bits(parents)))

    def families_near(self, fit: Fit, mixed: float = _MIXED) -> Families:
        """Scores of families near a fit, with all columns as candidates.

        mixed: weight of the noisy counts in the expectations; with a positive weight, cells at 0 in
        the fit can become positive.

        The probabilities of each family are one step of Fisher scoring away from the fit, and are
        scored by BDeu with the effective numbers of rows in the noisy counts.
        """
        counts = self.counts_near(fit, mixed)

        def score(column: int, parents: int) -> float:
            scored = float(kernels.table_fits.family_score(column, parents, counts))
            return scored + self._family_log_prior(column, parents)

        every = [range(self.columns)] * self.columns
        return Families(score, every, self._prior, self.max_parents)

    def counts_near(self, fit: Fit, mixed: float = _MIXED) -> Near:
        """The arrays from which `families_near` computes scores."""
        expected = np.maximum((1 - mixed) * fit.expected + mixed * self._sample, 1e-9)
        rows = expected * expected * cell_information(expected, self.scale)
        size = self._places.shape[1]
        return Near(
            np.array([expected, rows, expected * log_likelihood(self._noisy, expected)[1]]),
            self._places,
            self._levels,
            np.empty(size, np.int64),
            np.empty((3, size * max(self.levels))),
        )

    @property
    def fitted(self) -> int:
        """Number of equivalence classes of DAGs fitted so far."""
        return len(self._fits)


def _log_prior(pairs: int) -> Vector:
    """Twice the log prior of a DAG by its number of edges, up to a constant.

    >>> [round(float(value), 2) for value in _log_prior(3)]
    [-0.0, -2.2, -2.2, -2.2]
    """
    many = np.minimum(np.arange(pairs + 1), pairs // 2)
    ways = gammaln(pairs + 1) - gammaln(many + 1) - gammaln(pairs - many + 1)
    return np.asarray(-2 * ways)


@lru_cache(maxsize=10_000)
def class_of(dag: Masks) -> tuple[Masks, frozenset[tuple[int, int, int]]]:
    """The skeleton and v-structures of a DAG, which identify the DAG's equivalence class.

    See Verma & Pearl (1990).
    """
    neighbours = list(dag)
    for effect, mask in enumerate(dag):
        for cause in bits(mask):
            neighbours[cause] |= 1 << effect
    colliders = frozenset(
        (a, b, effect)
        for effect, mask in enumerate(dag)
        if mask & (mask - 1)
        for a in bits(mask)
        for b in bits(mask & ~neighbours[a] & -(2 << a))
    )
    return tuple(neighbours), colliders


class Better(Exception):
    """Raised when samplers find a DAG that is clearly better than the DAG they started from."""


class TableSearch:
    """A search for the best DAG; holds the best DAG so far and its fit.

    between: called before each step with the number of steps so far; may raise an exception to end
    the search.
    """

    def __init__(self, score: TableScore, between: Between = lambda moves: None) -> None:
        self._score, self._between, self._moves = score, between, 0
        # The choice of class members must not depend on secret noise; any choice is valid.
        self._random = np.random.default_rng(0)
        # With the required edges.
        parents = score.known.repaired((frozenset(),) * score.columns)
        empty = tuple(sum(1 << c for c in causes) for causes in parents)
        starts = dict(self._cooled(empty, mixed) for mixed in _FIRST_MIXED)
        ends = [self._climbed(*start) for start in starts.items()]
        self.dag, self.fit = max(ends, key=lambda end: end[1].value)
        self._begin_again()
        self._sampled_from = self.fit.value

    def exact(self, dag: Masks, wanted: float) -> float:
        """The score of a DAG, or −∞ if the score is far below `wanted`.

        Raises Better if the samplers have found a DAG clearly better than their start.
        """
        fit = self._score.fit(dag, wanted)
        if not fit.exact:
            return -math.inf
        if fit.value > self.fit.value:
            self.dag, self.fit = dag, fit
        if self.fit.value > self._sampled_from + _BETTER:
            raise Better
        return fit.value

    def climb_on(self) -> None:
        """Continue the search from the best DAG that the samplers found."""
        self.dag, self.fit = self._climbed(self.dag, self.fit)
        self._sampled_from = self.fit.value

    def _cooled(self, dag: Masks, mixed: float) -> tuple[Masks, Fit]:
        """Search by random walks near a fit; each walk starts where the previous walk ended."""
        score, fit = self._score, self._score.fit(dag)
        steps = 5 * score.columns * score.columns
        while True:
            scores, new = score.families_near(fit, mixed), dag
            for temperature in _COOLING:
                new = scores.walk(new, temperature, self._random.random((steps, 3)))
            reached = score.fit(new)
            if reached.value <= fit.value + _TOO_SMALL:
                return dag, fit
            dag, fit = new, reached

    def _climbed(self, dag: Masks, fit: Fit, held: Edge = _ANY) -> tuple[Masks, Fit]:
        """Climb to a local optimum; held: an edge (cause, effect) that stays."""
        while True:
            self._between(self._moves)
            self._moves += 1
            for option in self._options(dag, fit, held):
                reached = self._score.fit(option, fit.value)
                if reached.value > fit.value + _TOO_SMALL:
                    dag, fit = option, reached
                    break
            else:
                return dag, fit

    def _options(self, dag: Masks, fit: Fit, held: Edge) -> list[Masks]:
        scores = self._score.families_near(fit)
        members = [dag]
        if held == _ANY:
            others = [self._member(dag) for _ in range(_MEMBERS - 1)]
            members += [
                m
                for m in others
                if self._score.knowledge_log_prior(m) >= self._score.knowledge_log_prior(dag)
            ]
        promising: dict[Masks, float] = {}
        for member in dict.fromkeys(members):
            promising |= steps(scores, member, self._score.max_parents, held)
        options = {class_of(dag): dag}
        for option in sorted(promising, key=promising.__getitem__, reverse=True):
            if is_acyclic(option):
                options.setdefault(class_of(option), option)
            if len(options) > _FITTED:
                break
        return list(options.values())[1:]

    def _member(self, dag: Masks) -> Masks:
        """A random DAG from the equivalence class of this DAG."""
        turned = list(dag)
        for _ in range(_TURNS):
            ways = covered(turned)
            if not ways:
                break
            cause, effect = ways[self._random.integers(len(ways))]
            turned[effect] ^= 1 << cause
            turned[cause] |= 1 << effect
        return tuple(turned)

    def _begin_again(self) -> None:
        tried = set()
        improved = True
        while improved:
            improved = False
            for start, held in _beginnings(self.dag, self._member(self.dag)):
                key = (class_of(start), held)
                most = max(mask.bit_count() for mask in start)
                if key in tried or most > self._score.max_parents:
                    continue
                tried.add(key)
                reached = start, self._score.fit(start)
                if held != _ANY:
                    reached = self._climbed(*reached, held)
                dag, fit = self._climbed(*reached)
                if fit.value > self.fit.value + _TOO_SMALL:
                    self.dag, self.fit, improved = dag, fit, True
                    break


def steps(scores: Families, dag: Masks, most: int, held: Edge = _ANY) -> dict[Masks, float]:
    """The graphs that are one step from a DAG, with gains in score; some graphs have cycles.

    A step adds, deletes or reverses an edge, or replaces a parent by another column. most: maximum
    number of parents. held: an edge (cause, effect) that stays.
    """
    columns, many = range(len(dag)), sum(mask.bit_count() for mask in dag)
    own = [scores.of(*family) for family in enumerate(dag)]
    more, less = scores.prior[many + 1 : many + 2].sum(), scores.prior[max(many - 1, 0)]
    made: dict[Masks, float] = {}

    def step(gain: float, *families: Edge) -> None:
        new = list(dag)
        for column, mask in families:
            gain += scores.of(column, mask) - own[column]
            new[column] = mask
        made[tuple(new)] = gain

    for effect, mask in enumerate(dag):
        for cause in columns:
            changed = mask ^ 1 << cause
            if cause == effect or (cause, effect) == held:
                continue
            if not mask >> cause & 1:
                if not dag[cause] >> effect & 1 and mask.bit_count() < most:
                    step(more - scores.prior[many], (effect, changed))
                continue
            step(less - scores.prior[many], (effect, changed))
            if dag[cause].bit_count() < most:
                step(0.0, (effect, changed), (cause, dag[cause] | 1 << effect))
            for other in columns:
                if other != effect and not (mask >> other & 1 or dag[other] >> effect & 1):
                    step(0.0, (effect, changed | 1 << other))
    return made


def _beginnings(dag: Masks, member: Masks) -> Iterator[tuple[Masks, Edge]]:
    """DAGs to restart from, each with the edge to fix at first, if any."""
    for column in range(len(dag)):
        less = tuple(0 if c == column else mask & ~(1 << column) for c, mask in enumerate(dag))
        if less != dag:
            yield less, _ANY
    for one in dict.fromkeys((dag, member)):
        for effect, mask in enumerate(one):
            for cause in bits(mask):
                yield _turned(one, cause, effect), (effect, cause)


def _turned(dag: Masks, cause: int, effect: int) -> Masks:
    """The DAG with one edge reversed, without the edges that would then close a cycle."""
    new = list(dag)
    new[effect] ^= 1 << cause
    for parent in bits(new[effect]):
        if leads(new, cause, parent):
            new[effect] ^= 1 << parent
    new[cause] |= 1 << effect
    return tuple(new)


def leads(dag: Sequence[int], source: int, target: int) -> bool:
    """Whether a directed path goes from source to target."""
    met = waiting = 1 << target
    while waiting:
        parents = dag[(waiting & -waiting).bit_length() - 1] & ~met
        if parents >> source & 1:
            return True
        waiting, met = waiting & (waiting - 1) | parents, met | parents
    return False


@lru_cache(maxsize=10_000)
def is_acyclic(dag: Masks) -> bool:
    left = list(enumerate(dag))
    while left:
        columns = sum(1 << column for column, _ in left)
        later = [(column, mask) for column, mask in left if mask & columns]
        if len(later) == len(left):
            return False
        left = later
    return True


def covered(dag: Sequence[int]) -> list[Edge]:
    """Covered edges (cause, effect), whose two columns have the same other parents.

    Reversing a covered edge gives an equivalent DAG.
    """
    return [(a, b) for b, mask in enumerate(dag) for a in bits(mask) if mask == dag[a] | 1 << a]


class Sampled(NamedTuple):
    """The best DAG found, its fit, and the posterior from sampled DAGs."""

    dag: Masks
    fit: Fit
    posterior: Posterior

    @property
    def parents(self) -> Parents:
        return tuple(frozenset(bits(mask)) for mask in self.dag)


def sampled(score: TableScore, between: Between = lambda moves: None) -> Sampled:
    """Search for the best DAG and sample DAGs from the posterior; equal scores give equal results.

    between: called regularly with the number of steps so far; may raise an exception to end the
    search.
    """
    search = TableSearch(score, between)
    while True:
        scores = score.families_near(search.fit)
        try:
            first, second = two_samples(scores, search.dag, between, search.exact)
            break
        except Better:
            search.climb_on()
    shares = [share_of_arrows([scores.parents_of(one) for one in met]) for met in (first, second)]
    disagreement = np.abs(shares[0] + shares[0].T - shares[1] - shares[1].T)
    times = Counter(first + second)
    many = times.total()
    # Half a draw with the edge and half a draw without: 0 of N must not become probability 0.
    directed = (many * (shares[0] + shares[1]) / 2 + (1 - np.eye(score.columns)) / 4) / (many + 1)
    dags = tuple((scores.parents_of(one), time / many) for one, time in times.items())
    posterior = Posterior(directed, float(disagreement.max()), _EVEN, score.known, dags)
    return Sampled(search.dag, search.fit, posterior)


def searched_whole(
    run: Run[MomentSearchParameters], statistics: ReleasedNumbers, recorder: common.Recorder
) -> Found:
    """Search for a graph in the noisy counts alone."""
    parameters, known, scale = run.parameters, run.known, statistics.noise
    (table,) = statistics.measurements
    most = most_parents(run)
    score = TableScore(table.values, statistics.n, scale, max_parents=most, known=known)
    best = sampled(score, lambda moves: between(run, moves))
    edges = likely_edges(best, parameters.false_edges, known)
    graph = drawn(run.source.names, best.posterior, edges, known)
    stated = best.posterior.stated
    for i, j in combinations(range(score.columns), 2):
        if (i, j) not in known.ruled_out:
            probability = float(stated[i, j] + stated[j, i])
            nonadjacent = (i, j) not in graph.skeleton
            recorder.add(Step.noiseless(i, j, (), probability, math.nan, nonadjacent))
    return Found(
        # The best DAG with all of its edges: two DAGs can explain a confounder by different edges,
        # so that none of these is probable, and without all of them no DAG explains the numbers.
        dag=known.repaired(best.parents),
        graph=graph,
        posterior=best.posterior,
        separating={},
        rules=Rules(1.0, 1.0, parameters.reference_effect, _NO_EDGE),
        evidence=FittedEvidence(statistics.moments, parameters, score.scale, best.fit.expected),
        statistics=statistics,
        unit="probability",
        tests_run=score.fitted,
        orders_run=1 + max(mask.bit_count() for mask in best.dag),
    )


def likely_edges(best: Sampled, level: float, known: Constraints) -> set[Edge]:
    """The required edges of the best DAG, and the most probable of the other edges.

    The number of other edges is the largest number for which the expected share of false edges
    among them, computed from posterior probabilities, is at most `level`.
    """
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
    """The CPDAG of the kept edges, with only those arrows that are probable enough.

    An arrow becomes undirected if the reverse arrow is allowed and at least as probable.
    """
    graph = known.completed(cpdag_of_dag(names, kept))
    arrows = {
        (cause, effect)
        for cause, effect in graph.directed
        if posterior.directed[cause, effect] > _EVEN_ARROW * posterior.edges[cause, effect]
        or not known.allowed[effect, cause]
    }
    others = {(min(edge), max(edge)) for edge in graph.directed - arrows}
    return PDAG(graph.nodes, frozenset(arrows), graph.undirected | others)


class FittedEvidence(TableEvidence):
    """Evidence whose effect sizes and power come from the fit of a DAG.

    scale: scale of the noise. expected: expectation of each cell in the fit.
    """

    def __init__(
        self, moments: Moments, parameters: MomentSearchParameters, scale: float, expected: Vector
    ) -> None:
        super().__init__(moments, parameters.penalty)
        self._level = parameters.false_edges
        information = expected * expected * cell_information(expected, scale)
        self._expected, self._information = (
            cells.reshape(moments.levels) for cells in (expected, information)
        )

    def effect(self, x: int, y: int) -> float:
        """Cramér's V of a pair of columns in the fitted table."""
        joint = margin(self._expected, (x, y))
        joint = joint / joint.sum()
        product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
        squared = float(((joint - product) ** 2 / np.maximum(product, _EMPTY)).sum())
        return min(math.sqrt(squared / (min(joint.shape) - 1)), 1.0)

    def power(self, x: int, y: int, conditioning_set: Columns) -> Power | None:
        """Power to detect an edge x → y given the other parents of y, from the fitted counts.

        A dependence of size V changes a cell's expectation m by V m a(x) b(y), where a and b have
        mean 0 and variance 1 in each stratum. The information about V is the mean of Σ m² a² b² I
        over all such a and b, where I is the information about m.
        """
        columns = (x, y, *conditioning_set)
        expected = margin(self._expected, columns)
        expected = expected.reshape(*expected.shape[:2], -1)
        information = margin(self._information, columns).reshape(expected.shape)
        sizes = np.maximum(expected.sum(axis=(0, 1)), _EMPTY)
        # Per stratum, squares of such codes add up to 1/share − 1 at each level.
        squares = [
            sizes / np.maximum(expected.sum(axis=axis), _EMPTY * sizes) - 1 for axis in (1, 0)
        ]
        spread = (information * squares[0][:, None] * squares[1][None]).sum()
        r, s = expected.shape[:2]
        parts = (r - 1) * (s - 1)
        dof = parts * math.prod(self.moments.levels[c] for c in conditioning_set)
        each = float(spread) / parts
        if each <= 0:
            return None
        threshold = probable_from(self._information.sum(), (r, s), dof // parts, self._level)
        return Power(dof, threshold, each * (min(r, s) - 1))
