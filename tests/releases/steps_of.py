"""Small tables and ledgers for the tests of releases in steps."""

import numpy as np

from privcore.data import Column, Dataset
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import release
from privcore.releases.release_file import file_text, parsed_file

# So few cells are counted all at once, and with `SUMS` pair by pair.
LEVELS = {"measured": "levels"}
SUMS = {"whole_table": 0, **LEVELS}


def levels_table(rows=300, seed=1, columns=3):
    drawn = np.random.default_rng(seed)
    first = drawn.integers(0, 2, rows)
    codes = [first, *((first ^ (drawn.random(rows) < 0.2)) for _ in range(columns - 1))]
    named = tuple(
        Column(f"c{k}", "nominal", levels=("no", "yes"), declared=True) for k in range(columns)
    )
    return Dataset("levels", named, tuple(code.astype(np.uint16) for code in codes))


def numbers_table(rows=400, seed=1, bound=7.0):
    drawn = np.random.default_rng(seed)
    x = drawn.normal(size=rows)
    values = x, x + drawn.normal(size=rows), drawn.normal(size=rows)
    columns = tuple(
        Column(name, "continuous", bounds=(-bound, bound + 1), declared=True) for name in "xyz"
    )
    return Dataset("numbers", columns, tuple(np.clip(v, -bound, bound + 1) for v in values))


def mixed_table(rows=400, seed=1):
    data = numbers_table(rows, seed)
    kinds = np.random.default_rng(seed).integers(0, 3, rows).astype(np.uint16)
    kind = Column("kind", "nominal", levels=("a", "b", "c"), declared=True)
    return Dataset("mixed", (*data.columns[:2], kind), (*data.values[:2], kinds))


FORMS = {
    "table": (levels_table, LEVELS),
    "sums": (levels_table, SUMS),
    "lines": (levels_table, {"measured": "lines"}),
    "distances": (levels_table, {"measured": "distances"}),
    "numbers": (numbers_table, {}),
    "cut": (mixed_table, {}),
}


def ledger_in(folder, epsilon=10.0, delta=1e-5, unit="basic"):
    made = Ledger(folder / "ledger.sqlite")
    made.set_total("clinic", epsilon, delta, unit)
    return made


def kept_release(ledger, data, epsilon=1.0, budget="clinic", **more):
    """A release of moment search whose numbers are kept, and its file as it is read back."""
    parameters = {"epsilon": epsilon, **LEVELS, **more.pop("parameters", {})}
    options = {"keep_numbers": True, **more}
    made = release(data, "moment-search", parameters, ledger=ledger, budget=budget, **options)
    return made, parsed_file(file_text(made.numbers).encode())
