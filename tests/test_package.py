"""What is installed: the wheel, the flat interface, and how little a small command loads."""

import doctest
import importlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml

import privcore
from privcore.errors import DataError, ParameterError, ReleaseError
from privcore.extras.lab.reproductions import NAMES
from privcore.intake import ColumnSchema
from privcore.releases.ledger.ledger import Ledger
from privcore.version import __version__
from tests.examples import few
from tests.messages import says, shows

ROOT = Path(__file__).parents[1]


def sample_files():
    return [path for sample in privcore.SAMPLES.values() for path in (sample.path, sample.graph)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    words = ["build", "-t", "wheel", "-d", str(folder)]
    subprocess.run([sys.executable, "-m", "hatchling", *words], cwd=ROOT, check=True)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        yield archive


def test_the_wheel_has_the_engine_and_the_dashboard_under_one_name_each(wheel):
    names = wheel.namelist()
    assert {name.split("/")[0] for name in names} == {
        "privcore",
        "causalveil_app",
        f"causalveil-{__version__}.dist-info",
    }
    for needed in (
        "privcore/py.typed",
        "privcore/__init__.pyi",
        "privcore/data/networks/asia.json",
        *(f"privcore/intake/samples/{path.name}" for path in sample_files()),
        "privcore/extras/results/eight_networks.parquet",
        "privcore/extras/results/first_view.parquet",
        *(f"privcore/extras/results/reproductions/{name}.json" for name in NAMES),
        "causalveil_app/app.py",
        "causalveil_app/pages/discover.py",
        "causalveil_app/pages/ui/graphs/component.js",
        "causalveil_app/pages/ui/graphs/networks.js",
        "privcore/display/drawing/graph.js",
        "privcore/display/interactive/page.js",
        "causalveil_app/assets/icon.png",
        "causalveil_app/.streamlit/config.toml",
        f"causalveil-{__version__}.dist-info/licenses/LICENSE",
    ):
        assert needed in names
    assert not [name for name in names if "__pycache__" in name]


def test_the_engine_alone_asks_for_no_dashboard(wheel):
    metadata = wheel.read(f"causalveil-{__version__}.dist-info/METADATA").decode()
    needed = [line.split(": ")[1] for line in metadata.splitlines() if "Requires-Dist" in line]
    always = [line for line in needed if "extra ==" not in line]
    assert not [line for line in always if line.startswith(("streamlit", "plotly", "pyvis"))]
    for name in ("streamlit", "pyvis"):
        assert [line for line in needed if line.startswith(name) and "'app'" in line]
    assert [line for line in needed if line.startswith("distributed") and "'cluster'" in line]
    scripts = wheel.read(f"causalveil-{__version__}.dist-info/entry_points.txt").decode()
    assert "causalveil = privcore.__main__:main" in scripts


def test_the_wheel_runs_on_its_own(wheel, tmp_path):
    """Unpacked elsewhere, the command finds its engine and its dashboard there."""
    wheel.extractall(tmp_path)
    code = "from privcore.faces.cli.app import dashboard; import privcore; print(dashboard())"
    path = {"PYTHONPATH": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=path, capture_output=True, check=True
    )
    assert run.stdout.decode().strip() == str(tmp_path / "causalveil_app" / "app.py")


@pytest.mark.long
def test_the_wheel_lists_the_papers_and_says_where_they_are_made_again(wheel, tmp_path):
    wheel.extractall(tmp_path)
    # Somebody else's package of the name that ours have beside the source.
    foreign = tmp_path / "benchmarks" / "__init__.py"
    foreign.parent.mkdir()
    foreign.write_text("raise SystemExit(9)")
    command = [sys.executable, "-m", "privcore", "reproduce"]
    env = {"PYTHONPATH": str(tmp_path)}
    listed = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=True)
    assert [line.split()[0] for line in listed.stdout.decode().splitlines()[1:]] == list(NAMES)
    made = subprocess.run([*command, NAMES[0]], cwd=tmp_path, env=env, capture_output=True)
    assert (made.returncode, made.stdout) == (2, b"")
    assert made.stderr.decode().count("\n") == 1


def test_pinned_packages_are_within_what_the_wheel_asks_for(wheel):
    from packaging.requirements import Requirement

    pins = {}
    for file in ("requirements.txt", "requirements-test.txt"):
        for line in (ROOT / file).read_text().splitlines():
            name, equal, version = line.partition("==")
            if equal:
                pins[name.lower()] = version
    metadata = wheel.read(f"causalveil-{__version__}.dist-info/METADATA").decode()
    for line in metadata.splitlines():
        if line.startswith("Requires-Dist: "):
            wanted = Requirement(line.split(": ", 1)[1])
            assert wanted.specifier.contains(pins[wanted.name.lower()]), line


def test_one_version():
    assert privcore.__version__ == __version__
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert cited["version"] == __version__
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "privcore").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", few(EXAMPLES, 7))
def test_examples_of_docstrings_run(module):
    tests, failed = 0, 0
    for found in doctest.DocTestFinder().find(importlib.import_module(module)):
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        result = doctest.DocTestRunner(optionflags=flags).run(found)
        tests, failed = tests + result.attempted, failed + result.failed
    assert tests
    assert not failed


def test_the_flat_interface_is_what_the_stub_says():
    assert {"discover", "load_network", "read_table", "release", "sweep"} <= set(dir(privcore))
    for name in dir(privcore):
        assert getattr(privcore, name).__doc__, f"{name} has no docstring"


def test_functions_stay_when_rooms_are_imported():
    importlib.import_module("privcore.releases.release")
    importlib.import_module("privcore.extras.lab.sweeps.sweep")
    assert callable(privcore.release)
    assert callable(privcore.sweep)


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "without"),
    [
        ("networks", ("pandas", "scipy", "numba", "networkx", "pyarrow", "opendp")),
        ("samples", ("pandas", "scipy", "numba", "networkx", "pyarrow", "opendp")),
        ("ledger", ("numba", "opendp")),
    ],
)
def test_a_small_command_loads_little(command, without, tmp_path):
    code = (
        "import sys; from privcore.faces.cli import main; "
        f"code = main(['{command}']); print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={"CAUSALVEIL_DATA_DIR": str(tmp_path)},
        capture_output=True,
        check=True,
    )
    loaded = set(run.stderr.decode().split())
    assert "privcore.faces.cli" in loaded
    assert not loaded & set(without)


FRAME = pd.DataFrame(
    {
        "smokes": ["no", "yes", "no", None],
        "age": [31.5, 64.0, 47.2, 50.0],
        "ward": ["a", "b", "b", "a"],
    }
)


def test_a_data_frame_is_read_as_its_file_would_be(tmp_path):
    file = tmp_path / "people.csv"
    FRAME.to_csv(file, index=False)
    one = privcore.read_table(FRAME, missing="drop")
    other = privcore.read_table(file, missing="drop")
    assert (one.n, one.names) == (3, ("smokes", "age", "ward"))
    assert all((a == b).all() for a, b in zip(one.values, other.values, strict=True))
    assert privcore.read_table(FRAME, columns=["ward", "age"]).names == ("age", "ward")
    assert shows(" ".join(one.caveats), "levels-not-covered")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: privcore.read_table("nowhere.csv"), DataError, says("cannot-be-read")),
        (lambda: privcore.read_table(FRAME, missing="refuse"), DataError, says("values-missing")),
        (
            lambda: privcore.read_table(FRAME, columns=["wage"]),
            DataError,
            says("no-such-column", name="wage"),
        ),
        (
            lambda: privcore.discover(FRAME.dropna(), "magic"),
            ParameterError,
            says("no-such-algorithm", name="magic"),
        ),
        (
            lambda: privcore.discover(FRAME.dropna(), speed=3),
            ParameterError,
            says("no-such-parameter", name="speed"),
        ),
        (
            lambda: privcore.sweep(privcore.read_table(FRAME.dropna()), speed=3),
            ParameterError,
            says("no-algorithm-has", name="speed"),
        ),
    ],
)
def test_what_is_asked_wrongly_is_refused_in_a_sentence(call, error, message):
    with pytest.raises(error, match=message) as refused:
        call()
    assert str(refused.value).endswith(".")


def test_without_a_seed_the_noise_is_secure():
    data = privcore.load_network("cancer").sample(2_000, seed=1)
    assert privcore.discover(data, epsilon=1).noise == "secure"
    assert not privcore.discover(data, epsilon=1).trace
    seeded = [privcore.discover(data, epsilon=1, seed=3) for _ in range(2)]
    assert seeded[0].noise == "simulated"
    assert seeded[0].graph == seeded[1].graph
    assert privcore.discover(data, "pc").noise == "none"


def test_a_release_needs_a_schema_and_is_charged(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_total("clinic", 2.0, 1e-5)
    frame = pd.DataFrame({"a": ["x", "y"] * 200, "b": ["u", "v", "u", "u"] * 100})
    wanted = {"ledger": ledger, "budget": "clinic", "epsilon": 1.0}
    with pytest.raises(ReleaseError, match=says("levels-not-confirmed")):
        privcore.release(frame, **wanted)
    public = [
        ColumnSchema("a", "nominal", ("x", "y"), declared=True),
        ColumnSchema("b", "nominal", ("u", "v"), declared=True),
    ]
    made = privcore.release(privcore.read_table(frame, schema=public), **wanted)
    assert made.guarantee.epsilon == 1.0
    assert ledger.spending("clinic").epsilon == 1.0
