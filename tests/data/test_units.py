"""At most k rows of each unit stay, and which ones is a matter of that unit alone."""

import hashlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.errors import DataError, ParameterError
from privcore.intake import build_dataset
from privcore.intake import units as module
from privcore.intake.reading import RawTable, read_table
from privcore.intake.triage import proposed_schema, triage
from privcore.intake.units import bounded, likely_columns
from privcore.unit import Unit
from tests.examples import examples
from tests.messages import raises_code, reads, says

people = st.sampled_from("abcd")
# Rows that say the same, so that only their order can distinguish them.
rows = st.lists(st.tuples(people, st.sampled_from("xy")), min_size=2, max_size=40)


def raw(pairs):
    frame = pd.DataFrame(pairs, columns=["patient_id", "dose"], dtype=object)
    frame["row"] = [str(k) for k in range(len(frame))]
    return RawTable(frame.astype("category"), "", "")


def kept_rows(pairs, bound):
    """Which rows of a list of (person, dose) stay."""
    table = bounded(raw(pairs), "patient_id", bound).table
    return [int(k) for k in table.frame["row"]]


def others(pairs, person, bound):
    """What is kept of everybody else, in order."""
    return [pairs[k] for k in kept_rows(pairs, bound) if pairs[k][0] != person]


def with_rows_of(pairs, person, doses, seed):
    """The table with other rows of one person, mixed among those of the rest."""
    rest = [pair for pair in pairs if pair[0] != person]
    rng = np.random.default_rng(seed)
    for dose in doses:
        rest.insert(int(rng.integers(len(rest) + 1)), (person, dose))
    return rest


def moves_nobody_elses_rows(pairs, person, doses, seed):
    changed = with_rows_of(pairs, person, doses, seed)
    bound = 3
    rest = [pair for pair in pairs if pair[0] != person]
    if len(rest) < 2:
        return
    assert others(pairs, person, bound) == others(changed, person, bound)
    for table in (pairs, changed):
        own = [k for k in kept_rows(table, bound) if table[k][0] == person]
        times = sum(pair[0] == person for pair in table)
        assert len(own) == min(bound, times)


@given(rows, people, st.lists(st.sampled_from("xy"), max_size=15), st.integers(0, 99))
@settings(max_examples=examples(300))
def test_another_person_moves_nobody_elses_rows(pairs, person, doses, seed):
    moves_nobody_elses_rows(pairs, person, doses, seed)


def in_turn(codes, texts, most):
    """A planted bug: the rows that stay are drawn by one generator for all."""
    rng = np.random.default_rng(1)
    stays = np.ones(len(codes), dtype=bool)
    for unit in range(len(texts)):
        own = np.flatnonzero(codes == unit)
        if len(own) > most:
            stays[rng.choice(own, len(own) - most, replace=False)] = False
    return stays


def test_the_property_sees_a_sequential_generator(monkeypatch):
    monkeypatch.setattr(module, "_kept", in_turn)
    pairs = [("a", "x")] * 4 + [("b", "xy"[k % 2]) for k in range(9)]
    with pytest.raises(AssertionError):
        moves_nobody_elses_rows(pairs, "a", "x" * 8, 0)


@given(rows, st.integers(1, 6))
@settings(max_examples=examples(100))
def test_no_unit_keeps_more_and_the_order_stays(pairs, bound):
    if len({pair[0] for pair in pairs}) < 2:
        return
    kept = kept_rows(pairs, bound)
    assert kept == sorted(kept)
    for person in "abcd":
        times = sum(pair[0] == person for pair in pairs)
        assert sum(pairs[k][0] == person for k in kept) == min(times, bound)


def test_the_places_that_stay_are_spread():
    """No place among a person's rows is favoured: the first rows are often the healthy ones."""
    pairs = [(f"p{k}", "x") for k in range(2_000) for _ in range(10)]
    places = np.array(kept_rows(pairs, 3)) % 10
    counts = np.bincount(places, minlength=10)
    # 6,000 rows over 10 places: 600 each, with a deviation of about 20.
    assert counts.min() > 500
    assert counts.max() < 700


def test_the_rule_is_the_same_everywhere():
    """Whoever has the table can repeat it; a change of the rule would change every release."""
    assert kept_rows([("a", "x")] * 12 + [("b", "x")], 4) == [2, 7, 10, 11, 12]

    def hashed(place):
        of = hashlib.blake2b(b"a\xff%d" % place, digest_size=8, key=b"causalveil rows of a unit")
        return of.digest()

    assert sorted(sorted(range(12), key=hashed)[:4]) == [2, 7, 10, 11]


def test_the_column_is_gone_and_the_unit_stays_with_the_data():
    text = "Patient No,dose,sick\n" + "".join(
        f"{k % 7},{k % 3},{'yes' if k % 2 else 'no'}\n" for k in range(70)
    )
    read = bounded(read_table(text.encode(), "t.csv"), "Patient No", 4)
    assert read.table.names == ["dose", "sick"]
    assert (read.rows, read.left_out) == (70, 42)
    assert reads(
        read.sentence, "unit-protected-rows-left", unit="Patient", kept=4, left=42, rows=70
    )
    dataset = build_dataset(read.table, proposed_schema(read.table), name="t")
    assert dataset.unit == Unit("Patient", 4)
    assert dataset.n == 28


def test_values_of_left_out_rows_alone_are_none():
    frame = pd.DataFrame({"id": list("aaaabb"), "dose": list("123456"), "sick": list("nynyny")})
    read = bounded(RawTable(frame.astype("category"), "", ""), "id", 1)
    assert len(read.table.frame["dose"].cat.categories) == 2


def test_bad_input_gets_one_sentence():
    table = raw([("a", "x"), (None, "y"), (None, "y"), ("b", "y")])
    with raises_code(DataError, "rows-without-unit", missing=2, rows=4):
        bounded(table, "patient_id", 2)
    with pytest.raises(
        DataError,
        match=says("which-columns-there-are", name="patient", columns="patient_id, dose, row"),
    ):
        bounded(table, "patient", 2)
    with pytest.raises(ParameterError, match=says("unit-size", low=1, high="10,000")):
        bounded(raw([("a", "x")]), "patient_id", 0)
    with raises_code(DataError, "too-few-rows-left"):
        bounded(raw([("a", "x"), ("a", "x")]), "patient_id", 1)


def test_columns_that_are_called_as_identifiers_come_first():
    frame = pd.DataFrame(
        {
            "age": [str(30 + k % 3) for k in range(100)],
            "visit_id": [str(5_000 + k) for k in range(100)],
            "patient_id": [str(k % 20) for k in range(100)],
        }
    )
    proposals = triage(RawTable(frame.astype("category"), "", ""))
    assert likely_columns(proposals) == ["patient_id", "visit_id", "age"]
