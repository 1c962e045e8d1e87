"""Releases a graph: charges the release, computes it once with secure noise, then shows it.

A release contains the graph, its weights if there are any, and the guarantee, but nothing that the
guarantee does not cover.  The run's log, times and counts are never kept.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from privcore.algorithms import Discovery, discover
from privcore.algorithms.engine import checked_parameters, planned_events, source_of
from privcore.algorithms.protecting import Protection
from privcore.algorithms.search.result import Iteration, PairFinding
from privcore.counts import CountSource, InMemoryCounts, StoredTable, own_level_of
from privcore.data import Dataset
from privcore.data.domain import canonical_bytes, canonical_bytes_of_unique
from privcore.data.model import Described
from privcore.effects.asking import effects
from privcore.effects.by_graph import answered_by, check_settings, only_columns
from privcore.effects.model import ALGORITHM as CHECKED_BY
from privcore.effects.model import EffectPlan, Effects
from privcore.errors import LedgerError, ParameterError, ReleaseError
from privcore.graphs import PDAG
from privcore.graphs.pdag import Edge
from privcore.graphs.stated import StatedGraph
from privcore.privacy.accounting import Guarantee
from privcore.privacy.mechanisms import SecureNoise
from privcore.releases.certificate import certificate
from privcore.releases.ledger.chain import load_key
from privcore.releases.ledger.entries import Charge, protected_by
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.private_domain import UnboughtTable, with_purchase
from privcore.releases.release_check import Check, check_release, size_warnings
from privcore.releases.release_file import ReleaseFile, check_keeps, keep_file
from privcore.releases.release_file import content_of as numbers_of
from privcore.releases.signing import keep, signed
from privcore.showing import Shows
from privcore.threads import one_thread

STEPS = ("checked", "charging", "charged", "computed", "certified", "released")

_ENDED = {
    "budget": "The search ended when its budget was used up; untested pairs stay as edges.",
    "noise": "The search ended when the remaining budget would have bought mostly noise; "
    "untested pairs stay as edges.",
    "work": "The search ended at its limit on tests; untested pairs stay as edges.",
    "size": "Tests that could need more than 67 million cells, given the levels and the number of "
    "rows, were skipped. Pairs that only these tests would have separated stay as edges.",
}


@dataclass(frozen=True)
class Release(Shows):
    """A release that may be published: the guarantee covers every field.  It shows itself.

    weights, weight_threshold, convergence: as in `Discovery`, if the graph comes from thresholded
    weights.  findings, settled, repeats: as in `Discovery`, if the algorithm provides them.
    effects: the requested effect, if any, as from `Effects.as_dict`.
    note: why the search ended early, or empty; the reason depends only on the noisy answers.
    certificate: the signed certificate, which contains the values above except the convergence.
    path: path of the certificate's copy; None if the copy could not be written.
    numbers: the signed release file, if requested; see `release_file`.  numbers_path: as `path`.
    """

    graph: PDAG
    guarantee: Guarantee
    note: str
    warnings: tuple[str, ...]
    certificate: Mapping[str, Any] = field(repr=False)
    weights: NDArray[np.float64] | None = field(default=None, compare=False, repr=False)
    weight_threshold: float | None = None
    convergence: tuple[Iteration, ...] = field(default=(), repr=False)
    findings: Mapping[Edge, PairFinding] = field(default_factory=dict, repr=False)
    settled: bool | None = None
    repeats: Mapping[int, int] = field(default_factory=dict)
    effects: Mapping[str, Any] | None = field(default=None, repr=False)
    path: Path | None = field(default=None, compare=False, repr=False)
    numbers: Mapping[str, Any] | None = field(default=None, repr=False)
    numbers_path: Path | None = field(default=None, compare=False, repr=False)


def release(
    dataset: Dataset | StoredTable | UnboughtTable,
    algorithm: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    ledger: Ledger,
    budget: str,
    content: bytes | None = None,
    accepted: Sequence[str] = (),
    effect: EffectPlan | None = None,
    keep_numbers: bool = False,
    like: ReleaseFile | None = None,
    graph: StatedGraph | None = None,
    checkpoint: Callable[[str], None] = lambda step: None,
) -> Release:
    """Charge `budget`, run once with secure noise, and sign a certificate.

    If only the kinds of columns are stated, the domain is bought first, under the same charge.

    content: the bytes of the file that the data set was made from, if there is one; every data set
    prepared from this file is then charged to the same budget.  Parquet tables need no content.
    effect: an effect of a cause on an outcome to release with the graph, from the same ε.
    keep_numbers: whether to return the released numbers, signed, and keep them next to the
    certificate.  like: as for `check_release`.
    graph: a causal graph to check; only its columns are measured, and the certificate states what
    the released numbers say of it.
    checkpoint: called with the name of each of `STEPS` when it is reached.

    The signing key and a copy of the certificate are kept next to the ledger.

    Raises what `check_release` raises, and BudgetError or LedgerError if the release cannot be
    charged; in these cases nothing is charged.  Raises ReleaseError if the run fails after the
    charge, which then stays.
    """
    tables = [dataset]
    if graph is not None:
        dataset, parameters = _of_graph(dataset, algorithm, parameters, graph)
        # Charged to the budget of all columns, too.
        tables.append(dataset)
    check = check_release(
        dataset, algorithm, parameters, accepted=accepted, effect=effect, like=like
    )
    key = load_key(ledger.path.parent)
    if keep_numbers:
        check_keeps(algorithm)
    contents = (pieces for table in tables for pieces in _contents(table, content))
    fingerprints = list(dict.fromkeys(map(ledger.fingerprint, contents)))
    settings = checked_parameters(algorithm, parameters)
    if isinstance(dataset, Dataset):
        settings = Protection.of(settings, dataset.unit).stated(settings)
    checkpoint("checked")
    charge, spending = ledger.reserve(
        budget,
        fingerprints,
        algorithm=algorithm,
        parameters=settings,
        epsilon=check.epsilon,
        delta=check.delta,
        rho=check.rho,
        certificate=secrets.token_hex(16),
        checkpoint=checkpoint,
    )
    checkpoint("charged")
    try:
        # Sums have the same last bits, however many threads other runs of this process use.
        with one_thread():
            described, result, answer = _computed(dataset, algorithm, settings, check, like)
        checkpoint("computed")
        note = _ENDED[result.stopped] if result.stopped else ""
        made = certificate(
            result,
            described,
            purchase=None if check.split is None else check.split.plan,
            note=note,
            charge=charge,
            spending=spending,
            accepted=check.caveats,
            effects=answer,
            check=None if graph is None else answered_by(result, described, graph),
        )
        document, numbers = signed(made, key), None
        if keep_numbers:
            content_to_keep = numbers_of(
                result,
                described,
                identifier=charge.certificate,
                time=charge.time,
                budget=budget,
            )
            numbers = signed(content_to_keep, key)
    except BaseException as error:
        # If the ledger cannot be written, the charge still stays, which is what matters.
        with suppress(LedgerError):
            ledger.finish(charge.sequence, "failed")
        if not isinstance(error, Exception):
            raise
        raise ReleaseError("charge-stays") from None
    checkpoint("certified")
    warnings, path, numbers_path = check.warnings, None, None
    if result.rows is not None:
        # The sentences of the check state the exact number of rows, which is private.
        warnings = size_warnings(check.epsilon, check.delta, result.rows)
    try:
        path = keep(ledger.certificates, document)
    except OSError:
        warnings = (*warnings, _unkept("certificate"))
    if numbers is not None:
        try:
            numbers_path = keep_file(ledger.certificates, numbers)
        except OSError:
            warnings = (*warnings, _unkept("released numbers"))
    try:
        ledger.finish(charge.sequence, "released")
    except LedgerError as error:
        warnings = (
            *warnings,
            "The release was charged and made, but the ledger does not record it as made, and "
            f"lists it as charged: {error}",
        )
    warnings = (*warnings, *_mixed(ledger, charge))
    checkpoint("released")
    return Release(
        graph=result.graph,
        guarantee=result.guarantee,
        note=note,
        warnings=warnings,
        certificate=document,
        weights=result.weights,
        weight_threshold=result.weight_threshold,
        convergence=result.convergence,
        findings=result.findings,
        settled=result.settled,
        repeats=result.repeats,
        effects=None if answer is None else answer.as_dict(),
        path=path,
        numbers=numbers,
        numbers_path=numbers_path,
    )


def _of_graph(
    dataset: Dataset | StoredTable | UnboughtTable,
    algorithm: str,
    parameters: Mapping[str, Any] | None,
    graph: StatedGraph,
) -> tuple[Dataset | StoredTable, dict[str, Any]]:
    """The columns and the settings of a release for a graph's check.

    Raises ParameterError if no graph can be checked with this release.
    """
    if algorithm != CHECKED_BY or isinstance(dataset, UnboughtTable):
        raise ParameterError("check-needs-stated-levels", name=CHECKED_BY)
    own = only_columns(dataset, graph)
    return own, check_settings(own, parameters)


def _unkept(what: str) -> str:
    return f"No copy of the {what} could be written next to the ledger; save the {what} now."


def _mixed(ledger: Ledger, charge: Charge) -> tuple[str, ...]:
    """A warning if the charges of a budget protect different units; else empty."""
    try:
        others = {protected_by(other) for other in ledger.charges(charge.budget)}
    except LedgerError:
        return ()
    if len(others) < 2:
        return ()
    return (
        f"The charges of this budget protect different units ({', '.join(sorted(others))}): the "
        "sums hold only for a unit that every charge protects.",
    )


def _computed(
    dataset: Dataset | StoredTable | UnboughtTable,
    algorithm: str,
    settings: Mapping[str, Any],
    check: Check,
    like: ReleaseFile | None,
) -> tuple[Described, Discovery, Effects | None]:
    """Run with secure noise; returns the data set, the result and the effects, if any."""
    noise = SecureNoise()
    if not isinstance(dataset, UnboughtTable):
        answer, plan = None, check.effect
        if plan is not None:
            answer = effects(
                dataset, plan.question, settings, share=plan.share, noise=noise, keep_trace=False
            )
            result = answer.result
        else:
            statistics = None if like is None else like.statistics
            result = discover(
                dataset, algorithm, settings, noise=noise, keep_trace=False, like=statistics
            )
        _check_result(result, check)
        return dataset, result, answer
    wanted = check.split
    if wanted is None:
        raise RuntimeError("the purchase is not planned")
    bought = dataset.buy(wanted.plan, noise)
    source = source_of(bought)
    # The run's share of the budget, and its steps on this domain.
    rest = replace(
        check,
        epsilon=wanted.parameters["epsilon"],
        delta=wanted.parameters.get("delta", 0.0),
        planned=planned_events(algorithm, wanted.parameters, source),
    )
    result = discover(source, algorithm, wanted.parameters, noise=noise, keep_trace=False)
    _check_result(result, rest)
    return bought, with_purchase(result, wanted), None


def owner_of(
    dataset: Dataset | UnboughtTable, ledger: Ledger, content: bytes | None = None
) -> str | None:
    """The budget to which these data were charged before; None if they were never charged."""
    return ledger.budget_of([ledger.fingerprint(each) for each in _contents(dataset, content)])


def _contents(
    dataset: Dataset | StoredTable | UnboughtTable, content: bytes | None
) -> Iterator[Iterable[bytes]]:
    """The contents to fingerprint: the prepared rows, then the files that they were read from.

    Raises ReleaseError for files that cannot be read within the memory allowed.
    """
    if not isinstance(dataset, StoredTable):
        yield (
            dataset.canonical() if isinstance(dataset, UnboughtTable) else canonical_bytes(dataset)
        )
        if content is not None:
            yield [content]
        return
    source, _ = own_level_of(cast(CountSource, source_of(dataset)))
    if not isinstance(source, InMemoryCounts):
        # `check_release` has checked the memory for the rows, so reading the files is what failed.
        raise ReleaseError("files-cannot-read-within-memory-allowed")
    yield canonical_bytes_of_unique(dataset, *source.unique())
    for file in dataset.files:
        yield _read(file)


def _read(file: str) -> Iterator[bytes]:
    with open(file, "rb") as stream:
        while piece := stream.read(1 << 20):
            yield piece


def _check_result(result: Discovery, check: Check) -> None:
    """Raises RuntimeError unless the run guarantees exactly what was charged."""
    promise = result.guarantee
    if (
        promise.calibration != "proven"
        or result.noise != "secure"
        or promise.caveats != check.caveats
        or promise.epsilon > check.epsilon
        or promise.delta > check.delta
        or (result.rows is not None) != check.rows_private
        or result.planned != check.planned
    ):
        raise RuntimeError("the run does not promise what was charged")
