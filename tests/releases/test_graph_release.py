"""A release that checks a graph: what it measures, to which budget, and what is signed."""

import pytest

import privcore
from privcore.data import load_network
from privcore.errors import BudgetError, CertificateError, ParameterError
from privcore.measures.graph_check import GraphCheck
from privcore.releases.certificate import certificate_json
from privcore.releases.verification import verify
from tests.messages import says

GRAPH = "smoke -> lung; smoke -> bronc"


@pytest.fixture(scope="module")
def asia():
    return load_network("asia").sample(5_000, 1)


def test_only_the_graph_s_columns_are_released_and_the_whole_table_is_charged(asia, ledger):
    ledger.set_total("other", 2.0, 1e-5)
    made = privcore.release(asia, budget="clinic", ledger=ledger, graph=GRAPH, epsilon=0.5)
    assert made.graph.nodes == ("smoke", "lung", "bronc")
    columns = made.certificate["domain"]["columns"]
    assert [column["name"] for column in columns] == ["smoke", "lung", "bronc"]
    # Neither the table nor the part that was measured has another budget.
    part = asia.hiding([name for name in asia.names if name not in made.graph.nodes])
    for table in (asia, part):
        with pytest.raises(BudgetError):
            privcore.release(table, budget="other", ledger=ledger, epsilon=0.5)
    (charge,) = ledger.charges("clinic")
    assert charge.epsilon == made.guarantee.epsilon == 0.5


def test_the_check_is_signed_with_the_graph(asia, ledger):
    made = privcore.release(asia, budget="clinic", ledger=ledger, graph=GRAPH, epsilon=1)
    check = GraphCheck.of(made.certificate["released"]["check"])
    assert check.graph.lines() == GRAPH.split("; ")
    assert [pair.verdict for pair in check.pairs if pair.arrow] == ["supported"] * 2
    key = made.certificate["signature"]["fingerprint"]
    text = certificate_json(made.certificate)
    assert verify(text.encode(), key)
    changed = text.replace('"verdict": "supported"', '"verdict": "not seen"', 1)
    with pytest.raises(CertificateError):
        verify(changed.encode(), key)


def test_nothing_is_charged_for_a_graph_that_cannot_be_checked(asia, ledger):
    with pytest.raises(ParameterError, match=says("check-needs-stated-levels")):
        privcore.release(asia, "lapmech", budget="clinic", ledger=ledger, graph=GRAPH, epsilon=1)
    with pytest.raises(privcore.PrivcoreError, match=says("no-column-of-graph", name="x")):
        privcore.release(asia, budget="clinic", ledger=ledger, graph="x -> lung", epsilon=1)
    assert not list(ledger.charges("clinic"))
