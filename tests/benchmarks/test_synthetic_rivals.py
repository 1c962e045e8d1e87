"""Rivals on private synthetic data: what the runner makes of their rows, failures and scores."""

import csv
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import kinds_of_links, private_rows, synthetic_rivals
from benchmarks.moment_search import scores, truth_of
from benchmarks.peers.synthesiser import mirror_descent, with_all_levels
from benchmarks.private_rows import PC, RIVALS, NotMade, graph_of, synthetic
from benchmarks.synthetic_rivals import Run, runs_at, saved, table_line
from privcore.algorithms import discover
from privcore.data import Column, Dataset, load_network
from tests.messages import says

PYTHON = Path(sys.executable)
PEERS = Path(synthetic_rivals.__file__).parent / "peers"
STUB = """
import json, sys
import numpy as np
method, epsilon, delta, rows, seed, folder = sys.argv[1:]
assert (method, float(epsilon), float(delta), seed) == ("mst", 0.5, 1e-6, "3")
data = np.load(folder + "/data.npz")
assert data["levels"].tolist() == [3, 2, 2, 2, 2, 3]
np.save(folder + "/synthetic.npy", data["codes"][::-1][: int(rows)])
print(json.dumps({"seconds": 1.5}))
"""

# As much of dpmm as the script touches; its "private" rows are the codes, columns turned around.
FAKE = """
from dpmm.models.base.compression import DomainCompressor

class FactoredInference:
    def mirror_descent(self, measurements, total=None, stepsize=None, callback=None):
        pass

class MSTGM:
    def __init__(self, epsilon, delta, domain, compress, n_jobs):
        assert (epsilon, delta, compress, n_jobs) == (0.5, 1e-6, True, 1)
        assert FactoredInference.mirror_descent.__module__ == "__main__"
        assert DomainCompressor.reverse.__module__ == "__main__"
        self.domain = domain

    def set_random_state(self, state):
        assert state.randint(10**6) == type(state)(3).randint(10**6)

    def fit(self, frame):
        assert list(self.domain) == list(frame.columns)
        assert list(self.domain.values()) == [2, 3, 4]
        self.frame = frame

    def generate(self, rows):
        print("chatter")
        return self.frame[list(self.domain)[::-1]].head(rows)
"""


class Engine:
    """What mirror descent needs of dpmm: one table, n = 100,000, measured with its rows' sums."""

    def __init__(self, measurements):
        self.model, self.measurements = self, measurements
        self.total, self.potentials = 1e5, np.zeros((4, 6))

    def _setup(self, measurements, total):
        assert (measurements, total) == (self.measurements, None)

    def belief_propagation(self, potentials):
        shares = np.exp(potentials - potentials.max())
        return Vector(self.total * shares / shares.sum())

    def _marginal_loss(self, means):
        loss, slope = 0.0, np.zeros(means.shape)
        for query, noisy, sigma, _ in self.measurements:
            residual = (query @ means.ravel() - noisy) / sigma
            loss += residual @ residual / 2
            slope += (query.T @ residual / sigma).reshape(means.shape)
        return loss, Vector(slope)


class Vector(np.ndarray):
    """An array with the product of dpmm's vectors."""

    def __new__(cls, values):
        return np.asarray(values).view(cls)

    def dot(self, other):
        return float((self * other).sum())


@pytest.mark.parametrize("sigma", [30.0, 300.0])
def test_the_descent_ends_at_the_optimum(sigma):
    generator = np.random.default_rng(5)
    sums = np.kron(np.eye(4), np.ones(6))
    queries = [(sums, sigma), (np.eye(24), 300.0)]
    table = 1e5 * generator.dirichlet(np.full(24, 2.0))
    measured = [(q, q @ table + generator.normal(0, s, len(q)), s, ()) for q, s in queries]
    engine = Engine(measured)
    loss = mirror_descent(engine, measured)
    # Least squares with the total given; no cell of it is negative.
    bend = sum(q.T @ q / s**2 for q, _, s, _ in measured)
    system = np.block([[bend, np.ones((24, 1))], [np.ones((1, 24)), np.zeros((1, 1))]])
    aim = [*sum(q.T @ y / s**2 for q, y, s, _ in measured), 1e5]
    best = np.linalg.solve(system, aim)[:24]
    assert best.min() > 0
    assert loss == pytest.approx(engine._marginal_loss(Vector(best.reshape(4, 6)))[0], abs=0.05)
    assert np.abs(engine.marginals.ravel() - best).max() < 0.2 * 300
    np.testing.assert_array_equal(engine.belief_propagation(engine.potentials), engine.marginals)


def test_merged_levels_come_back():
    kept = {"first": [False, True], "both": [False, True, False], "all": [True, True]}
    compressor = SimpleNamespace(
        supports={name: np.array(levels) for name, levels in kept.items()},
        prng=np.random.RandomState(1),
    )
    codes = np.array([0, 1] * 50)
    frame = with_all_levels(compressor, SimpleNamespace(df=dict.fromkeys(kept, codes))).df
    assert frame["first"].tolist() == [1, 0] * 50
    assert frame["both"][::2].tolist() == [1] * 50
    assert set(frame["both"][1::2]) == {0, 2}
    assert frame["all"].tolist() == codes.tolist()


@pytest.fixture(scope="module")
def survey():
    return load_network("survey").sample(2000, 1)


def stub(tmp_path, text):
    path = tmp_path / "stub.py"
    path.write_text(text)
    return path


def test_rows_of_the_script_become_a_table_with_the_public_columns(survey, tmp_path):
    read = tuple(replace(column, declared=False) for column in survey.columns)
    given = replace(survey, columns=read)
    made, seconds = synthetic(PYTHON, "mst", given, 0.5, 3, 60, stub(tmp_path, STUB))
    assert seconds == 1.5
    assert made.columns == survey.columns
    for ours, theirs in zip(survey.values, made.values, strict=True):
        np.testing.assert_array_equal(ours[::-1], theirs)


@pytest.mark.long
def test_a_script_over_its_processor_time_is_ended(survey, tmp_path):
    with pytest.raises(NotMade, match=says("too-slow", seconds=1)):
        synthetic(PYTHON, "mst", survey, 1.0, 0, 1, stub(tmp_path, "while True: pass"))


def test_a_script_that_fails_is_said_to(survey, tmp_path, capsys):
    with pytest.raises(NotMade, match="failed"):
        synthetic(PYTHON, "mst", survey, 1.0, 0, 60, stub(tmp_path, "raise SystemExit('why')"))
    assert "why" in capsys.readouterr().err


def test_with_the_same_neighbours_each_rival_gets_less(survey, monkeypatch):
    costs = []

    def made(python, method, data, epsilon, seed, limit, cost):
        costs.append((method, cost))
        return survey, 1.0

    monkeypatch.setattr(synthetic_rivals, "synthetic", made)
    tries = dict.fromkeys(RIVALS, 1)
    list(runs_at("survey", 1.0, [survey], tries, PYTHON, 9, same_neighbours=True))
    # A third of ρ for choices, which cost four times as much, and the rest for tables, twice.
    aims = [(method, pytest.approx(2.2)) for method in ("aim", "aim-merged")]
    assert costs == [("mst", pytest.approx(8 / 3)), *aims]


def test_a_rival_is_pc_on_rows_with_the_same_neighbours(survey, monkeypatch):
    other, asked = load_network("survey").sample(2000, 9), []

    def made(python, method, data, epsilon, seed, limit, cost):
        asked.append((python, method, epsilon, seed, limit, round(cost, 3)))
        return other, 1.0

    monkeypatch.setattr(private_rows, "synthetic", made)
    monkeypatch.setattr(private_rows, "interpreter", lambda peer, folder: peer)
    found = graph_of("MST + PC", survey, 0.5, 3, 60)
    assert asked == [("dpmm", "mst", 0.5, 3, 60, 2.667)]
    assert found == discover(other, "pc", PC).graph != discover(survey, "pc", PC).graph


def test_kinds_of_links_scores_a_rival_and_leaves_out_what_is_ended(monkeypatch):
    def made(rival, data, epsilon, seed, limit):
        assert (rival, epsilon, limit) == ("AIM + PC", 2.0, 9)
        if seed == 5:
            raise NotMade("over 9 s")
        return kinds_of_links.table("answers 5 x 100", seed).truth

    monkeypatch.setattr(kinds_of_links, "graph_of", made)
    given = "answers 5 x 100", "AIM + PC", {"epsilon": 2.0}
    line = kinds_of_links.measured(*given, range(5, 7), 9)
    assert line.startswith("1.000 / 1.000 (1 graphs) | 0.00 | linear ")
    assert kinds_of_links.measured(*given, range(5, 6), 9) == "– | – | – | – | –"


def test_the_cost_reaches_the_script(survey, tmp_path):
    text = STUB.replace("seed, folder =", "seed, folder, cost =").replace("1.5", "float(cost)")
    made = synthetic(PYTHON, "mst", survey, 0.5, 3, 60, stub(tmp_path, text), cost=2.5)
    assert made[1] == 2.5


def test_pc_reads_the_synthetic_rows_and_a_rival_that_is_stopped_is_not_tried_again(
    survey, monkeypatch
):
    other = load_network("survey").sample(2000, 9)
    asked, costs = [], []

    def made(python, method, data, epsilon, seed, limit, cost):
        asked.append((method, seed))
        costs.append(cost)
        if method == "aim":
            raise NotMade("over 9 s")
        return other, 100.0

    monkeypatch.setattr(synthetic_rivals, "synthetic", made)
    tries = {"MST + PC": 2, "AIM + PC": 2, "AIM merging + PC": 0}
    runs = list(runs_at("survey", 1.0, [survey, survey], tries, PYTHON, 9))
    assert asked == [("mst", 500), ("aim", 500), ("mst", 501)]
    assert costs == [None] * 3
    assert tries == {"MST + PC": 2, "AIM + PC": 0, "AIM merging + PC": 0}
    pc = {"score": "g2", "threshold": 0.01}
    for algorithm, read in (("MST + PC", other), ("PC, not private", survey)):
        expected = scores(discover(read, "pc", pc).graph, truth_of(survey))
        found = [run for run in runs if run.algorithm == algorithm]
        assert [(run.skeleton, run.cpdag) for run in found] == [expected] * 2
        assert all(run.seconds is not None for run in found)
    assert all(run.seconds > 100 for run in runs if run.algorithm == "MST + PC")
    assert [run.failed for run in runs if run.algorithm == "AIM + PC"] == ["over 9 s"]


def test_a_line_has_means_medians_and_what_is_missing():
    runs = [
        Run("asia", 0.1, "MST + PC", 0, 0.5, 0.2, 1.0),
        Run("asia", 0.1, "MST + PC", 1, 1.0, 0.4, 2.0),
        Run("asia", 0.1, "MST + PC", 2, 0.0, 0.0, 9.0),
        Run("asia", 0.1, "AIM + PC", 0, 0.75, 0.25, 4.0),
        Run("asia", 0.1, "AIM + PC", 1, failed="over 300 s"),
        Run("asia", 0.1, "moment-search", 0, 1.0, 1.0, 0.25),
    ]
    assert table_line("asia", 0.1, runs) == (
        "| asia | 0.1 | 0.500 / 0.200 | 0.750 / 0.250 (1 of 3 runs, over 300 s) "
        "| not tried | 1.000 / 1.000 (1 of 3 runs) | not tried | 2.00 / 4.00 / – / 0.25 |"
    )
    stopped = [Run("child", 1.0, "AIM + PC", 0, failed="over 300 s")]
    assert "| not tried | over 300 s | not tried | not tried |" in table_line("child", 1.0, stopped)


def test_runs_are_saved_as_csv(tmp_path):
    path = tmp_path / "runs.csv"
    saved(Run("asia", 0.1, "MST + PC", 0, 0.5, 0.2, 1.0), path)
    saved(Run("asia", 0.1, "PC, not private", 1, failed="failed"), path)
    with path.open(newline="") as file:
        first, second = csv.DictReader(file)
    assert (first["algorithm"], first["skeleton"], first["failed"]) == ("MST + PC", "0.5", "")
    assert (second["algorithm"], second["cpdag"], second["failed"]) == (
        "PC, not private",
        "",
        "failed",
    )


@pytest.mark.long
def test_the_script_declares_the_levels_and_keeps_the_order_of_columns(tmp_path, monkeypatch):
    models = tmp_path / "dpmm" / "models"
    models.mkdir(parents=True)
    (models / "mst.py").write_text(FAKE)
    (models / "base").mkdir()
    (models / "base" / "compression.py").write_text("class DomainCompressor: ...")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    levels = (2, 3, 4)
    values = tuple(np.random.default_rng(1).integers(0, count, 50) for count in levels)
    columns = tuple(
        Column(f"x{count}", "nominal", tuple(map(str, range(count))), declared=True)
        for count in levels
    )
    made, seconds = synthetic(PYTHON, "mst", Dataset("any", columns, values), 0.5, 3, 60)
    assert seconds > 0
    for ours, theirs in zip(values, made.values, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_every_pin_is_exact():
    pins = (PEERS / "requirements-dpmm.txt").read_text().split()
    assert "dpmm==0.1.9" in pins
    assert all(pin.count("==") == 1 for pin in pins)
