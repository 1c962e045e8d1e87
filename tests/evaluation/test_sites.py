"""Secure sums over sites: masks, noise, losses, lies and the graph, all simulated."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from privcore.data import load_network
from privcore.errors import DataError, ParameterError
from privcore.evaluation import sites as module
from privcore.evaluation import skeleton_metrics
from privcore.evaluation.sites import (
    Masks,
    all_in_one_cell,
    graph_from,
    in_place_of_all,
    in_tables,
    message,
    of_graph,
    opened,
    plan_of,
    secure_sum,
    site_counts,
    split_rows,
    tables_of,
)
from privcore.graphs import cpdag_of_names
from privcore.privacy.mechanisms import SecureNoise, SimulatedNoise
from privcore.privacy.mechanisms.distributed import SumPlan
from privcore.privacy.mechanisms.noise import discrete_laplace_scale, discrete_laplace_variance

# Of each test that may be wrong by chance; seeds are fixed, so that it is so or is not.
ALARM = 1e-6
PLAN = SumPlan(n=60, sites=4, adding=4, tables=1, cells=3, rho=0.5)
COUNTS = [np.array(c) for c in ([5, 0, 10], [0, 0, 15], [7, 7, 1], [15, 0, 0])]


class Silent(SimulatedNoise):
    """Masks as always, but no noise."""

    def discrete_gaussian_array(self, values, sigma):
        return values.copy()


class Noted(SimulatedNoise):
    """Keeps the noise that it added."""

    def __init__(self, seed):
        super().__init__(seed)
        self.drawn = []

    def discrete_gaussian_array(self, values, sigma):
        noisy = super().discrete_gaussian_array(values, sigma)
        self.drawn.append((noisy - values, sigma))
        return noisy


@pytest.fixture(scope="module")
def earthquake():
    return load_network("earthquake").sample(20_000, 1)


@pytest.mark.parametrize("many", [1, 2, 3, 7])
def test_a_split_keeps_every_row_once(many):
    data = load_network("survey").sample(1001, 3)
    parts = split_rows(data, many, SimulatedNoise(2))
    assert len(parts) == many
    sizes = [part.n for part in parts]
    assert sum(sizes) == data.n
    assert max(sizes) - min(sizes) <= 1
    rows = np.concatenate([np.column_stack(part.values) for part in parts])
    before = np.column_stack(data.values)
    assert sorted(map(tuple, rows)) == sorted(map(tuple, before))
    # The sites' counts add up to those of all rows.
    np.testing.assert_array_equal(sum(map(site_counts, parts)), site_counts(data))


def test_a_split_is_at_random():
    """The first half of the rows is not one site's: a split in order is seen."""
    data = load_network("cancer").sample(2000, 1)
    ordered = replace(data, values=tuple(np.sort(column) for column in data.values))
    one, other = split_rows(ordered, 2, SimulatedNoise(1))
    table = np.array([np.bincount(part.values[1], minlength=2) for part in (one, other)])
    assert stats.chi2_contingency(table).pvalue > ALARM


def test_too_few_rows_for_the_sites_are_refused():
    data = load_network("cancer").sample(7, 1)
    with pytest.raises(DataError, match="7 rows are too few for 4 sites"):
        split_rows(data, 4, SimulatedNoise(1))
    with pytest.raises(ParameterError, match="0 sites"):
        split_rows(data, 0, SimulatedNoise(1))


@pytest.mark.parametrize("name", ["asia", "sachs"])
def test_counts_of_a_site_are_its_tables(name):
    """All columns at once, and pairs where these have too many combinations."""
    data = load_network(name).sample(500, 1)
    tables = in_tables(site_counts(data), data.levels)
    assert tuple(tables) == tables_of(data.levels)
    assert len(next(iter(tables))) == (8 if name == "asia" else 2)
    for columns, table in tables.items():
        expected = np.zeros_like(table)
        np.add.at(expected, tuple(data.values[c] for c in columns), 1)
        np.testing.assert_array_equal(table, expected)


@pytest.mark.parametrize("many", [1, 2, 3, 16])
@pytest.mark.parametrize("bits", [1, 15, 62])
def test_masks_cancel_exactly(many, bits):
    masks = Masks(many, 40, bits, SimulatedNoise(5))
    total = sum(int(x) for site in range(many) for x in masks.of(site).astype(object))
    each = [masks.of(site).astype(object) for site in range(many)]
    assert (sum(each) % 2**bits == 0).all()
    assert all(((mask >= 0) & (mask < 2**bits)).all() for mask in each)
    assert (total != 0) == (many > 1)


@pytest.mark.parametrize("bits", [3, 8])
def test_what_a_site_sends_is_uniform_whatever_it_counts(bits):
    """χ² over all values, and over pairs of messages of two sites of three: each alone, and any two
    together, are uniform.  Four tests with a false-alarm rate of one in a million each."""
    many = 60_000
    plan = replace(PLAN, sites=3, adding=3, cells=many, n=10)
    masks = Masks(3, many, bits, SimulatedNoise(8))
    counts = np.zeros(many, np.int64)
    sent = [(counts + masks.of(site)) % 2**bits for site in range(3)]
    for own in sent[:2]:
        seen = np.bincount(own, minlength=2**bits)
        assert stats.chisquare(seen).pvalue > ALARM
    both = np.bincount(sent[0] * 8 // 2**bits * 8 + sent[1] * 8 // 2**bits, minlength=64)
    assert stats.chisquare(both).pvalue > ALARM
    # Through `message`, with its own modulus and noise: the first three bits.
    mask = Masks(3, many, plan.bits, SimulatedNoise(9)).of(0)
    real = message(counts + 7, plan, mask, SimulatedNoise(10)) >> (plan.bits - 3)
    assert stats.chisquare(np.bincount(real, minlength=8)).pvalue > ALARM
    # Without a mask the same test sees the counts.
    bare = message(counts + 7, plan, np.zeros(many, np.int64), SimulatedNoise(10))
    assert stats.chisquare(np.bincount(bare >> (plan.bits - 3), minlength=8)).pvalue < ALARM


def test_the_sum_is_the_exact_one_and_all_noise():
    noise = Noted(4)
    total = secure_sum(COUNTS, PLAN, noise)
    added, sigmas = zip(*noise.drawn, strict=True)
    assert len(added) == PLAN.sites
    assert set(sigmas) == {PLAN.sigma}
    np.testing.assert_array_equal(total, sum(COUNTS) + sum(added))
    assert np.any(sum(added))


def test_secure_noise_masks_as_well():
    total = secure_sum(COUNTS, PLAN, SecureNoise())
    assert np.abs(total - sum(COUNTS)).max() <= PLAN.reach


def test_noise_of_a_sum_has_the_planned_variance():
    """χ² of 20,000 cells, false-alarm rate one in a million."""
    cells, plan = 20_000, SumPlan(100, 5, 5, 1, 20_000, 0.02)
    total = secure_sum([np.zeros(cells, np.int64)] * 5, plan, SimulatedNoise(6))
    low, high = stats.chi2.interval(1 - ALARM, cells)
    assert low < float((total**2).sum()) / plan.variance(5) < high


@pytest.mark.parametrize("lost", [(0,), (3,), (1, 2), (0, 1, 3)])
def test_a_sum_without_lost_sites_is_that_of_the_others(lost):
    there = [site for site in range(4) if site not in lost]
    total = secure_sum(COUNTS, PLAN, Silent(1), lost)
    np.testing.assert_array_equal(total, sum(COUNTS[site] for site in there))
    noise = Noted(2)
    secure_sum(COUNTS, PLAN, noise, lost)
    assert len(noise.drawn) == len(there)


def test_without_the_masks_of_lost_sites_nothing_is_learned():
    masks = Masks(4, 3, PLAN.bits, SimulatedNoise(3))
    sent = [message(COUNTS[site], PLAN, masks.of(site), Silent(1)) for site in (0, 1, 2)]
    due = sum(COUNTS[:3])
    assert not (opened(sent, PLAN) == due).any()
    unmatched = [masks.of(site, {3}) for site in (0, 1, 2)]
    np.testing.assert_array_equal(opened(sent, PLAN, unmatched), due)


def test_masks_that_lost_sites_leave_do_not_unmask_the_others(monkeypatch):
    """A message less all that its site reveals is still uniform; χ², false alarms of 1e-6 each."""
    heard = []
    right = module.opened

    def listening(messages, plan, unmatched=()):
        heard.append((messages, unmatched))
        return right(messages, plan, unmatched)

    monkeypatch.setattr(module, "opened", listening)
    cells = 60_000
    plan = replace(PLAN, sites=3, adding=3, cells=cells, n=10)
    secure_sum([np.zeros(cells, np.int64)] * 3, plan, SimulatedNoise(12), {1})
    [(messages, unmatched)] = heard
    for sent, revealed in zip(messages, unmatched, strict=True):
        left = (sent - revealed) % 2**plan.bits >> (plan.bits - 3)
        assert stats.chisquare(np.bincount(left, minlength=8)).pvalue > ALARM


def test_counts_below_zero_are_read_as_such():
    """Noise takes empty cells below 0; all of the reach is, and nothing that rows may be."""
    for value in (-PLAN.reach, -1, 0, PLAN.n + PLAN.reach):
        sent = [np.full(3, value % 2**PLAN.bits)]
        assert opened(sent, PLAN).tolist() == [value] * 3


def test_more_rows_than_planned_are_refused():
    many = [counts.copy() for counts in COUNTS]
    many[2][0] += 1
    with pytest.raises(DataError, match="more than the 60 rows"):
        secure_sum(many, PLAN, SimulatedNoise(1))
    # Nobody can refuse a liar, whose counts are masked.
    assert secure_sum(many, PLAN, Silent(1), lying=[2]).sum() == 61


def test_bad_sums_are_refused():
    with pytest.raises(ParameterError, match="3 sites have counts"):
        secure_sum(COUNTS[:3], PLAN, SimulatedNoise(1))
    with pytest.raises(ParameterError, match="All sites are lost"):
        secure_sum(COUNTS, PLAN, SimulatedNoise(1), range(4))
    with pytest.raises(DataError, match="2 cells"):
        secure_sum([COUNTS[0][:2], *COUNTS[1:]], PLAN, SimulatedNoise(1))


def test_the_stand_in_scale_has_the_variance():
    for variance in (0.1, 4.0, 900.0):
        assert discrete_laplace_variance(discrete_laplace_scale(variance)) == pytest.approx(variance)


def test_a_secure_sum_gives_the_graph_of_one_holder(earthquake):
    """ε = 1 at n = 20,000 shows the network, whichever site has the rows."""
    truth = cpdag_of_names(earthquake.names, earthquake.true_edges)
    plan = plan_of(earthquake.n, earthquake.levels, 0.024, 4)
    counts = [site_counts(part) for part in split_rows(earthquake, 4, SimulatedNoise(1))]
    total = secure_sum(counts, plan, SimulatedNoise(2))
    tables = in_tables(total, earthquake.levels)
    graph = graph_from(tables, earthquake.n, earthquake.names, earthquake.levels, plan.variance(4))
    assert skeleton_metrics(graph, truth).f1 > 0.8
    # With noise that drowns the rows the same tables show nothing.
    drowned = graph_from(tables, earthquake.n, earthquake.names, earthquake.levels, 1e9)
    assert not drowned.skeleton


def test_pairs_give_a_graph_where_the_full_table_is_large():
    data = load_network("sachs").sample(20_000, 1)
    truth = cpdag_of_names(data.names, data.true_edges)
    tables = in_tables(site_counts(data), data.levels)
    graph = graph_from(tables, data.n, data.names, data.levels, 1.0)
    assert skeleton_metrics(graph, truth).f1 > 0.8


def test_lies_are_what_they_say(earthquake):
    wanted = site_counts(load_network("cancer").sample(3000, 2))
    own = site_counts(split_rows(earthquake, 4, SimulatedNoise(1))[0])
    one = all_in_one_cell(own, earthquake.levels)
    assert one[0] == own.sum()
    assert np.count_nonzero(one) == 1
    spread = of_graph(own, wanted)
    assert abs(int(spread.sum()) - int(own.sum())) <= own.size
    np.testing.assert_allclose(spread / own.sum(), wanted / wanted.sum(), atol=1 / own.sum())


def test_one_liar_of_four_makes_the_graph_it_wants(earthquake):
    """The sum shows its graph, has no row too many, and nothing in the protocol sees it."""
    other = load_network("cancer").sample(20_000, 2)
    parts = split_rows(earthquake, 4, SimulatedNoise(1))
    counts = [site_counts(part) for part in parts]
    counts[0] = in_place_of_all(counts[0], site_counts(other), 4)
    plan = plan_of(earthquake.n, earthquake.levels, 0.5, 4)
    total = secure_sum(counts, plan, SimulatedNoise(2), lying=[0])
    rows_too_many = abs(int(total.sum()) - earthquake.n)
    assert rows_too_many < 6 * math.sqrt(plan.cells * plan.variance(4))
    apart = np.abs(total - site_counts(other)).sum() / earthquake.n
    honest = np.abs(site_counts(earthquake) - site_counts(other)).sum() / earthquake.n
    assert apart < 0.1
    assert honest > 0.3


def test_a_mask_that_is_added_twice_is_seen(monkeypatch):
    """The tests above see a bug: both sites of a pair add what they share."""

    class Twice(Masks):
        def of(self, site, others=None):
            total = np.zeros(self._cells, dtype=np.int64)
            for pair, shared in self._shared.items():
                if site in pair:
                    total = (total + shared) % (1 << self._bits)
            return total

    monkeypatch.setattr(module, "Masks", Twice)
    with pytest.raises(AssertionError):
        test_the_sum_is_the_exact_one_and_all_noise()
