"""Names that hold marks: quoted where they are shown, and read back where they are typed."""

import random

from hypothesis import example, given
from hypothesis import strategies as st

from privcore.errors import ParameterError
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge, statement, statements
from privcore.measures.comparison import edge_text
from privcore.naming import divided, listed, quoted
from tests.messages import raises_code

MARKED = [
    "a, b",
    "c->d",
    "e -- f",
    "g;h",
    '5" pipe',
    '"i"',
    " j",
    "k ",
    "l – m",
    "n ← o",
    "p o-o q",
    "-",
    "r <",
]
PLAIN = ["smoke", "X1", "covid-19", "a b", "co-op", "f(x)", "50%", "-b", ">", "größe", "a=b", "o'k"]

names = st.text(min_size=1) | st.sampled_from(MARKED + PLAIN)
named = st.lists(names, min_size=2, max_size=5, unique=True)


def test_only_names_that_need_it_are_quoted():
    assert [quoted(name) for name in PLAIN] == PLAIN
    for name in MARKED:
        assert quoted(name) == '"{}"'.format(name.replace('"', '""'))


@given(named)
def test_a_list_is_read_back(columns):
    text = ",".join(map(quoted, columns))
    assert listed(text) == columns
    assert listed(text.replace(",", " , ")) == columns or any("," in name for name in columns)


@given(named, st.randoms(use_true_random=False))
def test_printed_edges_are_read_back(columns, chance):
    pairs = {(j, i) for i in range(len(columns)) for j in range(i)}
    directed = frozenset(pair for pair in sorted(pairs) if chance.random() < 0.5)
    graph = PDAG(tuple(columns), directed, frozenset(pairs - directed))
    stated = {
        statement(columns[i], "->" if (i, j) in directed else "--", columns[j]) for i, j in pairs
    }
    assert statements("; ".join(graph.lines())) == stated
    assert {each for line in graph.lines() for each in statements(line)} == stated


@given(named)
def test_tiers_are_read_back(columns):
    text = ";".join(map(quoted, columns))
    assert Knowledge.of(tiers=text).tiers == tuple((name,) for name in columns)


@given(st.text(alphabet='ab",;->– '))
@example("- ->")
def test_every_text_is_divided_and_put_together_again(text):
    parts = divided(text, ",|;|->|--|–")
    assert len(parts) % 2 == 1
    texts = [mark if k % 2 else quoted(mark) for k, mark in enumerate(parts)]
    again = divided("".join(texts), ",|;|->|--|–")
    assert again == parts


def test_a_quotation_mark_within_a_name_means_itself():
    assert listed('5" pipe, a"b"') == ['5" pipe', 'a"b"']
    assert listed('"a" b, "c') == ['"a" b', '"c']
    with raises_code(ParameterError, "no-edge-in-statement"):
        statements('"a->b"')


def test_an_edge_in_a_table_is_quoted_too():
    graph = PDAG.from_names(["a, b", "c"], directed=[("c", "a, b")])
    assert edge_text(graph, 0, 1) == '"a, b" ← c'
    assert edge_text(graph, 1, 0) == 'c → "a, b"'


def test_a_printed_edge_is_given_back_to_a_command(tmp_path, run):
    """What was printed and is then forbidden is not printed again."""
    drawn = random.Random(1)
    columns = ["a, b", "c->d", 'e "f"', "g;h"]
    rows = [",".join('"{}"'.format(name.replace('"', '""')) for name in columns)]
    for _ in range(400):
        first = drawn.random() < 0.5
        cells = [first ^ (drawn.random() < 0.1) for _ in columns]
        rows.append(",".join("yes" if cell else "no" for cell in cells))
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    asked = f"discover --csv {tmp_path / 't.csv'} --algorithm pc"
    code, out, _ = run(asked)
    assert code == 0
    edges = [line.strip() for line in out.splitlines() if " -- " in line or " -> " in line]
    assert edges
    code, after, _ = run(asked, *(w for edge in edges for w in ("--forbid", edge)))
    assert code == 0
    assert not [line for line in after.splitlines() if line.strip() in edges]
    tiers = ";".join(map(quoted, columns))
    code, out, _ = run(asked, "--tiers", tiers, "--columns", ",".join(map(quoted, columns)))
    assert code == 0
    assert " -> " in out
    assert " -- " not in out
