"""A graph's check with its effect: the columns that are measured, and all adjustment sets."""

import numpy as np
import pytest

import privcore
from privcore.algorithms import discover
from privcore.algorithms.search.parameters import NEIGHBOURS
from privcore.data import Column, Dataset, load_network
from privcore.display.graph_check import (
    asked_sentence,
    effect_lines,
    pair_line,
    size_text,
    verdict_sentence,
)
from privcore.effects.by_graph import answered_by, check_data, check_settings, only_columns
from privcore.errors import DataError, ParameterError
from privcore.exchange.stated import read_graph
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.storage.parquet import open_parquet
from tests.messages import says
from tests.transcripts import Recorder

STATED = "z -> m; m -> x; z -> y; x -> y"


def linear(rows=20_000, hidden=0.0):
    """Numbers: z → m → x, and y of x and z; hidden: an unobserved cause of m and y."""
    rng = np.random.default_rng(3)
    z, u = rng.normal(size=(2, rows))
    m = 0.8 * z + 0.6 * rng.normal(size=rows) + hidden * u
    x = 0.7 * m + 0.7 * rng.normal(size=rows)
    y = 0.5 * x + 0.5 * z + rng.normal(size=rows) + hidden * u
    values = tuple(np.clip(column, -8, 8) for column in (z, m, x, y, rng.normal(size=rows)))
    columns = [Column(n, "continuous", bounds=(-8.0, 8.0), declared=True) for n in "zmxyo"]
    return Dataset("linear", tuple(columns), values)


def answer(graph, data=None, **settings):
    given = {"epsilon": 2.0, **settings}
    data = linear() if data is None else data
    return check_data(data, read_graph(graph), given, noise=SimulatedNoise(1))


def test_only_the_graph_s_columns_are_measured_and_charged_once():
    made = answer(STATED)
    assert made.result.graph.nodes == ("z", "m", "x", "y")
    assert made.result.guarantee.epsilon == 2.0
    assert made.result.guarantee.calibration == "proven"
    assert (
        made.result.planned
        == discover(
            only_columns(linear(), read_graph(STATED)), "moment-search", {"epsilon": 2.0}, seed=9
        ).planned
    )
    with pytest.raises(DataError, match=says("no-column-of-graph", name="k")):
        answer("z -> k")


def test_minimal_sets_give_the_same_effect_if_the_graph_is_right():
    made = answer(f"dag {{ {STATED} x [exposure] y [outcome] }}", longest_row=3.0)
    assert [effect.columns for effect in made.effects] == [("z",), ("m",)]
    assert all(e.valid and not e.stated and e.estimate.low <= 0.5 <= e.estimate.high
               for e in made.effects)  # fmt: skip
    assert made.agree
    assert made.as_dict()["effect"]["agree"] is True
    assert len(effect_lines(made)) == 3


def test_sets_disagree_if_the_graph_is_wrong():
    made = answer(
        f"dag {{ {STATED} x [exposure] y [outcome] }}", linear(hidden=1.0), longest_row=3.0
    )
    assert made.agree is False
    assert made.check.having("contradicted")


def test_the_author_s_own_set_is_shown_with_what_the_graph_thinks_of_it():
    wrong = answer(f"dag {{ {STATED} x -> o; o -> y; x [exposure] y [outcome] o [adjusted] }}")
    (own,) = [effect for effect in wrong.effects if effect.stated]
    assert (own.columns, own.valid) == (("o",), False)
    right = answer(f"dag {{ {STATED} x [exposure] y [outcome] z [adjusted] m [adjusted] }}")
    (own,) = [effect for effect in right.effects if effect.stated]
    assert (own.columns, own.valid) == (("z", "m"), True)
    minimal = answer(f"dag {{ {STATED} x [exposure] y [outcome] m [adjusted] }}")
    assert [(e.columns, e.stated) for e in minimal.effects] == [(("z",), False), (("m",), True)]


@pytest.mark.parametrize(
    ("graph", "affected", "sets"),
    [
        ("dag { x -> y; y [exposure]; x [outcome] }", False, 0),
        ("dag { x -> y; x <-> y; x [exposure]; y [outcome] }", True, 0),
        ("dag { x -> y; x [exposure]; y [outcome] }", True, 1),
    ],
)
def test_an_effect_that_is_zero_or_not_identified_has_a_reason(graph, affected, sets):
    made = answer(graph)
    assert (made.affected, len(made.effects)) == (affected, sets)
    assert bool(made.reason) == (not sets)
    assert effect_lines(made)


def test_without_a_question_there_is_no_effect():
    made = answer(STATED)
    assert (made.question, made.effects, made.agree, effect_lines(made)) == (None, (), None, [])
    assert "effect" not in made.as_dict()


def test_levels_that_were_summarised_leave_the_effect_open():
    data = load_network("asia").sample(5_000, seed=1)
    made = answer("dag { smoke -> lung; smoke [e]; lung [o] }", data, measured="lines")
    assert made.effects[0].estimate is None
    assert made.reason
    counted = answer("dag { smoke -> lung; smoke [e]; lung [o] }", data)
    assert (counted.question.to, counted.question.level) == ("yes", "yes")
    assert counted.effects[0].estimate is not None


def unordered(levels, rows=400, columns=6):
    rng = np.random.default_rng(1)
    named = [
        Column(f"c{k}", "nominal", levels=tuple(map(str, range(levels))), declared=True)
        for k in range(columns)
    ]
    values = rng.integers(0, levels, (columns, rows)).astype(np.uint8)
    return Dataset("unordered", tuple(named), tuple(values))


def test_distances_give_way_to_a_form_that_answers_for_pairs_given_others():
    data = unordered(9)
    usual = discover(data, "moment-search", {"epsilon": 1.0}, seed=1)
    assert usual.by_distances
    for stated in (None, "distances"):
        settings = check_settings(data, {"epsilon": 1.0, "measured": stated})
        assert settings["measured"] in ("lines", "levels")
    assert check_settings(data, {"measured": "levels"})["measured"] == "levels"
    made = answer("c0 -> c1; c2", data, epsilon=1.0)
    assert not made.result.by_distances
    assert all(pair.size is not None for pair in made.check.pairs)
    private = {"neighbours": NEIGHBOURS.choices[-1]}
    assert check_settings(data, private)["measured"] == "levels"


@pytest.mark.parametrize("rows", [500, 20_000])
def test_a_question_about_one_column_is_refused_before_anything_is_spent(rows):
    """Products of one column would answer for no pair."""
    for data in (linear(rows), unordered(9)):
        noise, graph = Recorder(1), read_graph(f"{data.names[0]} -> {data.names[1]}")
        with pytest.raises(ParameterError, match=says("check-needs-all-columns")):
            check_data(data, graph, {"target": data.names[0]}, noise=noise)
        with pytest.raises(ParameterError, match=says("measured-needs-target")):
            check_data(data, graph, {"measured": "target"}, noise=noise)
        assert not noise.calls


def test_a_private_number_of_rows_and_several_rows_a_person_are_those_of_the_run():
    data = load_network("asia").sample(5_000, seed=1)
    made = answer("smoke -> lung; bronc", data, neighbours="added or removed", rows_per_unit=2)
    assert made.result.rows is not None
    assert "2 rows" in made.result.guarantee.neighbours
    assert made.check.pairs


@pytest.mark.parametrize("cells", [0, 2048])
def test_noise_far_above_the_rows_still_gives_a_check(cells):
    """Where the private number of rows is hidden too, two rows are left, and noise of thousands."""
    rng = np.random.default_rng(1)
    columns = tuple(Column(n, "nominal", levels=("a", "b"), declared=True) for n in "abcdef")
    data = Dataset("few", columns, tuple(rng.integers(0, 2, (6, 200)).astype(np.uint8)))
    graph = read_graph("e -> a; e -> d; e -> b; e -> c; e -> f; f -> a; c -> f; b -> d; a <-> b")
    settings = {"epsilon": 0.001, "neighbours": NEIGHBOURS.choices[1], "whole_table": cells}
    for seed in range(6):
        check = check_data(data, graph, settings, noise=SimulatedNoise(seed)).check
        assert all(pair.low is None or pair.low <= pair.high for pair in check.pairs)


def test_a_table_in_files_is_measured_as_it_is(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", "y"] * 200, "b": ["x", "y", "y", "x"] * 100})
    frame.to_parquet(tmp_path / "t.parquet")
    table = open_parquet(tmp_path / "t.parquet")
    assert only_columns(table, read_graph("a -> b")) is table
    with pytest.raises(DataError, match=says("check-chooses-no-columns-of-files")):
        only_columns(open_parquet(wide(tmp_path)), read_graph("a -> b"))


def wide(folder):
    import pandas as pd

    frame = pd.DataFrame({name: ["x", "y"] * 200 for name in "abc"})
    frame.to_parquet(folder / "wide.parquet")
    return folder / "wide.parquet"


def test_the_api_reads_any_graph_and_any_table(tmp_path):
    data = load_network("asia").sample(5_000, seed=1)
    file = tmp_path / "graph.txt"
    file.write_text("dag { smoke -> lung; smoke -> bronc }")
    made = privcore.check_graph(data, file, epsilon=2, exposure="smoke", outcome="lung", seed=4)
    again = privcore.check_graph(data, file.read_text(), 2.0, exposure="smoke", outcome="lung",
                                 seed=4)  # fmt: skip
    assert made.as_dict() == again.as_dict()
    assert made.question.cause == "smoke"
    assert privcore.check_graph(data, "smoke -> lung", epsilon=1).result.noise == "secure"


def test_sentences_count_what_the_check_counts():
    data = load_network("asia").sample(20_000, seed=1)
    result = discover(data, "moment-search", {"epsilon": 1.0}, seed=1)
    for graph in ("smoke -> dysp; smoke -> bronc", "smoke -> lung", "smoke; bronc", "tub; smoke"):
        check = answered_by(result, data, read_graph(graph)).check
        said = verdict_sentence(check)
        assert said.endswith(".")
        assert (str(len(check.having("contradicted"))) in said) or not check.having("contradicted")
        assert bool(asked_sentence(check)) == bool(check.having("contradicted"))
        for pair in check.pairs:
            assert pair.verdict in pair_line(pair)
            assert all(name in pair_line(pair) for name in pair.pair)
            assert bool(size_text(pair)) == (pair.size is not None)


def test_the_order_of_the_graph_s_columns_and_others_in_the_run_change_nothing():
    data = linear()
    result = discover(data, "moment-search", {"epsilon": 2.0}, seed=1)
    one, other = (
        answered_by(result, data, read_graph(f"dag {{ {order} {STATED} x [e] y [o] }}"))
        for order in ("z m x y", "y x m z")
    )
    assert one.check.graph.names != other.check.graph.names
    estimates = [{frozenset(e.columns): e.estimate for e in made.effects} for made in (one, other)]
    assert estimates[0] == estimates[1]
    verdicts = [{frozenset(p.pair): p.verdict for p in made.check.pairs} for made in (one, other)]
    assert verdicts[0] == verdicts[1]
