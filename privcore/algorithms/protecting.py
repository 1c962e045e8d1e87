"""Converts a requested guarantee per person into an algorithm's guarantee per row, and back.

Algorithms protect one replaced row in a table with a public number of rows. If a person has up to k
rows, the run gets the budget per row at which k rows together have the requested guarantee
(`group`). If a person's presence in the table is private, a noisy number of rows is released first,
and the table is resized to fit this number (`Source.resized`). Proof: docs/proofs/units.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privcore.algorithms.search.model import Algorithm, Outcome
from privcore.counts import Source
from privcore.errors import ParameterError
from privcore.privacy.accounting import Guarantee
from privcore.privacy.mechanisms import NoiseSource
from privcore.rounding import down, up
from privcore.unit import ADDED, REPLACED, Relation, Unit

PROOF = "docs/proofs/units.md"
# Share of ε for the number of rows.
_SHARE = 0.05
# The table is resized to this many noise scales below the noisy number: rows are then made up in 2
# % of runs.
_BELOW = 3.0
_LEAST_ROWS = 2
# Largest scale of that noise, in rows: beyond it only made-up rows would remain.
_MOST_NOISE = 1e6
_NUMBER_OF_ROWS = "number of rows"


@dataclass(frozen=True)
class Protection:
    """The unit of privacy and the relation between neighbouring tables.

    unit: the unit whose rows are protected together. relation: how neighbouring tables differ.
    """

    unit: Unit
    relation: Relation = REPLACED

    @classmethod
    def of(cls, checked: Mapping[str, Any], unit: Unit) -> Protection:
        """The protection that a run with these parameters gives in a table with this unit.

        Raises ParameterError if the protection covers fewer rows per unit than the table allows.
        """
        if checked.get("calibration") != "proven":
            # No other guarantee is proven, whatever the unit.
            return cls(Unit())
        rows = checked["rows_per_unit"] or unit.rows
        if rows < unit.rows:
            raise ParameterError("unit-bound-exceeded", unit=unit.noun, rows=unit.rows, rows2=rows)
        return cls(Unit(unit.noun, rows), checked["neighbours"])

    def stated(self, checked: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters, with the number of protected rows per unit filled in."""
        if self.unit.rows == 1:
            return dict(checked)
        return {**checked, "rows_per_unit": self.unit.rows}

    @property
    def plain(self) -> bool:
        """Whether algorithms give this protection directly, without conversion."""
        return self.unit.rows == 1 and self.relation == REPLACED

    @property
    def sentence(self) -> str:
        return self.unit.sentence(self.relation)

    def split(self, epsilon: float) -> tuple[float, float]:
        """ε for the number of rows, 0 if this number is public, and ε for the run on rows."""
        first = down(_SHARE * epsilon) if self.relation == ADDED else 0.0
        return first, down(epsilon - first) if first else epsilon

    def sized(self, source: Source, epsilon: float, noise: NoiseSource) -> Source:
        """The table for the run on rows, resized if the number of rows is private.

        epsilon: total for the whole run.

        Raises DataError if the rows are not in memory, and ParameterError if ε is so small that the
        noise on the number of rows would exceed the size of any table. The check of ε uses public
        facts only.
        """
        if self.relation == REPLACED:
            return source
        if not source.resizable:
            return source.resized(source.n, noise)
        # Adding or removing one unit adds or removes up to this many rows.
        scale = up(self.unit.rows / self.split(epsilon)[0])
        if scale > _MOST_NOISE:
            raise ParameterError(
                "rows-noise-too-large", epsilon=epsilon, rows=scale, replaced=REPLACED
            )
        counted = noise.discrete_laplace_array(np.array([source.n], dtype=np.int64), scale)
        size = max(int(counted[0] - np.ceil(_BELOW * scale)), _LEAST_ROWS)
        return source.resized(size, noise)

    def promised(
        self, outcome: Outcome, checked: Mapping[str, Any], size: int, bounded: int
    ) -> Outcome:
        """The outcome of a run on rows, with the guarantee and the cost converted to cover a unit.

        size: number of rows that the run used. bounded: the table's maximum number of rows per
        unit.
        """
        stated, rows = outcome.guarantee, self.unit.rows
        public, accountant = stated.public, stated.accountant
        if rows > 1:
            accountant = f"{accountant}, for {rows:,} rows together"
        if self.relation == ADDED:
            accountant = f"{accountant}, and a twentieth of ε for the number of rows"
            public = tuple(
                f"a noisy number of rows ({size:,}), released with part of ε"
                if fact.startswith(_NUMBER_OF_ROWS)
                else fact
                for fact in public
            )
        if rows > bounded:
            name = self.unit.name
            public = (
                *public,
                f"no {name} has more than {rows:,} rows (stated by the owner, not checked)",
            )
        guarantee = replace(
            stated,
            epsilon=checked["epsilon"],
            neighbours=self.sentence,
            public=public,
            accountant=accountant,
            proof=f"{stated.proof}, {PROOF}" if stated.proof else PROOF,
        )
        factor = {"epsilon": rows, "rho": rows * rows}.get(outcome.spent.unit, 1)
        spent = replace(
            outcome.spent, used=outcome.spent.used * factor, total=outcome.spent.total * factor
        )
        unreached = outcome.unreached
        if unreached is not None and unreached.epsilon is not None:
            share = 1 - _SHARE if self.relation == ADDED else 1.0
            unreached = replace(unreached, epsilon=unreached.epsilon * rows / share)
        return outcome._replace(
            guarantee=_with_delta(guarantee, checked), spent=spent, unreached=unreached
        )


def of_source(
    algorithm: Algorithm,
    checked: Mapping[str, Any],
    source: Source,
) -> Protection:
    """The protection that a run of the algorithm gives in the table of a source."""
    return Protection.of(checked, source.unit) if algorithm.private else Protection(Unit())


def with_budget(values: Mapping[str, Any], epsilon: float, delta: float) -> dict[str, Any]:
    """The parameters with this budget; δ is unchanged if the run does not need any."""
    return {**values, "epsilon": epsilon, **({"delta": delta} if delta > 0 else {})}


def _with_delta(guarantee: Guarantee, checked: Mapping[str, Any]) -> Guarantee:
    """The guarantee with the whole δ of the run; unchanged if the run needs no δ."""
    return replace(guarantee, delta=float(checked["delta"])) if guarantee.delta > 0 else guarantee
