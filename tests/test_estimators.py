"""Every algorithm has a scikit-learn-style estimator, and type checkers know it."""

import inspect
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import privcore
from privcore.algorithms import ALGORITHMS
from privcore.errors import DataError, ParameterError
from privcore.faces.estimators import ESTIMATORS, stub
from privcore.faces.estimators.base import class_name
from tests.examples import few
from tests.messages import outside, says

ROOT = Path(__file__).parents[1]
RERUN = "run `python -m privcore.faces.estimators.stub`"
every_estimator = pytest.mark.parametrize("made", ESTIMATORS.values(), ids=ESTIMATORS)


@pytest.fixture(scope="module")
def frame():
    """Words in two columns that depend on each other, and in one that does not."""
    rng = np.random.default_rng(1)
    rain = rng.integers(0, 2, 600)
    wet = np.where(rng.random(600) < 0.9, rain, 1 - rain)
    day = rng.integers(0, 3, 600)
    return pd.DataFrame({"rain": rain, "wet": wet, "day": day}).map(lambda value: f"level {value}")


@pytest.fixture(scope="module")
def numbers():
    rng = np.random.default_rng(2)
    x = rng.normal(size=600)
    return pd.DataFrame({"x": x, "y": 0.9 * x + rng.normal(size=600) / 3, "z": rng.random(600)})


def test_names_are_those_of_the_field():
    assert [class_name(ALGORITHMS[name]) for name in ("moment-search", "priv-pc", "pc")] == [
        "MomentSearch",
        "PrivPC",
        "PC",
    ]
    assert [class_name(ALGORITHMS[name]) for name in ("privpc-star", "notears", "lapmech")] == [
        "PrivPCStar",
        "NOTEARS",
        "LapMech",
    ]
    assert ESTIMATORS.keys() == ALGORITHMS.keys()


def test_types_are_written_from_the_registry():
    written = stub.STUB.read_text(encoding="utf-8")
    assert written == stub.estimators_stub(), f"{stub.STUB.name} of estimators is old: {RERUN}"
    interface = stub.INTERFACE.read_text(encoding="utf-8")
    assert interface == stub.interface_stub(interface), f"privcore/__init__.pyi is old: {RERUN}"
    for made in ESTIMATORS.values():
        assert getattr(privcore, made.__name__) is made


@every_estimator
def test_a_signature_is_the_declaration(made):
    shown = inspect.signature(made).parameters
    assert list(shown) == [p.name for p in ALGORITHMS[made.algorithm].parameters] + ["random_state"]
    for parameter in ALGORITHMS[made.algorithm].parameters:
        assert shown[parameter.name].default == parameter.default
        assert f"    {parameter.name}: {parameter.help}" in made.__doc__
    assert made().get_params() == {name: p.default for name, p in shown.items()}


@pytest.mark.long
@pytest.mark.parametrize("made", few(ESTIMATORS.values(), 4))
def test_an_estimator_gives_what_discover_gives(made, frame, numbers):
    table = frame if ALGORITHMS[made.algorithm].needs == "tables" else numbers
    found = made(random_state=3).fit(table)
    wanted = privcore.discover(table, made.algorithm, seed=3)
    assert found.graph_ == wanted.graph == found.result_.graph
    assert found.guarantee_ == wanted.guarantee
    edges = {frozenset(pair) for pair in found.edges_[["from", "to"]].itertuples(index=False)}
    assert edges == {frozenset(found.graph_.nodes[i] for i in e) for e in wanted.graph.skeleton}
    assert list(found.edges_.columns[:3]) == ["from", "to", "kind"]
    assert made(random_state=3).fit(table).edges_.equals(found.edges_)


@every_estimator
def test_it_is_cloned_and_pickled_as_scikit_learn_does(made, frame):
    first = made().get_params()
    changed = {"random_state": 5, "threshold" if "threshold" in first else "weight_threshold": 0.1}
    estimator = made(**changed)
    assert estimator.get_params() == first | changed
    assert repr(estimator).startswith(f"{made.__name__}(")
    assert "random_state=5" in repr(estimator)
    for copy in (clone(estimator), pickle.loads(pickle.dumps(estimator))):
        assert copy is not estimator
        assert type(copy) is made
        assert copy.get_params() == estimator.get_params()
    assert made().set_params(**changed).get_params() == estimator.get_params()
    assert repr(made()) == f"{made.__name__}()"


def test_what_a_run_says_of_an_edge_stands_beside_it(frame, numbers):
    found = privcore.MomentSearch(epsilon=20, random_state=1).fit(frame)
    (edge,) = found.edges_.to_dict("records")
    assert {edge["from"], edge["to"]} == {"rain", "wet"}
    finding = found.result_.findings[0, 1]
    assert (edge["probability"], edge["effect"]) == (finding.probability, finding.effect)
    assert np.isnan(edge["direction"])
    weighted = privcore.NOTEARS().fit(numbers)
    assert weighted.edges_["weight"].abs().max() > 0.3
    assert list(privcore.PC().fit(frame).edges_.columns) == ["from", "to", "kind"]


def test_a_fitted_estimator_can_be_kept(frame):
    found = privcore.MomentSearch(epsilon=20, random_state=1).fit(frame)
    kept = pickle.loads(pickle.dumps(found))
    assert kept.graph_ == found.graph_
    assert kept.edges_.equals(found.edges_)
    assert not hasattr(clone(found), "graph_")


def test_without_a_random_state_the_noise_is_secure(frame):
    data = privcore.read_table(frame)
    assert privcore.MomentSearch().fit(data).result_.noise == "secure"
    assert privcore.MomentSearch(random_state=np.int64(4)).fit(data).result_.noise == "simulated"
    assert privcore.PC().fit(data).result_.noise == "none"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda frame: privcore.MomentSearch(speed=3),
            ParameterError,
            says("no-such-parameter", name="speed"),
        ),
        (
            lambda frame: privcore.MomentSearch().set_params(a=1),
            ParameterError,
            says("no-such-parameter", name="a"),
        ),
        (
            lambda frame: privcore.MomentSearch(epsilon=-1).fit(frame),
            ParameterError,
            outside("epsilon"),
        ),
        (
            lambda frame: privcore.PC(random_state=-1).fit(frame),
            ParameterError,
            outside("random-state"),
        ),
        (
            lambda frame: privcore.PC(score="x").fit(frame),
            ParameterError,
            says("must-be-one-of", choices="z-star"),
        ),
        (
            lambda frame: privcore.PC().fit(frame[["wet"]].assign(one="1")),
            DataError,
            says("same-value-in-every-row"),
        ),
        (lambda frame: privcore.PC().graph_, AttributeError, says("not-fitted")),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_a_sentence(call, error, message, frame):
    with pytest.raises(error, match=message) as refused:
        call(frame)
    assert isinstance(refused.value, privcore.PrivcoreError)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


@pytest.mark.long
def test_scikit_learn_is_not_needed():
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from privcore import MomentSearch; print(MomentSearch(epsilon=2))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert run.stdout.decode().strip() == "MomentSearch(epsilon=2)"


@pytest.mark.long
def test_a_type_checker_knows_the_parameters(tmp_path):
    user = tmp_path / "user.py"
    user.write_text(
        "from privcore import PC, MomentSearch\n"
        "found = MomentSearch(epsilon=1).fit('table.csv')\n"
        "reveal_type(found.graph_)\n"
        "MomentSearch(epsilom=1)\n"
        "PC(score='best')\n"
    )
    words = ["--strict", "--no-error-summary", "--cache-dir", str(ROOT / ".mypy_cache")]
    run = subprocess.run(
        [sys.executable, "-m", "mypy", *words, str(user)], cwd=ROOT, capture_output=True
    )
    said = run.stdout.decode()
    assert 'note: Revealed type is "privcore.graphs.pdag.PDAG"' in said
    lines = [line.split(":")[1] for line in said.splitlines() if "error:" in line]
    assert lines == ["4", "5"], said
