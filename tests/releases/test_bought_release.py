"""A release whose domain is bought: one charge for both, and a certificate that says its cost."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privcore.display.certificate_html import certificate_html
from privcore.errors import BudgetError, CertificateError, DataError, ReleaseError
from privcore.intake import RawTable
from privcore.intake.bought_domain import StatedTable
from privcore.intake.schema import ColumnSchema
from privcore.releases import release as module
from privcore.releases.certificate import certificate_json
from privcore.releases.ledger.chain import load_key
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.private_domain import Purchase
from privcore.releases.release import release
from privcore.releases.release_check import check_release
from privcore.releases.signing import signed
from privcore.releases.verification import verify
from tests.messages import raises_code, says, shows
from tests.transcripts import Recorder

N = 3_000
SCHEMA = (
    ColumnSchema("smoke", "nominal", declared=True),
    ColumnSchema("ill", "nominal", declared=True),
    ColumnSchema("age", "continuous", bins=3, declared=True),
)
GIVEN = {"epsilon": 1.0, "delta": 1e-6}


def table(columns=None, schema=SCHEMA, share=0.3, delta=None):
    rng = np.random.default_rng(1)
    smoke = rng.random(N) < 0.4
    cells = {
        "smoke": np.where(smoke, "yes", "no"),
        "ill": np.where(rng.random(N) < 0.2 + 0.5 * smoke, "ill", "well"),
        "age": rng.normal(50, 15, N).round(1).astype(str),
    } | (columns or {})
    frame = pd.DataFrame({name: pd.Series(list(v), dtype=object) for name, v in cells.items()})
    return StatedTable.state(
        RawTable(frame, "", ""), schema, name="clinic", purchase=Purchase(share, delta)
    )


def test_one_charge_pays_for_both_and_the_certificate_says_so(ledger):
    made = release(table(), "moment-search", GIVEN, ledger=ledger, budget="clinic")
    (charge,) = ledger.charges("clinic")
    assert (charge.epsilon, charge.delta, charge.rho) == (1.0, 1e-6, None)
    assert charge.state == "released"
    assert made.guarantee.holds
    document = made.certificate
    bought = document["domain"]["bought"]
    assert (bought["epsilon"], bought["delta"]) == (0.3, pytest.approx(3e-7))
    assert bought["columns"] == ["smoke", "ill", "age"]
    levels = [column["levels"] for column in document["domain"]["columns"]]
    assert levels[:2] == [["no", "yes", "(other)"], ["ill", "well", "(other)"]]
    assert document["algorithm"]["parameters"]["epsilon"] == 0.7
    text = " ".join(verify(certificate_json(document)).verified)
    assert shows(text, "steps-of-domain-cost", epsilon="0.3")
    assert shows(text, "steps-of-run-cost", epsilon="0.7")
    assert shows(certificate_html(document), "purchase")


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "given", "delta"),
    [
        ("lapmech", {}, 1e-6),
        ("laplace-pc", {}, None),
        ("sg-pc", {}, None),
        ("em-pc", {"delta": 0.0}, 1e-6),
        ("privpc-star", {}, None),
    ],
)
def test_other_algorithms_on_a_bought_domain(ledger, name, given, delta):
    made = release(table(delta=delta), name, given, ledger=ledger, budget="clinic")
    assert (made.guarantee.epsilon, made.guarantee.delta) == (1.0, 1e-6)
    assert shows(
        " ".join(verify(certificate_json(made.certificate)).verified), "steps-of-domain-cost"
    )


@pytest.mark.long
def test_columns_of_numbers_alone(ledger):
    rng = np.random.default_rng(2)
    columns = {name: rng.normal(3, 2, N).astype(str) for name in ("smoke", "ill", "age")}
    schema = [ColumnSchema(name, "continuous", declared=True) for name in columns]
    made = release(table(columns, schema), "privpc-star", GIVEN, ledger=ledger, budget="clinic")
    assert all(column["bounds"] for column in made.certificate["domain"]["columns"])


def test_kinds_have_to_be_confirmed(ledger):
    schema = (replace(SCHEMA[0], declared=False), *SCHEMA[1:])
    with raises_code(ReleaseError, "kind-not-confirmed"):
        release(table(schema=schema), "moment-search", GIVEN, ledger=ledger, budget="clinic")
    assert ledger.charges("clinic") == []


def test_what_the_largest_domain_makes_impossible_is_refused_for_nothing(ledger):
    names = [f"c{k}" for k in range(8)]
    columns = {name: ["a", "b"] * (N // 2) for name in names}
    schema = [ColumnSchema(name, "nominal", declared=True) for name in names]
    with raises_code(DataError, "refused-with-all-levels"):
        release(table(columns, schema, delta=1e-6), "lapmech", ledger=ledger, budget="clinic")
    assert ledger.charges("clinic") == []


def test_the_same_table_stays_with_its_budget(ledger):
    release(table(delta=1e-6), "lapmech", {}, ledger=ledger, budget="clinic")
    ledger.set_total("other", 5.0, 1e-3)
    with raises_code(BudgetError, "charged-to-another", name="clinic"):
        release(table(share=0.5, delta=1e-6), "lapmech", {}, ledger=ledger, budget="other")


def test_what_is_charged_and_refused_is_the_same_on_neighbours():
    """A value that one row has, text among the categories, a number far away: no check sees it."""
    one = table()
    cells = one.cells.copy()
    cells.loc[0] = ["only here", "(other)", "1e300"]
    other = replace(one, cells=cells)
    assert check_release(one, "laplace-pc", GIVEN) == check_release(other, "laplace-pc", GIVEN)


UNIQUE = {
    "smoke": [f"u{k}" for k in range(N)],
    "ill": ["(other)", "(missing)"] * (N // 2),
    "age": [f"{k}e280" for k in range(N)],
}
ALIKE = {name: ["0"] * N for name in UNIQUE}
TINY = {name: ["1e-300", "0"] * (N // 2) for name in UNIQUE}
UNCUT = tuple(ColumnSchema(name, "continuous", declared=True) for name in UNIQUE)


@pytest.mark.parametrize(
    ("columns", "schema", "name"),
    [
        (UNIQUE, SCHEMA, "moment-search"),
        (UNIQUE, SCHEMA, "em-pc"),
        (ALIKE, SCHEMA, "laplace-pc"),
        pytest.param(ALIKE, UNCUT, "privpc-star", marks=pytest.mark.long),
        pytest.param(TINY, UNCUT, "moment-search", marks=pytest.mark.long),
        pytest.param(TINY, (*SCHEMA[:2], UNCUT[2]), "moment-search", marks=pytest.mark.long),
    ],
)
def test_after_the_charge_no_rows_make_a_release_fail(ledger, columns, schema, name):
    release(table(columns, schema), name, GIVEN, ledger=ledger, budget="clinic")
    assert [charge.state for charge in ledger.charges("clinic")] == ["released"]


def test_the_run_is_paid_from_what_the_domain_leaves(ledger, monkeypatch):
    """The noise of both, as it is drawn, adds up to the steps that the certificate lists."""
    recorder = Recorder(1)
    recorder.kind = "secure"
    monkeypatch.setattr(module, "SecureNoise", lambda: recorder)
    made = release(table(delta=1e-6), "lapmech", {}, ledger=ledger, budget="clinic")
    kinds = [call[0] for call in recorder.calls]
    assert kinds == ["gaussian", "gaussian", "gumbel", "gumbel", "laplace"]
    bought = made.certificate["domain"]["bought"]["planned"]
    histogram, selection = bought
    assert recorder.calls[0][2] == pytest.approx(histogram["value"] ** -0.5)
    # Scores are in thirds of a row, so the noise of 2/ε is three times as large.
    assert recorder.calls[2][2] == pytest.approx(3 * 2 / selection["value"])
    assert (histogram["count"], selection["count"]) == (2, 2)
    assert recorder.calls[4][2] == pytest.approx(2 / 0.7)


@pytest.fixture(scope="module")
def bought(tmp_path_factory):
    """A release, and its ledger."""
    ledger = Ledger(tmp_path_factory.mktemp("bought") / "ledger.sqlite")
    ledger.set_total("clinic", 2.0, 1e-5)
    return release(table(delta=1e-6), "lapmech", {}, ledger=ledger, budget="clinic"), ledger


def forged(made, ledger, change):
    document = {k: v for k, v in json.loads(json.dumps(made.certificate)).items()}
    document.pop("signature")
    change(document["domain"]["bought"])
    return certificate_json(signed(document, load_key(ledger.path.parent)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda bought: bought.update(epsilon=0.1), says("domain-steps-differ")),
        (lambda bought: bought.update(epsilon=1.0), says("domain-costs-more")),
        (lambda bought: bought.update(delta=1e-9), says("domain-steps-differ")),
        (lambda bought: bought.update(delta=1e-3), says("domain-costs-more")),
        (lambda bought: bought.update(delta=0), says("no-finite-guarantee")),
        (lambda bought: bought["planned"][0].update(value=1.0), says("domain-steps-differ")),
        (lambda bought: bought["planned"][0].update(kind="other"), says("steps-impossible")),
        (lambda bought: bought.pop("columns"), says("domain-incomplete")),
    ],
)
def test_a_purchase_that_costs_more_than_it_says_is_not_verified(bought, change, words):
    with pytest.raises(CertificateError, match=words):
        verify(forged(*bought, change))
