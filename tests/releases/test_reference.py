"""PC without noise as a reference: it ends in time, and says where it ended."""

from dataclasses import replace

import numpy as np
import pytest

from privcore.algorithms import ALGORITHMS, count, discover
from privcore.data import Column, Dataset, load_network
from privcore.display.report import price_sentence, reference_sentence, run_report
from privcore.errors import ParameterError
from privcore.measures import references as module
from privcore.measures import skeleton_metrics
from privcore.measures.references import has_own_test, non_private_reference, references_of
from privcore.privacy.mechanisms import NoNoise
from tests.messages import begins, shows


def table(levels, n=500):
    """Columns that all depend on one another."""
    generator = np.random.default_rng(1)
    hidden = generator.integers(0, max(levels), n)
    values = [
        np.where(generator.random(n) < 0.7, hidden, generator.integers(0, r, n)) % r for r in levels
    ]
    columns = tuple(
        Column(f"c{k}", "nominal", tuple(map(str, range(r))), declared=True)
        for k, r in enumerate(levels)
    )
    return Dataset("t", columns, tuple(v.astype(np.uint16) for v in values))


@pytest.mark.long
def test_pc_is_whole_where_tables_are_small():
    source = count(load_network("asia").sample(2_000, 1))
    result = discover(source, "moment-search", {"epsilon": 1.0}, seed=1)
    reference = non_private_reference(source, result)
    assert reference_sentence(result, reference) == ""
    assert reference.parameters["max_order"] == result.parameters["max_order"]
    assert reference_sentence(reference, reference) == ""


@pytest.mark.long
def test_with_many_levels_it_conditions_on_fewer_columns_and_says_so():
    source = count(table((200, 200, 200, 200, 2)))
    result = discover(source, "moment-search", {"epsilon": 1.0}, seed=1)
    reference = non_private_reference(source, result)
    # 200³ cells are more than two million, 200² are not.
    assert reference.parameters["max_order"] == 0
    assert shows(reference_sentence(result, reference), "reference-limited", columns=0)
    asked = discover(source, "laplace-pc", {"epsilon": 1.0, "max_order": 0}, seed=1)
    own = non_private_reference(source, asked, reference="own_test")
    assert reference_sentence(asked, own, "own_test") == ""


def test_an_order_that_the_reference_sets_is_not_explained_by_large_tables(monkeypatch):
    own = replace(ALGORITHMS["laplace-pc"], reference=lambda given: {"max_order": 0})
    monkeypatch.setitem(ALGORITHMS, "laplace-pc", own)
    source = count(load_network("asia").sample(2_000, 1))
    result = discover(source, "laplace-pc", {"epsilon": 1.0}, seed=1)
    reference = non_private_reference(source, result, reference="own_test")
    assert reference.parameters["max_order"] == 0
    assert reference.orders_run == 1
    assert reference_sentence(result, reference, "own_test") == ""


def test_one_pc_is_the_reference_of_all_algorithms_on_a_table():
    source = count(load_network("asia").sample(2_000, 1))
    graphs, offered = set(), {}
    for name, values in {
        "moment-search": {"threshold": 0.001},
        "priv-pc": {"threshold": 0.2, "max_order": 1},
        "em-pc": {},
        "lapmech": {"threshold": 0.5},
        "moment-notears": {},
    }.items():
        result = discover(source, name, {"epsilon": 1.0, **values}, seed=1)
        reference = non_private_reference(source, result)
        graphs.add(reference.graph)
        offered[name] = has_own_test(source, result)
        assert not has_own_test(source, reference)
    assert graphs == {discover(source, "pc").graph}
    assert [name for name, own in offered.items() if own] == ["priv-pc", "em-pc", "moment-notears"]
    own = non_private_reference(source, result, reference="own_test")
    assert own.algorithm == "notears"


@pytest.mark.long
def test_it_ends_after_so_many_tests_and_says_so(monkeypatch):
    monkeypatch.setattr(module, "_TESTS", 5)
    source = count(load_network("asia").sample(2_000, 1))
    result = discover(source, "moment-search", {"epsilon": 1.0}, seed=1)
    reference = non_private_reference(source, result)
    assert reference.tests_run == 5
    assert "after 5 tests" in reference_sentence(result, reference)


@pytest.mark.parametrize(
    ("levels", "order"),
    [
        ((2,) * 5, None),
        ((2,) * 300, 18),
        ((400, 400, 2), None),
        ((400, 400, 400), 0),
        ((60,) * 9, 1),
        ((10_000, 9_000), 0),
    ],
)
def test_the_order_follows_from_levels_alone(levels, order):
    assert module._largest_order(levels) == order


@pytest.fixture(scope="module")
def asia():
    return load_network("asia").sample(20_000, 1)


def test_the_same_algorithm_without_noise_is_a_reference(asia):
    source = count(asia)
    one, two = (
        non_private_reference(
            source, discover(source, "svt-pc", {"epsilon": 1.0}, seed=seed), reference="same"
        )
        for seed in (1, 2)
    )
    assert one.graph == two.graph
    assert (one.algorithm, one.noise, one.guarantee.calibration) == ("svt-pc", "none", "none")
    assert one.graph == discover(source, "svt-pc", {"epsilon": 1.0}, noise=NoNoise()).graph
    assert non_private_reference(source, one, reference="same") is one
    with pytest.raises(ParameterError):
        non_private_reference(source, one, reference="pc")


def test_the_report_has_metrics_against_it_and_a_price(asia):
    source = count(asia)
    result = discover(source, "svt-pc", {"epsilon": 1.0}, seed=1)
    usual = non_private_reference(source, result)
    same = non_private_reference(source, result, reference="same")
    assert price_sentence(result, references_of(asia, result, non_private=usual)) == ""
    references = references_of(asia, result, non_private=usual, same=same)
    assert set(run_report(result, asia, references, seed=1)["metrics"]) == {
        "truth",
        "non_private",
        "same",
    }
    found = skeleton_metrics(same.graph, references["truth"])
    assert f"SVT-PC finds {round(found.recall * 8)} " in price_sentence(result, references)
    missing = len(same.graph.skeleton - result.graph.skeleton)
    del references["truth"]
    said = price_sentence(result, references)
    assert shows(said, "links-of", links=missing, all=len(same.graph.skeleton), name="SVT-PC")


def test_it_ends_with_the_tests_of_a_run_that_was_ended(asia):
    source = count(asia)
    ended = discover(source, "svt-pc", {"epsilon": 1.0}, seed=1, test_limit=10)
    same = non_private_reference(source, ended, reference="same")
    assert (same.stopped, same.tests_run) == ("work", 10)
    assert begins(reference_sentence(ended, same), "reference-ended", name="SVT-PC", seconds=10)
    whole = discover(source, "svt-pc", {"epsilon": 1.0}, seed=1)
    assert reference_sentence(whole, non_private_reference(source, whole, reference="same")) == ""
