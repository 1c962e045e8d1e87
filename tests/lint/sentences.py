"""Sentences of the product are tested in tests/messages.py alone; other tests name their keys."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.messages import CODES, MESSAGES, values_of

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "tests" / "messages.py"
# So many words in a row are a sentence: of a refusal, and of what is shown.
MATCHED, ASSERTED = 2, 5
# Functions of the table, and which argument is the key.
READERS = {"says": 0, "label": 0, "shows": 1, "begins": 1, "reads": 1, "raises_code": 1}
_RUN = re.compile(r"\(?\w[^\s(]*(?: \(?\w[^\s(]*)*")
_WORD = re.compile(r"\(?[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*[,;:.)”]*")


def words(text: str) -> int:
    """The most words in a row; numbers, names of code and letters between them do not count."""
    runs = (filter(_WORD.fullmatch, run.split()) for run in _RUN.findall(text))
    return max((len(list(run)) for run in runs), default=0)


def literals(node: ast.AST) -> Iterator[ast.Constant]:
    """Strings within an expression, but for values that messages are given."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in READERS:
        if READERS[node.func.id]:
            yield from literals(node.args[0])
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from literals(child)


def parametrized(test: ast.FunctionDef, names: set[str]) -> Iterator[ast.Constant]:
    """Strings that `pytest.mark.parametrize` gives to arguments of these names."""
    for mark in test.decorator_list:
        if not (isinstance(mark, ast.Call) and ast.unparse(mark.func).endswith("parametrize")):
            continue
        arguments = [name.value for name in literals(mark.args[0])]
        if len(arguments) == 1:
            arguments = [name.strip() for name in arguments[0].split(",")]
        cases = mark.args[1].elts if isinstance(mark.args[1], ast.List | ast.Tuple) else []
        for case in cases:
            given = case.args if isinstance(case, ast.Call) else getattr(case, "elts", [case])
            for name, value in zip(arguments, given, strict=False):
                if name in names:
                    yield from literals(value)


def matched(tree: ast.AST) -> Iterator[ast.Constant]:
    """What refusals are compared with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                if keyword.arg == "match":
                    yield from literals(keyword.value)
        elif isinstance(node, ast.FunctionDef):
            compared = {
                name.id
                for call in ast.walk(node)
                if isinstance(call, ast.Call)
                for keyword in call.keywords
                if keyword.arg == "match"
                for name in ast.walk(keyword.value)
                if isinstance(name, ast.Name)
            }
            yield from parametrized(node, compared)


def asserted(tree: ast.AST) -> Iterator[ast.Constant]:
    """What is asserted of what is shown."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield from literals(node.test)


def wrong(source: str) -> Iterator[tuple[int, str]]:
    """Lines of a test's source with a sentence, or with a message that there is not."""
    tree = ast.parse(source)
    for places, most in ((matched(tree), MATCHED), (asserted(tree), ASSERTED)):
        for node in places:
            text = (
                node.value if isinstance(node.value, str) else str(node.value, "utf-8", "replace")
            )
            if words(text) >= most:
                yield node.lineno, f"a sentence, {text[:40]!r}: give it a key there"
    for call in readings(tree):
        key = key_of(call)
        if key is None:
            continue
        if key not in MESSAGES and key not in CODES:
            yield call.lineno, f"no message {key!r}"
        elif unknown := {k.arg for k in call.keywords if k.arg} - values_of(key):
            yield call.lineno, f"the message {key!r} has no {', '.join(sorted(unknown))}"


def readings(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in READERS:
            yield node


def key_of(call: ast.Call) -> str | None:
    """The key of a message that is read, if it stands there."""
    place = READERS[getattr(call.func, "id", "")]
    key = call.args[place] if len(call.args) > place else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None


def sources() -> Iterator[Path]:
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path != TABLE and path.parent != Path(__file__).parent and path.name != "test_lint.py":
            yield path


def used(source: str) -> set[str]:
    """Keys that a source mentions other than to say that they are not shown."""
    tree = ast.parse(source)
    denied = {
        id(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        for name in ast.walk(node.operand)
    }
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in denied
    } & MESSAGES.keys()


def faults() -> Iterator[str]:
    unused = set(MESSAGES)
    for path in sources():
        source = path.read_text(encoding="utf-8")
        unused -= used(source)
        for line, fault in wrong(source):
            yield f"{path.relative_to(ROOT)}:{line}: {fault} (tests/messages.py)"
    for key in sorted(unused):
        yield f"tests/messages.py: no test has the message {key!r} shown"
