"""The release file, which holds the signed noisy numbers of a release for later searches.

The file is kept next to the certificate.  The guarantee of the release covers the numbers.  So
anyone can search them again, with other settings or a later version of the program, at no cost.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from privcore.algorithms import get_algorithm
from privcore.algorithms.engine import search_again
from privcore.algorithms.moment_search.released import (
    ReleasedNumbers,
    pool,
    read_released,
    released_as_dict,
)
from privcore.algorithms.search.result import Discovery
from privcore.data.domain import domain_lines, domain_of
from privcore.data.model import Described
from privcore.errors import CertificateError, DataError, ReleaseError
from privcore.files import read_most
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event, basic
from privcore.releases.certificate import check_unit, cost_of_run, stated_steps
from privcore.releases.signing import check_signature, keep_text
from privcore.strict_json import JsonFault, read_json

SCHEMA = "causalveil-release/1"
# Parameters of a release that a later search cannot change.
SPENT = ("epsilon", "delta", "calibration", "rows_per_unit", "neighbours")
# Largest size of a file in bytes.
LARGEST = 500_000_000
_FIELDS = {
    "algorithm",
    "budget",
    "columns",
    "guarantee",
    "id",
    "numbers",
    "parameters",
    "planned",
    "schema",
    "signature",
    "time",
}
# Fields of earlier versions.
_EARLIER = {"holds", "table"}


@dataclass(frozen=True)
class ReleaseFile:
    """The content of a release file.

    id: the certificate's ID.  columns: the public domain, as from `domain_of`.
    parameters: the run's parameters.  guarantee: the guarantee for the numbers.
    planned: the steps that were charged.  statistics: the released numbers.
    budget: name of the charged budget.  signer: fingerprint of the key that signed the file.
    cost: a sentence on what the planned steps cost.  holds_others: whether the numbers include
    an earlier release, as files of earlier versions may.
    """

    id: str
    time: str
    algorithm: str
    columns: tuple[Mapping[str, Any], ...]
    parameters: Mapping[str, Any]
    guarantee: Guarantee
    planned: tuple[Event, ...]
    statistics: ReleasedNumbers
    budget: str
    signer: str
    cost: str = ""
    holds_others: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(column["name"]) for column in self.columns)


def content_of(
    result: Discovery, described: Described, *, identifier: str, time: str, budget: str
) -> dict[str, Any]:
    """Build the content of a release file before it is signed, as a JSON-ready dictionary.

    Raises ReleaseError for an algorithm that does not return its released numbers.
    """
    check_keeps(result.algorithm)
    if result.released is None or result.released.statistics is None:
        raise ReleaseError("run-returns-no-numbers-keep")
    return {
        "schema": SCHEMA,
        "id": identifier,
        "time": time,
        "algorithm": result.algorithm,
        "columns": domain_of(described.columns),
        "parameters": dict(result.parameters),
        "guarantee": result.guarantee.as_dict(),
        "planned": [event.as_dict() for event in result.planned],
        "numbers": released_as_dict(result.released.statistics),
        "budget": budget,
    }


def check_keeps(algorithm: str) -> None:
    """Raises ReleaseError for an algorithm whose released numbers cannot be kept."""
    if get_algorithm(algorithm).again is None:
        raise ReleaseError("nothing-to-search-again", algorithm=algorithm)


def file_text(document: Mapping[str, Any]) -> str:
    """The text of a signed release file."""
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def keep_file(folder: Path, document: Mapping[str, Any]) -> Path:
    """Write a release file into a folder; raises OSError as `write_whole` does."""
    return keep_text(folder, f"release-{document['id']}.json", file_text(document))


def read_release_file(path: Path | str, keys: Collection[str] = ()) -> ReleaseFile:
    """Read a release file, and check it as `checked_file` does.

    Raises DataError for a file that cannot be read, and CertificateError for a file that is not a
    release file, or that fails a check.
    """
    content = read_most(path, LARGEST)
    if len(content) > LARGEST:
        raise CertificateError("release-file-too-large")
    return parsed_file(content, keys)


def parsed_file(content: bytes, keys: Collection[str] = ()) -> ReleaseFile:
    """Parse the content of a release file, and check it as `checked_file` does."""
    try:
        return checked_file(read_json(content), keys)
    except JsonFault as fault:
        raise CertificateError("release-file-not-as-written", fault=fault) from None


def checked_file(document: Any, keys: Collection[str] = ()) -> ReleaseFile:
    """Check the content of a release file; keys: fingerprints of the expected signers.

    Raises CertificateError unless the file is complete and unchanged, one of the expected signers
    signed it, and its planned steps cost no more than its guarantee.
    """
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise CertificateError("no-release-file", schema=SCHEMA)
    if set(document) - _EARLIER != _FIELDS:
        raise CertificateError("release-file-not-complete")
    signer = check_signature(document, keys)
    try:
        guarantee = Guarantee.of(document["guarantee"])
        if not (
            guarantee.calibration == "proven"
            and 0 < guarantee.epsilon < math.inf
            and 0 <= guarantee.delta < 1
        ):
            raise ValueError
        file = ReleaseFile(
            id=str(document["id"]),
            time=str(document["time"]),
            algorithm=str(document["algorithm"]),
            columns=tuple(document["columns"]),
            parameters=dict(document["parameters"]),
            guarantee=guarantee,
            planned=stated_steps(document),
            statistics=read_released(document["numbers"]),
            budget=str(document["budget"]),
            signer=signer,
            holds_others=bool(document.get("holds")),
        )
        fitting = file.statistics.fits(_own_levels(file.columns))
        domain_lines(file.columns)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise CertificateError("release-file-not-complete-numbers-out") from None
    if not fitting:
        raise CertificateError("numbers-of-release-file-not-match")
    check_unit(guarantee.neighbours, document["parameters"])
    cost = cost_of_run(file.planned, guarantee.epsilon, guarantee.delta, guarantee.neighbours)
    if not cost:
        raise CertificateError(
            "planned-steps-of-release-file-cost", epsilon=guarantee.epsilon, delta=guarantee.delta
        )
    return replace(file, cost=cost)


def _own_levels(columns: Sequence[Mapping[str, Any]]) -> tuple[int, ...]:
    """The number of levels of each column of a public domain; 0 for a numeric column."""
    names, levels = ([column[key] for column in columns] for key in ("name", "levels"))
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ValueError
    if not all(isinstance(own, list) for own in levels):
        raise TypeError
    return tuple(map(len, levels))


def put_together(files: Sequence[ReleaseFile], *, sites: bool) -> tuple[ReleasedNumbers, Guarantee]:
    """Combine the numbers of several files; returns them with their joint guarantee.

    sites: whether the files hold different rows of the same columns; otherwise they are separate
    releases of the same rows.

    Raises ReleaseError for files that cannot be combined.
    """
    first = files[0]
    if len(files) == 1:
        return first.statistics, first.guarantee
    for file in files[1:]:
        if file.columns != first.columns or file.algorithm != first.algorithm:
            raise ReleaseError("files-of-other-columns")
        if file.guarantee.neighbours != first.guarantee.neighbours:
            raise ReleaseError(
                "files-protect-others",
                neighbours=first.guarantee.neighbours,
                neighbours2=file.guarantee.neighbours,
            )
    known = [file.id for file in files]
    for file in files:
        if known.count(file.id) > 1:
            raise ReleaseError("file-twice")
        if file.holds_others:
            raise ReleaseError("holds-others")
        if sites and _same_table(file, files):
            raise ReleaseError("same-rows-no-sites")
    try:
        statistics = pool([file.statistics for file in files], same_rows=not sites)
    except DataError as error:
        raise ReleaseError(error.code, **error.values) from None
    return statistics, _promise_of(files, sites=sites)


def _same_table(file: ReleaseFile, files: Sequence[ReleaseFile]) -> bool:
    return any(
        other.id != file.id and (other.signer, other.budget) == (file.signer, file.budget)
        for other in files
    )


def _promise_of(files: Sequence[ReleaseFile], *, sites: bool) -> Guarantee:
    """The joint guarantee of several files.

    For files of the same rows, ε and δ are sums, rounded up.  For files of different rows, they are
    the largest ε and the largest δ of a file.
    """
    add = max if sites else basic
    promises = [file.guarantee for file in files]
    caveats = tuple(dict.fromkeys(caveat for p in promises for caveat in p.caveats))
    relation = (
        "each person is in the rows of only one site" if sites else "releases of the same rows"
    )
    return replace(
        promises[0],
        epsilon=add([p.epsilon for p in promises]),
        delta=add([p.delta for p in promises]),
        accountant="parallel composition" if sites else "basic composition",
        public=(*promises[0].public, f"{len(files)} files combined: {relation}"),
        caveats=caveats,
    )


def search_files(
    files: Sequence[ReleaseFile],
    parameters: Mapping[str, Any] | None = None,
    *,
    sites: bool = False,
) -> Discovery:
    """Search the numbers of one or more release files again, at no further cost.

    parameters: the parameters of the search, by name; the first file gives the defaults.
    """
    statistics, guarantee = put_together(files, sites=sites)
    first = files[0]
    return search_again(
        first.algorithm,
        statistics,
        first.names,
        {**first.parameters, **(parameters or {})},
        guarantee,
    )
