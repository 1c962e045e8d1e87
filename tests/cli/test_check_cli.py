"""`check`, and `release` with a graph, as a script sees them."""

import json
from pathlib import Path

import pytest

from tests.cli.schemas import confirmed
from tests.messages import shows

ASIA = "check --network asia --rows 20000 --epsilon 1"
RIGHT = "smoke -> lung; smoke -> bronc; lung -> xray"
SIMULATED = "noise simulated from a seed: for exploration, never for a release"
WRONG = "smoke -> dysp; smoke -> bronc"


def test_a_graph_in_words_and_as_json(printed, report):
    words = printed(f"{ASIA} --graph", RIGHT)
    assert "contradicted (" not in words
    assert "smoke → lung: supported" in words
    assert "epsilon 1, delta 0" in words
    said = report(f"{ASIA} --json --graph", WRONG)
    (pair,) = [one for one in said["pairs"] if not one["arrow"]]
    assert (pair["pair"], pair["given"], pair["verdict"]) == (
        ["dysp", "bronc"],
        ["smoke"],
        "contradicted",
    )
    assert said["asked_for"] == [["dysp", "bronc"]]
    assert (said["guarantee"]["epsilon"], said["noise"]) == (1, "simulated")
    assert said["parameters"]["measured"] is None


def test_a_file_a_question_a_level_and_a_size_are_taken(report, home):
    (home / "graph.gml").write_text(
        'graph [ directed 1 node [ id 0 label "smoke" ] node [ id 1 label "lung" ]'
        " edge [ source 0 target 1 ] ]"
    )
    said = report(
        f"{ASIA} --graph graph.gml --exposure smoke --outcome lung --fdr .2 --size .3 --json"
    )
    assert (said["level"], said["size"]) == (0.2, 0.3)
    low, high = said["effect"]["sets"][0]["estimate"][1:]
    assert low <= 0.09 <= high
    assert report(f"{ASIA} --graph graph.gml --secure --json")["noise"] == "secure"


@pytest.mark.parametrize(
    ("graph", "code", "values"),
    [
        ("smoke -> lunk", "no-column-of-graph", {"name": "lunk", "nearest": "lung"}),
        ("smoke -> lung -> bronc -> smoke", "stated-graph-cycle", {}),
        ("smoke", "graph-of-one-column", {}),
        ("smoke ->", "stated-graph-unreadable", {}),
        ("smoke => lung", "stated-graph-unreadable", {"line": "smoke => lung"}),
    ],
)
def test_what_is_no_graph_of_these_columns_is_refused(refused, graph, code, values):
    assert shows(refused(f"{ASIA} --graph", graph), code, **values)


def test_half_a_question_and_a_question_about_one_column_are_refused(refused):
    half = refused(f"{ASIA} --exposure smoke --graph", RIGHT)
    assert shows(half, "effect-of-graph-needs-both", named="smoke")
    assert shows(refused(f"{ASIA} --target lung --graph", RIGHT), "check-needs-all-columns")


def test_what_limits_the_guarantee_and_the_noise_are_said(home, printed):
    rows = "".join(f"{i % 2},{(i // 2) % 2}\n" for i in range(600))
    (home / "own.csv").write_text(f"a,b\n{rows}")
    words = printed("check --csv own.csv --epsilon 1 --graph", "a -> b").splitlines()
    assert words[-2].startswith("note: ")
    assert words[-1] == SIMULATED
    assert SIMULATED not in printed("check --csv own.csv --epsilon 1 --secure --graph", "a -> b")


def test_options_out_of_range_are_refused(refused):
    assert shows(refused(f"{ASIA} --fdr 2 --graph", RIGHT), "out-of-range", name="level", value=2)
    assert shows(refused(f"{ASIA} --size 0 --graph", RIGHT), "out-of-range", name="size", value=0)


@pytest.fixture
def files(home):
    rows = "".join(f"{i % 2},{(i // 2) % 2},{i % 2}\n" for i in range(600))
    (home / "table.csv").write_text(f"a,b,c\n{rows}")
    confirmed(home / "table.csv")
    return home


RELEASE = (
    "release --csv table.csv --schema table.schema.json --algorithm moment-search"
    " --budget-name clinic --out out --keep-numbers --epsilon 1"
)


def test_a_release_carries_the_check_and_its_numbers_answer_again(files, printed, report, refused):
    printed("ledger total clinic --epsilon 3 --delta .0001")
    words = printed(f"{RELEASE} --graph", "a -> c; b -> c")
    paths = [Path(line) for line in words.splitlines()[-3:]]
    certificate = json.loads(paths[0].read_text())
    check = certificate["released"]["check"]
    assert check["graph"]["nodes"] == ["a", "c", "b"]
    assert {pair["verdict"] for pair in check["pairs"]} <= {
        "agrees", "contradicted", "supported", "not seen", "inconclusive"
    }  # fmt: skip
    assert certificate["guarantee"]["epsilon"] == 1
    key = certificate["signature"]["fingerprint"]
    assert printed(f"verify {paths[0]} --key {key}").startswith("Verified:")
    assert "a -&gt; c" in paths[1].read_text()
    free = report(f"check --from-release {paths[2]} --json --graph", "a -> c; b -> c")
    assert free["pairs"] == check["pairs"]
    assert "no further cost" in printed(f"check --from-release {paths[2]} --graph", "a -> b; c")
    both = refused(f"check --from-release {paths[2]} --network asia --graph", RIGHT)
    assert shows(both, "check-data-or-release")


def test_a_release_of_some_columns_is_charged_to_the_table(files, printed, refused):
    printed("ledger total clinic --epsilon 2 --delta .0001")
    printed("ledger total other --epsilon 2 --delta .0001")
    out = printed(f"{RELEASE} --graph", "a -> c")
    assert json.loads(Path(out.splitlines()[-3]).read_text())["domain"]["columns"][1]["name"] == "c"
    for graph in (("--graph", "a -> c"), ("--graph", "b -> c"), ()):
        line = RELEASE.replace("clinic", "other")
        assert "clinic" in refused(line, *graph)


def test_a_graph_is_checked_by_moment_search_alone(files, printed, refused):
    printed("ledger total clinic --epsilon 2 --delta .0001")
    line = RELEASE.replace("moment-search", "lapmech").replace(" --keep-numbers", "")
    assert shows(refused(f"{line} --graph", "a -> c"), "check-needs-stated-levels")
    assert shows(refused(f"{RELEASE} --graph", "a -> d"), "no-column-of-graph", name="d")
