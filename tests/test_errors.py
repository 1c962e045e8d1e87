"""Each error has a code, and the catalogue has a message with the same values for each code."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from privcore import errors
from tests.messages import CODES, values_of

ROOT = Path(__file__).parents[1] / "privcore"
KINDS = {name for name, kind in vars(errors).items() if isinstance(kind, type)} | {
    "WeightsTooLarge"
}


def made() -> Iterator[tuple[str, ast.Call]]:
    """Where the engine makes an error."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in KINDS and node.args:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def codes(code: ast.expr) -> set[str]:
    """The codes that an error may have; empty if it is a sentence of its own."""
    parts = [code.body, code.orelse] if isinstance(code, ast.IfExp) else [code]
    return {p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)}


def test_each_error_has_a_message_with_its_values() -> None:
    wrong = []
    for place, call in made():
        own = {"reason"} if ast.unparse(call.func) == "BudgetError" else set()
        given = {keyword.arg for keyword in call.keywords} - own
        for code in codes(call.args[0]):
            if code not in CODES or values_of(code) != given:
                wrong.append(f"{place}: {code} with {', '.join(sorted(map(str, given)))}")
    assert not wrong, "\n".join(wrong)


def test_each_message_is_of_an_error() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py"))
    assert not [code for code in CODES if f'"{code}"' not in texts]


@pytest.mark.parametrize("code", ["no-such-algorithm", "No code, and so the message itself."])
def test_an_error_keeps_its_code_values_and_message_between_processes(code: str) -> None:
    values = dict.fromkeys(values_of(code), "x") if code in CODES else {}
    error = errors.BudgetError(code, reason="noise", **values)
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.code, copy.values, copy.reason, str(copy)) == (code, values, "noise", str(error))
    assert "{" not in str(error)
