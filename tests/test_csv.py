"""No CSV that the product writes holds a formula, whatever columns and budgets are called."""

import ast
import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.ui.discover.exports import csv_files
from privcore.algorithms import discover
from privcore.exchange.formats import text_format
from privcore.extras.lab.reproductions import as_csv, shipped
from privcore.extras.lab.sweeps.data import TableData
from privcore.extras.lab.sweeps.plan import SweepPlan
from privcore.extras.lab.sweeps.store import encode
from privcore.extras.lab.sweeps.sweep import run_sweep
from privcore.releases.ledger.ledger import Ledger
from privcore.text import csv_text, number_of
from tests.releases.steps_of import levels_table

ROOT = Path(__file__).parents[1]
FORMULA = '=HYPERLINK("http://x")'
BEGINS = tuple("=+-@\t\r\n＝＋－＠")


@pytest.fixture(scope="module")
def table():
    data = levels_table(rows=400)
    columns = (replace(data.columns[0], name=FORMULA), *data.columns[1:])
    return replace(data, name=f"{FORMULA}.csv", columns=columns)


def of_a_run(title):
    """A download of Discover; moment search has findings on pairs, PC a log of decisions."""
    algorithm = "moment-search" if title == "Pairs CSV" else "pc"
    return lambda table, _: csv_files(discover(table, algorithm, seed=1))[title][0]()


def of_a_sweep(table, _):
    plan = SweepPlan((TableData(table, 1),), ("pc",), grids={"epsilon": (1.0,)}, seeds=1)
    return encode(run_sweep(plan, workers=1), plan, "csv").decode()


def of_a_ledger(_, folder):
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.set_total(FORMULA, 1.0, 0.0)
    ledger.reserve(FORMULA, [], algorithm="@SUM(1)", parameters={}, epsilon=0.5, delta=0.0)
    return ledger.export("csv")


def of_a_paper(_, __):
    result = shipped("curate-figure-3")
    lines = [replace(line, case=(FORMULA, *line.case[1:])) for line in result.result.lines]
    return as_csv(result.item, lines)


# Every CSV that a page offers or a command writes; `test_every_csv_is_here` finds any other.
WRITTEN = {
    "pages/ui/discover/exports.py: Edges CSV": of_a_run("Edges CSV"),
    "pages/ui/discover/exports.py: Pairs CSV": of_a_run("Pairs CSV"),
    "pages/ui/discover/exports.py: Decisions CSV": of_a_run("Decisions CSV"),
    "privcore/exchange/formats.py: discover --format csv": lambda table, _: text_format(
        "csv"
    ).export(discover(table, "pc").graph),
    "pages/ui/tradeoff/views.py: sweep.csv, and sweep --out": of_a_sweep,
    "pages/ui/release/panels.py: ledger.csv, and ledger export": of_a_ledger,
    "pages/papers.py: CSV, and reproduce --csv": of_a_paper,
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_formula_is_a_text_in_every_csv(name, table, tmp_path):
    text = WRITTEN[name](table, tmp_path)
    cells = [cell for line in csv.reader(io.StringIO(text, newline="")) for cell in line]
    assert any(cell.startswith("'=HYPERLINK") for cell in cells)
    assert not [c for c in cells if c.startswith(BEGINS) and number_of(c) is None]


def parsed():
    for folder in ("privcore", "pages"):
        for path in (ROOT / folder).rglob("*.py"):
            yield path.relative_to(ROOT).as_posix(), path.read_text("utf-8")


def test_there_is_one_writer_of_csv():
    found = {
        (path, node.attr)
        for path, text in parsed()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and node.attr in ("writer", "DictWriter", "to_csv")
    }
    assert found == {("privcore/text.py", "writer")}


def test_every_csv_is_here():
    # Files that pages offer go through one function, which has the type of each.
    saves, own = re.compile(r"\bdownload\("), "pages/ui/layout.py"
    offered = {
        path
        for path, text in parsed()
        if ("csv" in text.lower() and saves.search(text) and path != own)
        or (path.startswith("privcore") and "text/csv" in text)
    }
    assert offered == {name.partition(":")[0] for name in WRITTEN}


@given(st.lists(st.lists(st.text() | st.sampled_from([FORMULA, "-1", "@a", "+1e5"]), min_size=1)))
def test_cells_are_read_back(rows):
    rows = [row for row in rows if row != [""]]
    read = list(csv.reader(io.StringIO(csv_text(rows), newline="")))
    for line, row in zip(read, rows, strict=True):
        for cell, text in zip(line, row, strict=True):
            assert cell in (text, f"'{text}")
            assert cell == text or text.startswith(BEGINS)
            assert not cell.startswith(BEGINS) or number_of(cell) is not None


def test_numbers_stay_numbers():
    row = [-0.5, 3, np.float64(0.1), None, float("nan"), "-0.5", "+1", "-1e-5", True, "-x"]
    (read,) = csv.reader(io.StringIO(csv_text([row])))
    assert read == ["-0.5", "3", "0.1", "", "", "-0.5", "+1", "-1e-5", "True", "'-x"]
