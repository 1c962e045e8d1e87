"""The command line as a script sees it."""

import json
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from privcore.algorithms import ALGORITHMS
from privcore.data import NETWORKS
from privcore.independence import get_score
from privcore.parameter import Parameter
from tests.cli.schemas import confirmed
from tests.examples import few
from tests.messages import outside, says, shows

TEXT = "a,b,c\n" + "".join(f"{i % 2},{(i // 2) % 3},{(i * 7) % 5 % 2}\n" for i in range(60))


@pytest.mark.parametrize(
    ("words", "whose", "score"),
    [
        ("--algorithm priv-pc", "Priv-PC's test,", "z-star"),
        ("--algorithm lapmech", "LapMech's test,", "g2"),
        ("--algorithm moment-search --epsilon 0.01", "Moment search's test,", "lines"),
        ("--algorithm pc", "the test", "g2"),
    ],
)
def test_a_graph_without_privacy_is_named_with_its_test(run, words, whose, score):
    """PC is the same for all algorithms; with another test it is another graph."""
    asked = f"discover --network cancer --rows 2000 {words}"
    _, out, _ = run(asked)
    assert shows(out, "against-its-test", whose="the test", score=get_score("g2").title)
    _, out, _ = run(f"{asked} --reference own-test")
    assert shows(out, "against-its-test", whose="the test", score=get_score("g2").title)
    assert shows(out, "against-its-test", whose=whose, score=get_score(score).title)


def test_notears_has_no_test(run):
    words = "--algorithm noleaks --rows 500 --reference own-test"
    _, out, _ = run(f"discover --network cancer {words}")
    assert shows(out, "against-without-privacy", name="NOTEARS")


def test_the_same_algorithm_without_noise_is_compared_where_it_is_wanted(run, report, refused):
    words = "discover --network cancer --algorithm svt-pc --rows 2000"
    usual = report(f"{words} --json")
    assert usual["metrics"].keys() == {"truth", "non_private"}
    both = report(f"{words} --reference same --json")
    assert both["metrics"].keys() == {"truth", "non_private", "same"}
    assert both["directed"] == usual["directed"]
    assert both["noise"] == "simulated"
    _, words_of_it, _ = run(f"{words} --reference same")
    assert shows(words_of_it, "against-without-noise", name="SVT-PC")
    title = get_score("g2").title
    assert shows(words_of_it, "against-its-test", whose="the test", score=title)
    assert shows(words_of_it, "same-finds", algorithm="SVT-PC")
    plain = report("discover --network cancer --algorithm pc --reference same --json")
    assert plain["metrics"].keys() == {"truth", "non_private"}
    refused(f"{words} --reference nothing")


def test_a_report_holds_graph_guarantee_and_metrics(report):
    found = report(
        "discover --network asia --rows 100000 --seed 1 --algorithm priv-pc --epsilon 1 "
        "--delta 1e-6 --json"
    )
    assert len(found["nodes"]) == 8
    assert found["directed"] or found["undirected"]
    guarantee = found["guarantee"]
    assert (guarantee["epsilon"], guarantee["delta"]) == (1.0, 1e-6)
    assert guarantee["calibration"] == "proven"
    assert guarantee["caveats"] == []
    assert {"neighbours", "public", "accountant"} <= guarantee.keys()
    assert found["spent"]["used"] <= found["spent"]["total"]
    assert found["tests_run"] > 28
    assert found["seconds"] > 0
    assert set(found["metrics"]) == {"truth", "non_private"}
    assert {"f1", "precision", "recall"} <= found["metrics"]["truth"]["skeleton"].keys()
    assert "cpdag" in found["metrics"]["truth"]


def test_runs_as_a_module_and_repeats_itself(report):
    words = "discover --network cancer --rows 2000 --seed 4 --json"
    command = [sys.executable, "-m", "privcore", *words.split()]
    one = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    two = report(words)
    one.pop("seconds"), two.pop("seconds")
    assert one == two


@pytest.mark.parametrize("name", few(NETWORKS, 1))
def test_every_network_runs(report, name):
    words = "--rows 2000 --algorithm priv-pc --max-order 1 --json"
    assert report(f"discover --network {name} {words}")["nodes"]


@pytest.mark.parametrize("name", few(ALGORITHMS, 3))
def test_every_algorithm_takes_the_same_options(report, name):
    words = f"--rows 500 --algorithm {name} --epsilon 1 --delta 1e-6 --json"
    epsilon = report(f"discover --network cancer {words}")["guarantee"]["epsilon"]
    assert (epsilon is None) != ALGORITHMS[name].private


@pytest.mark.long
def test_words(printed):
    out = printed("discover --network asia --rows 5000")
    # What is recommended, on few combinations of levels.
    assert shows(out, "guarantee-of-run", epsilon=1, delta=0, status="proven, pure DP")
    assert "skeleton F1" in out


def test_lists(report, run):
    assert "Lauritzen" in run("networks")[1]
    assert [n["name"] for n in report("networks --json")] == list(NETWORKS)
    assert "sieve" in run("algorithms")[1]
    described = report("algorithms --json")
    assert {a["name"] for a in described} == set(ALGORITHMS)
    assert all(p["help"] and p["source"] for a in described for p in a["parameters"])


def test_a_file_with_levels_from_the_data_says_so(report, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TEXT)
    found = report(f"discover --csv {path} --json")
    assert shows(found["guarantee"]["caveats"][0], "levels-not-covered")
    assert set(found["metrics"]) == {"non_private"}
    given = report(f"discover --csv {path} --schema {confirmed(path)} --json")
    assert given["guarantee"]["caveats"] == []


def test_a_true_graph_can_be_given(report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(TEXT)
    Path("g.dot").write_text("digraph { a -> b; }")
    assert "truth" in report("discover --csv t.csv --truth g.dot --json")["metrics"]


def test_secure_noise(report):
    found = report("discover --network cancer --rows 500 --secure --json")
    assert (found["noise"], found["seed"]) == ("secure", None)


def test_names_with_markup_and_emoji_survive(report, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('"</script>",🙂,"q""uote"\n' + TEXT.split("\n", 1)[1], encoding="utf-8")
    assert report(f"discover --csv {path} --json")["nodes"] == ["</script>", "🙂", 'q"uote']


BASE = "discover --network cancer --rows 500 --algorithm priv-pc"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (f"{BASE} --epsilon 0", outside("epsilon", 0)),
        (f"{BASE} --epsilon much", outside("epsilon", "much")),
        (f"{BASE} --set rate=1.5", outside("rate", "1.5")),
        (f"{BASE} --set rate=0.001", says("sub-sample-leaves", left=0, rows=500)),
        (f"{BASE} --set nonsense=1", says("no-such-parameter", name="nonsense")),
        (f"{BASE} --set rate", says("not-name-value")),
        (f"{BASE} --score tau", outside("score", "tau")),
        (f"{BASE} --score kendall", says("no-proven-sensitivity")),
        (f"{BASE} --score z-star --calibration published", says("nothing-published")),
        (f"{BASE} --algorithm magic", says("no-such-algorithm", name="magic")),
        (f"{BASE} --seed x", outside("seed", "x")),
        (f"{BASE} --seed -1", outside("seed", "-1")),
        ("discover --network atlantis", says("no-such-network", name="atlantis")),
        ("discover --network asia --rows 1", outside("rows", 1)),
        ("discover --network asia --rows 1e3", outside("rows", "1e3")),
        ("discover", says("either-source")),
        ("discover --network asia --csv x", says("either-source")),
        ("discover --csv no-such-file.csv", says("cannot-be-read")),
        ("discover --csv .", says("cannot-be-read")),
        ("discover --frobnicate", says("unrecognized-arguments")),
        ("fly", says("invalid-choice")),
        ("", "required"),
    ],
)
def test_a_wrong_option_exits_2_with_one_sentence(refused, arguments, sentence):
    assert re.search(sentence, refused(arguments))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"a\n1\n2\n", "1 column"),
        (b"a,b\n1,2\n", "1 row"),
        (b"\x00\x01\x02,\xff\n", says("no-text-file")),
        (b"a,b\n1\n", says("wrong-cells-in-line", line=2, cells=1)),
    ],
)
def test_a_bad_file_exits_2_with_one_sentence(refused, tmp_path, content, sentence):
    """What else may be wrong with a file is tested with the reader."""
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert re.search(sentence, refused(f"discover --csv {path}"))


def test_uncut_numbers_are_cut(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{i}.5,{i % 2}\n" for i in range(100)))
    assert run(f"discover --csv {path}")[0] == 0


def test_a_limit_of_tests_is_told_in_words(printed):
    out = printed("discover --network asia --rows 2000 --algorithm priv-pc --test-limit 20")
    assert shows(out, "tests-limited")
    assert shows(out, "orders-unfinished", low=0, high=3)


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e400", "9" * 5000, "", "½"])
@pytest.mark.parametrize("option", ["--seed", "--rows", "--max-order", "--test-limit", "--epsilon"])
def test_what_is_no_number_is_said_to_be_none(refused, option, value):
    said = refused(f"discover --network cancer {option}={value}")
    assert said.startswith(f"{option[2:]} is ")


def test_whole_numbers_keep_all_their_digits():
    seed = Parameter("s", "S", "s", "int", 1, "", "", range="(-inf, 4e18]")
    assert seed.parse(str(2**53 + 1)) == 2**53 + 1
    assert seed.parse("1e3") == 1000


@pytest.mark.long
def test_a_reader_that_stops_early_ends_the_command_quietly():
    command = [sys.executable, "-m", "privcore", "algorithms"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_ctrl_c_ends_the_command_with_a_word(capsys, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr("privcore.faces.cli.main", interrupted)
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("privcore", run_name="__main__")
    assert stop.value.code == 130
    assert capsys.readouterr() == ("", "Stopped.\n")
