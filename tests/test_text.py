"""Numbers that are typed: read as they look, or not at all."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privcore.algorithms import ALGORITHMS
from privcore.data import EXAMPLES, Column, example_parameters
from privcore.display.accounts import parse_event
from privcore.errors import DataError, ParameterError
from privcore.exchange.knowledge_files import parse_knowledge
from privcore.extras.pairs import PARAMETERS as OF_PAIRS
from privcore.extras.pairs import is_numeric
from privcore.extras.teaching.lesson import NumberAnswer
from privcore.text import counted, number_of, whole_of

# All but the last four are numbers to Python's own `float` or `int`.
STRANGE = ["1_0", "1_000", "0_1", "١", "１", "1e1_0", "inf", "nan", "0x10", "1,5", "1e", "½"]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_number_is_read_as_python_writes_it(number):
    for text in (repr(number), f" {number!r} ", f"{number:.17e}"):
        assert number_of(text) == number
    assert math.isfinite(number_of(f"{number:.3f}"))


@given(st.integers())
def test_every_whole_number_is_read_as_python_writes_it(number):
    assert whole_of(str(number)) == whole_of(f" {number:+} ") == number


def test_one_is_not_many():
    assert [counted(number, "row") for number in (0, 1, 2, 1_000)] == [
        *("0 rows", "1 row", "2 rows", "1,000 rows")
    ]
    assert counted(1, "pair is", "pairs are") == "1 pair is"
    assert counted(3, "pair is", "pairs are") == "3 pairs are"


@pytest.mark.parametrize("text", ["5.", ".5", "+.5e-3", "-0", "1E5", "007"])
def test_short_forms_are_numbers(text):
    assert number_of(text) == float(text)


@pytest.mark.parametrize(
    "text",
    [
        *STRANGE,
        "",
        " ",
        ".",
        "+",
        "1 0",
        "1.2.3",
        "--1",
        "1e999",
        "-1e999",
        "infinity",
        "1\n2",
        "0b1",
    ],
)
def test_nothing_else_is_a_number(text):
    assert number_of(text) is None
    assert whole_of(text) is None


@given(st.text())
def test_whatever_is_read_is_what_python_reads(text):
    number, whole = number_of(text), whole_of(text)
    assert number is None or number == float(text)
    assert whole is None or whole == int(text)


def test_too_many_digits_are_no_error():
    assert whole_of("9" * 5_000) is None
    assert number_of("9" * 5_000) is None


NUMBERS = {
    (owner, parameter.name): parameter
    for owner, parameters in (
        *((a.name, a.parameters) for a in ALGORITHMS.values()),
        *((kind, example_parameters(kind)) for kind in EXAMPLES),
        ("pairs", OF_PAIRS),
    )
    for parameter in parameters
    if parameter.kind in ("float", "int")
}


@pytest.mark.parametrize("text", STRANGE)
def test_no_parameter_takes_it(text):
    assert len(NUMBERS) > 50
    for parameter in NUMBERS.values():
        with pytest.raises(ParameterError):
            parameter.parse(text)


def test_whole_numbers_may_be_written_as_others_are():
    order = NUMBERS["pc", "max_order"]
    for text in ("3", "3.0", "3e0", " 3 ", "+3"):
        assert order.parse(text) == 3


OPTIONS = {
    "--epsilon of a run": ("discover", "--network", "cancer", "--epsilon"),
    "--set": ("discover", "--network", "cancer", "--set", "max_order=1_0", "--rows"),
    "--rows": ("discover", "--network", "cancer", "--rows"),
    "--seed": ("discover", "--network", "cancer", "--seed"),
    "--memory": ("discover", "--table", "none", "--memory"),
    "--intervals": ("discover", "--example", "linear-gaussian", "--intervals"),
    "--epsilon of a release": (
        *("release", "--network", "cancer", "--algorithm", "lapmech", "--budget-name", "b"),
        "--epsilon",
    ),
    "ε of a total": ("ledger", "total", "b", "--delta", "0", "--epsilon"),
    "δ of a total": ("ledger", "total", "b", "--epsilon", "1", "--delta"),
    "δ of accounts": ("accounts", "--event", "laplace:0.1:3", "--delta"),
    "--columns": ("accounts", "--algorithm", "lapmech", "--columns"),
    "--epsilons": (
        *("sweep", "--network", "cancer", "--algorithms", "lapmech", "--out", "rows.csv"),
        "--epsilons",
    ),
    "--f1": ("advise", "--columns", "3", "--f1"),
    "--effect-share": (
        *("effect", "--network", "cancer", "--cause", "Smoker", "--outcome", "Cancer"),
        "--effect-share",
    ),
    "--runs": ("audit", "--runs"),
    "--port": ("app", "--port"),
}


@pytest.mark.parametrize("text", ["1_0", "١"])
@pytest.mark.parametrize("name", OPTIONS)
def test_no_command_takes_it(refused, tmp_path, monkeypatch, name, text):
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    refused("", *OPTIONS[name], text)
    assert not list(tmp_path.glob("ledger.sqlite"))


@pytest.mark.parametrize("text", STRANGE)
def test_neither_do_events_answers_tiers_and_levels(text):
    with pytest.raises(ParameterError):
        parse_event(f"laplace:0.1:{text}")
    with pytest.raises(ParameterError):
        parse_event(f"laplace:{text}")
    with pytest.raises(DataError):
        parse_knowledge(f'column,tier\na,"{text}"\n'.encode(), "tiers.csv")
    assert not is_numeric(Column("x", "ordinal", ("1", text), declared=True))
    if text != "1,5":  # A decimal comma is right in an answer.
        with pytest.raises(ParameterError):
            NumberAnswer(lambda: 10.0, 1.0).is_right(text)
