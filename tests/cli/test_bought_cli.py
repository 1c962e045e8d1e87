"""A bought domain from a shell: drafted kinds, exploring, a release and its verification."""

import json

import numpy as np
import pytest

from tests.cli.test_cli import refused, run
from tests.messages import shows


@pytest.fixture
def files(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path / "data"))
    rng = np.random.default_rng(1)
    smoke = rng.random(2_000) < 0.5
    ill = rng.random(2_000) < 0.2 + 0.6 * smoke
    age = rng.normal(50, 10, 2_000)
    lines = [
        f"{'yes' if s else 'no'},{'ill' if i else 'well'},{a:.1f}"
        for s, i, a in zip(smoke, ill, age, strict=True)
    ]
    (tmp_path / "t.csv").write_text("smoke,ill,age\n" + "\n".join(lines) + "\n")
    return tmp_path


def kinds(files, capsys, confirm=True):
    path = str(files / "kinds.json")
    csv = str(files / "t.csv")
    code, out, _ = run(capsys, "schema", "--csv", csv, "--kinds", "--out", path)
    assert code == 0
    assert shows(out, "domain-column", name="age", intervals=6)
    if confirm:
        code, out, _ = run(capsys, "schema", "--confirm", path, "--yes")
        assert code == 0
        assert shows(out, "domain-levels", name="smoke")
    return path


def discovered(files, path, *more):
    return ("discover", "--csv", str(files / "t.csv"), "--schema", path, *more)


def test_exploring_with_simulated_noise(files, capsys):
    path = kinds(files, capsys, confirm=False)
    asked = discovered(files, path, "--algorithm", "laplace-pc", "--buy-domain", "0.3", "--json")
    code, out, _ = run(capsys, *asked)
    assert code == 0
    report = json.loads(out)
    assert report["guarantee"]["epsilon"] == 1.0
    assert report["guarantee"]["delta"] == 1e-6
    assert "bought_domain.md" in report["guarantee"]["proof"]
    assert report["parameters"]["epsilon"] == 0.7
    assert report["noise"] == "simulated"
    again = json.loads(run(capsys, *asked)[1])
    assert again["directed"] == report["directed"]
    assert again["undirected"] == report["undirected"]
    code, out, _ = run(capsys, *discovered(files, path, "--buy-domain", "0.3", "--estimate"))
    assert code == 0


def test_a_release_and_its_verification(files, capsys):
    path = kinds(files, capsys)
    code, _, _ = run(capsys, "ledger", "total", "clinic", "--epsilon", "2", "--delta", "1e-5")
    assert code == 0
    asked = (
        "release",
        "--csv",
        str(files / "t.csv"),
        "--schema",
        path,
        "--algorithm",
        "lapmech",
        "--budget-name",
        "clinic",
        "--out",
        str(files / "out"),
        "--buy-domain",
        "0.4",
    )
    assert shows(refused(capsys, *asked), "domain-needs-delta")
    code, out, err = run(capsys, *asked, "--domain-delta", "1e-6")
    assert (code, err) == (0, "")
    assert shows(out, "epsilon-and-delta", epsilon=1, delta="1e-06")
    certificate = next((files / "out").glob("*.json"))
    code, out, _ = run(capsys, "verify", str(certificate))
    assert code == 0
    assert shows(out, "steps-of-domain-cost", epsilon="0.4")
    assert 'smoke: nominal, levels "no" | "yes" | "(other)"' in out


def test_one_sentence_says_what_to_do(files, capsys):
    path = kinds(files, capsys, confirm=False)
    csv = str(files / "t.csv")
    assert shows(refused(capsys, *discovered(files, path)), "kind-alone")
    assert "schema --kinds" in refused(capsys, "discover", "--csv", csv, "--buy-domain", "0.2")
    for share in ("0", "1", "nan", "x"):
        words = refused(capsys, *discovered(files, path, "--buy-domain", share))
        assert shows(words, "out-of-range", name="buy-domain")
    words = refused(capsys, *discovered(files, path, "--buy-domain", "0.2", "--intervals", "3"))
    assert "give bins" in words
    assert shows(refused(capsys, *discovered(files, path, "--domain-delta", "0.1")), "leave-it-out")
    table = ("discover", "--table", csv, "--schema", path, "--buy-domain", "0.2")
    assert shows(refused(capsys, *table), "schema-for-csv")
    words = refused(
        capsys,
        "release",
        "--csv",
        csv,
        "--schema",
        path,
        "--algorithm",
        "laplace-pc",
        "--budget-name",
        "clinic",
        "--buy-domain",
        "0.2",
        "--out",
        str(files),
    )
    assert "not confirmed" in words
