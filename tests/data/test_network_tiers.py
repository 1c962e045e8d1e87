"""Orders of time of built-in networks: complete, and obeyed by the true DAGs."""

import pytest

from privcore.data import NETWORKS, load_network
from privcore.data.network import TIERS
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge


@pytest.mark.parametrize("name", TIERS)
def test_the_true_dag_obeys_an_order_of_all_columns(name):
    assert name in NETWORKS
    data = load_network(name).sample(2, 1)
    known = Knowledge.of(tiers=TIERS[name])
    assert known.names == set(data.names)
    assert len(known.tiers) == 3
    true = PDAG.from_names(data.names, directed=data.true_edges)
    assert known.on(data.names).violation(true) is None
