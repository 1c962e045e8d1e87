"""The release file: what it holds, that nobody changes it, and what several say together."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from privcore.algorithms.moment_search.released import released_as_dict
from privcore.data.domain import domain_of
from privcore.errors import CertificateError, DataError, ReleaseError
from privcore.faces.api.releases import search_again
from privcore.releases import release_file as module
from privcore.releases.ledger.chain import load_key
from privcore.releases.release import release
from privcore.releases.release_file import (
    file_text,
    parsed_file,
    put_together,
    read_release_file,
    search_files,
)
from privcore.releases.signing import fingerprint, public_bytes, signed, stored_certificates
from privcore.releases.verification import verify
from tests.messages import raises_code, says, shows
from tests.releases.steps_of import FORMS, kept_release, ledger_in, levels_table
from tests.releases.test_certificate import leaves, other


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A ledger, its table, a release and its file, of counts."""
    ledger = ledger_in(tmp_path_factory.mktemp("released"))
    data = levels_table()
    return ledger, data, *kept_release(ledger, data)


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_is_read_back_and_says_what_was_released(tmp_path, form):
    build, parameters = FORMS[form]
    ledger, data = ledger_in(tmp_path), build()
    made, file = kept_release(ledger, data, parameters=parameters)
    (charge,) = ledger.charges()
    assert file.id == made.certificate["id"] == charge.certificate
    assert file.guarantee == made.guarantee
    assert list(file.columns) == domain_of(data.columns)
    assert file.names == data.names
    assert file.parameters == made.certificate["algorithm"]["parameters"]
    assert [event.as_dict() for event in file.planned] == made.certificate["mechanism"]["planned"]
    assert (file.budget, file.time) == ("clinic", charge.time)
    assert file.signer == fingerprint(public_bytes(load_key(ledger.path.parent)))
    # A copy lies beside the certificate, and is not taken for one.
    path = ledger.certificates / f"release-{file.id}.json"
    again = read_release_file(path)
    assert released_as_dict(again.statistics) == released_as_dict(file.statistics)
    assert [kept.path for kept in stored_certificates(ledger.certificates)] == [made.path]
    # Searched again it is the release.
    searched = search_files([file])
    assert searched.graph == made.graph
    assert dict(searched.findings) == dict(made.findings)
    assert searched.guarantee == made.guarantee


def test_without_the_wish_no_numbers_are_kept(tmp_path):
    ledger = ledger_in(tmp_path)
    made = release(levels_table(), "moment-search", {}, ledger=ledger, budget="clinic")
    assert made.numbers is None
    assert [p.name for p in ledger.certificates.iterdir()] == [made.path.name]


def test_an_algorithm_that_keeps_nothing_is_refused_before_it_is_charged(tmp_path):
    ledger = ledger_in(tmp_path)
    with raises_code(ReleaseError, "nothing-to-search-again"):
        release(levels_table(), "lapmech", {}, ledger=ledger, budget="clinic", keep_numbers=True)
    assert ledger.charges() == []


def changed(document, path):
    copied = json.loads(json.dumps(document))
    inside = copied
    for name in path[:-1]:
        inside = inside[name]
    inside[path[-1]] = other(inside[path[-1]])
    return copied


def test_whatever_is_changed_is_seen(released):
    """Every number and text of the file, one after the other, and every field left out."""
    document = released[2].numbers
    every = [p for p in leaves(document) if p != ("schema",)]
    assert len(every) > 50
    for path in every:
        with pytest.raises(CertificateError):
            parsed_file(file_text(changed(document, path)).encode())
    for name in document:
        left = {key: value for key, value in document.items() if key != name}
        with pytest.raises(CertificateError):
            parsed_file(file_text(left).encode())
    with pytest.raises(CertificateError, match=says("release-file-incomplete")):
        parsed_file(file_text({**document, "more": 1}).encode())


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"{", b"[]", b"null", b"[" * 5_000, b"\xff", b"1e999", b"NaN"),
        b'{"schema": "causalveil-release/1"}',
        *(b'{"schema": "causalveil-release/1", "id": %b}' % n for n in (b"NaN", b"Infinity")),
        b'{"schema": "causalveil-release/1", "id": 1e400}',
        b'{"schema": "causalveil-certificate/2"}',
    ],
)
def test_other_files_are_none(content):
    with pytest.raises(CertificateError):
        parsed_file(content)


def forged(document, **fields):
    """The document with other fields, signed by somebody else."""
    content = {k: v for k, v in document.items() if k != "signature"}
    return signed({**content, **fields}, Ed25519PrivateKey.generate())


BAD = {
    "an infinite number": lambda d: {"numbers": {**d["numbers"], "scale": "inf"}},
    "no ε": lambda d: {"guarantee": {**d["guarantee"], "epsilon": None}},
    "a negative ε": lambda d: {"guarantee": {**d["guarantee"], "epsilon": -1.0}},
    "ε of 0": lambda d: {"guarantee": {**d["guarantee"], "epsilon": 0}},
    "δ of 1": lambda d: {"guarantee": {**d["guarantee"], "delta": 1}},
    "nothing proven": lambda d: {"guarantee": {**d["guarantee"], "calibration": "published"}},
    "one column less": lambda d: {"columns": d["columns"][:-1]},
    "a level more": lambda d: {
        "columns": [{**d["columns"][0], "levels": ["a", "b", "c"]}, *d["columns"][1:]]
    },
    "a name twice": lambda d: {"columns": [d["columns"][0], *d["columns"][:-1]]},
    "no columns": lambda d: {"columns": None},
    "columns of text": lambda d: {"columns": "abc"},
    "no steps": lambda d: {"planned": [{"kind": "magic"}]},
    "parameters of text": lambda d: {"parameters": "abc"},
    "ε in quotes": lambda d: {"guarantee": {**d["guarantee"], "epsilon": "1"}},
    "levels of text": lambda d: {
        "columns": [{**column, "levels": "ab"} for column in d["columns"]]
    },
    "half a step": lambda d: {"planned": [{**d["planned"][0], "count": 1.5}]},
    "no steps at all": lambda d: {"planned": []},
    "counts in quotes": lambda d: with_counts(d, lambda count: str(count)),
    "counts whose sum overflows": lambda d: with_counts(d, lambda count: 1e308),
    "counts that no rows and no noise give": lambda d: with_counts(d, lambda count: 1e6),
    "more noise than there are numbers": lambda d: {"numbers": {**d["numbers"], "scale": 1e20}},
}


def with_counts(document, changed):
    numbers = document["numbers"]
    return {"numbers": {**numbers, "counts": [changed(count) for count in numbers["counts"]]}}


@pytest.mark.parametrize("name", BAD)
def test_a_signed_file_that_is_not_whole_is_refused(released, name):
    """Anyone can sign anything."""
    document = released[2].numbers
    assert parsed_file(file_text(forged(document)).encode())
    with pytest.raises(CertificateError):
        parsed_file(file_text(forged(document, **BAD[name](document))).encode())


def test_steps_that_cost_more_than_the_guarantee_are_refused(released):
    """Whoever signs it, the numbers of these steps are not covered by less."""
    document = released[2].numbers
    for share, fine in ((2, True), (1, True), (1 - 1e-9, True), (0.999, False), (0.1, False)):
        epsilon = share * document["guarantee"]["epsilon"]
        content = forged(document, guarantee={**document["guarantee"], "epsilon": epsilon})
        if fine:
            assert parsed_file(file_text(content).encode()).guarantee.epsilon == epsilon
        else:
            with pytest.raises(CertificateError, match=says("steps-cost-more", epsilon="0.")):
                parsed_file(file_text(content).encode())


def test_a_guarantee_for_others_than_the_run_protected_is_refused(released):
    document = released[2].numbers
    content = forged(document, parameters={**document["parameters"], "rows_per_unit": 3})
    with raises_code(CertificateError, "units-differ"):
        parsed_file(file_text(content).encode())


def test_only_the_expected_signers_are_believed(released, tmp_path):
    _, _, made, file = released
    path = tmp_path / "release.json"
    path.write_text(file_text(made.numbers))
    other = forged(made.numbers)["signature"]["fingerprint"]
    for keys in ((), (file.signer,), (f" {file.signer.upper()} ",), (other, file.signer)):
        assert read_release_file(path, keys).signer == file.signer
    assert search_again(path, keys=[file.signer]).guarantee == file.guarantee
    for keys in ((other,), ("",)):
        with raises_code(CertificateError, "signed-by-another"):
            search_again(path, keys=keys)


def test_a_release_file_is_verified_as_a_certificate_is(released):
    _, data, made, file = released
    content = file_text(made.numbers).encode()
    found, known = verify(content), verify(content, file.signer)
    assert found.numbers.id == known.numbers.id == file.id
    assert found.fingerprint == file.signer
    assert [name for name, _ in found.domain] == list(data.names)
    assert shows(found.verified, "planned-steps-cost", epsilon=1)
    assert len(found.limits) == len(known.limits) + 1
    assert len(found.verified) == len(known.verified) - 1
    with raises_code(CertificateError, "signed-by-another"):
        verify(content, "00" * 32)
    for name in BAD:
        with pytest.raises(CertificateError):
            verify(file_text(forged(made.numbers, **BAD[name](made.numbers))))


def test_a_file_that_cannot_be_read_or_is_too_large_is_refused(tmp_path, monkeypatch):
    for path in (tmp_path, tmp_path / "none", "a\0b"):
        with raises_code(DataError, "is-no-readable-file"):
            read_release_file(path)
    monkeypatch.setattr(module, "LARGEST", 10)
    (tmp_path / "big").write_bytes(b"x" * 11)
    with raises_code(CertificateError, "release-file-too-large"):
        read_release_file(tmp_path / "big")


decimal = st.decimals("0.001", 1000, places=3).map(float)


def at_site(folder, seed, epsilon=1.0, **more):
    folder.mkdir()
    return kept_release(ledger_in(folder), levels_table(seed=seed), epsilon, **more)[1]


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sites")
    return [at_site(folder / f"s{k}", k, epsilon) for k, epsilon in ((1, 1.0), (2, 2.0))]


def test_sites_add_up_and_promise_the_largest(sites):
    kept, promise = put_together(sites, sites=True)
    counts = [kept.measurements[0].values, *(s.statistics.measurements[0].values for s in sites)]
    assert (counts[0] == counts[1] + counts[2]).all()
    assert kept.n == 600
    assert (promise.epsilon, promise.delta) == (2.0, 0.0)
    assert shows(promise.public[-1], "one-site-alone")
    result = search_files(sites, sites=True)
    assert result.guarantee == promise


def test_the_same_rows_promise_the_sum(released):
    ledger, data, _, file = released
    _, second = kept_release(ledger, data, 0.7)
    kept, promise = put_together([file, second], sites=False)
    assert kept.n == data.n
    assert promise.epsilon >= 1.7
    assert promise.epsilon == pytest.approx(1.7, rel=1e-12)
    with raises_code(ReleaseError, "same-rows-no-sites"):
        put_together([file, second], sites=True)


@given(st.lists(decimal, min_size=2, max_size=6))
@settings(max_examples=30)
def test_what_is_promised_of_the_same_rows_is_no_less_than_the_sum(released, epsilons):
    file = released[3]
    files = [
        replace(file, id=str(k), guarantee=replace(file.guarantee, epsilon=e, delta=e * 1e-9))
        for k, e in enumerate(epsilons)
    ]
    promise = put_together(files, sites=False)[1]
    assert Fraction(promise.epsilon) >= sum(map(Fraction, epsilons))
    assert Fraction(promise.delta) >= sum(Fraction(f.guarantee.delta) for f in files)


def test_what_does_not_go_together_is_refused(released, sites):
    file = released[3]
    with raises_code(ReleaseError, "file-twice"):
        put_together([file, file], sites=False)
    columns = ({**file.columns[0], "name": "other"}, *file.columns[1:])
    for wrong in (replace(sites[0], columns=columns), replace(sites[0], algorithm="lapmech")):
        with raises_code(ReleaseError, "files-of-other-columns"):
            put_together([file, wrong], sites=True)
    short = replace(sites[0], statistics=replace(sites[0].statistics, n=9))
    with raises_code(ReleaseError, "files-of-other-rows"):
        put_together([file, short], sites=False)


def test_a_promise_to_a_person_does_not_cover_one_of_a_row(tmp_path, sites):
    """Who has three rows at the second site is protected less there."""
    three = at_site(tmp_path / "three", 5, parameters={"rows_per_unit": 3})
    for order in ([sites[0], three], [three, sites[0]]):
        for different in (True, False):
            with raises_code(ReleaseError, "files-protect-others"):
                put_together(order, sites=different)


def test_files_of_earlier_versions_are_read_and_pooled_unless_they_hold_others(released):
    document, file = released[2].numbers, released[3]
    numbers = {**document["numbers"], "topped": True}
    old = {"holds": [], "table": {"nonce": "ab", "mark": "cd"}, "numbers": numbers}
    first, second = (
        parsed_file(file_text(forged(document, **old, id=name * 16)).encode()) for name in "ab"
    )
    assert released_as_dict(first.statistics) == document["numbers"]
    assert put_together([first, second], sites=False)[0].n == file.statistics.n
    topped_up = forged(document, **{**old, "holds": [file.id]}, id="c" * 16)
    topped_up = parsed_file(file_text(topped_up).encode())
    assert search_files([topped_up]).graph == search_files([file]).graph
    with raises_code(ReleaseError, "holds-others"):
        put_together([file, topped_up], sites=False)
