"""Noise whose outputs are written down, and played back to a run on other data."""

import math

import numpy as np
import pytest
from hypothesis import strategies as st
from scipy.special import logsumexp

from privcore.algorithms import discover
from privcore.counts import InMemoryCounts
from privcore.privacy.mechanisms import SimulatedNoise

LEVELS = (2, 3, 2, 2)


class Recorder(SimulatedNoise):
    """Simulated noise that writes down every value, scale and output."""

    def __init__(self, seed):
        super().__init__(seed)
        self.calls = []

    def _note(self, what, value, scale, output):
        self.calls.append((what, np.array(value, dtype=float), scale, output))
        return output

    def laplace(self, value, scale):
        return self._note("laplace", value, scale, super().laplace(value, scale))

    def laplace_array(self, values, scale):
        return self._note("laplace", values, scale, super().laplace_array(values, scale))

    def discrete_laplace_array(self, values, scale):
        return self._note("laplace", values, scale, super().discrete_laplace_array(values, scale))

    def discrete_gaussian_array(self, values, sigma):
        output = super().discrete_gaussian_array(values, sigma)
        return self._note("gaussian", values, sigma, output)

    def gaussian_array(self, values, sigma):
        return self._note("gaussian", values, sigma, super().gaussian_array(values, sigma))

    def noisy_max(self, scores, scale, perturbation):
        output = super().noisy_max(scores, scale, perturbation)
        return self._note(perturbation, scores, scale, output)

    def coin(self):
        return self._note("coin", 0, 1.0, super().coin())

    def subsample(self, multiplicities, size):
        """The rows drawn from, the size and the rows drawn; all rows are no draw."""
        drawn = super().subsample(multiplicities, size)
        if size == multiplicities.sum():
            return drawn
        return self._note("subsample", multiplicities, size, drawn)

    def permutation(self, size):
        return self._note("permutation", 0, 1.0, super().permutation(size))


class Replay(Recorder):
    """The outputs of a recorded run, in order, for other data.

    Sub-samples are not outputs: the same records are drawn, of which one may be another now.  For
    that both data sets must list the same kinds of records.
    """

    def __init__(self, recorded):
        super().__init__(0)
        self._recorded = iter(recorded)

    def _note(self, what, value, scale, output):
        before, there, scale_before, recorded = next(self._recorded)
        output = self._coupled(recorded, there, value) if what == "subsample" else recorded
        assert what == before, "the second run requires other noise than the first"
        # A scale that depends on the data would tell something by itself.
        assert scale == pytest.approx(scale_before, rel=1e-12)
        return super()._note(what, value, scale, output)

    def _coupled(self, drawn, before, after):
        assert before.shape == after.shape, "the two data sets list other kinds of records"
        lost, gained = np.flatnonzero(before > after), np.flatnonzero(before < after)
        # Which of the records of its kind was replaced is as good as random.
        share = drawn[lost].sum() / before[lost].sum() if lost.size else 0.0
        coupled = drawn.copy()
        if self._generator.random() < share:
            coupled[lost] -= 1
            coupled[gained] += 1
        return coupled


class Outputs(Recorder):
    """A recorder for tables that differ in more than a few rows: sub-samples are drawn anew.

    rows: how many rows the table of later steps has, where their number is private.
    """

    def __init__(self, seed, rows=None):
        super().__init__(seed)
        self._rows = rows

    def subsample(self, multiplicities, size):
        return SimulatedNoise.subsample(self, multiplicities, size)

    def discrete_laplace_array(self, values, scale):
        if self._rows is None or self.calls:
            return super().discrete_laplace_array(values, scale)
        # The table is smaller than the noisy number by three scales.
        noisy = np.array([self._rows + math.ceil(3 * scale)])
        return self._note("laplace", values, scale, noisy)


class SameOutputs(Outputs, Replay):
    """The outputs of a recorded run, for a table with the same public facts."""

    def __init__(self, recorded):
        Replay.__init__(self, recorded)
        self._rows = None


def counts_of(records, levels=LEVELS, kind=InMemoryCounts):
    kept, multiplicities = np.unique(np.array(records), axis=0, return_counts=True)
    columns = tuple(kept[:, k] for k in range(len(levels)))
    names = tuple("abcdef"[: len(levels)])
    return kind(names, levels, columns, multiplicities.astype(np.int64))


def random_records(seed, n):
    generator = np.random.default_rng(seed)
    a = generator.integers(0, 2, n)
    b = np.where(generator.random(n) < 0.6, a + generator.integers(0, 2, n), 1)
    c = np.where(generator.random(n) < 0.7, b > 1, generator.integers(0, 2, n))
    return np.column_stack((a, b, c, generator.integers(0, 2, n))).astype(np.int64)


def both(algorithm, parameters, one, other, noise, replay=Replay):
    """The two runs and their transcripts; noise: of the first run; replay: makes the second's."""
    before = discover(one, algorithm, parameters, noise=noise)
    again = replay(noise.calls)
    after = discover(other, algorithm, parameters, noise=again)
    assert len(noise.calls) == len(again.calls)
    return before, after, noise.calls, again.calls


def assert_same(one, other):
    """All that a run gives out, the trace and the time apart."""
    assert one.graph == other.graph
    assert one.separating_sets == other.separating_sets
    assert one.guarantee == other.guarantee
    assert (one.spent, one.tests_run, one.orders_run) == (
        other.spent,
        other.tests_run,
        other.orders_run,
    )
    assert (one.stopped, one.unreached) == (other.stopped, other.unreached)
    assert one.findings == other.findings
    assert one.margins == other.margins
    assert one.rows == other.rows
    if one.weights is not None:
        assert one.weights == pytest.approx(other.weights, abs=1e-12)


record = st.tuples(*[st.integers(0, k - 1) for k in LEVELS])
# A seed, a number of rows, and those that take the place of one row, or of a person's five.
replaced = st.one_of(*(st.lists(record, min_size=k, max_size=k) for k in (1, 5)))
neighbours = st.tuples(st.integers(0, 10_000), st.sampled_from([12, 60, 400]), replaced)


FOURS = (4,) * 6


def chained_levels(rows):
    """Rows of six columns with four levels, each column mostly like the one before."""
    drawn = np.random.default_rng(1)
    table = drawn.integers(0, 4, (rows, 6))
    for row, like in zip(table, drawn.random((rows, 6)) < 0.7, strict=True):
        for c in range(1, 6):
            row[c] = row[c - 1] if like[c] else row[c]
    return table


def three_kinds(rows):
    """Rows of the same columns, all of three kinds: of larger tables, most cells are empty."""
    kinds = np.array([(0, 1, 2, 3, 0, 1), (1, 1, 0, 2, 3, 3), (2, 0, 3, 1, 1, 0)])
    return kinds[np.arange(rows) % 3]


def pair_of(drawn):
    seed, n, replacements = drawn
    records = random_records(seed, n)
    other = records.copy()
    other[(seed + np.arange(len(replacements))) % n] = replacements
    return counts_of(records), counts_of(other), seed


def extreme_pair(before, after, rows=1, n=1_500):
    """All records alike but one and those that are replaced, which are concordant with it or not.

    |Z*| of two columns is then near 6/√n or 0: a replacement moves it by nearly all that it can.
    """
    p = len(before)
    shared = [(1,) * p] * (n - 2 * rows) + [(2,) * p] * rows
    return tuple(counts_of([*shared, *[own] * rows], (3,) * p) for own in (before, after))


def log_probability(scores, scale, perturbation, position):
    """Log probability of selecting `position`: Gumbel or exponential noise of that scale."""
    reach = (scores - scores.max()) / scale
    if perturbation == "gumbel":
        return reach[position] - logsumexp(reach)
    # Permute-and-flip: inclusion and exclusion over the sets of the others that come before.
    keep = np.exp(reach)
    others = np.delete(keep, position)
    total = 0.0
    for subset in range(1 << others.size):
        inside = [k for k in range(others.size) if subset >> k & 1]
        total += (-1) ** len(inside) * np.prod(others[inside]) / (len(inside) + 1)
    return math.log(keep[position] * total)


def worst_of_step(step, there):
    """The most that any output of this step could tell, selections included."""
    what, value, scale, _ = step
    if what == "laplace":
        return float(np.sum(np.abs(value - there[1]))) / scale
    if what in ("gumbel", "exponential"):
        return max(
            abs(log_probability(value, scale, what, k) - log_probability(there[1], scale, what, k))
            for k in range(value.size)
        )
    return 0.0


def worst_steps(one, other):
    return [worst_of_step(*steps) for steps in zip(one, other, strict=True)]
