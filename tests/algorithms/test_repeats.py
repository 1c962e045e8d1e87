"""Columns that repeat others, and sets that determine a column of a pair."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.second_spelling import links as spelling_links
from benchmarks.second_spelling import spelt_again, tables_of_levels, tables_of_numbers
from privcore.algorithms import count, discover
from privcore.algorithms.engine import search_again
from privcore.counts.tables import InMemoryCounts
from privcore.data import Dataset
from privcore.data.model import Column
from privcore.graphs.constraints import Constraints
from privcore.graphs.knowledge import Knowledge
from privcore.independence import get_score
from privcore.independence.repeats import repeated_numbers, repeated_tables
from privcore.independence.table_scores import scan
from privcore.privacy.mechanisms.no_noise import NoNoise

ROWS = 6000
TABLE = {"epsilon": 5.0}
SUMS = {"epsilon": 5.0, "whole_table": 0, "measured": "levels"}
LINES = {"epsilon": 5.0, "whole_table": 0, "measured": "lines"}
DISTANCES = {"epsilon": 5.0, "measured": "distances"}
RUNS = {
    "pc": ("pc", {}),
    "pc by ranks": ("pc", {"score": "z-star"}),
    "fci": ("pc", {"hidden_causes": True}),
    "table": ("moment-search", TABLE),
    "table, hidden causes": ("moment-search", {**TABLE, "hidden_causes": True}),
    "sums": ("moment-search", SUMS),
    "sums, hidden causes": ("moment-search", {**SUMS, "hidden_causes": True}),
    "lines": ("moment-search", LINES),
    "lines, hidden causes": ("moment-search", {**LINES, "hidden_causes": True}),
    "distances": ("moment-search", DISTANCES),
    "distances, hidden causes": ("moment-search", {**DISTANCES, "hidden_causes": True}),
    "lapmech": ("lapmech", {"epsilon": 5.0}),
    "privpc-star": ("privpc-star", {"epsilon": 5.0}),
}
BY_TESTS = ("pc", "pc by ranks", "lapmech", "privpc-star")
BY_LEVELS = [name for name in RUNS if name != "privpc-star"]


def flipped(bits, share, rng):
    return np.where(rng.random(len(bits)) < share, 1 - bits, bits)


def table(columns, kinds=None):
    """A data set of codes by name."""
    made = [
        Column(name, (kinds or {}).get(name, "nominal"), tuple(map(str, range(codes.max() + 1))))
        for name, codes in columns.items()
    ]
    return Dataset("t", tuple(made), tuple(c.astype(np.uint8) for c in columns.values()))


def chain(seed=0, rows=ROWS):
    """sex – smoke – cough."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, rows)
    smoke = flipped(sex, 0.2, rng)
    return {"sex": sex, "smoke": smoke, "cough": flipped(smoke, 0.2, rng)}


def found(data, run, **settings):
    algorithm, parameters = RUNS[run]
    seed = None if algorithm == "pc" else 1
    return discover(data, algorithm, {**parameters, **settings}, seed=seed)


def links(result):
    nodes = result.graph.nodes
    return {frozenset((nodes[i], nodes[j])) for i, j in result.graph.skeleton}


def repeats(result):
    nodes = result.graph.nodes
    return {nodes[i]: nodes[first] for i, first in result.repeats.items()}


def pairs(*words):
    return {frozenset(word.split()) for word in words}


TRUE = pairs("sex smoke", "smoke cough")


@pytest.mark.parametrize("run", RUNS)
def test_a_second_spelling_takes_no_link_away(run):
    columns = chain()
    plain = found(table(columns), run)
    assert (links(plain), repeats(plain)) == (TRUE, {})
    result = found(table(columns | {"gender": 1 - columns["sex"]}), run)
    assert links(result) == TRUE | pairs("sex gender")
    assert repeats(result) == {"gender": "sex"}
    assert ("sex", "gender") in result.graph.named_directed()


@pytest.mark.parametrize("run", RUNS)
def test_of_three_spellings_the_first_stands_for_all(run):
    columns = chain()
    columns |= {"gender": 1 - columns["sex"], "code": columns["sex"]}
    result = found(table(columns), run)
    assert links(result) == TRUE | pairs("sex gender", "sex code")
    assert repeats(result) == {"gender": "sex", "code": "sex"}


@pytest.mark.parametrize("run", RUNS)
def test_two_columns_may_each_have_a_second_spelling(run):
    columns = chain()
    columns |= {"gender": 1 - columns["sex"], "coughs": 1 - columns["cough"]}
    result = found(table(columns), run)
    assert links(result) == TRUE | pairs("sex gender", "cough coughs")
    assert repeats(result) == {"gender": "sex", "coughs": "cough"}


@pytest.mark.parametrize("run", RUNS)
def test_a_column_that_differs_in_one_of_200_rows_is_a_repeat_too(run):
    columns = chain()
    columns["gender"] = flipped(columns["sex"], 0.005, np.random.default_rng(9))
    result = found(table(columns), run)
    assert links(result) == TRUE | pairs("sex gender")
    assert repeats(result) == {"gender": "sex"}


@pytest.mark.parametrize("run", RUNS)
def test_a_column_that_differs_in_one_of_ten_rows_is_none(run):
    columns = chain()
    columns["gender"] = flipped(columns["sex"], 0.1, np.random.default_rng(9))
    assert repeats(found(table(columns), run)) == {}


def places():
    rng = np.random.default_rng(3)
    city = rng.integers(0, 4, ROWS)
    rich = rng.random(ROWS) < np.array([0.5, 0.3, 0.2, 0.8])[city]
    return city, rich.astype(int)


@pytest.mark.parametrize("run", BY_LEVELS)
def test_names_and_codes_of_places_are_one_column(run):
    city, rich = places()
    result = found(
        table({"city": city, "country": np.array([3, 0, 2, 1])[city], "rich": rich}), run
    )
    assert links(result) == pairs("city country", "city rich")
    assert repeats(result) == {"country": "city"}


@pytest.mark.parametrize("run", RUNS)
def test_two_columns_cut_from_the_same_numbers_at_other_points_are_one(run):
    """One row in ten is in the next level: most of the variance is between distant levels."""
    rng = np.random.default_rng(3)
    age = rng.integers(0, 60, ROWS)
    rich = (rng.random(ROWS) < 0.2 + age / 100).astype(int)
    columns = {"age": age // 10, "born": np.minimum((60 - age) // 10, 5), "rich": rich}
    assert 0.05 < np.mean(columns["age"] + columns["born"] != 5) < 0.15
    result = found(table(columns, {"age": "ordinal", "born": "ordinal"}), run)
    assert links(result) == pairs("age born", "age rich")
    assert repeats(result) == {"born": "age"}


@pytest.mark.parametrize("run", BY_LEVELS)
def test_two_levels_do_not_repeat_four(run):
    city, rich = places()
    result = found(table({"city": city, "coast": city // 2, "rich": rich}), run)
    assert repeats(result) == {}


@pytest.mark.parametrize("run", [name for name in RUNS if "hidden" not in name and name != "fci"])
def test_a_column_that_two_others_determine_is_none_and_keeps_its_links(run):
    """A search by scores may also explain z by the two columns behind the sum."""
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 2, (2, ROWS))
    total = x + y
    z = flipped((total > 1).astype(int), 0.15, rng)
    kinds = {"total": "ordinal"}
    result = found(table({"x": x, "y": y, "total": total, "z": z}, kinds), run)
    assert repeats(result) == {}
    of_z = [pairs("total z")] if run in BY_TESTS else [pairs("total z"), pairs("x z", "y z")]
    assert any(pairs("x total", "y total") | own <= links(result) for own in of_z)


def numbers(copy):
    """Two causes of one effect; `copy`: a further column made from the first cause."""
    rng = np.random.default_rng(6)
    x, y = rng.standard_normal((2, ROWS))
    z = x + y + rng.standard_normal(ROWS)
    made = {"x": x, "y": y, "z": z}
    if copy is not None:
        made["again"] = 3 - 2 * x + copy * rng.standard_normal(ROWS)
    columns = tuple(Column(name, "continuous", bounds=(-12.0, 12.0)) for name in made)
    return Dataset("n", columns, tuple(np.clip(v, -12, 12) for v in made.values()))


OF_NUMBERS = [
    ("pc", {}),
    ("pc", {"hidden_causes": True}),
    ("moment-search", {"epsilon": 10.0}),
    ("moment-search", {"epsilon": 10.0, "hidden_causes": True}),
    ("privpc-star", {"epsilon": 100.0}),
]


@pytest.mark.parametrize(("algorithm", "parameters"), OF_NUMBERS)
@pytest.mark.parametrize("copy", [0.0, 0.1])
def test_a_column_of_numbers_in_other_units_is_a_repeat(algorithm, parameters, copy):
    seed = None if algorithm == "pc" else 1
    plain = discover(numbers(None), algorithm, parameters, seed=seed)
    result = discover(numbers(copy), algorithm, parameters, seed=seed)
    assert (links(plain), repeats(plain)) == (pairs("x z", "y z"), {})
    assert links(result) == pairs("x z", "y z", "x again")
    assert repeats(result) == {"again": "x"}


@pytest.mark.parametrize("run", ["table", "sums", "lines", "distances", "lapmech", "privpc-star"])
def test_with_much_noise_nothing_is_called_a_repeat(run):
    columns = chain(rows=300)
    data = count(table(columns | {"gender": columns["sex"]}))
    for seed in range(10):
        algorithm, parameters = RUNS[run]
        result = discover(data, algorithm, {**parameters, "epsilon": 0.05}, seed=seed)
        assert repeats(result) == {}


def test_findings_state_a_repeat_and_nothing_else_about_it():
    columns = chain()
    data = table(columns | {"gender": columns["sex"]})
    for run in ("table", "sums", "lines", "table, hidden causes"):
        result = found(data, run)
        of = {pair: finding for pair, finding in result.findings.items() if 3 in pair}
        assert len(of) == 3
        assert {finding.verdict for finding in of.values()} == {"repeats"}
        assert {(f.probability, f.forward, f.visible) for f in of.values()} == {(None, None, None)}
        assert "repeats" not in {f.verdict for p, f in result.findings.items() if 3 not in p}


def test_a_release_that_is_searched_again_has_the_same_repeats():
    columns = chain()
    result = found(table(columns | {"gender": columns["sex"]}), "sums")
    again = search_again(
        "moment-search",
        result.released.statistics,
        result.graph.nodes,
        result.parameters,
        result.guarantee,
    )
    assert (again.graph, again.repeats) == (result.graph, result.repeats)
    assert again.findings == result.findings


@pytest.mark.parametrize("run", ["pc", "fci", "table", "sums", "lines", "distances"])
@pytest.mark.parametrize(
    "knowledge",
    [
        Knowledge.of(require="gender -> smoke"),
        Knowledge.of(forbid="cough -> gender"),
        Knowledge.of(tiers="gender; smoke, cough"),
    ],
)
def test_the_column_that_knowledge_names_stands_for_both(run, knowledge):
    columns = chain()
    result = found(table(columns | {"gender": columns["sex"]}), run, knowledge=knowledge.text)
    assert repeats(result) == {"sex": "gender"}
    assert links(result) == pairs("gender smoke", "smoke cough", "sex gender")


@pytest.mark.parametrize("run", ["pc", "fci", "table", "sums", "lines", "distances"])
@pytest.mark.parametrize(
    "knowledge",
    [
        Knowledge.of(require="gender -> sex"),
        Knowledge.of(forbid="gender -- sex"),
        Knowledge.of(require="sex -> smoke; gender -> smoke"),
        Knowledge.of(tiers="smoke; gender; sex"),
    ],
)
def test_knowledge_about_both_is_obeyed(run, knowledge):
    """`discover` refuses a graph that contradicts it."""
    columns = chain()
    result = found(table(columns | {"gender": columns["sex"]}), run, knowledge=knowledge.text)
    assert pairs("smoke cough") <= links(result)


def alike(*own, columns=4, **known):
    names = tuple("abcd")[:columns]
    made = Knowledge.of(**known).on(names).repeating(own)
    return made, {names[i]: names[j] for i, j in made.repeats.items()}


def test_a_repeat_may_have_one_link():
    made, repeats = alike((0, 2))
    assert repeats == {"c": "a"}
    assert made.required == {(0, 2)}
    assert np.flatnonzero(made.possible[2]).tolist() == [0]
    assert made.known_arrows([(0, 2)]) == {(0, 2)}
    assert made.possible[[0, 1], [1, 3]].all()


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, {"b": "a", "c": "a"}),
        ({"require": "c -> d"}, {"a": "c", "b": "c"}),
        ({"forbid": "d -> b"}, {"a": "b", "c": "b"}),
        # Both are columns of their own.
        ({"require": "a -> d; b -> d"}, {"c": "a"}),
        # Knowledge within the group says nothing about others.
        ({"require": "b -> c"}, {"a": "b", "c": "b"}),
    ],
)
def test_who_stands_for_a_group(known, expected):
    assert alike((0, 1), (1, 2), (0, 2), **known)[1] == expected


def test_a_chain_of_repeats_needs_each_to_repeat_the_one_that_stands_for_it():
    assert alike((0, 1), (1, 2))[1] == {"b": "a"}
    assert alike((0, 1), (2, 3))[1] == {"b": "a", "d": "c"}


def test_no_pair_leaves_constraints_as_they_are():
    known = Constraints.none(3)
    assert known.repeating(()) is known


def repeated_in(counts, variance=0.0):
    counts = np.array(counts)
    return bool(repeated_tables(lambda pair: counts, [(0, 1)], lambda pair: variance))


def test_tables_by_hand():
    assert repeated_in([[50, 0], [0, 50]])
    # 1 − τ = 4 · 0.01 · 0.99 of two levels as frequent.
    assert repeated_in([[4950, 50], [50, 4950]])
    assert not repeated_in([[4900, 100], [100, 4900]])
    # The same of more rows is enough to tell them apart.
    assert not repeated_in([[49_500, 500], [500, 49_500]])
    # One way is not enough.
    assert not repeated_in([[500, 0], [500, 0], [0, 1000]])
    # A few rows show nothing.
    assert not repeated_in([[8, 0], [0, 8]])
    assert not repeated_in([[1000, 0], [0, 1]])
    # Two columns whose cut points differ: one row in ten is in the next level.
    shifted = 900 * np.eye(5) + 100 * np.eye(5, k=1)
    assert repeated_in(shifted)
    assert not repeated_in(shifted[[2, 0, 3, 1, 4]])
    assert not repeated_in(shifted, variance=10_000.0)
    # Noise as large as the limit shows nothing either.
    assert repeated_in([[5000, 0], [0, 5000]], variance=100.0)
    assert not repeated_in([[5000, 0], [0, 5000]], variance=10_000.0)


def test_covariances_by_hand():
    def found(r, noise=0.0, n=10_000):
        sigma = np.array([[4.0, 2 * r], [2 * r, 1.0]])
        return repeated_numbers(sigma, np.arange(3), np.full((2, 2), noise), n)

    assert found(1.0) == found(-1.0) == found(0.98) == [(0, 1)]
    assert found(0.97) == []
    assert found(1.0, n=10) == []
    assert found(1.0, noise=0.06**2) == []


@pytest.mark.parametrize("score", ["g2", "chi2", "z-star", "lines"])
def test_a_set_that_determines_a_column_separates_no_pair(score):
    """x given (a, b) is known, so that no test can show its dependence on y."""
    rng = np.random.default_rng(8)
    a, b = rng.integers(0, 2, (2, ROWS))
    x = a + b
    y = flipped((x > 1).astype(int), 0.2, rng)
    codes = tuple(v.astype(np.uint8) for v in (x, y, a, b))
    source = InMemoryCounts(tuple("xyab"), (3, 2, 2, 2), codes, np.ones(ROWS, np.int64))
    chosen = get_score(score)
    if score != "lines":
        assert chosen.determined(source, 0, 1, (2, 3))
    assert not chosen.determined(source, 0, 1, (2,))
    assert not chosen.determined(source, 1, 2, (3,))
    if score in ("g2", "chi2"):
        (tests,) = scan(source, score, 0.05, 2, 2, [(0, 1)], [{2, 3}, {2, 3}, set(), set()])
        assert tests.separated_by is None
        assert tests.p_values[0] > 0.05
        every = scan(
            source, score, 0.05, 2, 2, [(0, 1)], [{2, 3}, {2, 3}, set(), set()], every=True
        )
        assert [own.p_values.tolist() for own in every] == [[-np.inf]]


def test_many_strata_of_few_rows_determine_nothing():
    codes = np.arange(64, dtype=np.uint8)
    bit = (np.random.default_rng(2).random(64) < 0.5).astype(np.uint8)
    source = InMemoryCounts(
        tuple("xys"), (2, 2, 64), (bit, 1 - bit, codes), np.ones(64, dtype=np.int64)
    )
    assert not get_score("g2").determined(source, 0, 1, (2,))


def test_numbers_that_others_determine_are_not_separated_by_them():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((2, ROWS))
    values = np.array([a + b, a + b + 0.5 * rng.standard_normal(ROWS), a, b])
    source = SimpleNamespace(
        n=ROWS, moments=lambda: np.cov(np.vstack([np.ones(ROWS), values]), bias=True)
    )
    chosen = get_score("fisher-z")
    assert chosen.determined(source, 0, 1, (2, 3))
    assert not chosen.determined(source, 0, 1, (2,))


def test_without_noise_every_form_finds_the_same_repeats():
    columns = chain()
    data = count(table(columns | {"gender": columns["sex"]}))
    for run in ("table", "sums", "lines", "lapmech", "privpc-star"):
        algorithm, parameters = RUNS[run]
        result = discover(data, algorithm, parameters, noise=NoNoise())
        assert repeats(result) == {"gender": "sex"}


@pytest.mark.parametrize("share", [0.0, 0.01])
@pytest.mark.parametrize("run", ["pc", "fci", "numbers: pc", "numbers: moments"])
def test_a_second_spelling_changes_no_other_link_of_random_tables(run, share):
    kind = tables_of_numbers if run.startswith("numbers") else tables_of_levels
    for seed, data in kind(7, 3, 5000):
        more, column = spelt_again(data, share, seed)
        graphs = []
        for each in (data, more):
            if run == "numbers: moments":
                made = discover(count(each), "moment-search", {"epsilon": 10.0}, noise=NoNoise())
            else:
                made = discover(count(each), "pc", {"hidden_causes": run == "fci"})
            graphs.append(made)
        assert graphs[1].repeats == {**graphs[0].repeats, data.p: column}
        assert spelling_links(graphs[1], column) == spelling_links(graphs[0])
