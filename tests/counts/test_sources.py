"""What a source can do is asked in one way, of `holds`, and said by the source itself."""

import ast
from pathlib import Path

import numpy as np
import pytest

from privcore import counts
from privcore.algorithms import discover
from privcore.counts import (
    AvailableCases,
    CountSource,
    InMemoryCounts,
    NumberSource,
    NumericRows,
    PublicColumns,
    has_levels,
    has_numbers,
)
from privcore.counts.tables import NoisyTable
from privcore.errors import DataError
from tests.messages import says

ROOT = Path(counts.__file__).parents[1]
PROBES = ("hasattr", "getattr")


def members(source):
    """What a class names, inherited or not."""
    own = [vars(base) for base in source.__mro__ if base.__module__.startswith("privcore")]
    return {
        name
        for each in own
        for name in (*each, *each.get("__annotations__", {}))
        if not name.startswith("_")
    }


def probes(tree, names):
    """Calls that ask an object for one of the names as a string, or a source for any."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in PROBES
            and (
                ast.unparse(node.args[0]).split(".")[-1] == "source"
                or (isinstance(node.args[1], ast.Constant) and node.args[1].value in names)
            )
        ):
            yield node.lineno


@pytest.mark.long
def test_no_source_is_probed_for_attributes():
    names = members(CountSource) | members(NumberSource)
    wrong = [
        f"{path.relative_to(ROOT.parent)}:{line} probes a source; ask what it holds"
        for path in sorted(ROOT.rglob("*.py"))
        # What these rooms read are other libraries' graphs.
        if path.relative_to(ROOT).parts[0] not in ("graphs", "exchange")
        for line in probes(ast.parse(path.read_text(encoding="utf-8")), names)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "probe",
    [
        'hasattr(run.source, "levels")',
        'getattr(source, "prepare", None)',
        'hasattr(rows, "bounds")',
        "getattr(self.source, name)",
    ],
)
def test_a_probe_is_seen(probe):
    assert list(probes(ast.parse(probe), members(CountSource) | members(NumberSource))) == [1]


def test_columns_say_what_they_hold():
    numbers = NumericRows(("a", "b"), ((-1.0, 1.0),) * 2, np.zeros((3, 2)))
    codes = (np.array([0, 1], np.uint16),) * 2
    levels = InMemoryCounts(("a", "b"), (2, 3), codes, np.ones(2, dtype=np.int64))
    gaps = AvailableCases(levels, (1, None))
    noisy = NoisyTable(("a", "b"), np.zeros((2, 3)), 2)
    assert [each.holds for each in (numbers, levels, gaps, noisy)] == ["numbers", *["levels"] * 3]
    assert [each.own_levels for each in (numbers, levels, gaps, noisy)] == [
        (0, 0),
        (2, 3),
        (1, 3),
        (2, 3),
    ]
    assert [bool(each.gaps) for each in (numbers, levels, gaps, noisy)] == [0, 0, 1, 0]
    assert [each.resizable for each in (numbers, levels, gaps, noisy)] == [1, 1, 1, 0]


def test_columns_without_rows_hold_what_they_have():
    assert has_levels(PublicColumns(("a", "b"), 10, (2, 3)))
    assert has_numbers(PublicColumns(("a", "b"), 10))


@pytest.mark.parametrize(
    ("algorithm", "asked", "words"),
    [
        ("priv-pc", {}, says("needs-levels", name="a", user="priv-pc", choice="privpc-star")),
        (
            "pc",
            {"score": "g2"},
            says("needs-levels", name="a", user="the score g2", choice="fisher-z"),
        ),
    ],
)
def test_algorithms_and_scores_refuse_alike(algorithm, asked, words):
    rng = np.random.default_rng(1)
    numbers = NumericRows(("a", "b"), ((-1.0, 1.0),) * 2, rng.uniform(-1, 1, (50, 2)))
    with pytest.raises(DataError, match=words):
        discover(numbers, algorithm, asked, seed=1)
