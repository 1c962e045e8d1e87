"""`direction` as a script sees it."""

import json
import re

import pytest

from privcore.extras.pairs import PARAMETERS, PairGenerator, infer
from tests.cli.schemas import confirmed
from tests.messages import begins, label, outside, says, shows


@pytest.fixture
def table(tmp_path):
    pair = PairGenerator("polynomial").sample(400, 1)
    path = tmp_path / "t.csv"
    rows = enumerate(zip(pair.x, pair.y, strict=True))
    lines = [f"{x:.6f},{y:.6f},{'uv'[k % 2]},{k % 3}\n" for k, (x, y) in rows]
    path.write_text("cause,effect,kind,count\n" + "".join(lines))
    return str(path)


def test_a_generated_pair_in_words(printed):
    out = printed("direction --generator polynomial --epsilon 2 --seed 3")
    assert out.startswith("X -> Y\nhsic-root: X -> Y\n  X -> Y: ")
    assert shows(out, "guarantee-of-run", epsilon=2, delta=0, status="proven, parallel composition")
    assert shows(out, "exact-direction", score="hsic-root", direction="X -> Y")
    assert shows(out, "never-to-release")


def test_json_is_the_inference(report):
    found = report(
        "direction --generator periodic --rows 1000 --data-seed 5 --seed 2 --direction y->x"
        " --noise-law laplace --score all --set width=0.3 --json"
    )
    given = {"direction": "y->x", "noise_law": "laplace"}
    pair = PairGenerator("periodic", given).sample(1000, 5)
    result = infer(pair, {"score": "all", "width": 0.3}, seed=2)
    assert found["decision"] == result.decision
    assert found["true_direction"] == "y->x"
    assert found["guarantee"] == result.guarantee.as_dict()
    assert found["parameters"] == dict(result.parameters)
    assert found["data"]["train"] == found["data"]["test"] == 500
    assert found["seed"] == 2
    for told, exact, release in zip(
        found["scores"], found["not_private"]["scores"], result.releases, strict=True
    ):
        assert told["released"] == list(release.released)
        assert told["decision"] == release.decision
        assert exact["exact"] == list(release.exact)
    assert found["scores"][3]["log_ranges"] == list(result.releases[3].parts.released)
    assert found["scores"][3]["noise_scale"] is None


def test_a_file(report, table):
    base = f"--csv {table} --x cause --y effect --epsilon 10 --json"
    read = report(f"direction {base}")
    assert (read["x"], read["y"]) == ("cause", "effect")
    assert read["data"]["rows"] == 400
    assert read["true_direction"] is None
    assert read["guarantee"]["caveats"] == [label("bounds-of-not-covered", columns="cause, effect")]
    public = report(f"direction {base} --schema {confirmed(table)}")
    assert public["guarantee"]["caveats"] == []
    assert report(f"direction --csv {table} --x count --y effect --json")


def test_secure_output_holds_no_exact_number(printed, table, monkeypatch):
    """Everything that is computed without noise, as the simulated run prints it, is absent."""
    made, looked_for = [], set()

    def kept(*arguments, **rest):
        made.append(infer(*arguments, **rest))
        return made[-1]

    monkeypatch.setattr("privcore.faces.cli.direction.infer", kept)
    for data in (
        "--generator sigmoidal --noise-law laplace",
        f"--csv {table} --x cause --y effect",
    ):
        for more in ("--score all", "--score iqr-ptr", "--protects test"):
            for how in ("", "--json"):
                out = printed(f"direction {data} {more} --secure {how}")
                assert "not private" not in out
                assert "not_private" not in out
                for release in made[-1].releases:
                    exact = [*release.exact, *release.before_noise]
                    exact += release.parts.exact if release.parts else []
                    shown = {*map(repr, map(float, exact)), *(f"{e:.5g}" for e in exact)}
                    # A score may happen to be 0, as the delta that is printed beside it is.
                    shown = {number for number in shown if len(number.strip("-0.")) > 3}
                    looked_for |= shown
                    assert not shown & set(re.findall(r"-?\d[\d.e-]*", out))
                assert f"{made[-1].seconds:.3f} s" not in out
                if how:
                    report = json.loads(out)
                    assert (report["noise"], report["seed"]) == ("secure", None)
                    assert "clipped" not in out
    assert len(looked_for) > 50


def test_published_and_refusals_in_words(printed):
    out = printed("direction --generator sigmoidal --calibration published --score kendall")
    assert shows(out, "guarantee-of-run", epsilon=2, delta=0, status="published")
    assert shows(out, "training-not-covered")
    out = printed("direction --generator sigmoidal --protects training --score kendall")
    assert begins(out, "no-decision", pair="X, Y")
    assert shows(out, "not-released", what="X -> Y")
    assert shows(out, "choose-score", score="hsic-root")
    out = printed("direction --generator sigmoidal --score iqr-ptr --delta 0.01")
    assert shows(out, "delta-not-small")


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ("", says("either-pair-source")),
        ("--generator periodic --csv t.csv", says("either-pair-source")),
        ("--generator cubic", says("no-such-generator", name="cubic")),
        (
            "--generator periodic --rows 19",
            says("out-of-range-for-a-pair", low=20, high="1,000,000"),
        ),
        ("--generator periodic --rows many", outside("rows", "many")),
        (
            "--generator periodic --x a",
            says("options-are-for", option="--x and --y", source="--csv"),
        ),
        ("--generator periodic --steepness 2", says("no-such-parameter", name="steepness")),
        ("--generator periodic --set bins", says("not-name-value")),
        ("--csv missing.csv --x a --y b", says("cannot-be-read")),
        ("--csv missing.csv", says("pair-needs-columns")),
        ("--csv t.csv --x a --y b --cycles 2", says("option-is-for", source="--generator")),
    ],
)
def test_wrong_options_are_refused_in_one_sentence(refused, arguments, match):
    assert re.search(match, refused(f"direction {arguments}"))


@pytest.mark.parametrize(
    ("x", "y", "match"),
    [
        ("cause", "cause", says("both-variables-one-column", name="cause")),
        ("cause", "price", says("no-such-column", name="price")),
        ("cause", "kind", "nominal"),
    ],
)
def test_wrong_columns_are_refused(refused, table, x, y, match):
    assert re.search(match, refused(f"direction --csv {table} --x {x} --y {y}"))


def test_a_constant_column_of_a_file_is_refused(refused, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{k / 7:.4f},1.5\n" for k in range(40)))
    assert shows(refused(f"direction --csv {path} --x a --y b"), "same-value-in-every-row")


def test_all_parameters_can_be_set(printed):
    defaults = {p.name: p.default for p in PARAMETERS if p.default is not None}
    settings = " ".join(f"--set={name}={value}" for name, value in defaults.items())
    assert printed(f"direction --generator polynomial --rows 200 {settings}")
