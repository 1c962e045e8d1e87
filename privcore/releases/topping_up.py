"""Conditions and cost of a release that adds to an earlier release of the same table.

The two releases together equal one release at the sum of their ε: counts are refined, and sums are
measured again and averaged with weights that depend on the noise.  So the second release costs only
the additional ε, and δ is paid only once.  Proof: docs/proofs/topping_up.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import inf, nextafter
from typing import Any

from privcore.algorithms.engine import checked_parameters, planned_delta, source_of
from privcore.algorithms.protecting import Protection
from privcore.counts import StoredTable
from privcore.data import Dataset
from privcore.data.domain import domain_of
from privcore.errors import ParameterError, ReleaseError
from privcore.privacy.accounting.events import Event, total_rho
from privcore.releases.private_domain import UnboughtTable
from privcore.releases.release_file import ReleaseFile
from privcore.rounding import up


def check_adding(
    dataset: Dataset | StoredTable | UnboughtTable,
    algorithm: str,
    parameters: Mapping[str, Any] | None,
    file: ReleaseFile,
) -> None:
    """Check that a release can add to the earlier release in a file.

    Raises ReleaseError if the table or the algorithm differs from the earlier release, and
    ParameterError if δ or the protected unit differs.
    """
    if isinstance(dataset, UnboughtTable):
        raise ReleaseError(
            "A release with a bought domain cannot add to another release; state the domain in the "
            "schema."
        )
    if algorithm != file.algorithm:
        raise ReleaseError(
            f"The earlier release was made by {file.algorithm}; choose this algorithm again."
        )
    if domain_of(dataset.columns) != list(file.columns):
        raise ReleaseError(
            "The earlier release has other columns, levels or bounds; prepare the table as for "
            "that release."
        )
    checked, source = checked_parameters(algorithm, parameters), source_of(dataset)
    protection = Protection.of(checked, source.unit)
    if protection.sentence != file.guarantee.neighbours:
        raise ParameterError(
            f"The earlier release protects another unit ({file.guarantee.neighbours}); set --unit "
            "and --rows-per-unit as for that release."
        )
    delta = planned_delta(algorithm, checked, source, file.statistics)
    if file.guarantee.delta not in (0.0, delta):
        raise ParameterError(
            f"The earlier release has δ = {file.guarantee.delta:g}, and this one has {delta:g}; "
            "choose the same δ."
        )


def further_charge(
    epsilon: float, planned: Sequence[Event], file: ReleaseFile
) -> tuple[float, float | None]:
    """ε and ρ charged for a further release; ρ is None if it is not known.

    epsilon: the total ε of both releases.  planned: the steps of both releases.
    """
    exact = Fraction(repr(epsilon)) - Fraction(repr(file.guarantee.epsilon))
    more = float(exact)
    while Fraction(repr(more)) < exact:
        more = nextafter(more, inf)
    whole, first = total_rho(planned), total_rho(file.planned)
    if whole is None or first is None:
        return more, None
    return more, up(max(whole - first, 0.0) + whole * 1e-15)
