"""Releases that are charged, and what is made of their numbers afterwards."""

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
        effect: what is released with the graph, from the same ε, such as
            `EffectPlan(Question("smoke", "lung"))` of `privcore.effects`.
        keep_numbers: whether the released numbers are handed back (`Release.numbers`) and kept
            beside the certificate, as a file for `search_again`.
        adds_to: such a file of an earlier release of the same table.  Both together are as one
            release at the sum of their ε, and epsilon is what is spent more.
        **parameters: of the algorithm; beside adds_to, as they were but for those given.

    Raises:
        ReleaseError: if there are caveats that are not accepted, with their texts.
        BudgetError: if too little is left.  Nothing is charged then.
    """
    kept = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    earlier = None if adds_to is None else read_release_file(adds_to)
    if earlier is not None:
        more = float(EPSILON.parse(parameters.get("epsilon", EPSILON.default)))
        parameters = {**earlier.parameters, **parameters, "epsilon": earlier.total(more)}
    return charged_release(
        dataset_of(data),
        algorithm,
        parameters,
        ledger=kept,
        budget=budget,
        accepted=accepted,
        effect=effect,
        keep_numbers=keep_numbers or earlier is not None,
        adds_to=earlier,
    )


def search_again(*files: Path | str, sites: bool = False, **parameters: Any) -> Discovery:
    """Search the numbers of release files with other settings; it costs nothing.

    Args:
        *files: as `release` keeps them, beside the certificate.  Several are put together.
        sites: whether they hold different rows of the same columns, each person in one of them;
            otherwise they are releases of the same rows.
        **parameters: of the search; those left out are as in the first file.

    Returns:
        A graph, with the guarantee of what was released.

    Raises:
        CertificateError: for a file that is no release file, or was changed.
        ReleaseError: for files that do not go together.
        ParameterError: for what was spent, such as epsilon, or a bad parameter.
    """
    if not files:
        raise ParameterError("Give at least one release file.")
    for name in SPENT:
        if name in parameters:
            raise ParameterError(f"{name} is spent already and stays as it was; leave it out.")
    return search_files([read_release_file(file) for file in files], parameters, sites=sites)
