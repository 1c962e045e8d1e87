"""A release that adds to an earlier one: what it costs, what both state, and what is refused."""

import math
import multiprocessing
import threading
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from privcore.effects import EffectPlan, Question
from privcore.errors import BudgetError, DataError, ParameterError, ReleaseError
from privcore.intake import ColumnSchema
from privcore.intake.private_domain.table import StatedTable
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.accounting.events import Event, total_rho
from privcore.releases.certificate import certificate_json
from privcore.releases.release import release
from privcore.releases.release_check import check_release
from privcore.releases.release_file import ReleaseFile, file_text, parsed_file
from privcore.releases.signing import signed
from privcore.releases.topping_up import further_charge
from privcore.releases.verification import verify
from privcore.storage.parquet import open_parquet
from tests.examples import few
from tests.messages import says, shows
from tests.releases.steps_of import (
    FORMS,
    SUMS,
    kept_release,
    ledger_in,
    levels_table,
    numbers_table,
)

MORE = {
    **FORMS,
    "a table of three rows": (levels_table, {"rows_per_unit": 3}),
    "sums of three rows": (levels_table, {**SUMS, "rows_per_unit": 3}),
}
FORK = multiprocessing.get_context("fork")


@pytest.fixture
def ledger(tmp_path):
    return ledger_in(tmp_path)


@pytest.mark.parametrize("unit", few(["basic", "zcdp"], 1))
@pytest.mark.parametrize("form", MORE)
def test_what_is_missing_to_the_whole_is_charged_and_both_are_certified(tmp_path, form, unit):
    build, parameters = MORE[form]
    ledger, data = ledger_in(tmp_path, unit=unit), build()
    made, file = kept_release(ledger, data, 0.5, parameters=parameters)
    both, second = kept_release(ledger, data, 1.25, parameters=parameters, adds_to=file)
    first, more = ledger.charges()
    assert (first.epsilon, more.epsilon) == (0.5, 0.75)
    assert more.delta == 0.0
    assert more.parameters["tops_up"] == file.id
    whole = total_rho(second.planned)
    assert Fraction(first.rho) + Fraction(more.rho) >= Fraction(whole)
    assert first.rho + more.rho == pytest.approx(whole, rel=1e-9)
    # Both together are one release at the total, and no more.
    promise = both.guarantee
    assert (promise.epsilon, promise.delta) == (1.25, made.guarantee.delta)
    accounts = [a.epsilon for a in side_by_side(second.planned, promise.delta) if a.epsilon]
    assert min(accounts) <= 1.25 * (1 + 1e-9)
    spending = ledger.spending("clinic")
    assert (spending.epsilon, spending.delta) == (1.25, promise.delta)
    assert both.certificate["released"]["tops_up"] == file.id
    assert "tops_up" not in made.certificate["released"]
    said = verify(certificate_json(both.certificate))
    assert any(shows(sentence, "planned-steps-cost") for sentence in said.verified)
    assert second.holds == (file.id,)
    assert second.statistics.topped


def test_a_chain_costs_what_its_last_total_says(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.1)
    for more in (0.2, 0.3, 0.1):
        _, file = kept_release(ledger, data, file.total(more), adds_to=file)
    assert file.guarantee.epsilon == 0.7
    charges = ledger.charges()
    assert sum(Fraction(repr(c.epsilon)) for c in charges) == Fraction("0.7")
    assert [c.delta for c in charges] == [0.0] * 4
    assert sum(c.rho for c in charges) == pytest.approx(total_rho(file.planned), rel=1e-9)


def test_a_budget_that_is_just_enough_is(tmp_path):
    """0.1 and 0.2 are 0.3, as they are written."""
    ledger, data = ledger_in(tmp_path, epsilon=0.3), levels_table()
    _, file = kept_release(ledger, data, 0.1)
    kept_release(ledger, data, file.total(0.2), adds_to=file)
    assert ledger.spending("clinic").left_epsilon == 0.0


def test_an_overspend_is_refused_and_charges_nothing(tmp_path):
    ledger, data = ledger_in(tmp_path, epsilon=1.0), levels_table()
    _, file = kept_release(ledger, data, 0.5)
    with pytest.raises(BudgetError, match=says("not-covered", left="0.5")):
        kept_release(ledger, data, 1.1, adds_to=file)
    assert len(ledger.charges()) == 1
    # Nothing is lost by it: the release can still be added to.
    kept_release(ledger, data, 1.0, adds_to=file)


decimal = st.decimals("0.001", 1000, places=3).map(float)


@given(decimal | st.floats(1e-6, 1e3), decimal | st.floats(1e-6, 1e3))
def test_what_is_charged_is_never_less_than_what_is_missing(first, more):
    """In the decimals in which the ledger adds up."""
    file = _file(first, (Event("discrete laplace", first / 2, 2),))
    epsilon = file.total(more)
    if Fraction(repr(epsilon)) <= Fraction(repr(first)):
        return
    planned = (Event("discrete laplace", epsilon / 2, 2),)
    charged, rho = further_charge(epsilon, planned, file)
    assert Fraction(repr(charged)) + Fraction(repr(first)) >= Fraction(repr(epsilon))
    assert Fraction(repr(charged)) <= Fraction(repr(more)) * (1 + Fraction(1, 10**6))
    assert Fraction(rho) + Fraction(total_rho(file.planned)) >= Fraction(total_rho(planned))


def _file(epsilon, planned):
    promise = type("Promise", (), {"epsilon": epsilon})
    made = object.__new__(ReleaseFile)
    object.__setattr__(made, "guarantee", promise)
    object.__setattr__(made, "planned", planned)
    return made


def test_without_a_known_rho_none_is_charged():
    file = _file(1.0, (Event("pure", 1.0, 1, 1e-6),))
    assert further_charge(2.0, (Event("gaussian", 3.0),), file) == (1.0, None)
    assert further_charge(2.0, (), _file(1.0, (Event("gaussian", 3.0),))) == (1.0, None)


def test_a_release_is_added_to_once(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5)
    kept_release(ledger, data, 1.0, adds_to=file)
    with pytest.raises(BudgetError, match=says("added-to-before")):
        kept_release(ledger, data, 1.5, adds_to=file)
    assert len(ledger.charges()) == 2


def test_a_release_whose_top_up_failed_was_added_to(ledger, monkeypatch):
    """The numbers may have been drawn: what failed is charged, and not tried again."""
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5)

    def broken(*arguments, **named):
        raise ValueError("the secret is 7")

    with monkeypatch.context() as patched:
        patched.setattr("privcore.releases.release.discover", broken)
        with pytest.raises(ReleaseError, match=says("charge-stays")) as raised:
            kept_release(ledger, data, 1.0, adds_to=file)
    assert "7" not in str(raised.value)
    with pytest.raises(BudgetError, match=says("added-to-before")):
        kept_release(ledger, data, 1.0, adds_to=file)
    assert [charge.state for charge in ledger.charges()] == ["released", "failed"]


@pytest.mark.long
def test_of_many_threads_at_once_one_adds(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5)
    start, ends = threading.Barrier(4), []

    def add():
        start.wait()
        try:
            ends.append(kept_release(ledger, data, 1.0, adds_to=file)[1].id)
        except BudgetError as error:
            ends.append(str(error))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(shows(end, "added-to-before") for end in ends) == 3
    assert len(ledger.charges()) == 2


def _reserve(ledger, certificate, queue):
    try:
        ledger.reserve(
            *("clinic", []),
            algorithm="moment-search",
            parameters={},
            epsilon=0.5,
            delta=0.0,
            certificate=f"{certificate}0",
            tops_up="ab",
        )
        queue.put("added")
    except BudgetError as error:
        queue.put(str(error))


def test_of_two_processes_at_once_one_adds(ledger):
    ledger.reserve(
        *("clinic", []),
        algorithm="moment-search",
        parameters={},
        epsilon=0.5,
        delta=0.0,
        certificate="ab",
    )
    queue = FORK.Queue()
    both = [FORK.Process(target=_reserve, args=(ledger, name, queue)) for name in "cd"]
    for process in both:
        process.start()
    ends = sorted(queue.get(timeout=60) for _ in both)
    for process in both:
        process.join()
    assert ends[1] == "added"
    assert shows(ends[0], "added-to-before")


def test_the_ledger_knows_what_is_added_to(ledger):
    """No charge of the earlier release, or one of another budget: nothing is added to it."""
    ledger.set_total("other", 5.0, 1e-5)
    usual = {"algorithm": "x", "parameters": {}, "epsilon": 0.5, "delta": 0.0}
    ledger.reserve("other", [], certificate="ab", **usual)
    for name in ("ab", "cd", ""):
        with pytest.raises(BudgetError, match=says("no-charge-of-earlier")):
            ledger.reserve("clinic", [], certificate="ef", tops_up=name, **usual)
    assert len(ledger.charges()) == 1
    ledger.reserve("other", [], certificate="ef", tops_up="ab", **usual)


def refused_before_charge(ledger, error, match, data, file, epsilon=2.0, **more):
    before = ledger.charges()
    with pytest.raises(error, match=match):
        kept_release(ledger, data, epsilon, adds_to=file, **more)
    assert ledger.charges() == before


def forged(made, **fields):
    """The file of a release with other fields, signed by somebody who has read it."""
    content = {k: v for k, v in made.numbers.items() if k != "signature"}
    document = signed({**content, **fields}, Ed25519PrivateKey.generate())
    return parsed_file(file_text(document).encode())


@pytest.mark.long
def test_a_file_that_somebody_else_signed_is_not_added_to(ledger):
    """It has the nonce and the mark of the true one, but says that ε = 1.99 was spent: the owner
    would pay 0.01 for what costs 1.5."""
    data = levels_table()
    made, file = kept_release(ledger, data, 0.5)
    promise = {**made.numbers["guarantee"], "epsilon": 1.99}
    for fields in ({}, {"guarantee": promise}, {"id": "ab" * 16}, {"holds": ["cd" * 16]}):
        refused_before_charge(
            ledger,
            ReleaseError,
            says("not-of-this-ledger"),
            data,
            forged(made, **fields),
        )
    # The owner's own is.
    assert kept_release(ledger, data, 2.0, adds_to=file)


@pytest.mark.long
def test_another_table_or_ledger_is_refused(ledger, tmp_path):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5)
    match = says("not-of-this-ledger")
    refused_before_charge(ledger, ReleaseError, match, levels_table(seed=2), file)
    moved = data.values[0].copy()
    moved[0] = 1 - moved[0]
    one_row = replace(data, values=(moved, *data.values[1:]))
    refused_before_charge(ledger, ReleaseError, match, one_row, file)
    (tmp_path / "other").mkdir()
    other = ledger_in(tmp_path / "other")
    refused_before_charge(other, ReleaseError, match, data, file)
    # A second ledger beside the first, with the same key and another secret.
    beside_it = type(ledger)(tmp_path / "second.sqlite")
    beside_it.set_total("clinic", 5.0, 1e-5)
    refused_before_charge(beside_it, ReleaseError, match, data, file)
    # The order of the rows says nothing.
    turned = replace(data, values=tuple(np.ascontiguousarray(v[::-1]) for v in data.values))
    assert kept_release(ledger, turned, 2.0, adds_to=file)


def test_another_domain_or_number_of_rows_is_refused(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5)
    other = says("files-of-other-domain")
    refused_before_charge(ledger, ReleaseError, other, levels_table(columns=4), file)
    column = replace(data.columns[0], levels=("no", "yes", "never"))
    wider = replace(data, columns=(column, *data.columns[1:]))
    refused_before_charge(ledger, ReleaseError, other, wider, file)
    refused_before_charge(
        ledger, DataError, says("earlier-of-other-rows", rows=300), levels_table(rows=299), file
    )
    _, numbers = kept_release(ledger, numbers_table(), 0.5)
    refused_before_charge(ledger, ReleaseError, other, numbers_table(bound=8.0), numbers)


def test_another_delta_or_protection_is_refused(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5, parameters=SUMS)
    more = {"parameters": {**SUMS, "delta": 1e-7}}
    refused_before_charge(
        ledger,
        ParameterError,
        says("earlier-at-other-delta", delta="1e-06", this="1e-07"),
        data,
        file,
        **more,
    )
    for settings in ({"rows_per_unit": 2}, {"neighbours": "added or removed"}):
        more = {"parameters": {**SUMS, **settings}}
        refused_before_charge(
            ledger, ParameterError, says("earlier-protects-others"), data, file, **more
        )
    assert kept_release(ledger, data, 2.0, adds_to=file, parameters=SUMS)


def test_other_algorithms_and_effects_are_refused(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5)
    with pytest.raises(ReleaseError, match=says("earlier-by-another", algorithm="moment-search")):
        release(data, "lapmech", {}, ledger=ledger, budget="clinic", adds_to=file)
    effect = EffectPlan(Question("c0", "c1"), 0.0)
    refused_before_charge(
        ledger, ParameterError, says("adding-with-effect"), data, file, effect=effect
    )
    stated = object.__new__(StatedTable)
    with pytest.raises(ReleaseError, match=says("domain-cannot-be-added")):
        check_release(stated, "moment-search", {"epsilon": 2.0}, adds_to=file)
    assert len(ledger.charges()) == 1


def test_pairs_alone_are_measured_of_sums_alone(ledger):
    data = levels_table()
    _, counts = kept_release(ledger, data, 0.5)
    refused_before_charge(
        ledger, ParameterError, says("measured-as-a-whole"), data, counts, only=[(0, 1)]
    )
    with pytest.raises(ParameterError, match=says("only-to-add")):
        kept_release(ledger, data, 0.5, only=[(0, 1)])
    _, file = kept_release(ledger, data, 0.5, parameters=SUMS)
    more = {"parameters": SUMS}
    for pair in ((1, 0), (0, 0), (0, 3), (-1, 1)):
        refused_before_charge(
            ledger, ParameterError, says("not-one-of-two-columns"), data, file, only=[pair], **more
        )
    _, second = kept_release(ledger, data, 1.0, adds_to=file, only=[(0, 1)], **more)
    assert (second.statistics.moments.sums(0, 2) == file.statistics.moments.sums(0, 2)).all()
    assert (second.statistics.moments.sums(0, 1) != file.statistics.moments.sums(0, 1)).all()
    assert second.guarantee.epsilon == 1.0


def test_refined_counts_are_those_of_one_release_at_the_total(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5)
    _, second = kept_release(ledger, data, 2.0, adds_to=file)
    assert second.statistics.scale == pytest.approx(1.0, rel=1e-9)
    assert (second.statistics.counts == np.round(second.statistics.counts)).all()
    # The steps are those of one release at once.
    assert second.planned == (Event("discrete laplace", 1.0, 2),)
    exact = np.zeros((2, 2, 2))
    np.add.at(exact, tuple(code.astype(int) for code in data.values), 1)
    # Noise of scale 1 is beyond 40 with probability 2e⁻⁴⁰ for each of 8 counts.
    assert np.abs(second.statistics.counts - exact).max() <= 40


@pytest.mark.long
def test_a_table_in_parquet_can_be_added_to(ledger, tmp_path):
    """Its files are read anew, and known again."""
    data = levels_table()
    frame = pd.DataFrame(
        {c.name: np.array(c.levels)[v] for c, v in zip(data.columns, data.values, strict=True)}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    schema = [ColumnSchema(c.name, c.kind, levels=c.levels, declared=True) for c in data.columns]
    table = open_parquet(tmp_path / "t.parquet", schema)
    _, file = kept_release(ledger, table, 0.5)
    assert kept_release(ledger, table, 1.0, adds_to=file)[1].holds == (file.id,)
    # The same rows in memory are the same table.
    _, file = kept_release(ledger, table, 0.5)
    assert kept_release(ledger, data, 1.0, adds_to=file)[1].holds == (file.id,)


def test_what_a_check_says_is_what_is_charged(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5)
    check = check_release(data, "moment-search", {"epsilon": 1.5}, adds_to=file)
    assert (check.epsilon, check.delta, check.promised) == (1.0, 0.0, (1.5, 0.0))
    kept_release(ledger, data, 1.5, adds_to=file)
    charge = ledger.charges()[-1]
    assert (charge.epsilon, charge.delta, charge.rho) == (check.epsilon, check.delta, check.rho)
    assert math.isclose(check.rho, (1.5**2 - 0.5**2) / 4)
