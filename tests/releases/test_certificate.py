"""A certificate says what was promised and no more, and any change to it is caught."""

import copy
import json
import math
import re
import stat
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from privcore.data import StructuralExample, load_network
from privcore.display.certificate_html import certificate_html
from privcore.display.interactive import certificate_page
from privcore.errors import CertificateError, LedgerError
from privcore.privacy.accounting.guarantee import REPLACE_ONE, Guarantee, posterior_bound
from privcore.releases.certificate import PRIORS, certificate_json, meaning
from privcore.releases.ledger.chain import KEY_FILE, load_key
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import release
from privcore.releases.signing import canonical, signed
from privcore.releases.verification import verify
from tests.messages import raises_code, says, shows


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    ledger = Ledger(tmp_path_factory.mktemp("data") / "ledger.sqlite")
    ledger.set_total("clinic", 5.0, 1e-5)
    data = load_network("asia").sample(1_000, 1)
    return release(data, "priv-pc", ledger=ledger, budget="clinic")


@pytest.fixture(scope="module")
def document(made):
    return json.loads(certificate_json(made.certificate))


def resigned(document):
    content = {name: part for name, part in document.items() if name != "signature"}
    return json.dumps(signed(content, Ed25519PrivateKey.generate()))


def leaves(value, path=()):
    """Every path to a number, text or empty part of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in items:
        if isinstance(part, (dict, list)) and part:
            yield from leaves(part, (*path, key))
        else:
            yield (*path, key)


def other(value):
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return "something"


def test_a_release_is_verified(made, document):
    found = verify(certificate_json(made.certificate))
    fingerprint = document["signature"]["fingerprint"]
    assert found.fingerprint == fingerprint
    assert any("Whose key" in sentence for sentence in found.limits)
    assert any(shows(sentence, "planned-steps-cost") for sentence in found.verified)
    known = verify(json.dumps(document), fingerprint.upper())
    assert not any("Whose key" in sentence for sentence in known.limits)
    with raises_code(CertificateError, "signed-by-another"):
        verify(json.dumps(document), "00" * 32)


@pytest.fixture(scope="module")
def with_pairs(tmp_path_factory):
    ledger = Ledger(tmp_path_factory.mktemp("data") / "ledger.sqlite")
    ledger.set_total("clinic", 5.0, 1e-5)
    data = load_network("survey").sample(20_000, 1)
    return release(data, "moment-search", ledger=ledger, budget="clinic")


def test_what_was_found_of_each_pair_is_certified(with_pairs, document):
    signed_as = json.loads(certificate_json(with_pairs.certificate))
    assert verify(json.dumps(signed_as)).verified
    pairs = signed_as["released"]["pairs"]
    names = with_pairs.graph.nodes
    assert [p["pair"] for p in pairs] == [
        [names[i], names[j]] for i, j in sorted(with_pairs.findings)
    ]
    assert [p["verdict"] for p in pairs] == [
        with_pairs.findings[k].verdict for k in sorted(with_pairs.findings)
    ]
    assert all(0 <= p["probability"] <= 1 for p in pairs)
    edges = sum(p["verdict"] == "edge" for p in pairs)
    assert edges == len(with_pairs.graph.skeleton) > 0
    page = certificate_html(signed_as)
    # Of each edge; a sentence says it too if the samplers disagree.
    assert len(re.findall(r"probability [0-9]", page)) == edges
    assert shows(page, "verdict-unclear")
    # Certificates of algorithms that say nothing of pairs keep the form that they had.
    assert "pairs" not in document["released"]


def test_a_changed_confidence_is_caught(with_pairs):
    changed = json.loads(certificate_json(with_pairs.certificate))
    changed["released"]["pairs"][0]["effect"] += 0.1
    with pytest.raises(CertificateError):
        verify(json.dumps(changed))
    del changed["released"]["pairs"]
    with pytest.raises(CertificateError):
        verify(json.dumps(changed))


def test_every_changed_field_is_caught(document):
    paths = list(leaves(document))
    assert len(paths) > 60
    assert {path[0] for path in paths} == set(document)
    for path in paths:
        changed = copy.deepcopy(document)
        part = changed
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = other(part[path[-1]])
        with pytest.raises(CertificateError):
            verify(json.dumps(changed))
        if isinstance(part, dict):
            del part[path[-1]]
        else:
            part.pop(path[-1])
        with pytest.raises(CertificateError):
            verify(json.dumps(changed))


def test_added_fields_are_caught(document):
    for path in ((), ("guarantee",), ("signature",), ("released", "graph"), ("ledger",)):
        changed = copy.deepcopy(document)
        part = changed
        for key in path:
            part = part[key]
        part["more"] = 1
        with pytest.raises(CertificateError):
            verify(json.dumps(changed))


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("guarantee", "calibration"), "published", says("not-proven")),
        (("guarantee", "epsilon"), None, says("no-finite-guarantee")),
        (("guarantee", "epsilon"), -1, says("no-finite-guarantee")),
        (("guarantee", "epsilon"), True, says("no-finite-guarantee")),
        (("guarantee", "epsilon"), 10**400, says("json-not-finite")),
        (("guarantee", "delta"), 1.0, says("no-finite-guarantee")),
        (("guarantee", "epsilon"), 0.5, says("plain-words-differ")),
        (("guarantee", "caveats"), ["levels were read"], says("caveats-not-accepted")),
        (("mechanism", "noise"), says("noise-simulated"), says("noise-simulated")),
        (("meaning",), ["Nothing can happen."], says("plain-words-differ")),
        (("limits",), [], says("plain-words-differ")),
        (("limits",), "none", says("part-no-texts")),
        (("mechanism", "planned"), [{"kind": "pure"}], says("steps-impossible")),
        (("schema",), "causalveil-certificate/1", says("no-certificate")),
        (("ledger",), {}, says("part-incomplete", part="ledger")),
    ],
)
def test_what_is_not_a_proven_release_is_refused_though_signed(document, path, value, words):
    """Anyone can make a key, so a signature alone says little."""
    changed = copy.deepcopy(document)
    part = changed
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    with pytest.raises(CertificateError, match=words):
        verify(resigned(changed))


def test_steps_that_come_to_more_than_the_promise_are_not_called_verified(document):
    changed = copy.deepcopy(document)
    changed["mechanism"]["planned"][0]["count"] *= 100
    found = verify(resigned(changed))
    assert not any("planned steps" in sentence for sentence in found.verified)
    assert any(shows(sentence, "follow-from-steps") for sentence in found.limits)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "null", "{", "a,b\n1,2", '{"schema": 1, "schema": 2}', '{"a": NaN}', "[" * 100_000],
)
def test_what_is_no_certificate_is_said_in_a_sentence(text):
    with pytest.raises(CertificateError):
        verify(text)


MALFORMED = {
    "an edge of three": lambda released: released["graph"]["directed"].append(["a", "b", "c"]),
    "a finding that is a number": lambda released: released["pairs"].append(1),
    "findings that are a number": lambda released: released.update(pairs=3),
    "no list of edges": lambda released: released["graph"].update(undirected=None),
}


@pytest.mark.parametrize("name", MALFORMED)
@pytest.mark.parametrize("make", [certificate_html, certificate_page])
def test_what_only_pages_read_is_refused_in_a_sentence(with_pairs, make, name):
    """A signature says nothing of the form of the graph."""
    changed = json.loads(certificate_json(with_pairs.certificate))
    assert make(changed)
    MALFORMED[name](changed["released"])
    found = verify(resigned(changed))
    with raises_code(CertificateError, "no-page-of-it"):
        make(found.document)


def test_a_field_named_twice_is_refused(made):
    text = certificate_json(made.certificate)
    twice = text.replace('"epsilon": 1.0', '"epsilon": 0.1, "epsilon": 1.0', 1)
    assert json.loads(twice) == json.loads(text)
    with pytest.raises(CertificateError, match=says("json-key-twice", name="epsilon")):
        verify(twice)


def test_no_number_that_is_not_covered_is_in_it(document):
    """Only what follows from public facts, the released graph and the ledger."""
    text = json.dumps(document)
    for word in ("seconds", "tests_run", 'spent"', "trace", "score_value", "noisy"):
        assert word not in text
    numbers = {
        path
        for path in leaves(document)
        if path[0] not in ("guarantee", "ledger", "algorithm", "mechanism", "domain")
    }
    values = []
    for path in numbers:
        part = document
        for key in path:
            part = part[key]
        values.append(part)
    assert not any(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


def test_the_same_numbers_for_other_rows_of_the_same_size(made, tmp_path):
    """But for the graph, its note, identity and time, nothing depends on the rows."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_total("clinic", 5.0, 1e-5)
    data = load_network("asia").sample(1_000, 2)
    constant = replace(data, values=tuple(v * 0 for v in data.values))
    second = release(constant, "priv-pc", ledger=ledger, budget="clinic").certificate
    for name in set(made.certificate) - {"id", "time", "released", "signature"}:
        assert second[name] == made.certificate[name]


def test_meaning_in_odds():
    sentences = meaning(Guarantee(math.log(3), 0.0, REPLACE_ONE, (), "proven", "", ""))
    assert shows(sentences[0], "odds-at-most", factor=3)
    assert shows(sentences, "suspicion-rises", before="50%", after="75.000%")
    assert not any("failure" in sentence or "plus" in sentence for sentence in sentences)
    with_delta = meaning(Guarantee(1.0, 1e-6, REPLACE_ONE, (), "proven", "", ""))
    assert shows(with_delta[0], "odds-plus-delta", delta="1e-06")
    assert all(shows(s, "failure-at-most", delta="1e-06") for s in with_delta[1:])
    assert "100.000%" in meaning(Guarantee(5000.0, 0.0, REPLACE_ONE, (), "proven", "", ""))[-1]


@given(epsilon=st.floats(1e-3, 12))
def test_bounds_in_words_are_never_rounded_down(epsilon):
    sentences = meaning(Guarantee(epsilon, 0.0, REPLACE_ONE, (), "proven", "", ""))
    factor = float(re.search(r"at most ([0-9.e+]+) times", sentences[0])[1])
    assert math.exp(epsilon) * (1 - 1e-8) <= factor <= math.exp(epsilon) * 1.011
    for prior, sentence in zip(PRIORS, sentences[2:], strict=True):
        stated = float(re.search(r"most ([0-9.]+)%", sentence)[1]) / 100
        assert posterior_bound(epsilon, prior) - 1e-10 <= stated
        assert stated <= posterior_bound(epsilon, prior) + 1.1e-5


def test_the_page_is_safe_and_self_contained(tmp_path):
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.set_total("<script>alert(1)</script>", 5.0, 1e-5)
    data = StructuralExample("linear-gaussian", nodes=3).sample(500, 1)
    columns = (replace(data.columns[0], name='<img src=x onerror="a">'), *data.columns[1:])
    data = replace(data, columns=columns, true_edges=None)
    made = release(data, "privpc-star", ledger=ledger, budget="<script>alert(1)</script>")
    page = certificate_html(made.certificate)
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page
    assert not re.search(r"(src|href)\s*=", page.replace("&lt;img src=x", ""))
    assert "@media print" in page
    assert made.certificate["signature"]["content_sha256"] in page
    for sentence in made.certificate["limits"]:
        assert sentence.split("'")[0] in page


def test_the_key_is_made_once_and_for_its_owner_alone(tmp_path):
    first, second = load_key(tmp_path / "new"), load_key(tmp_path / "new")
    path = tmp_path / "new" / KEY_FILE
    assert first.private_bytes_raw() == second.private_bytes_raw()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in path.parent.iterdir()] == [KEY_FILE]
    path.chmod(0o644)
    with raises_code(LedgerError, "key-readable-by-others"):
        load_key(tmp_path / "new")
    path.chmod(0o600)
    path.write_text("no key")
    with raises_code(LedgerError, "not-a-signing-key"):
        load_key(tmp_path / "new")
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match=says("check-permissions")):
        load_key(tmp_path / "file")


def test_canonical_text_does_not_depend_on_order():
    assert canonical({"b": 1, "a": [1.5, "ä"]}) == '{"a":[1.5,"ä"],"b":1}'.encode()
    with pytest.raises(ValueError, match=says("not-json-compliant")):
        canonical({"a": math.nan})
