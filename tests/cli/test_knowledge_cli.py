"""What is known beforehand on the command line: discover, release's plan, and sweeps."""

import csv
import json
import re

import pytest

from tests.messages import begins, reads, says, shows

TIERS = "asia,smoke;tub,lung,bronc;either;xray,dysp"


@pytest.mark.long
@pytest.mark.parametrize("algorithm", ["moment-search", "laplace-pc", "pc"])
def test_a_run_obeys_and_says_what_was_known(report, algorithm):
    asked = f"discover --network asia --rows 5000 --algorithm {algorithm}"
    known = f"--tiers {TIERS} --forbid 'asia--smoke; lung->either' --require asia->tub"
    found = report(f"{asked} {known} --json")
    place = {name: k for k, tier in enumerate(TIERS.split(";")) for name in tier.split(",")}
    assert all(place[a] <= place[b] for a, b in found["directed"])
    assert ["asia", "tub"] in found["directed"]
    edges = found["directed"] + found["undirected"]
    assert not {("asia", "smoke"), ("lung", "either")} & {tuple(sorted(e)) for e in edges}
    assert json.loads(found["parameters"]["knowledge"])["required"] == [["asia", "->", "tub"]]
    if algorithm != "pc":
        assert any(begins(f, "known-beforehand") for f in found["guarantee"]["public"])


@pytest.mark.long
def test_edges_that_were_known_say_so(run):
    out = run("discover --network asia --rows 5000 --require asia->xray").out
    line = next(line for line in out.splitlines() if line.startswith("asia -> xray"))
    assert reads(line.split("  ", 1)[1].strip(), "probability-and-direction-known")


def test_what_the_tests_say_against_it_is_told(run):
    out = run("discover --network asia --rows 50000 --algorithm pc --tiers either;tub,lung").out
    assert shows(out, "kept-against-tests", places=1, column="either")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("--tiers asia;smoke --require smoke->asia", says("required-but", edge="smoke → asia")),
        ("--tiers asia;smok", says("knowledge-of-no-column", name="smok")),
        ("--forbid asia", says("no-edge-in-statement", statement="asia")),
        ("--knowledge nothing.json", says("cannot-be-read")),
        ("--set knowledge=tiers", says("bad-knowledge-json", value="'tiers'")),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(refused, words, sentence):
    assert re.search(sentence, refused(f"discover --network asia --rows 100 {words}"))


def test_a_sweep_keeps_what_is_known(run, tmp_path):
    out = tmp_path / "rows.csv"
    asked = "sweep --network cancer --rows 500 --algorithms laplace-pc,pc"
    known = "--tiers Smoker,Pollution;Cancer;Xray,Dyspnoea --seeds 2 --workers 0"
    assert run(f"{asked} {known} --epsilons 1 --out {out}").code == 0
    place = {"Smoker": 0, "Pollution": 0, "Cancer": 1, "Xray": 2, "Dyspnoea": 2}
    rows = list(csv.DictReader(out.open()))
    assert len(rows) == 3
    for row in rows:
        arrows = [edge.split("->") for edge in row["edges"].split() if "->" in edge]
        assert all(place[a] <= place[b] for a, b in arrows)
