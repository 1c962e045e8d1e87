"""A score is one declaration: it checks itself, and pages, commands and algorithms offer it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from privcore.errors import ParameterError
from privcore.extras.audits import MECHANISMS
from privcore.independence import SCORES
from tests.messages import says

ROOT = Path(__file__).resolve().parents[2]
PROVEN = [name for name, score in SCORES.items() if score.proven]


@pytest.mark.parametrize("name", PROVEN)
def test_a_proven_score_has_its_proof_and_its_audit(name):
    proof = ROOT / SCORES[name].proof
    if not proof.is_file():
        pytest.fail(f"{name} has no proof.\nAdd {SCORES[name].proof}.", pytrace=False)
    if name not in {getattr(case.make, "score", None) for case in MECHANISMS.values()}:
        pytest.fail(
            f"{name} has no audit.\nEdit privcore/extras/audits/mechanisms.py: to _ALL, "
            f'_case("test-{name}", …, claims.NoisyTest("{name}", …)).',
            pytrace=False,
        )


@pytest.mark.parametrize(
    ("score", "changed", "message"),
    [
        ("z-star", {"title": ""}, says("score-undescribed")),
        ("z-star", {"help": "No full stop"}, says("score-undescribed")),
        ("z-star", {"scale": "chi2"}, says("dof-without-chi2")),
        ("g2", {"degrees": None}, says("dof-without-chi2")),
        ("z-star", {"proof": ""}, says("proof-without-sensitivity")),
        ("z-star", {"proven": None}, says("proof-without-sensitivity")),
        ("kendall", {"published_flaw": ""}, says("published-without-reason")),
        ("z-star", {"published": lambda n, strata: 1.0}, says("published-without-reason")),
    ],
)
def test_a_score_checks_itself(score, changed, message):
    with pytest.raises(ParameterError, match=message) as refused:
        replace(SCORES[score], **changed)
    assert score in str(refused.value)


# In a process of its own: declarations are read when modules are imported.
ANOTHER = """
import json
from dataclasses import replace
from privcore.independence.registry import SCORES

SCORES["toy"] = replace(SCORES["z-star"], name="toy")
from privcore.algorithms import ALGORITHMS
from privcore.faces.cli import main
from privcore.extras.teaching.sensitivity import PRESETS, sensitivity_playground

offered = {
    name: [choice for p in algorithm.parameters if p.name == "score" for choice in p.choices]
    for name, algorithm in ALGORITHMS.items()
}
moved = sensitivity_playground(*PRESETS["corner"].make(12)).names
print(json.dumps({"offered": offered, "moved": moved}))
asked = ["discover", "--network", "cancer", "--rows", "500", "--score", "toy", "--epsilon", "3"]
raise SystemExit(main([*asked, "--algorithm", "em-pc"]) or main([*asked, "--algorithm", "svt-pc"]))
"""


@pytest.mark.long
def test_a_score_is_offered_everywhere_by_one_declaration():
    done = subprocess.run(
        [sys.executable, "-c", ANOTHER], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[0])
    offered = {name for name, choices in said["offered"].items() if choices}
    assert all("toy" in said["offered"][name] for name in offered)
    assert {"pc", "laplace-pc", "em-pc", "lapmech"} <= offered
    assert "toy" in said["moved"]
