"""A release that protects several rows together, or whether they are there, and says so."""

import json
import re
from dataclasses import replace
from functools import reduce
from operator import getitem

import pandas as pd
import pytest

import privcore
from privcore.algorithms import ALGORITHMS
from privcore.data import Dataset, load_network
from privcore.display.certificate_html import certificate_html
from privcore.effects import EffectPlan, Question, effects
from privcore.errors import CertificateError, DataError, ParameterError
from privcore.releases import release_check
from privcore.releases.certificate import LIMITS, certificate_json
from privcore.releases.release import release
from privcore.releases.release_check import check_release, least_rows
from privcore.releases.verification import verify
from privcore.unit import ADDED, REPLACED, Unit, understood
from tests.examples import few
from tests.messages import raises_code, shows
from tests.releases.steps_of import ledger_in
from tests.releases.test_certificate import resigned
from tests.transcripts import Recorder

PRIVATE = [a.name for a in ALGORITHMS.values() if a.private]
PATIENT = Unit("patient", 5)


@pytest.fixture(scope="module")
def visits():
    return replace(load_network("cancer").sample(1_000, 1), unit=PATIENT)


@pytest.fixture
def ledger(tmp_path):
    return ledger_in(tmp_path, 100.0, 1e-2)


def settings(name, **more):
    return {"epsilon": 1.0, **more, **({"gradients": 10} if name in GRADIENTS else {})}


GRADIENTS = ("noleaks", "curate-score")


@pytest.mark.parametrize(
    ("name", "relation"), few([(name, each) for each in (REPLACED, ADDED) for name in PRIVATE], 5)
)
def test_every_algorithm_is_released_and_verified(visits, ledger, name, relation):
    made = release(
        visits, name, settings(name, neighbours=relation), ledger=ledger, budget="clinic"
    )
    document = json.loads(certificate_json(made.certificate))
    assert understood(document["guarantee"]["neighbours"]) == (PATIENT, relation)
    report = verify(certificate_json(document))
    assert any(shows(sentence, "no-more-than-promised") for sentence in report.verified)
    (charge,) = ledger.charges("clinic")
    assert charge.epsilon == made.guarantee.epsilon == 1.0
    assert charge.delta == made.guarantee.delta
    if relation == REPLACED:
        assert document["domain"]["rows"] == visits.n
        assert charge.rho is not None
    else:
        assert f"({document['domain']['rows']:,})" in document["guarantee"]["public"][0]
        # ρ of the steps would hang on the exact number of rows.
        assert charge.rho == (0.5 if charge.delta == 0 else None)
    assert "patient" in certificate_html(document)


def exact_rows(document, dataset):
    """Whether the exact number of rows stands anywhere in a certificate but in a key or a hash."""
    texts = (str(dataset.n), f"{dataset.n:,}")
    said = re.sub(r"[0-9A-Za-z+/=_-]{20,}", "", certificate_json(document))
    return any(text in said for text in texts)


def test_a_private_number_of_rows_is_nowhere_in_the_certificate(ledger):
    data = load_network("cancer").sample(98_765, 1)
    wide = replace(data, unit=Unit("patient", 50))
    paid = {"ledger": ledger, "budget": "clinic"}
    for name in ("lapmech", "laplace-pc", "privpc-star"):
        made = release(wide, name, settings(name, neighbours=ADDED), **paid)
        assert not exact_rows(made.certificate, data)
    assert exact_rows(release(wide, "lapmech", settings("lapmech"), **paid).certificate, data)


@pytest.mark.parametrize("name", few(PRIVATE, 3))
def test_the_charge_is_the_same_for_neighbours_of_other_sizes(visits, name):
    """Were it not, the ledger's sums would tell how many rows there are."""
    fewer = replace(load_network("cancer").sample(995, 1), unit=PATIENT)
    checks = [check_release(d, name, settings(name, neighbours=ADDED)) for d in (visits, fewer)]
    assert len({(c.epsilon, c.delta, c.rho) for c in checks}) == 1


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("guarantee", "neighbours"), "one record replaced, number of rows public"),
        (("guarantee", "neighbours"), "nobody"),
        (("guarantee", "neighbours"), 5),
        (("guarantee", "neighbours"), "one patient with at most 0 rows replaced"),
        (("algorithm", "parameters", "rows_per_unit"), 3),
        (("algorithm", "parameters", "neighbours"), ADDED),
        (("limits", 0), LIMITS[0]),
    ],
)
def test_other_words_are_refused_though_signed(visits, ledger, path, value):
    made = release(visits, "lapmech", ledger=ledger, budget="clinic")
    changed = json.loads(certificate_json(made.certificate))
    *outer, last = path
    reduce(getitem, outer, changed)[last] = value
    with pytest.raises(CertificateError):
        verify(resigned(changed))


def test_a_private_number_of_rows_needs_the_step_that_buys_it(visits, ledger):
    made = release(visits, "lapmech", {"neighbours": ADDED}, ledger=ledger, budget="clinic")
    changed = json.loads(certificate_json(made.certificate))
    del changed["mechanism"]["planned"][0]
    with raises_code(CertificateError, "rows-not-bought"):
        verify(resigned(changed))
    changed["mechanism"]["planned"] = [{"kind": "pure"}, {}]
    with raises_code(CertificateError, "steps-impossible"):
        verify(resigned(changed))
    pure = {"kind": "pure", "value": 2.0, "count": 1, "delta": 0.0}
    changed["mechanism"]["planned"] = [pure, pure]
    with raises_code(CertificateError, "rows-cost-all"):
        verify(resigned(changed))


@pytest.mark.parametrize("relation", [REPLACED, ADDED])
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_an_effect_is_released_for_a_person(visits, ledger, relation, share):
    plan = EffectPlan(Question("Smoker", "Cancer"), share)
    made = release(
        visits, "moment-search", {"neighbours": relation}, ledger=ledger, budget="clinic",
        effect=plan,
    )  # fmt: skip
    assert made.effects is not None
    assert made.guarantee.epsilon <= 1
    assert made.guarantee.neighbours == visits.unit.sentence(relation)
    assert verify(certificate_json(made.certificate)).verified


@pytest.mark.parametrize("relation", [REPLACED, ADDED])
def test_the_table_of_an_effect_has_noise_for_all_rows_of_a_person(visits, relation):
    """A person moves two counts by 1 for each row; with the table of the graph, that is ε."""
    recorder = Recorder(1)
    asked = {"epsilon": 1.0, "neighbours": relation, "measured": "levels"}
    question = Question("Smoker", "Cancer")
    said = effects(visits, question, asked, share=0.5, noise=recorder)
    tables = [call for call in recorder.calls if call[0] == "laplace" and call[1].size > 1]
    assert len(tables) == 2
    spent = sum(2 * visits.unit.rows / scale for _, _, scale, _ in tables)
    whole = 1 - 0.5 * 0.05 if relation == ADDED else 1.0
    assert whole * 0.999 < spent <= whole
    assert said.result.planned[-1].value == pytest.approx(0.25)
    if said.result.rows is not None:
        assert tables[-1][1].sum() == said.result.rows


def test_the_warning_on_delta_knows_the_noisy_number_alone(visits, ledger, monkeypatch):
    seen = []

    def noted(epsilon, delta, rows):
        seen.append(rows)
        return ()

    monkeypatch.setattr("privcore.releases.release.size_warnings", noted)
    made = release(visits, "svt-pc", {"neighbours": ADDED}, ledger=ledger, budget="clinic")
    assert seen == [made.certificate["domain"]["rows"]]
    assert release_check.size_warnings(1.0, 0.1, 100)


@pytest.mark.parametrize(
    ("name", "settings", "least"),
    [
        ("laplace-pc", {"epsilon": 20.0, "score": "g2-votes"}, True),
        ("noleaks", {"gradients": 5}, True),
        ("moment-search", {}, False),
        ("em-pc", {}, False),
    ],
)
def test_no_refusal_and_no_cost_depends_on_a_private_number_of_rows(name, settings, least):
    """108 rows are too few for the votes, 109 are enough; 2 are too few for least squares."""
    tables = [load_network("cancer").sample(rows, 1) for rows in (2, 3, 54, 55, 108, 109, 20_000)]
    checks = [check_release(each, name, {**settings, "neighbours": ADDED}) for each in tables]
    facts = {replace(check, caveats=()) for check in checks}
    assert len(facts) == 1
    assert bool(facts.pop().warnings) == least


def test_the_least_number_of_rows_is_found():
    for least in (2, 3, 55, 109, 4_096, 5_000):
        tried = []

        def run(rows, least=least, tried=tried):
            tried.append(rows)
            if rows < least:
                raise DataError("too few")

        assert least_rows(run) == least
        assert len(tried) < 30

    def never(rows):
        raise DataError(str(rows))

    with pytest.raises(DataError, match=str(1 << 20)):
        least_rows(never)


def test_the_unit_of_a_data_set_is_not_lost_on_the_way():
    frame = pd.DataFrame({"patient_id": [f"P{k % 60}" for k in range(600)]})
    frame = frame.assign(a=[k % 2 for k in range(600)], b=[k // 2 % 3 for k in range(600)])
    data = privcore.read_table(frame, unit="patient_id", rows_per_unit=5)
    assert isinstance(data, Dataset)
    assert data.unit == PATIENT
    with raises_code(ParameterError, "unit-bound-exceeded", unit="patient", rows=5):
        privcore.discover(data, "lapmech", seed=1, rows_per_unit=2)
