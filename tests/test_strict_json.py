"""JSON from others: one reader, which refuses what two readers could understand differently."""

import ast
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.errors import PrivcoreError
from privcore.exchange.formats import import_graph
from privcore.exchange.knowledge_files import parse_knowledge
from privcore.extras.lab.sweeps.store import read_sweep
from privcore.graphs import PDAG
from privcore.graphs.knowledge import Knowledge
from privcore.graphs.pdag import PAG
from privcore.intake.schema import read_schema
from privcore.releases.release_file import parsed_file
from privcore.releases.signing import stored_document
from privcore.releases.verification import verify
from privcore.strict_json import JsonFault, read_json
from tests.messages import says

ROOT = Path(__file__).parents[1] / "privcore"

HOSTILE = {
    "a key twice": (b'{"a": {"b": 1, "b": 2}}', says("json-key-twice", name="b")),
    "beyond a double": (b'{"a": 1e999}', says("json-not-finite", value="1e999")),
    "below every double": (b'{"a": -1e999}', says("json-not-finite", value="-1e999")),
    "a whole number beyond a double": (b'{"a": 1%s}' % (b"0" * 400), says("json-not-finite")),
    "more digits than Python reads": (b'{"a": %s}' % (b"9" * 5_000), says("json-not-finite")),
    "not a number": (b'{"a": NaN}', says("json-not-finite", value="NaN")),
    "infinity": (b'{"a": -Infinity}', says("json-not-finite", value="-Infinity")),
    "no end": (b'{"a": ' * 100_000, says("json-too-deep")),
    "deeper than any document": (b"[" * 101 + b"]" * 101, says("json-too-deep")),
    "another encoding": ('{"a": 1}'.encode("utf-16"), says("not-json")),
    "no text": (b'{"\xff": 1}', says("not-json")),
    "more than one value": (b"{} {}", says("not-json")),
    "nothing": (b"", says("not-json")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_readers_could_understand_differently_is_refused(name):
    content, sentence = HOSTILE[name]
    with pytest.raises(JsonFault, match=sentence):
        read_json(content)


def test_the_first_that_is_nested_too_deeply():
    assert read_json("[" * 100 + "]" * 100)
    with pytest.raises(JsonFault):
        read_json("[" * 101 + "]" * 101)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**300), 10**300)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_everything_else_is_read_as_it_was_written(value):
    text = json.dumps(value)
    for content in (text, text.encode(), b"\xef\xbb\xbf" + text.encode()):
        assert read_json(content) == json.loads(text)


def test_names_that_no_encoding_has_are_read_back():
    """A release file may name a column with a lone surrogate, which files may hold."""
    assert read_json('"\ud800"'.encode("utf-8", "surrogatepass")) == "\ud800"


def sweep(content, path):
    (path / "sweep.json").write_bytes(content)
    return read_sweep(path / "sweep.json")


def stored(content, path):
    (path / "certificate.json").write_bytes(content)
    return stored_document(path / "certificate.json")


READERS = {
    "certificates": lambda content, _: verify(content),
    "release files": lambda content, _: parsed_file(content),
    "schemas": lambda content, _: read_schema(content),
    "knowledge": lambda content, _: Knowledge.read(content.decode("latin-1")),
    "knowledge files": lambda content, _: parse_knowledge(content, "known.json"),
    "graphs": lambda content, _: import_graph(content.decode("latin-1"), "json"),
    "sweeps": sweep,
    "kept certificates": stored,
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_it_in_a_sentence(reader, tmp_path):
    for name, (content, _) in HOSTILE.items():
        if reader == "knowledge" and not content:
            continue
        with pytest.raises(PrivcoreError) as caught:
            READERS[reader](content, tmp_path)
        assert "\n" not in str(caught.value), name


# What the program itself wrote: its own results and networks, and the ledger, which is signed.
OWN = {
    "data/network.py",
    "extras/lab/reliability.py",
    "extras/lab/reproductions.py",
    "extras/pairs/directions.py",
    "releases/ledger/chain.py",
    "strict_json.py",
}


def test_no_other_module_reads_json():
    """A reader of its own would accept what this one refuses."""
    found = set()
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("loads", "load", "JSONDecoder"):
                name = getattr(node.value, "id", "")
                if name == "json":
                    found.add(path.relative_to(ROOT).as_posix())
    assert found == OWN


def test_graphs_are_still_read():
    text = '{"nodes": ["a", "b"], "nondirected": [["a", "b"]], "positions": {"a": [0.5, 1e300]}}'
    assert isinstance(import_graph(text, "json"), PAG)
    assert isinstance(import_graph('\ufeff{"nodes": ["a"]}', "json"), PDAG)
    assert math.isfinite(read_json(text)["positions"]["a"][1])
