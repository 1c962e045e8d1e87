"""A release is charged first, holds only what is covered, and is refused where nothing would be."""

import multiprocessing
import os
import signal
import sqlite3
from dataclasses import fields, replace

import pytest

from privcore.algorithms import ALGORITHMS
from privcore.data import StructuralExample, load_network
from privcore.effects import EffectPlan, Question
from privcore.errors import (
    BudgetError,
    CertificateError,
    DataError,
    LedgerError,
    ParameterError,
    ReleaseError,
)
from privcore.privacy.mechanisms import NoNoise, SimulatedNoise
from privcore.releases import release as module
from privcore.releases import release_check
from privcore.releases.certificate import certificate_json
from privcore.releases.ledger import store as ledger_store
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import STEPS, Release, release
from privcore.releases.release_check import check_release
from privcore.releases.release_file import file_text, parsed_file
from privcore.releases.signing import keep, stored_certificates, stored_document
from privcore.releases.verification import verify
from tests.examples import few
from tests.messages import raises_code, says, shows

FORK = multiprocessing.get_context("fork")
TABLES = [a.name for a in ALGORITHMS.values() if a.private and a.needs == "tables"]
MOMENTS = [a.name for a in ALGORITHMS.values() if a.private and a.needs != "tables"]


@pytest.fixture(scope="module")
def asia():
    return load_network("asia").sample(1_000, 1)


@pytest.mark.unseeded
@pytest.mark.parametrize("name", few(TABLES + MOMENTS, 4))
def test_every_private_algorithm_can_be_released(asia, ledger, name):
    given = {"epsilon": 1.0} | ({"gradients": 10} if name in ("noleaks", "curate-score") else {})
    made = release(asia, name, given, ledger=ledger, budget="clinic")
    assert made.graph.nodes == asia.names
    assert made.guarantee.holds
    (charge,) = ledger.charges("clinic")
    assert charge.state == "released"
    assert charge.certificate == made.certificate["id"]
    assert (charge.epsilon, charge.delta) == (made.guarantee.epsilon, made.guarantee.delta)
    assert charge.rho is not None


def test_only_what_is_covered_is_kept():
    assert {field.name for field in fields(Release)} == {
        "graph",
        "guarantee",
        "note",
        "warnings",
        "certificate",
        "weights",
        "weight_threshold",
        "convergence",
        "findings",
        "settled",
        "repeats",
        "effects",
        "numbers",
        "numbers_path",
        "path",
    }


def test_a_copy_of_the_certificate_is_kept_beside_the_ledger(asia, ledger):
    made = release(asia, "lapmech", ledger=ledger, budget="clinic")
    other = release(asia, "lapmech", {"epsilon": 0.5}, ledger=ledger, budget="clinic")
    folder = ledger.certificates
    assert made.path is not None
    assert made.path.parent == folder
    assert made.path.read_text("utf-8") == certificate_json(made.certificate)
    assert verify(made.path.read_text("utf-8")).verified
    # Nothing of the release is in the name, and no part of a file is left.
    assert made.path.name == f"certificate-{made.certificate['id']}.json"
    assert {p.name for p in folder.iterdir()} == {made.path.name, other.path.name}
    kept = stored_certificates(ledger.certificates)
    assert {(k.path, k.budget, k.algorithm) for k in kept} == {
        (made.path, "clinic", "lapmech"),
        (other.path, "clinic", "lapmech"),
    }
    assert stored_document(made.path) == dict(made.certificate)


@pytest.mark.parametrize("damage", ["[]", "{", '{"time": 1}', "\xff"])
def test_other_files_are_not_listed_as_certificates(asia, ledger, damage):
    made = release(asia, "lapmech", ledger=ledger, budget="clinic")
    folder = made.path.parent
    (folder / "certificate-00.json").write_text(damage, "latin-1")
    (folder / "notes.txt").write_text("mine")
    assert [kept.path for kept in stored_certificates(ledger.certificates)] == [made.path]


def test_certificates_without_a_folder_and_with_one_that_is_none(tmp_path):
    assert stored_certificates(tmp_path / "certificates") == []
    (tmp_path / "certificates").write_text("")
    with pytest.raises(CertificateError, match=says("cannot-be-read")):
        stored_certificates(tmp_path / "certificates")


def test_a_copy_that_cannot_be_written_is_a_warning_and_no_lost_release(asia, ledger):
    (ledger.certificates).write_text("in the way")
    made = release(asia, "lapmech", ledger=ledger, budget="clinic")
    assert made.path is None
    assert made.graph.nodes == asia.names
    assert [w for w in made.warnings if shows(w, "save-it-yourself")]
    assert ledger.charges()[0].state == "released"


def test_a_release_that_no_disk_records_is_charged_and_handed_out(asia, ledger, monkeypatch):
    """Neither the copy nor the end can be written: what is known is that it may be out."""
    (ledger.certificates).write_text("in the way")
    real = sqlite3.connect

    def full(step):
        def connect(*arguments, **options):
            connection = real(*arguments, **options)
            connection.execute("PRAGMA query_only = ON")
            return connection

        if step == "certified":
            monkeypatch.setattr(ledger_store.sqlite3, "connect", connect)

    asked = {"ledger": ledger, "budget": "clinic", "keep_numbers": True, "checkpoint": full}
    made = release(asia, "moment-search", {"epsilon": 0.5}, **asked)
    monkeypatch.undo()
    assert verify(certificate_json(made.certificate)).verified
    assert parsed_file(file_text(made.numbers).encode()).guarantee == made.guarantee
    assert (made.path, made.numbers_path) == (None, None)
    assert sum(shows(warning, "save-it-yourself") for warning in made.warnings) == 1
    assert sum(shows(warning, "save-numbers-yourself") for warning in made.warnings) == 1
    assert sum(shows(warning, "not-recorded-as-made") for warning in made.warnings) == 1
    (charge,) = ledger.charges()
    assert (charge.state, charge.epsilon) == ("charged", 0.5)
    assert shows(charge.state_words, "maybe-handed-out")
    assert ledger.spending("clinic").epsilon == 0.5
    ledger.finish(charge.sequence, "released")
    assert ledger.charges()[0].state_words == "released"


def test_a_half_written_copy_is_not_left(asia, ledger, monkeypatch):
    def full(file):
        raise OSError("no space left")

    monkeypatch.setattr("privcore.files.os.fsync", full)
    with pytest.raises(OSError, match=says("no-space-left")):
        keep(ledger.certificates, {"id": "ab"})
    assert list((ledger.certificates).iterdir()) == []


def test_numbers_are_released_with_their_weights(ledger):
    data = StructuralExample("linear-gaussian", nodes=5).sample(3_000, 1)
    made = release(data, "moment-notears", ledger=ledger, budget="clinic")
    assert made.certificate["released"]["weights"] == made.weights.tolist()
    assert made.weight_threshold == made.certificate["released"]["weight_threshold"]


def test_two_releases_differ_and_the_third_is_refused(asia, ledger):
    """Nothing repeats secure noise; an overspend is refused before anything runs."""
    graphs = [
        release(asia, "lapmech", {"epsilon": 1.0}, ledger=ledger, budget="clinic").certificate
        for _ in range(2)
    ]
    assert graphs[0]["id"] != graphs[1]["id"]
    with pytest.raises(BudgetError, match=says("not-covered", left=0)):
        release(asia, "lapmech", {"epsilon": 0.01}, ledger=ledger, budget="clinic")
    assert len(ledger.charges()) == 2


@pytest.mark.parametrize(
    ("name", "given", "error", "words"),
    [
        ("pc", {}, ParameterError, says("release-of-no-privacy")),
        ("notears", {}, ParameterError, says("release-of-no-privacy")),
        ("priv-pc", {"calibration": "published"}, ParameterError, says("proven-calibration-alone")),
        ("priv-pc", {"epsilon": 0}, ParameterError, "epsilon"),
        ("priv-pc", {"score": "g2-median"}, ParameterError, "score"),
        ("sg-pc", {"delta": 0}, ParameterError, "delta"),
        ("laplace-pc", {"score": "g2-votes", "blocks": 999}, ParameterError, "blocks"),
        ("noleaks", {"epsilon": 1e-6}, ParameterError, says("epsilon-too-small")),
        ("nothing", {}, ParameterError, says("no-such-algorithm")),
    ],
)
def test_what_cannot_be_released_costs_nothing(asia, ledger, name, given, error, words):
    with pytest.raises(error, match=words):
        release(asia, name, given, ledger=ledger, budget="clinic")
    assert ledger.charges() == []


def test_other_refusals_cost_nothing(asia, ledger):
    with raises_code(LedgerError, "no-such-budget"):
        release(asia, "lapmech", ledger=ledger, budget="nobody")
    wide = load_network("insurance").sample(100, 1)
    with raises_code(DataError, "full-table-too-large"):
        release(wide, "lapmech", ledger=ledger, budget="clinic")
    assert ledger.charges() == []


def test_caveats_are_refused_unless_accepted_word_by_word(asia, ledger):
    read = replace(asia, columns=tuple(replace(c, declared=False) for c in asia.columns))
    # What was read from the rows cannot be accepted at all.
    with pytest.raises(ReleaseError, match=says("levels-not-confirmed")):
        release(read, "lapmech", ledger=ledger, budget="clinic", accepted=read.caveats)
    noted = replace(asia, notes=("which rows are complete is not covered",))
    for accepted in ((), ["yes"]):
        with pytest.raises(ReleaseError, match=says("complete-rows-not-covered")):
            release(noted, "lapmech", ledger=ledger, budget="clinic", accepted=accepted)
    assert ledger.charges() == []
    made = release(noted, "lapmech", ledger=ledger, budget="clinic", accepted=noted.caveats)
    assert made.certificate["accepted_caveats"] == list(noted.caveats)
    assert made.certificate["guarantee"]["caveats"] == list(noted.caveats)


def test_a_large_delta_is_warned_of(asia, ledger):
    ledger.set_total("clinic", 2.0, 0.5)
    check = check_release(asia, "priv-pc", {"delta": 0.01})
    assert shows(check.warnings[0], "delta-not-below")
    assert check_release(asia, "priv-pc", {"delta": 1e-6}).warnings == ()


def test_what_is_charged_fits_the_mechanism(asia):
    assert check_release(asia, "lapmech", {}).delta == 0.0
    laplace = check_release(asia, "privpc-star", {"mechanism": "laplace"})
    assert (laplace.delta, laplace.rho) == (0.0, 0.5)
    assert check_release(asia, "privpc-star", {}).delta == 1e-6
    assert check_release(asia, "laplace-pc", {"score": "g2-median"}).rho is None
    assert check_release(asia, "curate", {"rate": 0.5}).rho is None
    assert check_release(asia, "curate", {"rate": 0.5, "delta": 0.0}).rho == 0.5


def test_another_preparation_of_a_file_is_charged_to_the_same_budget(asia, ledger):
    ledger.set_total("second", 2.0, 1e-5)
    release(asia, "lapmech", ledger=ledger, budget="clinic", content=b"the file")
    fewer = replace(asia, columns=asia.columns[:4], values=asia.values[:4], true_edges=None)
    with raises_code(BudgetError, "charged-to-another", name="clinic"):
        release(fewer, "lapmech", ledger=ledger, budget="second", content=b"the file")
    with raises_code(BudgetError, "charged-to-another", name="clinic"):
        release(asia, "lapmech", ledger=ledger, budget="second")
    release(fewer, "lapmech", ledger=ledger, budget="clinic", content=b"the file")


def test_a_run_that_fails_stays_charged_and_says_nothing_of_the_data(asia, ledger, monkeypatch):
    real, secret = module.discover, "a sentence about the rows"

    def failing(data, algorithm, parameters, **options):
        if options.get("noise") is not None:
            raise DataError(secret)
        return real(data, algorithm, parameters, **options)

    monkeypatch.setattr(module, "discover", failing)
    with pytest.raises(ReleaseError, match=says("charge-stays")) as caught:
        release(asia, "lapmech", ledger=ledger, budget="clinic")
    assert secret not in str(caught.value)
    assert caught.value.__suppress_context__
    (charge,) = ledger.charges()
    assert (charge.state, charge.epsilon) == ("failed", 1.0)
    assert ledger.spending("clinic").left_epsilon == 1.0


@pytest.mark.parametrize(
    "change",
    [
        lambda r: replace(r, noise="simulated"),
        lambda r: replace(r, guarantee=replace(r.guarantee, epsilon=1.1)),
        lambda r: replace(r, guarantee=replace(r.guarantee, delta=0.1)),
        lambda r: replace(r, guarantee=replace(r.guarantee, calibration="published")),
        lambda r: replace(r, guarantee=replace(r.guarantee, caveats=("but",))),
        lambda r: replace(r, planned=()),
    ],
)
def test_a_run_that_promises_less_than_was_charged_is_not_shown(asia, ledger, monkeypatch, change):
    real = module.discover
    monkeypatch.setattr(module, "discover", lambda *a, **o: change(real(*a, **o)))
    with raises_code(ReleaseError, "charge-stays"):
        release(asia, "lapmech", ledger=ledger, budget="clinic")
    assert ledger.charges()[0].state == "failed"


def test_noise_comes_from_nowhere_but_the_secure_sampler(asia, ledger, monkeypatch):
    """Nothing of the rehearsal's simulated noise reaches the release."""
    seen = []
    real = module.discover

    def watching(data, algorithm, parameters, **options):
        seen.append((data is asia, options))
        return real(data, algorithm, parameters, **options)

    for place in (release_check, module):
        monkeypatch.setattr(place, "discover", watching)
    release(asia, "priv-pc", ledger=ledger, budget="clinic")
    on_data = [options for own, options in seen if own]
    assert len(seen) == 2
    assert len(on_data) == 1
    assert on_data[0]["noise"].kind == "secure"
    assert on_data[0]["keep_trace"] is False
    assert "seed" not in on_data[0]
    monkeypatch.setattr(module, "SecureNoise", lambda: SimulatedNoise(1))
    with pytest.raises(ReleaseError):
        release(asia, "priv-pc", ledger=ledger, budget="clinic")


@pytest.mark.parametrize("algorithm", ["priv-pc", "moment-search"])
def test_what_has_no_noise_is_not_released(asia, ledger, monkeypatch, algorithm):
    monkeypatch.setattr(module, "SecureNoise", NoNoise)
    with pytest.raises(ReleaseError):
        release(asia, algorithm, ledger=ledger, budget="clinic")


def killed_at(step, dataset, path, shown):
    def die(reached):
        if reached == step:
            os.kill(os.getpid(), signal.SIGKILL)

    release(dataset, "lapmech", ledger=Ledger(path), budget="clinic", checkpoint=die)
    shown.set()


@pytest.mark.parametrize("step", STEPS)
def test_killed_at_every_step_the_ledger_is_right(asia, ledger, step):
    """Charged from the moment the charge is written, and never shown without it."""
    shown = FORK.Event()
    process = FORK.Process(target=killed_at, args=(step, asia, ledger.path, shown))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not shown.is_set()
    kept = ledger.charges("clinic")
    expected = [] if step in ("checked", "charging") else [1.0]
    assert [charge.epsilon for charge in kept] == expected
    assert all(c.state == ("released" if step == "released" else "charged") for c in kept)
    assert ledger.spending("clinic").left_epsilon == 2.0 - sum(expected)
    again = release(asia, "lapmech", ledger=ledger, budget="clinic")
    assert again.certificate["ledger"]["spent_epsilon"] == 1.0 + sum(expected)


@pytest.mark.parametrize("step", ["checked", "charged", "computed", "certified"])
def test_interrupted_by_hand_the_ledger_is_right(asia, ledger, step):
    def stop(reached):
        if reached == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(asia, "lapmech", ledger=ledger, budget="clinic", checkpoint=stop)
    states = {"checked": [], "computed": ["failed"]}.get(step, ["charged"])
    assert [charge.state for charge in ledger.charges()] == states


def test_a_ledger_that_fails_after_the_charge_does_not_lose_the_release(asia, ledger, monkeypatch):
    def full(*arguments):
        raise LedgerError("The disk is full.")

    monkeypatch.setattr(ledger, "finish", full)
    made = release(asia, "lapmech", ledger=ledger, budget="clinic")
    assert shows(made.warnings[-1], "disk-is-full")
    assert ledger.charges()[0].state == "charged"


@pytest.mark.long
def test_an_effect_is_released_as_the_certificate_has_it(ledger):
    plan = EffectPlan(Question("Smoker", "Cancer"), 0.5)
    data = load_network("cancer").sample(1_000, 1)
    made = release(data, "moment-search", ledger=ledger, budget="clinic", effect=plan)
    # What is not covered, such as how long the run took, is not kept.
    assert made.effects == made.certificate["released"]["effects"]
    assert made.guarantee.epsilon == made.certificate["guarantee"]["epsilon"] == 1.0
    assert verify(certificate_json(made.certificate)).verified
