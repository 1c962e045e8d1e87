"""The built-in networks: what was published, and samples and orders that follow it."""

import json
from importlib import resources

import numpy as np
import pytest
from scipy import stats

from privcore.data import NETWORKS, load_network
from privcore.data.network import TIERS
from privcore.errors import ParameterError
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from tests.messages import says

FOLDER = resources.files("privcore.data").joinpath("networks")


def test_every_file_is_a_network_and_every_network_a_file():
    files = {file.name.removesuffix(".json") for file in FOLDER.iterdir()}
    for name in sorted(files ^ set(NETWORKS)):
        where = "privcore/data/network.py: its name to NETWORKS"
        if name in NETWORKS:
            where = f"privcore/data/networks/{name}.json: its levels, parents and probabilities"
        pytest.fail(f"The network {name} is declared by half.\nAdd to {where}.", pytrace=False)


@pytest.mark.parametrize("name", NETWORKS)
def test_published_size(name):
    """As the Bayesian Network Repository states it, copied into the file by hand."""
    network = load_network(name)
    free = sum(v.probabilities.shape[0] * (v.probabilities.shape[1] - 1) for v in network.variables)
    published = json.loads(FOLDER.joinpath(f"{name}.json").read_text("utf-8"))["published"]
    assert published == {
        "nodes": len(network.variables),
        "edges": len(network.edges),
        "parameters": free,
    }
    assert network.citation
    assert network.source


@pytest.mark.parametrize("name", NETWORKS)
def test_tables_are_distributions(name):
    for variable in load_network(name).variables:
        assert (variable.probabilities >= 0).all()
        assert np.allclose(variable.probabilities.sum(axis=1), 1, atol=1e-3)
        assert variable.column.declared
        assert variable.column.levels


@pytest.mark.long
@pytest.mark.parametrize("name", NETWORKS)
def test_samples_follow_the_tables(name):
    """Chi-squared per parent configuration; false-alarm rate 1e-6 over the whole network."""
    network = load_network(name)
    dataset = network.sample(50_000, seed=11)
    assert dataset.n == 50_000
    checks = []
    for position, variable in enumerate(network.variables):
        sizes = [len(network.variables[p].column.levels) for p in variable.parents]
        row = np.zeros(dataset.n, dtype=int)
        for parent, size in zip(variable.parents, sizes, strict=True):
            row = row * size + dataset.values[parent]
        levels = variable.probabilities.shape[1]
        counts = np.zeros_like(variable.probabilities)
        np.add.at(counts, (row, dataset.values[position]), 1)
        for observed, law in zip(counts, variable.probabilities, strict=True):
            law = law / law.sum()
            assert observed[law == 0].sum() == 0
            if observed.sum() * law[law > 0].min() >= 5 and (law > 0).sum() > 1:
                kept = law > 0
                checks.append(stats.chisquare(observed[kept], observed.sum() * law[kept]).pvalue)
        assert levels == len(variable.column.levels)
    assert min(checks) > 1e-6 / len(checks)


def test_same_seed_same_rows_and_other_seed_other_rows():
    network = load_network("child")
    one, again, other = (network.sample(500, s).values for s in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one, again, strict=True))
    assert any((a != b).any() for a, b in zip(one, other, strict=True))


def test_levels_are_in_their_natural_order():
    child = {v.column.name: v.column for v in load_network("child").variables}
    assert child["CO2"].levels == ("Low", "Normal", "High")
    assert child["Disease"].kind == "nominal"


def test_unknown_network():
    with pytest.raises(
        ParameterError, match=says("which-networks-there-are", names="cancer, earthquake")
    ):
        load_network("atlantis")


@pytest.mark.parametrize("name", TIERS)
def test_the_true_dag_obeys_the_order_of_time_of_all_columns(name):
    data = load_network(name).sample(2, 1)
    known = Knowledge.of(tiers=TIERS[name])
    assert known.names == set(data.names)
    assert len(known.tiers) == 3
    true = PDAG.from_names(data.names, directed=data.true_edges)
    assert known.on(data.names).violation(true) is None
