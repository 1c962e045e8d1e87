"""A bought domain from a shell: drafted kinds, exploring, a release and its verification."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.messages import outside, says, shows


@pytest.fixture
def files(home):
    rng = np.random.default_rng(1)
    smoke = rng.random(2_000) < 0.5
    ill = rng.random(2_000) < 0.2 + 0.6 * smoke
    age = rng.normal(50, 10, 2_000)
    lines = [
        f"{'yes' if s else 'no'},{'ill' if i else 'well'},{a:.1f}"
        for s, i, a in zip(smoke, ill, age, strict=True)
    ]
    (home / "t.csv").write_text("smoke,ill,age\n" + "\n".join(lines) + "\n")
    return home


@pytest.fixture
def kinds(files, run):
    """A draft of kinds, as `kinds.json`."""
    code, out, _ = run("schema --csv t.csv --kinds --out kinds.json")
    assert code == 0
    assert shows(out, "domain-column", name="age", intervals=6)


EXPLORED = "discover --csv t.csv --schema kinds.json"
RELEASED = "release --csv t.csv --schema kinds.json --budget-name clinic --out out"


def test_exploring_with_simulated_noise(kinds, report, run):
    asked = f"{EXPLORED} --algorithm laplace-pc --buy-domain 0.3 --json"
    found = report(asked)
    assert found["guarantee"]["epsilon"] == 1.0
    assert found["guarantee"]["delta"] == 1e-6
    assert "bought_domain.md" in found["guarantee"]["proof"]
    assert found["parameters"]["epsilon"] == 0.7
    assert found["noise"] == "simulated"
    again = report(asked)
    assert again["directed"] == found["directed"]
    assert again["undirected"] == found["undirected"]
    assert run(f"{EXPLORED} --buy-domain 0.3 --estimate").code == 0


def test_a_release_and_its_verification(kinds, printed, run, refused):
    assert shows(run("schema --confirm kinds.json --yes").out, "domain-levels", name="smoke")
    assert run("ledger total clinic --epsilon 2 --delta 1e-5").code == 0
    asked = f"{RELEASED} --algorithm lapmech --buy-domain 0.4"
    assert shows(refused(asked), "domain-needs-delta")
    out = printed(f"{asked} --domain-delta 1e-6")
    assert shows(out, "epsilon-and-delta", epsilon=1, delta="1e-06")
    certificate = next(Path("out").glob("*.json"))
    out = printed(f"verify {certificate}")
    assert shows(out, "steps-of-domain-cost", epsilon="0.4")
    assert 'smoke: nominal, levels "no" | "yes" | "(other)"' in out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (EXPLORED, says("kind-alone")),
        ("discover --csv t.csv --buy-domain 0.2", "schema --kinds"),
        (f"{EXPLORED} --buy-domain 0.2 --intervals 3", "give bins"),
        (f"{EXPLORED} --domain-delta 0.1", says("leave-it-out")),
        ("discover --table t.csv --schema kinds.json --buy-domain 0.2", says("schema-for-csv")),
        (f"{RELEASED} --algorithm laplace-pc --buy-domain 0.2", "not confirmed"),
        *(
            (f"{EXPLORED} --buy-domain {share}", outside("buy-domain"))
            for share in ("0", "1", "nan", "x")
        ),
    ],
)
def test_one_sentence_says_what_to_do(kinds, refused, line, sentence):
    assert re.search(sentence, refused(line))
