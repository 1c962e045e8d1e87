"""What the budget panel says and draws of runs of different kinds."""

import pytest

from pages.ui.discover.charts import budget_bar
from pages.ui.discover.panels import budget_sentence
from privcore.algorithms import count, discover
from privcore.data import load_network
from tests.messages import begins, label, shows


@pytest.fixture(scope="module")
def asia():
    return count(load_network("asia").sample(20_000, 1))


def run(source, algorithm, **parameters):
    return discover(source, algorithm, {"epsilon": 1.0, **parameters}, seed=1)


def bars(result):
    return {bar.name: bar.x[0] for bar in budget_bar(result).data}


def test_a_few_releases_are_a_part_each(asia):
    result = run(asia, "moment-search", whole_table=0)
    parts = bars(result)
    assert list(parts) == [f"release {k}" for k in range(1, 5)]
    assert sum(parts.values()) == pytest.approx(100)
    assert parts["release 2"] == parts["release 3"] == parts["release 4"] == pytest.approx(15)
    assert begins(budget_sentence(result), "budget-used", share=100, used=4, planned=4)


@pytest.mark.long
def test_one_release_has_no_number_and_a_thousand_are_one_part(asia):
    for name in ("lapmech", "moment-search"):
        assert list(bars(run(asia, name))) == ["release"]
    result = run(count(load_network("asia").sample(500, 1)), "noleaks", gradients=30)
    assert set(bars(result)) <= {"release", label("planned-not-used")}


def test_steps_of_an_order_are_named_by_it(asia):
    result = run(asia, "priv-pc")
    assert any(name.startswith("order 0: ") for name in bars(result))
    assert shows(budget_sentence(result), "budget-in-rho")
