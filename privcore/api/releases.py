"""Charged releases, and searching their numbers again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from privcore.algorithms.registry import RECOMMENDED
from privcore.algorithms.search.parameters import EPSILON
from privcore.algorithms.search.result import Discovery
from privcore.api.tables import Table, dataset_of
from privcore.effects import EffectPlan
from privcore.errors import ParameterError
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
    adds_to: Path | str | None = None,
    **parameters: Any,
) -> Release:
    """Charge a budget, run once with secure noise, and sign a certificate.

    Args:
        data: a data set, or what `read_table` takes.
        algorithm: a private one, in its proven calibration.
        budget: the name of a budget in the ledger; `Ledger.set_total` makes one.
        ledger: where spending is recorded; the user's own if None.
        accepted: caveats of the guarantee that the releaser takes responsibility for, such as that
            levels were read from the rows.
        effect: an effect to release with the graph, from the same ε, such as
            `EffectPlan(Question("smoke", "lung"))` of `privcore.effects`.
        keep_numbers: whether to return the released numbers (`Release.numbers`) and keep them next
            to the certificate, as a file for `search_again`.
        adds_to: such a file of an earlier release of the same table.  Both together equal one
            release at the sum of their ε, and epsilon is the additional ε.
        **parameters: of the algorithm; with adds_to, by default as in the earlier release.

    Raises:
        ReleaseError: if there are caveats that are not accepted, with their texts.
        BudgetError: if the remaining budget is too small; nothing is charged then.
    """
    opened = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    earlier = None if adds_to is None else read_release_file(adds_to)
    if earlier is not None:
        more = float(EPSILON.parse(parameters.get("epsilon", EPSILON.default)))
        parameters = {**earlier.parameters, **parameters, "epsilon": earlier.total(more)}
    return charged_release(
        dataset_of(data),
        algorithm,
        parameters,
        ledger=opened,
        budget=budget,
        accepted=accepted,
        effect=effect,
        keep_numbers=keep_numbers or earlier is not None,
        adds_to=earlier,
    )


def search_again(*files: Path | str, sites: bool = False, **parameters: Any) -> Discovery:
    """Search the numbers of release files with other settings, at no further cost.

    Args:
        *files: release files, which `release` keeps next to the certificate.  Several are combined.
        sites: whether they hold different rows of the same columns, each person in only one;
            otherwise they are releases of the same rows.
        **parameters: of the search; by default as in the first file.

    Returns:
        The graph, with the guarantee of the releases.

    Raises:
        CertificateError: for a file that is not a release file, or was changed.
        ReleaseError: for files that do not fit together.
        ParameterError: for a parameter that was spent, such as epsilon, or a bad one.
    """
    if not files:
        raise ParameterError("Give at least one release file.")
    for name in SPENT:
        if name in parameters:
            raise ParameterError(f"{name} is spent already and cannot change; leave it out.")
    return search_files([read_release_file(file) for file in files], parameters, sites=sites)
