"""Releases like an earlier one: what is charged, what all promise together, what is refused."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import privcore
from privcore.algorithms.engine import LIKE
from privcore.algorithms.moment_search.released import pool, released_as_dict
from privcore.data.domain import domain_of
from privcore.effects import EffectPlan, Question
from privcore.errors import BudgetError, DataError, ParameterError, ReleaseError
from privcore.faces.api.tables import public_schema
from privcore.intake import ColumnSchema
from privcore.intake.bought_domain import StatedTable
from privcore.privacy.accounting.composition import total_rho
from privcore.releases.certificate import certificate_json
from privcore.releases.release import release
from privcore.releases.release_check import check_release
from privcore.releases.release_file import (
    file_text,
    parsed_file,
    put_together,
    search_files,
)
from privcore.releases.signing import signed
from privcore.releases.verification import verify
from privcore.storage.parquet import open_parquet
from tests.examples import few
from tests.messages import raises_code, says
from tests.releases.steps_of import (
    FORMS,
    SUMS,
    kept_release,
    ledger_in,
    levels_table,
    numbers_table,
)


@pytest.fixture
def ledger(tmp_path):
    return ledger_in(tmp_path)


@pytest.mark.parametrize("unit", few(["basic", "zcdp"], 1))
@pytest.mark.parametrize("form", FORMS)
def test_each_is_charged_on_its_own_and_all_promise_the_sum(tmp_path, form, unit):
    build, parameters = FORMS[form]
    ledger, data = ledger_in(tmp_path, unit=unit), build()
    made, file = kept_release(ledger, data, 0.1, parameters=parameters)
    files = [file]
    for epsilon in (0.2, 0.7):
        one, file = kept_release(ledger, data, epsilon, parameters=parameters, like=files[-1])
        files.append(file)
        assert (one.guarantee.epsilon, one.guarantee.delta) == (epsilon, made.guarantee.delta)
        assert one.guarantee.public == (*one.guarantee.public[:-1], LIKE)
        assert set(one.certificate["released"]) == set(made.certificate["released"])
        assert set(one.numbers) == set(made.numbers)
        assert verify(certificate_json(one.certificate)).fingerprint == file.signer
    charges = ledger.charges()
    assert [c.epsilon for c in charges] == [0.1, 0.2, 0.7]
    assert [c.delta for c in charges] == [made.guarantee.delta] * 3
    assert [c.rho for c in charges] == [
        pytest.approx(min(total_rho(f.planned), c.epsilon**2 / 2 if c.delta == 0 else math.inf))
        for f, c in zip(files, charges, strict=True)
    ]
    statistics, promise = put_together(files, sites=False)
    assert Fraction(promise.epsilon) >= sum(map(Fraction, (0.1, 0.2, 0.7)))
    assert Fraction(promise.delta) >= 3 * Fraction(made.guarantee.delta)
    assert promise.epsilon == pytest.approx(1.0, rel=1e-12)
    assert promise.accountant == "basic composition"
    pooled = pool([f.statistics for f in files], same_rows=True)
    assert released_as_dict(statistics) == released_as_dict(pooled)
    assert search_files(files).guarantee == promise


def test_sites_in_the_units_of_one_of_them_add_up(tmp_path):
    """Also moments of numbers, whose units depend on the release."""
    files = []
    for site in (1, 2):
        (tmp_path / str(site)).mkdir()
        data = numbers_table(rows=200 * site, seed=site)
        like = {"like": files[0]} if files else {}
        files.append(kept_release(ledger_in(tmp_path / str(site)), data, site, **like)[1])
    statistics, promise = put_together(files, sites=True)
    one, two = (file.statistics for file in files)
    assert statistics.n == 600
    both, one, two = (kept.measurements[0].values for kept in (statistics, one, two))
    assert both == pytest.approx((one + 2 * two) / 3)
    assert promise.epsilon == 2.0


def test_what_a_check_says_is_what_is_charged(ledger):
    data = levels_table()
    _, file = kept_release(ledger, data, 0.5, parameters=SUMS)
    check = check_release(data, "moment-search", {**SUMS, "epsilon": 1.5}, like=file)
    kept_release(ledger, data, 1.5, parameters=SUMS, like=file)
    charge = ledger.charges()[-1]
    assert (charge.epsilon, charge.delta, charge.rho) == (check.epsilon, check.delta, check.rho)
    assert check.public[-1] == LIKE


def test_an_overspend_is_refused_and_charges_nothing(tmp_path):
    ledger, data = ledger_in(tmp_path, epsilon=1.0), levels_table()
    _, file = kept_release(ledger, data, 0.5)
    with pytest.raises(BudgetError, match=says("not-covered", left="0.5")):
        kept_release(ledger, data, 0.6, like=file)
    assert len(ledger.charges()) == 1
    kept_release(ledger, data, 0.5, like=file)


def refused(ledger, match, data, like, **more):
    before = ledger.charges()
    with pytest.raises(ReleaseError, match=match):
        kept_release(ledger, data, 1.0, like=like, **more)
    assert ledger.charges() == before


def test_what_could_not_be_pooled_is_refused_before_it_is_charged(ledger):
    data, other = levels_table(), says("like-another")
    _, file = kept_release(ledger, data, 0.5)
    refused(ledger, other, levels_table(columns=4), file)
    column = replace(data.columns[0], levels=("no", "yes", "never"))
    refused(ledger, other, replace(data, columns=(column, *data.columns[1:])), file)
    _, numbers = kept_release(ledger, numbers_table(), 0.5)
    refused(ledger, other, numbers_table(bound=8.0), numbers)
    refused(ledger, other, data, file, parameters={"rows_per_unit": 2})
    refused(ledger, other, data, file, parameters={"neighbours": "added or removed"})
    refused(ledger, other, data, replace(file, algorithm="lapmech"))
    with pytest.raises(ReleaseError, match=other):
        release(data, "lapmech", {}, ledger=ledger, budget="clinic", like=file)
    effect = EffectPlan(Question("c0", "c1"), 0.0)
    refused(ledger, says("like-without-effect"), data, file, effect=effect)
    with raises_code(ReleaseError, "like-without-effect"):
        check_release(object.__new__(StatedTable), "moment-search", {}, like=file)
    assert kept_release(ledger, data, 1.0, like=file)


def test_releases_that_hide_the_number_of_rows_are_not_pooled(ledger):
    data, hidden = levels_table(), {"parameters": {"neighbours": "added or removed"}}
    _, file = kept_release(ledger, data, 0.5, **hidden)
    refused(ledger, says("like-with-hidden-rows"), data, file, **hidden)


def test_a_file_that_somebody_else_signed_pays_for_nothing(ledger):
    """It says that it cost less, or has no noise: the release is charged and made as any other."""
    data = levels_table()
    made, file = kept_release(ledger, data, 0.5)
    content = {k: v for k, v in made.numbers.items() if k != "signature"}
    promise = {**content["guarantee"], "epsilon": 1.99}
    document = signed({**content, "guarantee": promise}, Ed25519PrivateKey.generate())
    forged = parsed_file(file_text(document).encode())
    one, second = kept_release(ledger, data, 1.0, like=forged)
    assert one.guarantee.epsilon == ledger.charges()[-1].epsilon == 1.0
    assert second.statistics.noise == pytest.approx(2.0, rel=1e-9)
    # And pooled with the true one, it is of other noise alone.
    assert put_together([file, second], sites=False)[1].epsilon == 1.5


@pytest.mark.long
def test_a_table_in_parquet_is_released_like_one_in_memory(ledger, tmp_path):
    data = levels_table()
    frame = pd.DataFrame(
        {c.name: np.array(c.levels)[v] for c, v in zip(data.columns, data.values, strict=True)}
    )
    frame.to_parquet(tmp_path / "t.parquet")
    schema = [ColumnSchema(c.name, c.kind, levels=c.levels, declared=True) for c in data.columns]
    _, file = kept_release(ledger, data, 0.5)
    _, other = kept_release(ledger, open_parquet(tmp_path / "t.parquet", schema), 0.5, like=file)
    assert put_together([file, other], sites=False)[0].n == data.n


PUBLIC = [
    ColumnSchema("x", "continuous", bounds=(-5, 5), declared=True),
    ColumnSchema("y", "continuous", cut_points=(-1.0, 0.0, 1.0), declared=True),
    ColumnSchema("k", "nominal", ("a", "b"), declared=True),
    ColumnSchema("m", "continuous", bounds=(-5, 5), bins=3, missing=True, declared=True),
    ColumnSchema("o", "ordinal", ("low", "high"), missing=True, declared=True),
]


def cells(rows=400):
    drawn = np.random.default_rng(1)
    x, m = drawn.normal(size=(2, rows)).clip(-5, 5)
    m[::9] = np.nan
    k, o = drawn.integers(0, 2, (2, rows))
    o = np.array(["low", "high", None])[np.where(np.arange(rows) % 7, o, 2)]
    return pd.DataFrame(
        {"x": x, "y": x + drawn.normal(size=rows), "k": np.array(list("ab"))[k], "m": m, "o": o}
    )


def test_levels_bounds_and_cut_points_come_from_the_file(ledger, tmp_path):
    data = privcore.read_table(cells(), schema=PUBLIC, rows_per_unit=1)
    made = privcore.release(
        data, budget="clinic", ledger=ledger, epsilon=1, delta=1e-7, keep_numbers=True
    )
    file = parsed_file(made.numbers_path.read_bytes())
    again = privcore.read_table(cells(), schema=public_schema(file), rows_per_unit=1)
    assert domain_of(again.columns) == list(file.columns)
    assert not again.undeclared
    path = tmp_path / "t.csv"
    cells().to_csv(path, index=False)
    options = {"budget": "clinic", "ledger": ledger, "like": made.numbers_path}
    second = privcore.release(cells(), epsilon=2, **options)
    third = privcore.release(data, **options)
    assert [c.delta for c in ledger.charges()] == [1e-7] * 3
    assert [c.epsilon for c in ledger.charges()] == [1.0, 2.0, 1.0]
    paths = [one.numbers_path for one in (made, second, third)]
    assert privcore.search_again(*paths).guarantee.epsilon == pytest.approx(4.0)
    for columns in (({**file.columns[0], "bounds": ["a"]},), ({**file.columns[2], "more": 1},)):
        with pytest.raises(DataError):
            public_schema(replace(file, columns=columns))
    with raises_code(ParameterError, "adds-to-is-no-argument"):
        privcore.release(data, budget="clinic", ledger=ledger, adds_to=made.numbers_path)


def test_of_three_files_in_two_units_the_error_is_one_sentence(ledger):
    data = numbers_table()
    _, first = kept_release(ledger, data, 0.5)
    _, second = kept_release(ledger, data, 0.5, like=first)
    _, other = kept_release(ledger, data, 0.5)
    for order in ([first, second, other], [other, first, second]):
        with raises_code(ReleaseError, "different-units-of-files"):
            put_together(order, sites=False)
