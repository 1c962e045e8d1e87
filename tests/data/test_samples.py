"""The sample tables: their files, true graphs, proposals, and what a private run makes of them."""

import warnings

import pytest

import privcore
from benchmarks import samples as make
from privcore.errors import ParameterError
from privcore.exchange.dot import read_true_graph
from privcore.intake.samples import SAMPLES, get_sample
from tests.examples import few
from tests.messages import says

# By sample and column: the problem that is named, and what is proposed.
PROPOSED = {
    "clinic": {
        "Unnamed: 0": ("row number", "left out"),
        "patient_id": ("identifier", "left out"),
        "notes": ("free text", "left out"),
        "admission_date": ("date", "quarter"),
    },
    "survey": {
        "respondent": ("identifier", "left out"),
        "wave": ("constant", "left out"),
        "region": ("many levels", "frequent levels"),
    },
    "sensors": {
        "timestamp": ("date", "calendar month"),
        "pressure": ("text among numbers", "intervals"),
    },
    "treatment": {"patient_id": ("identifier", "left out")},
}


def load(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return privcore.load_sample(name)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_files_are_what_the_command_writes(name, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["make", "--out", str(tmp_path)])
    monkeypatch.setattr(make, "SAMPLES", {name: SAMPLES[name]})
    make.main()
    for path in (SAMPLES[name].path, SAMPLES[name].graph):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes()
        assert path.stat().st_size < 1_500_000


@pytest.mark.long
@pytest.mark.parametrize("name", few(SAMPLES, 2))
def test_a_sample_is_its_file_with_its_true_graph(name):
    sample = privcore.SAMPLES[name]
    data = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        read = privcore.read_table(sample.path)
    assert (data.n, data.names, data.columns) == (sample.rows, read.names, read.columns)
    assert all((a == b).all() for a, b in zip(data.values, read.values, strict=True))
    graph = read_true_graph(sample.graph.read_bytes(), sample.graph.name, data.names)
    assert data.true_edges == graph
    assert sample.title
    assert len(sample.story.split()) > 40


@pytest.mark.long
@pytest.mark.parametrize("name", SAMPLES)
def test_every_column_gets_the_right_proposal(name):
    problems = {
        p.name: (p.problem, p.ways[0].label)
        for p in privcore.triage(SAMPLES[name].path)
        if p.problem
    }
    assert problems == PROPOSED[name]


@pytest.mark.long
@pytest.mark.parametrize("name", few(SAMPLES, 1))
def test_a_private_run_sees_most_of_the_true_graph(name):
    data = load(name)
    results = [privcore.discover(data, epsilon=1, seed=seed) for seed in (1, 2)]
    known = {frozenset(edge) for edge in data.true_edges}
    for result in results:
        seen = {frozenset(data.names[i] for i in pair) for pair in result.graph.skeleton}
        assert len(seen & known) >= 0.7 * len(known)
        assert len(seen - known) <= 3


def test_a_true_graph_is_known_while_no_column_in_use_has_a_parent_that_is_left_out():
    clinic = SAMPLES["clinic"]
    columns = load("clinic").names
    everything = clinic.true_edges(columns)
    without_leaf = clinic.true_edges([name for name in columns if name != "readmitted_30d"])
    assert set(everything) - set(without_leaf) == {
        ("smoker", "readmitted_30d"),
        ("length_of_stay", "readmitted_30d"),
    }
    assert clinic.true_edges([name for name in columns if name != "age"]) is None
    assert clinic.true_edges(["age", "sex"]) is None


def test_another_name_is_refused():
    with pytest.raises(
        ParameterError,
        match=says("which-samples-there-are", names="clinic, survey, sensors, treatment"),
    ):
        get_sample("clinics")
