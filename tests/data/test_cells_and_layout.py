"""What is a code, an order, a unit, a person or a header, and above all what is none."""

import numpy as np
import pandas as pd
import pytest

from privcore.errors import DataError
from privcore.intake import read_table
from privcore.intake.cells import names_persons, number_codes, word_codes
from privcore.intake.layout import find_delimiter, last_rows, layout_of
from privcore.intake.levels import in_order
from privcore.intake.numbers_and_dates import Writing, writing_of
from privcore.intake.proposing import named_as_identifier, propose
from tests.messages import label, raises_code


def codes_of(numbers):
    numbers = np.array(numbers, dtype=float)
    return number_codes(numbers, np.full(len(numbers), 20.0))


@pytest.mark.parametrize(
    "scale",
    [
        range(1, 10),
        range(10),
        range(1, 8),
        range(11),
        (-1, 0, 1),
        (-2, -1, 0, 1, 2),
        range(121),
        range(18, 100),
        range(0, 1_001, 7),
        (0, 1),
        (9,),
        (98, 99),
        (7, 8, 9),
    ],
)
def test_scales_have_no_codes(scale):
    assert codes_of(list(scale)) == []


@pytest.mark.parametrize(
    ("scale", "codes"),
    [
        (range(1, 6), [9]),
        (range(1, 6), [8, 9]),
        (range(1, 6), [-9, -8]),
        (range(11), [77, 88, 99]),
        (range(18, 90), [999]),
        (range(18, 90), [-99, -1]),
    ],
)
def test_numbers_beyond_a_scale_are_codes(scale, codes):
    assert codes_of([*scale, *codes]) == codes
    rare = np.array([*scale, *codes], dtype=float)
    # A code that a single row has may be a value.
    assert number_codes(rare, np.ones(len(rare))) == []


def test_words_for_missing():
    assert word_codes(["a", "Unknown", "k. A.", "-"]) == ["Unknown", "k. A.", "-"]
    assert word_codes(["no", "none", "other", "0"]) == []
    assert word_codes(["unknown"]) == []


@pytest.mark.parametrize(
    ("levels", "name"),
    [
        (["a", "b", "c"], "x"),
        (["ward 1", "ward 2", "ward 3"], "ward"),
        (list("ABCDEF"), "spray"),
        (["A", "B", "O"], "blood"),
        (["A", "B", "C", "D"], "group"),
        (["no", "yes"], "x"),
        (["red", "green", "blue"], "colour"),
        (["often", "red", "never"], "x"),
        (["1st", "first", "2nd"], "x"),
        (["plot 3", "plot 7", "plot 12"], "x"),
    ],
)
def test_words_without_an_order(levels, name):
    assert in_order(levels, name) is None


@pytest.mark.parametrize(
    ("levels", "name"),
    [
        (["<5", "5-10", ">10"], "x"),
        (["0", "1", "2", "3+"], "x"),
        (["under 1,000", "1,000-5,000", "over 5,000"], "x"),
        (["F", "D", "C", "B", "A"], "grade"),
        (["week 0", "week 4", "week 12"], "x"),
        (["Stage I".replace("I", "1"), "Stage 2", "Stage 3"], "x"),
        (["very bad", "bad", "neither", "good", "very good"], "x"),
        (["nie", "selten", "manchmal", "oft", "immer"], "x"),
    ],
)
def test_words_with_an_order_are_in_it_however_they_come(levels, name):
    for seed in range(5):
        mixed = list(np.random.default_rng(seed).permutation(levels))
        assert in_order(mixed, name) == tuple(levels)


def writing(cells):
    return writing_of(cells, np.ones(len(cells)), 1.0)


@pytest.mark.parametrize(
    "cells",
    [
        ["ward 3", "ward 4"],
        ["1st", "2nd", "3rd"],
        ["18-25", "26-40"],
        ["10k", "20k"],
        ["3x", "4x"],
        ["01307", "80331"],
        ["12345678901234567890", "22345678901234567890"],
        ["1.0.2", "1.1.0"],
        ["10:30", "11:00"],
        ["3/4", "1/2"],
        ["1.234,5", "1,234.5"],
        ["5 mg", "5 kg"],
    ],
)
def test_texts_that_are_no_numbers(cells):
    assert writing(cells) is None


@pytest.mark.parametrize(
    ("cells", "decimal", "unit", "numbers"),
    [
        (["$1,234", "$5"], ".", "$", ["1234", "5"]),
        (["1.234,50 €", "5 €"], ",", "€", ["1234.50", "5"]),
        (["(1,234)", "7"], ".", "", ["-1234", "7"]),
        (["1 234", "5"], ".", "", ["1234", "5"]),
        (["1'234", "5"], ".", "", ["1234", "5"]),
        (["5%", "10.5 %"], ".", "%", ["5", "10.5"]),
        (["05 mg", "2.5 mg"], ".", "mg", ["05", "2.5"]),
        (["1,5", "2,25"], ",", "", ["1.5", "2.25"]),
    ],
)
def test_numbers_as_people_write_them(cells, decimal, unit, numbers):
    read = writing(cells)
    assert read == Writing(decimal, unit)
    assert list(read.numbers(pd.Series(cells))) == numbers


def test_a_mark_that_is_none_is_refused():
    with raises_code(DataError, "decimal-mark"):
        Writing(";")


def repeated(count, form="{}"):
    return [form.format(k) for k in range(count)]


@pytest.mark.parametrize(
    ("name", "distinct", "rows"),
    [
        ("region", repeated(12), 400),
        ("region", repeated(12, "R{:02}"), 400),
        ("no", ["yes", "no"], 400),
        ("no", repeated(30), 400),
        ("number", repeated(30), 400),
        ("class", repeated(30), 400),
        ("class_size", repeated(20), 400),
        ("paid", repeated(30), 400),
        ("covid", repeated(30), 400),
        ("humid", repeated(30), 400),
        ("patient_id", repeated(400), 400),
        ("patient_id", repeated(30), 100_000),
        ("sex_id", repeated(2), 400),
    ],
)
def test_columns_that_name_no_persons(name, distinct, rows):
    assert not names_persons(name, distinct, rows)


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *(
            (name, "{}")
            for name in ("patient_id", "PatientID", "USUBJID", "userid", "id", "caseid")
        ),
        *((name, "{}") for name in ("Household", "studentId", "subject", "user-id")),
        ("who", "P{:03}"),
    ],
)
def test_columns_that_name_persons(name, form):
    assert names_persons(name, repeated(60, form), 300)


def test_words_that_end_as_identifiers_do():
    assert not any(map(named_as_identifier, ("paid", "casino", "monkey", "valid", "Turkey")))
    assert all(map(named_as_identifier, ("row no", "caseNo", "user_key", "orderNumber", "id")))


def test_codes_of_digits_are_levels():
    cells = pd.Series(["01307", "80331", "20095"] * 20)
    assert propose("zip", cells, 4).ways[0].label == "levels"
    long = pd.Series([str(10**19 + k) for k in range(60)])
    assert propose("x", long, 4).problem == "identifier"


def test_which_levels_are_kept_hangs_on_no_order_of_rows():
    cells = pd.Series([f"town {k:02}" for k in range(60) for _ in range(5)], dtype="category")
    first = propose("town", cells, 4)
    back = pd.Series(list(cells[::-1]))
    back = pd.Series(pd.Categorical(back, categories=list(dict.fromkeys(back))))
    assert first == propose("town", back, 4)


def table(rows, names=()):
    return [list(map(str, row)) for row in ([names] if names else []) + list(rows)]


def words(generator, *levels):
    return list(zip(*(generator.choice(each.split(), 40) for each in levels), strict=True))


def test_headers_of_tables_of_text_alone():
    generator = np.random.default_rng(1)
    rows = words(generator, "red blue", "big small", "yes no")
    assert layout_of(table(rows, ("colour", "size", "bought")), None).question is None
    asked = layout_of(table(rows), None)
    assert asked.question is not None
    assert (asked.start, asked.names) == (0, ("col_1", "col_2", "col_3"))
    assert layout_of(table(rows), True).start == 1
    assert layout_of(table(rows), False).question is None


def test_headers_of_numbers():
    rows = np.random.default_rng(1).normal(50, 9, (40, 4)).round(1)
    assert layout_of(table(rows, (2019, 2020, 2021, 2022)), None).names[0] == "2019"
    assert layout_of(table(rows), None).question is not None
    assert layout_of(table(rows, ("a", "b", "c", "d")), None).question is None


def test_delimiters():
    assert find_delimiter(["a;b\n", *["1;hello, you\n"] * 9]) == ";"
    assert find_delimiter(["a,b\n", *['"1;2;3","x|y"\n'] * 9]) == ","
    assert find_delimiter(["a  b   c\n", *["1  2   3\n"] * 9]) == " "
    assert find_delimiter(["one column\n", *["1\n"] * 9]) != " "


def test_lines_below_a_table():
    rows = [["1", "x", "y"]] * 5
    assert last_rows(rows, 3) == (0, (), 0)
    assert last_rows([*rows, ["", "", ""], []], 3) == (2, (), 0)
    left, (note,), _ = last_rows([*rows, [], ["Note"], ["Source: us", " 2020"]], 3)
    assert (left, note) == (3, label("lines-below-left-out", lines=2))
    # Without a blank line above, it is a row that lacks a cell, and is refused as such.
    assert last_rows([*rows, ["1", "x"]], 3) == (0, (), 0)


def test_rows_of_totals_are_counted():
    content = b"a,b,c\n" + b"x,1,2\ny,2,3\n" * 30
    sums = b"Total,90,150\nMean,1.5,2.5\n"
    assert read_table(content, "t.csv").totals == 0
    assert read_table(content + sums, "t.csv").totals == 2
    assert read_table(content + sums[:13], "t.csv").totals == 1


@pytest.mark.parametrize(
    "content",
    [b"<!DOCTYPE html>\n<p>a,b\n", b"<?xml version='1.0'?>\n<a/>\n", b'[{"a": 1},\n{"a": 2}]\n'],
)
def test_pages_and_json_are_no_tables(content):
    with raises_code(DataError, "no-table"):
        read_table(content, "t.csv")
