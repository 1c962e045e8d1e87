"""The ledger adds up exactly, refuses what is not covered, and forgets nothing."""

import json
from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.errors import BudgetError, LedgerError, ParameterError
from privcore.privacy.accounting import composition
from privcore.releases.ledger.entries import Budget, Charge, check_charge
from privcore.releases.ledger.ledger import Ledger, data_directory
from tests.examples import examples
from tests.messages import raises_code, says
from tests.releases.ledger.charging import charge


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "data" / "ledger.sqlite")


def test_ten_tenths_are_one_and_the_eleventh_is_refused(ledger):
    """In binary 0.1 is a little more than a tenth, and ten floats add up to less than 1."""
    ledger.set_total("clinic", 1.0, 0.0)
    for number in range(10):
        paid, spending = charge(ledger)
        assert paid.sequence == spending.charges == number + 1
    assert spending.epsilon == 1.0
    assert spending.left_epsilon == 0.0
    with pytest.raises(BudgetError, match=says("not-covered", cost="ε = 0.1", left=0)):
        charge(ledger)
    with pytest.raises(BudgetError):
        charge(ledger, epsilon=1e-300)
    assert len(ledger.charges("clinic")) == 10


def test_delta_is_kept_too(ledger):
    ledger.set_total("clinic", 10.0, 1e-6)
    charge(ledger, delta=1e-6)
    with pytest.raises(BudgetError, match=says("not-covered", cost="δ = 1e-300")):
        charge(ledger, delta=1e-300)
    charge(ledger)


@settings(max_examples=examples(100))
@given(
    total=st.floats(1e-3, 10),
    asked=st.lists(st.floats(1e-12, 3), min_size=1, max_size=60),
    zcdp=st.booleans(),
)
def test_no_sequence_of_charges_exceeds_the_total(total, asked, zcdp):
    """Against exact sums of the decimal numbers."""
    budget = Budget("b", "zcdp" if zcdp else "basic", total, 1e-6, total if zcdp else None, "", "")
    granted = []
    spent = Fraction(0)
    for cost in asked:
        number = Charge(0, "", "b", "a", {}, cost, 0.0, cost if zcdp else None, "charged", "")
        fits = spent + Fraction(repr(cost)) <= Fraction(repr(total))
        if fits:
            check_charge(budget, [*granted, number])
            granted.append(number)
            spent += Fraction(repr(cost))
        else:
            with pytest.raises(BudgetError):
                check_charge(budget, [*granted, number])


def test_a_total_in_zcdp_covers_more_small_releases(ledger):
    budget = ledger.set_total("clinic", 1.0, 1e-6, "zcdp")
    assert budget.rho == composition.rho_for(1.0, 1e-6)
    step = composition.rho_of_pure(0.04)
    fit = int(Fraction(repr(budget.rho)) / Fraction(repr(step)))
    assert fit > 25
    for _ in range(fit):
        _, spending = charge(ledger, epsilon=0.04, rho=step)
    assert spending.zcdp_epsilon <= 1.0
    assert spending.epsilon > 1.0
    with pytest.raises(BudgetError, match="ρ"):
        charge(ledger, epsilon=0.04, rho=step)
    with raises_code(BudgetError, "cost-not-known"):
        charge(ledger, epsilon=1e-9)
    assert len(ledger.charges("clinic")) == fit


def test_spending_mixes_charges_with_and_without_rho(ledger):
    ledger.set_total("clinic", 5.0, 1e-5)
    charge(ledger, epsilon=0.5, delta=1e-6, rho=0.02)
    _, spending = charge(ledger, epsilon=0.25, delta=4e-6)
    assert (spending.epsilon, spending.rho) == (0.75, None)
    assert spending.zcdp_epsilon == pytest.approx(0.25 + composition.zcdp(0.02, 6e-6))
    _, spending = charge(ledger, epsilon=0.25, delta=5e-6)
    assert spending.left_delta == 0.0
    assert spending.zcdp_epsilon == pytest.approx(0.5 + composition.zcdp(0.02, 1e-6))


def test_data_stay_with_their_budget(ledger):
    ledger.set_total("clinic", 1.0, 0.0)
    ledger.set_total("other", 1.0, 0.0)
    charge(ledger)
    assert ledger.budget_of([ledger.fingerprint([b"ro", b"ws"])]) == "clinic"
    assert ledger.budget_of([ledger.fingerprint([b"rowz"])]) is None
    with raises_code(BudgetError, "charged-to-another", name="clinic"):
        charge(ledger, "other")
    assert ledger.charges("other") == []
    # A second preparation of the file is bound by what they share.
    ledger.reserve(
        "clinic",
        [ledger.fingerprint([b"cut"]), ledger.fingerprint([b"rows"])],
        algorithm="a",
        parameters={},
        epsilon=0.1,
        delta=0.0,
    )
    with pytest.raises(BudgetError):
        charge(ledger, "other", content=b"cut")


def test_fingerprints_differ_between_ledgers_and_hide_the_data(ledger, tmp_path):
    other = Ledger(tmp_path / "other.sqlite")
    assert ledger.fingerprint([b"rows"]) != other.fingerprint([b"rows"])
    ledger.set_total("clinic", 1.0, 0.0)
    charge(ledger, content=b"a very private row")
    assert b"private row" not in ledger.path.read_bytes()


def test_totals_can_be_raised_but_not_below_what_was_spent(ledger):
    ledger.set_total("clinic", 1.0, 0.0)
    charge(ledger, epsilon=1.0)
    with raises_code(BudgetError, "spent-more"):
        ledger.set_total("clinic", 0.5, 0.0)
    with raises_code(BudgetError, "cost-not-known"):
        ledger.set_total("clinic", 5.0, 1e-6, "zcdp")
    assert ledger.budget("clinic").epsilon == 1.0
    ledger.set_total("clinic", 2.0, 0.0)
    charge(ledger, epsilon=1.0)
    totals = json.loads(ledger.export("json"))["totals"]
    assert [total["epsilon"] for total in totals] == ["1.0", "2.0"]


def test_states_and_exports(ledger):
    ledger.set_total("=SUM(A1)", 1.0, 1e-6)
    paid, _ = charge(ledger, "=SUM(A1)", certificate="c1")
    ledger.finish(paid.sequence, "released")
    ledger.finish(paid.sequence, "failed")
    failed, _ = charge(ledger, "=SUM(A1)", rho=0.005)
    ledger.finish(failed.sequence, "failed")
    assert [c.state for c in ledger.charges()] == ["released", "failed"]
    lines = ledger.export("csv").splitlines()
    assert len(lines) == 3
    assert ",'=SUM(A1)," in lines[1]
    described = json.loads(ledger.export("json"))
    assert described["charges"][1]["rho"] == 0.005
    assert described["spending"]["=SUM(A1)"]["epsilon"] == 0.2


def test_charges_are_in_order_though_the_clock_goes_backwards(tmp_path):
    times = iter(datetime(2026, 1, 9, tzinfo=UTC) - timedelta(days=d) for d in range(9))
    ledger = Ledger(tmp_path / "ledger.sqlite", clock=lambda: next(times))
    ledger.set_total("clinic", 0.3, 0.0)
    for number in range(3):
        charge(ledger, certificate=str(number))
    found = ledger.charges("clinic")
    assert [c.certificate for c in found] == ["0", "1", "2"]
    assert [c.time for c in found] == sorted((c.time for c in found), reverse=True)
    with pytest.raises(BudgetError):
        charge(ledger)


@pytest.mark.parametrize(
    "arguments",
    [
        ("", 1.0, 0.0),
        (" a", 1.0, 0.0),
        ("a\nb", 1.0, 0.0),
        ("a" * 101, 1.0, 0.0),
        ("a", 0.0, 0.0),
        ("a", float("inf"), 0.0),
        ("a", float("nan"), 0.0),
        ("a", 1.0, 1.0),
        ("a", 1.0, -0.1),
        ("a", 1.0, 0.0, "zcdp"),
        ("a", 1.0, 0.0, "renyi"),
    ],
)
def test_impossible_totals_are_refused(ledger, arguments):
    with pytest.raises(ParameterError):
        ledger.set_total(*arguments)


@pytest.mark.parametrize(
    "cost", [{"epsilon": 0.0}, {"epsilon": float("nan")}, {"delta": -1e-9}, {"rho": 0.0}]
)
def test_impossible_charges_are_refused(ledger, cost):
    ledger.set_total("clinic", 1.0, 0.5)
    with pytest.raises(ParameterError):
        charge(ledger, **cost)
    with raises_code(LedgerError, "no-such-budget", name="nobody"):
        charge(ledger, "nobody")
    assert ledger.charges() == []


@pytest.mark.parametrize(
    "record",
    [
        {"parameters": {"a": float("nan")}},
        {"parameters": {"a": float("inf")}},
        {"parameters": {"a": object()}},
        {"parameters": {"a": b"bytes"}},
        {"algorithm": None},
        {"certificate": 7},
        {"fingerprints": [None]},
        {"fingerprints": [b"mark"]},
    ],
)
def test_what_cannot_be_kept_of_a_charge_is_refused(ledger, record):
    ledger.set_total("clinic", 1.0, 0.5)
    asked = {"fingerprints": ["mark"], "algorithm": "a", "parameters": {}, **record}
    with raises_code(ParameterError, "cannot-be-recorded"):
        ledger.reserve("clinic", asked.pop("fingerprints"), epsilon=0.1, delta=0.0, **asked)
    assert ledger.charges() == []
    assert ledger.budget_of(["mark"]) is None


def test_every_text_comes_back_as_it_was_given(ledger):
    """Also what is no Unicode: the ledger keeps it in ASCII."""
    texts = ["ε", "\udcff", "\0", "\U0001f600", "'; DROP TABLE entries; --"]
    ledger.set_total("Ärzte ε 😀", 1.0, 0.0)
    ledger.reserve(
        "Ärzte ε 😀",
        texts,
        algorithm=texts[1],
        parameters={text: text for text in texts},
        epsilon=0.1,
        delta=0.0,
        certificate=texts[0],
    )
    (kept,) = ledger.charges("Ärzte ε 😀")
    assert (kept.algorithm, kept.certificate) == (texts[1], texts[0])
    assert dict(kept.parameters) == {text: text for text in texts}
    assert ledger.budget_of([texts[1]]) == "Ärzte ε 😀"
    with raises_code(LedgerError, "no-such-budget"):
        ledger.budget("\udcff")


def test_the_directory_is_the_platform_s_or_the_one_named(monkeypatch, tmp_path):
    monkeypatch.setenv("CAUSALVEIL_DATA_DIR", str(tmp_path))
    assert data_directory() == tmp_path
    assert Ledger().path == tmp_path / "ledger.sqlite"
    monkeypatch.delenv("CAUSALVEIL_DATA_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", "/x")
    monkeypatch.setattr("sys.platform", "linux")
    assert str(data_directory()) == "/x/causalveil"
    monkeypatch.setattr("sys.platform", "darwin")
    assert data_directory().parts[-2:] == ("Application Support", "CausalVeil")
    monkeypatch.setenv("LOCALAPPDATA", "/l")
    monkeypatch.setattr("sys.platform", "win32")
    assert data_directory().name == "CausalVeil"


def test_the_file_is_its_owner_s_alone(ledger):
    ledger.set_total("clinic", 1.0, 0.0)
    assert ledger.path.stat().st_mode & 0o077 == 0
    assert ledger.path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("path", ["/", "led\0ger.sqlite"])
def test_what_can_be_no_file_is_refused_in_one_sentence(path):
    with raises_code(LedgerError, "no-name-of-a-file"):
        Ledger(path)
