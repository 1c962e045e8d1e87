"""Verifies that a certificate or release file was not changed, and that its guarantee is proven."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from privcore.data.domain import domain_lines, domain_sha256
from privcore.errors import CertificateError
from privcore.privacy.accounting.guarantee import Guarantee
from privcore.releases import release_file
from privcore.releases.certificate import (
    SCHEMA,
    check_unit,
    cost_of,
    cost_of_run,
    limits,
    meaning,
    stated_steps,
)
from privcore.releases.signing import check_signature
from privcore.strict_json import JsonFault, read_json
from privcore.text import counted, short

# Largest size of a certificate in bytes.
LARGEST = 50_000_000
_ANYONE = (
    "Whose key signed the file: anyone can make a key and sign with it. Ask the releaser for the "
    "fingerprint of their key, and give this fingerprint as --key."
)
_UNMODIFIED = "That the program that signed the file ran as stated."
_LEDGER = "That the ledger is intact and contains all releases from these records."

# The parts of a certificate, and their fields.
_PARTS: dict[str, tuple[str, ...]] = {
    "released": ("graph", "note", "weight_threshold", "weights"),
    "domain": ("basis", "columns", "rows", "sha256"),
    "algorithm": ("citation", "name", "parameters", "title"),
    "mechanism": ("noise", "planned", "sampler"),
    "guarantee": (
        "accountant",
        "calibration",
        "caveats",
        "delta",
        "epsilon",
        "neighbours",
        "proof",
        "public",
    ),
    "ledger": (
        "budget",
        "charge",
        "spent_delta",
        "spent_epsilon",
        "spent_epsilon_by_zcdp",
        "total_delta",
        "total_epsilon",
        "unit",
    ),
}
# Optional fields: algorithms without findings on single pairs leave them out, and only certificates
# of earlier versions have "tops_up".
# A domain states its cost only if it was bought.
_OPTIONAL = {
    "released": {"check", "effects", "hidden_stage", "pairs", "repeats", "settled", "tops_up"},
    "domain": {"bought"},
}
_BOUGHT = {"columns", "delta", "epsilon", "planned"}
_WHOLE = {
    *_PARTS,
    "accepted_caveats",
    "id",
    "limits",
    "meaning",
    "schema",
    "signature",
    "time",
    "versions",
}


class Verified(NamedTuple):
    """Sentences on what was verified, and on what cannot be verified from the file.

    document: the content of the file.  numbers: the same as a release file; None for a certificate.
    fingerprint: the fingerprint of the signer's key.  domain: the name of each column and, in
    words, every value that was taken as public.
    """

    document: Mapping[str, Any]
    numbers: release_file.ReleaseFile | None
    verified: tuple[str, ...]
    limits: tuple[str, ...]
    fingerprint: str
    domain: tuple[tuple[str, str], ...]


def verify(content: bytes | str, key: str | None = None) -> Verified:
    """Verify a certificate or a release file; key: the fingerprint of the expected signer.

    Raises CertificateError, which states what is wrong, unless every check succeeds.
    """
    try:
        document = read_json(content)
    except JsonFault as fault:
        raise CertificateError("not-as-written", fault=fault) from None
    if not isinstance(document, dict):
        raise CertificateError("not-a-certificate")
    keys = () if key is None else (key,)
    if document.get("schema") == release_file.SCHEMA:
        return _verified_numbers(document, keys)
    _check_parts(document)
    signer = check_signature(document, keys)
    _check_promise(document)
    domain = _checked_domain(document)
    done = [
        *_signed(signer, keys),
        f"The certificate has the form {SCHEMA}. The calibration is proven, the noise is secure, "
        "and the explanations agree with ε and δ.",
    ]
    unknown = [_UNMODIFIED, *([] if keys else [_ANYONE])]
    recomputed = _recomputed(document)
    if recomputed:
        done.append(recomputed)
    else:
        unknown.append(
            "That ε and δ follow from the steps: the effect of sub-sampling is not recomputed."
        )
    done.append(
        f"The public domain below, with {counted(len(domain), 'column')}, has the SHA-256 hash "
        f"{document['domain']['sha256']}."
    )
    unknown += [f"That the public domain is {document['domain']['basis']}.", _LEDGER]
    accepted = document["accepted_caveats"]
    unknown += [f"The owner takes responsibility for this caveat: {caveat}." for caveat in accepted]
    return Verified(document, None, tuple(done), tuple(unknown), signer, domain)


def _verified_numbers(document: Mapping[str, Any], keys: tuple[str, ...]) -> Verified:
    file = release_file.checked_file(document, keys)
    promise, domain = file.guarantee, tuple(domain_lines(file.columns))
    done = (
        *_signed(file.signer, keys),
        f"The release file has the form {release_file.SCHEMA}. The calibration is proven, and the "
        "numbers fit the columns and the number of rows.",
        file.cost,
        f"The numbers are covered by ε = {promise.epsilon:g}, δ = {promise.delta:g} "
        f"({promise.neighbours}).",
    )
    unknown = (
        f"{_UNMODIFIED[:-1]}, with secure noise.",
        *(() if keys else (_ANYONE,)),
        "That the public domain below was known without the rows.",
        _LEDGER,
        *(f"The owner takes responsibility for this caveat: {c}." for c in promise.caveats),
    )
    return Verified(document, file, done, unknown, file.signer, domain)


def _signed(signer: str, keys: tuple[str, ...]) -> tuple[str, ...]:
    first = f"The content has the stated hash and is signed by the key {signer}."
    return (first, "The key has the expected fingerprint.") if keys else (first,)


def _check_parts(document: Mapping[str, Any]) -> None:
    if document.get("schema") != SCHEMA:
        stated = short(document.get("schema"))
        raise CertificateError("no-certificate", schema=SCHEMA, stated=stated)
    if set(document) != _WHOLE:
        names = ", ".join(sorted(set(document) ^ _WHOLE))
        raise CertificateError("these-fields-missing-from-certificate-not", names=short(names, 200))
    for name, fields in _PARTS.items():
        part = document[name]
        known = isinstance(part, dict) and set(part) - _OPTIONAL.get(name, set())
        if known != set(fields):
            raise CertificateError("part-incomplete", part=name)
    for name in ("accepted_caveats", "limits", "meaning"):
        if not _sentences(document[name]):
            raise CertificateError("part-no-texts", name=name)


def _sentences(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(sentence, str) for sentence in value)


def _check_promise(document: Mapping[str, Any]) -> None:
    promise = document["guarantee"]
    epsilon, delta = promise["epsilon"], promise["delta"]
    if promise["calibration"] != "proven":
        raise CertificateError("not-proven")
    if not (_number(epsilon) and _number(delta) and epsilon > 0 and 0 <= delta < 1):
        raise CertificateError("guarantee-not-finite")
    if document["mechanism"]["noise"] != "secure":
        raise CertificateError("noise-simulated")
    if not _sentences(promise["caveats"]) or promise["caveats"] != document["accepted_caveats"]:
        raise CertificateError("caveats-not-accepted")
    check_unit(promise["neighbours"], document["algorithm"]["parameters"])
    stated = Guarantee(epsilon, delta, promise["neighbours"], (), "proven", "", "")
    if document["meaning"] != meaning(stated) or document["limits"] != limits(stated):
        raise CertificateError("plain-words-differ")


def _checked_domain(document: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The public domain, each column with its values in words.

    Raises CertificateError unless the domain is complete, has the stated hash, and has the columns
    of the graph.
    """
    domain = document["domain"]
    try:
        lines = tuple(domain_lines(domain["columns"]))
        same = domain_sha256(domain["columns"]) == domain["sha256"]
        nodes = list(document["released"]["graph"]["nodes"])
    except (KeyError, TypeError, ValueError, IndexError):
        raise CertificateError("public-domain-incomplete") from None
    if not same or not isinstance(domain["basis"], str):
        raise CertificateError("domain-changed")
    if [name for name, _ in lines] != nodes:
        raise CertificateError("domain-of-other-columns")
    return lines


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _recomputed(document: Mapping[str, Any]) -> str:
    """A sentence that the planned steps cost no more than the guarantee; empty if not shown.

    Sub-sampling is not recomputed.  The steps of a bought domain and the steps of the run are
    recomputed separately, and their costs added up.
    """
    promise, bought = document["guarantee"], document["domain"].get("bought")
    epsilon, delta = promise["epsilon"], promise["delta"]
    steps, purchase = stated_steps(document["mechanism"]), ""
    if bought is not None:
        first, own = _cost_of(bought)
        if not (first < epsilon and own <= delta):
            raise CertificateError("domain-costs-more")
        what = "The planned steps of the bought domain"
        purchase = cost_of(stated_steps(bought), first, own, what)
        if not purchase:
            raise CertificateError("domain-steps-differ")
        epsilon, delta = epsilon - first, delta - own
    run = cost_of_run(steps, epsilon, delta, promise["neighbours"])
    return f"{purchase} {run}".strip() if run else ""


def _cost_of(bought: Any) -> tuple[float, float]:
    """ε and δ of a bought domain; raises CertificateError if they are missing or invalid."""
    if not isinstance(bought, dict) or set(bought) != _BOUGHT:
        raise CertificateError("domain-incomplete")
    epsilon, delta = bought["epsilon"], bought["delta"]
    if not (_number(epsilon) and _number(delta) and epsilon > 0 and 0 < delta < 1):
        raise CertificateError("bought-domain-not-finite")
    return epsilon, delta
