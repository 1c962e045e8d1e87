"""What is checked before a charge is known without the rows: a row that is read fails the test.

A check asks the source of a table for public facts.  Sources are made of rows, so here they are
made of other rows with the same columns.
"""

from dataclasses import replace

import numpy as np
import pytest

from privcore.algorithms import ALGORITHMS, discover
from privcore.algorithms import engine as engines
from privcore.counts import MixedRows
from privcore.effects import EffectPlan, Question
from privcore.releases import release_check
from privcore.releases.release_check import check_release
from privcore.unit import ADDED, REPLACED
from tests.examples import few
from tests.releases.steps_of import (
    kept_release,
    ledger_in,
    levels_table,
    mixed_table,
    numbers_table,
)
from tests.releases.test_bought_release import GIVEN
from tests.releases.test_bought_release import table as bought_table

PRIVATE = [a for a in ALGORITHMS.values() if a.private]
TABLES = {"levels": levels_table, "numbers": numbers_table, "both": mixed_table}
CASES = [
    (a.name, kind, relation)
    for a in PRIVATE
    for kind in (TABLES if a.needs != "tables" else ["levels"])
    for relation in (REPLACED, ADDED)
    if kind != "both" or a.mixed is not None
]
FEW = {"gradients": 5, "stages": 2}


def read(*arguments, **options):
    raise AssertionError("a row was read")


class Unread(np.lib.mixins.NDArrayOperatorsMixin):
    """A column of which everything but its length is private."""

    def __init__(self, column):
        self._rows = len(column)

    def __len__(self):
        return self._rows

    __array__ = __array_ufunc__ = __array_function__ = __getitem__ = __iter__ = __getattr__ = read


def unread(data, field="values"):
    """The table, of which no row may be read."""
    hidden = replace(data)
    rows = getattr(data, field)
    object.__setattr__(
        hidden, field, tuple(map(Unread, rows)) if isinstance(rows, tuple) else Unread(rows)
    )
    return hidden


def alike(data):
    """A table with the same columns, whose rows are all the same."""
    lowest = (0 if c.bounds is None else c.bounds[0] for c in data.columns)
    rows = zip(data.values, lowest, strict=True)
    return replace(data, values=tuple(np.full(len(v), low, v.dtype) for v, low in rows))


def public(source):
    """The source, of which neither counts nor moments nor rows may be asked for."""
    if isinstance(source, MixedRows):
        made = MixedRows(source.rows_as_read)
        source.numbers = lambda: public(made.numbers())
        source.counts = lambda levels: public(made.counts(levels))
        source._dataset = unread(source.rows_as_read)
        return source
    for name in {*dir(source)} - {"numbers", "cut"}:
        if callable(getattr(type(source), name, None)) and name[0] != "_":
            setattr(source, name, read)
    return source


@pytest.fixture
def public_sources(monkeypatch):
    """Sources of the tables that are checked have other rows: only what is public is the same."""
    known, right = {}, engines.source_of

    def make(data):
        known[id(hidden := unread(data))] = alike(data)
        return hidden

    def source_of(data):
        return public(right(known[id(data)])) if id(data) in known else right(data)

    monkeypatch.setattr(release_check, "source_of", source_of)
    return make


def known(name, asked):
    declared = {parameter.name for parameter in ALGORITHMS[name].parameters}
    return {key: value for key, value in asked.items() if key in declared}


@pytest.mark.parametrize(("name", "kind", "relation"), CASES)
def test_a_check_reads_no_row(name, kind, relation, public_sources):
    data = TABLES[kind]()
    asked = known(name, {**FEW, "epsilon": 8.0, "neighbours": relation})
    checked = check_release(public_sources(data), name, asked)
    assert checked.epsilon == 8.0
    assert checked.planned
    # And is the one that is made of the rows.
    assert checked == check_release(data, name, asked) == check_release(alike(data), name, asked)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_a_check_with_an_effect_reads_no_row(share, public_sources):
    data, plan = levels_table(), EffectPlan(Question("c0", "c1"), share)
    checked = check_release(public_sources(data), "moment-search", effect=plan)
    assert checked == check_release(data, "moment-search", effect=plan)


@pytest.mark.parametrize("kind", TABLES)
def test_a_check_of_a_release_like_another_reads_no_row(kind, public_sources, tmp_path):
    data = TABLES[kind]()
    _, like = kept_release(ledger_in(tmp_path), data)
    asked = {"epsilon": 3.0, "measured": "levels"}
    checked = check_release(public_sources(data), "moment-search", asked, like=like)
    assert checked == check_release(data, "moment-search", asked, like=like)
    assert checked.epsilon == 3.0


def test_a_check_of_a_purchase_reads_no_row():
    table = bought_table()
    checked = check_release(unread(table, "cells"), "moment-search", GIVEN)
    assert checked == check_release(table, "moment-search", GIVEN)


@pytest.mark.parametrize(("name", "kind", "relation"), few(CASES, 4))
def test_a_rehearsal_on_the_rows_is_seen(name, kind, relation, public_sources, monkeypatch):
    data = public_sources(TABLES[kind]())
    asked = known(name, {**FEW, "epsilon": 8.0, "neighbours": relation})
    with pytest.raises(AssertionError):
        discover(data, name, asked, seed=1)
    sources = release_check.source_of
    for rehearsed in (lambda dataset, rows: dataset, lambda dataset, rows: sources(dataset)):
        monkeypatch.setattr(release_check, "rehearsal_rows", rehearsed)
        with pytest.raises(AssertionError):
            check_release(data, name, asked)
