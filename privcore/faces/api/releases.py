"""Releases that are charged to a budget, and new searches of the numbers they released."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from privcore.algorithms.registry import RECOMMENDED
from privcore.algorithms.search.result import Discovery
from privcore.effects import EffectPlan
from privcore.errors import ParameterError
from privcore.exchange.stated import read_graph
from privcore.faces.api.runs import Table, dataset_of
from privcore.faces.api.tables import public_schema
from privcore.graphs.pdag import PDAG
from privcore.graphs.stated import StatedGraph
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import Release
from privcore.releases.release import release as charged_release
from privcore.releases.release_file import SPENT, read_release_file, search_files


def release(
    data: Table,
    algorithm: str = RECOMMENDED,
    *,
    budget: str,
    ledger: Ledger | Path | str | None = None,
    accepted: Sequence[str] = (),
    effect: EffectPlan | None = None,
    keep_numbers: bool = False,
    like: Path | str | None = None,
    graph: StatedGraph | PDAG | Path | str | None = None,
    **parameters: Any,
) -> Release:
    """Charge a budget, run once with secure noise, and sign a certificate.

    Args:
        data: a data set, or any table that `read_table` accepts.
        algorithm: the name of a private algorithm, which runs in its proven calibration.
        budget: the name of a budget in the ledger; `Ledger.set_total` creates budgets.
        ledger: the ledger that records the spending, or its path; None for the user's own ledger.
        accepted: caveats of the guarantee for which the releaser takes responsibility, such as that
            rows with missing values were left out.
        effect: an effect to release with the graph, from the same ε, such as
            `EffectPlan(Question("smoke", "lung"))` from `privcore.effects`.
        keep_numbers: whether to return the released numbers (`Release.numbers`) and keep them next
            to the certificate, as a release file for `search_again`.
        like: the release file of an earlier release.  This release measures as that one did, in
            its units, and keeps its numbers, so that `search_again` can pool both.
        graph: a causal graph to check, as `check_graph` takes it: only its columns are measured,
            and the certificate states what the released numbers say of it.
        **parameters: parameters of the algorithm; with like, the earlier release gives the
            defaults.

    Returns:
        The release: its graph, guarantee, warnings and signed certificate.

    Raises:
        ReleaseError: if the guarantee has caveats that are not accepted (the message quotes them),
            or if the release could not be pooled with the one that it is to be like.
        BudgetError: if the remaining budget is too small; nothing is charged then.
    """
    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    if "adds_to" in parameters:
        raise ParameterError("adds-to-is-no-argument")
    earlier = None if like is None else read_release_file(like)
    if earlier is not None:
        parameters = {**earlier.parameters, **parameters}
    return charged_release(
        dataset_of(data, None if earlier is None else public_schema(earlier)),
        algorithm,
        parameters,
        ledger=opened,
        budget=budget,
        accepted=accepted,
        effect=effect,
        keep_numbers=keep_numbers or like is not None,
        like=earlier,
        graph=None if graph is None else read_graph(graph),
    )


def search_again(
    *files: Path | str, sites: bool = False, keys: Collection[str] = (), **parameters: Any
) -> Discovery:
    """Search the numbers of release files with other settings, at no further cost.

    Args:
        *files: release files, which `release` keeps next to the certificate.  The numbers of
            several files are combined.
        sites: whether the files hold different rows of the same columns, with each person in only
            one file; otherwise they are releases of the same rows.
        keys: fingerprints of the expected signers' keys.  Without them anyone may have signed the
            files, with any numbers and any guarantee that their steps pay for.
        **parameters: parameters of the search; the first file gives the defaults.

    Returns:
        The result of the new search, with the joint guarantee of the releases.

    Raises:
        CertificateError: for a file that is not a release file, was changed, was signed by another
            key, or whose steps cost more than its guarantee states.
        ReleaseError: for files that cannot be combined.
        ParameterError: for an invalid parameter, or one that the releases fixed, such as epsilon.
    """
    if not files:
        raise ParameterError("give-least-one-release-file")
    for name in SPENT:
        if name in parameters:
            raise ParameterError("fixed-by-release-argument", name=name)
    return search_files([read_release_file(file, keys) for file in files], parameters, sites=sites)
