"""Verifies that a certificate was not changed, and that its guarantee is proven."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from privcore.data.domain import domain_lines, domain_sha256
from privcore.errors import CertificateError, ParameterError
from privcore.privacy.accounting.accountants import side_by_side
from privcore.privacy.accounting.guarantee import Guarantee
from privcore.releases.certificate import SCHEMA, limits, meaning, planned_of
from privcore.releases.signing import check_signature
from privcore.text import short
from privcore.unit import ADDED, REPLACED, understood

# Largest size of a certificate, in bytes and characters.
LARGEST = 50_000_000
_TOLERANCE = 1e-6

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
# Optional fields: algorithms without findings on single pairs leave them out.
# A domain states its cost only if it was bought.
_OPTIONAL = {
    "released": {"effects", "hidden_stage", "pairs", "settled", "tops_up"},
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

    fingerprint: the fingerprint of the signer's key.  domain: the name of each column and, in
    words, every value that was taken as public.
    """

    verified: tuple[str, ...]
    limits: tuple[str, ...]
    fingerprint: str
    domain: tuple[tuple[str, str], ...]


def verify(text: str, key: str | None = None) -> Verified:
    """Verify the JSON of a certificate; key: the fingerprint of the expected signer.

    Raises CertificateError, which states what is wrong, unless every check succeeds.
    """
    document = _parsed(text)
    _check_parts(document)
    signer = check_signature(document)
    if key is not None and signer != key.strip().lower():
        raise CertificateError(
            f"The certificate was signed by another key, {signer}; do not trust it."
        )
    _check_promise(document)
    domain = _checked_domain(document)
    done = [
        f"The content has the stated hash and is signed by the key {signer}.",
        f"The certificate has the form {SCHEMA}. The calibration is proven, the noise is secure, "
        "and the explanations agree with ε and δ.",
    ]
    limits = ["That the program that signed the certificate ran as stated."]
    if key is None:
        limits.append(
            "Whose key signed the certificate: anyone can make a key and sign with it. Ask the "
            "releaser for the fingerprint of their key, and give this fingerprint as --key."
        )
    else:
        done.append("The key has the expected fingerprint.")
    recomputed = _recomputed(document)
    if recomputed:
        done.append(recomputed)
    else:
        limits.append(
            "That ε and δ follow from the steps: the effect of sub-sampling is not recomputed."
        )
    done.append(
        f"The public domain below, with {len(domain)} columns, has the SHA-256 hash "
        f"{document['domain']['sha256']}."
    )
    limits.append(f"That the public domain is {document['domain']['basis']}.")
    limits.append("That the ledger is intact and contains all releases from these records.")
    accepted = document["accepted_caveats"]
    limits += [f"The owner takes responsibility for this caveat: {caveat}." for caveat in accepted]
    return Verified(tuple(done), tuple(limits), signer, domain)


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > LARGEST:
        raise CertificateError(
            "The file is too large for a certificate; give the certificate's JSON."
        )
    try:
        document = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except CertificateError:
        raise
    except (ValueError, RecursionError):
        raise CertificateError("The file is not JSON; give the certificate's JSON.") from None
    if not isinstance(document, dict):
        raise CertificateError("The file is not a certificate; give the certificate's JSON.")
    return document


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dictionary without repeated names, which could show readers what was not signed."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise CertificateError("The certificate names a field twice; get the original.")
    return fields


def _no_constant(name: str) -> float:
    raise CertificateError(f"The certificate holds {name}, which is not a number in JSON.")


def _check_parts(document: Mapping[str, Any]) -> None:
    if document.get("schema") != SCHEMA:
        stated = short(document.get("schema"))
        raise CertificateError(
            f"The file is not a certificate of the form {SCHEMA}: it has the schema {stated!r}."
        )
    if set(document) != _WHOLE:
        names = ", ".join(sorted(set(document) ^ _WHOLE))
        raise CertificateError(
            f"These fields are missing from the certificate or do not belong in it: "
            f"{short(names, 200)}."
        )
    for name, fields in _PARTS.items():
        part = document[name]
        known = isinstance(part, dict) and set(part) - _OPTIONAL.get(name, set())
        if known != set(fields):
            raise CertificateError(
                f"The part {name!r} of the certificate is not complete; get the original."
            )
    for name in ("accepted_caveats", "limits", "meaning"):
        if not _sentences(document[name]):
            raise CertificateError(f"The part {name!r} of the certificate is not a list of texts.")


def _sentences(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(sentence, str) for sentence in value)


def _check_promise(document: Mapping[str, Any]) -> None:
    promise = document["guarantee"]
    epsilon, delta = promise["epsilon"], promise["delta"]
    if promise["calibration"] != "proven":
        raise CertificateError("The guarantee of the certificate is not proven.")
    if not (_number(epsilon) and _number(delta) and epsilon > 0 and 0 <= delta < 1):
        raise CertificateError("The certificate does not state a finite ε and δ.")
    if document["mechanism"]["noise"] != "secure":
        raise CertificateError("The noise was simulated, so this is not a release.")
    if not _sentences(promise["caveats"]) or promise["caveats"] != document["accepted_caveats"]:
        raise CertificateError("The guarantee has caveats that the owner has not accepted.")
    _check_unit(document)
    stated = Guarantee(epsilon, delta, promise["neighbours"], (), "proven", "", "")
    if document["meaning"] != meaning(stated) or document["limits"] != limits(stated):
        raise CertificateError("The explanations in the certificate do not agree with its ε and δ.")


def _check_unit(document: Mapping[str, Any]) -> None:
    """Raises CertificateError unless the guarantee and the parameters protect the same unit."""
    stated, parameters = document["guarantee"]["neighbours"], document["algorithm"]["parameters"]
    try:
        unit, relation = understood(stated) if isinstance(stated, str) else (None, None)
    except ParameterError:
        unit = None
    if unit is None:
        raise CertificateError("The guarantee of the certificate does not state who is protected.")
    # Certificates of earlier versions have neither parameter: they protect one row.
    known = parameters if isinstance(parameters, dict) else {}
    same = known.get("rows_per_unit") in (None, unit.rows)
    if not same or known.get("neighbours", REPLACED) != relation:
        raise CertificateError(
            "The guarantee and the parameters of the certificate state different protected units."
        )


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
        raise CertificateError(
            "The public domain of the certificate is not complete; get the original."
        ) from None
    if not same or not isinstance(domain["basis"], str):
        raise CertificateError(
            "The public domain of the certificate does not have the stated SHA-256 hash."
        )
    if [name for name, _ in lines] != nodes:
        raise CertificateError(
            "The public domain and the graph of the certificate have different columns."
        )
    return lines


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _recomputed(document: Mapping[str, Any]) -> str:
    """A sentence that the planned steps cost no more than the guarantee; empty if not shown.

    Sub-sampling is not recomputed.  The steps of a bought domain and the steps of the run are
    recomputed separately, and their costs added up.
    """
    promise = document["guarantee"]
    epsilon, delta = promise["epsilon"], promise["delta"]
    parts = [(document["mechanism"], epsilon, delta, "The planned steps")]
    bought = document["domain"].get("bought")
    if bought is not None:
        first, own = _cost_of(bought)
        if not (first < epsilon and own <= delta):
            raise CertificateError(
                "The bought domain costs more than the total stated in the certificate allows."
            )
        parts = [
            (bought, first, own, "The planned steps of the bought domain"),
            (document["mechanism"], epsilon - first, delta - own, "The planned steps of the run"),
        ]
    elif understood(promise["neighbours"])[1] == ADDED:
        # In the order of the run: the number of rows, and then the remainder.
        first = _counted(document["mechanism"], epsilon)
        steps = document["mechanism"]["planned"]
        parts = [
            ({"planned": steps[:1]}, first, 0.0, "The steps that count the rows"),
            ({"planned": steps[1:]}, epsilon - first, delta, "The planned steps of the run"),
        ]
    totals = [_account(*part) for part in parts]
    if bought is not None and not totals[0]:
        raise CertificateError(
            "The planned steps of the bought domain do not agree with its stated cost."
        )
    return " ".join(totals) if all(totals) else ""


def _cost_of(bought: Any) -> tuple[float, float]:
    """ε and δ of a bought domain; raises CertificateError if they are missing or invalid."""
    if not isinstance(bought, dict) or set(bought) != _BOUGHT:
        raise CertificateError(
            "The part of the certificate on the bought domain is not complete; get the original."
        )
    epsilon, delta = bought["epsilon"], bought["delta"]
    if not (_number(epsilon) and _number(delta) and epsilon > 0 and 0 < delta < 1):
        raise CertificateError(
            "The certificate does not state a finite ε and δ for the bought domain."
        )
    return epsilon, delta


def _account(part: Mapping[str, Any], epsilon: float, delta: float, what: str) -> str:
    """A sentence that planned steps cost at most (ε, δ); empty if no accountant shows this."""
    try:
        events = planned_of(part)
    except (ParameterError, KeyError, TypeError):
        raise CertificateError("The planned steps of the certificate are impossible.") from None
    for account in side_by_side(events, delta) if events else ():
        if account.epsilon is not None and account.epsilon <= epsilon * (1 + _TOLERANCE):
            return (
                f"{what} come to ε = {account.epsilon:.6g} at δ = {delta:g} by {account.name}, "
                "which is no more than promised."
            )
    return ""


def _counted(part: Mapping[str, Any], epsilon: float) -> float:
    """ε of the first planned step, which measures the number of rows.

    Raises CertificateError if the first step cannot be this measurement, or costs the whole ε.
    """
    try:
        steps = planned_of(part)
    except (ParameterError, KeyError, TypeError):
        raise CertificateError("The planned steps of the certificate are impossible.") from None
    first = steps[0] if len(steps) > 1 else None
    if first is None or (first.kind, first.count, first.delta) != ("pure", 1, 0.0):
        raise CertificateError(
            "The number of rows is private, but the plan has no step that counts rows."
        )
    if not first.value < epsilon:
        raise CertificateError("Counting the rows costs the whole ε of the certificate.")
    return first.value
