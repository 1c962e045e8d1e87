"""Change one record of a small table and see how much every score changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from privcore.arrays import Columns
from privcore.counts import CountSource, InMemoryCounts
from privcore.data import Column, Dataset
from privcore.errors import ParameterError
from privcore.extras.teaching.panel import Panel, choice, number
from privcore.independence import SCORES
from privcore.independence.score import Score, strata_of
from privcore.independence.table_scores import concordance, spearman_by_stratum
from privcore.text import counted

Record = tuple[int, int, int]
# Larger than the largest table, for a record below or above all others.
LEVELS = 42
ROWS = (3, 40)


class Playground(NamedTuple):
    """Records (x, y, z), the index of the changed record (from 0), and its new values."""

    rows: tuple[Record, ...]
    changed: int
    replacement: Record


@dataclass(frozen=True)
class ScoreMove:
    """The change in one score.

    proven, published: bounds on the change, None if there is no such bound. broken: whether the
    change exceeds the published constant.
    """

    name: str
    title: str
    before: float
    after: float
    proven: float | None
    published: float | None
    flaw: str

    @property
    def move(self) -> float:
        return abs(self.after - self.before)

    @property
    def broken(self) -> bool:
        return self.published is not None and self.move > self.published * (1 + 1e-9)


@dataclass(frozen=True)
class Moves:
    """All scores of x and y given z (marginal if z is constant); n: number of rows."""

    playground: Playground
    n: int
    scores: tuple[ScoreMove, ...]

    @property
    def names(self) -> list[str]:
        return [score.name for score in self.scores]

    @property
    def moves(self) -> list[float]:
        return [score.move for score in self.scores]


def sensitivity_playground(
    rows: Sequence[Sequence[int]], changed_row: int, replacement: Sequence[int]
) -> Moves:
    """Every score before and after record `changed_row` becomes `replacement`.

    rows: (n, 3), values of x, y and z as whole numbers in [0, 42).
    Raises ParameterError for a table of another shape or size, and for values outside this range.
    """
    n = len(rows)
    if not ROWS[0] <= n <= ROWS[1]:
        raise ParameterError(
            "rows-of-panel-out-of-range", counted=counted(n, "row"), rows=ROWS[0], rows2=ROWS[1]
        )
    if changed_row not in range(n):
        raise ParameterError("no-such-record", n=n)
    table = Playground(tuple(map(_record, rows)), int(changed_row), _record(replacement))
    after = list(table.rows)
    after[table.changed] = table.replacement
    conditioning_set = (2,) if len({row[2] for row in (*table.rows, *after)}) > 1 else ()
    one, other = _counts(table.rows), _counts(after)
    moves = []
    for name, score in SCORES.items():
        strata = strata_of(one, conditioning_set)
        moves.append(
            ScoreMove(
                name,
                score.title,
                _value(score, one, conditioning_set),
                _value(score, other, conditioning_set),
                score.proven(n) if score.proven else None,
                score.published(n, strata) if score.published else None,
                score.published_flaw,
            )
        )
    return Moves(table, n, (*_unconditional(one, other), *moves))


def _value(score: Score, source: InMemoryCounts, conditioning_set: Columns) -> float:
    """The score of x and y; 0 if either is constant, for which Fisher's z is not defined."""
    constant = any(int((source.table([column]) > 0).sum()) < 2 for column in (0, 1))
    return 0.0 if constant else score.value(source, 0, 1, conditioning_set)


def _record(values: Sequence[int]) -> Record:
    try:
        numbers = [int(v) for v in values]
        exact = len(numbers) == 3 and all(
            0 <= w < LEVELS and float(v) == w for v, w in zip(values, numbers, strict=True)
        )
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise ParameterError("record-of-whole-numbers", levels=LEVELS - 1)
    return numbers[0], numbers[1], numbers[2]


def _counts(rows: Sequence[Record]) -> InMemoryCounts:
    levels = tuple(str(v) for v in range(LEVELS))
    columns = tuple(Column(name, "nominal", levels, declared=True) for name in "xyz")
    values = tuple(np.array(column, dtype=np.uint8) for column in zip(*rows, strict=True))
    return InMemoryCounts.from_dataset(Dataset("playground", columns, values))


def tau(source: CountSource) -> float:
    """Kendall's τ-a of x and y over all rows."""
    s, m = concordance(source.conditional_tables(0, 1, ()))
    return float(2 * s[0] / (m[0] * (m[0] - 1)))


def rho(source: CountSource) -> float:
    """Spearman's ρ of x and y over all rows, with the denominator for data without ties."""
    return float(spearman_by_stratum(source.conditional_tables(0, 1, ()))[0][0])


def _unconditional(one: CountSource, other: CountSource) -> tuple[ScoreMove, ...]:
    """τ and ρ themselves, for which the papers state sensitivities too (docs/guarantees.md)."""
    n = one.n

    def moved(
        name: str,
        title: str,
        of: Callable[[CountSource], float],
        proven: float,
        published: float,
        flaw: str,
    ) -> ScoreMove:
        return ScoreMove(name, title, of(one), of(other), proven, published, flaw)

    return (
        moved(
            "tau",
            "Kendall's τ, unconditional",
            tau,
            4 / n,
            2 / (n - 1),
            "Theorem 6 of Wang, Pang & Song 2020 counts only pairs that become concordant; the "
            "bound 4/n holds (Kusner et al. 2016, Theorem 1)",
        ),
        moved(
            "rho",
            "Spearman's ρ, unconditional",
            rho,
            6 / (n + 1),
            30 / n,
            "valid, but five times larger than necessary (Kusner et al. 2016)",
        ),
    )


@dataclass(frozen=True)
class Preset:
    """A preset table.

    words: what the table shows. make: returns the table for a number of rows, at least 8.
    """

    words: str
    make: Callable[[int], Playground]


def _small_stratum(n: int) -> Playground:
    """Three concordant records in one stratum, and one record in each other stratum."""
    alone = tuple((k % 3, k % 2, k - 2) for k in range(3, n))
    return Playground(((1, 1, 0), (2, 2, 0), (3, 3, 0), *alone), 2, (3, 0, 0))


def _corner(n: int) -> Playground:
    """All records are concordant, and one record moves to the opposite corner."""
    return Playground(tuple((k, k, 0) for k in range(1, n + 1)), n - 1, (0, n, 0))


def _change_of_stratum(n: int) -> Playground:
    """A record that is discordant with its stratum moves to a stratum where it is concordant."""
    half = n // 2
    up = tuple((k + 1, k + 1, 0) for k in range(half - 1))
    down = tuple((k + 1, half - k, 1) for k in range(n - half))
    return Playground((*up, (half + 1, 0, 0), *down), half - 1, (0, 0, 1))


def _rare_cell(n: int) -> Playground:
    """All records equal except one, which becomes equal to the others."""
    return Playground((*(((0, 0, 0),) * (n - 1)), (1, 1, 0)), n - 1, (0, 0, 0))


def _nothing_special(n: int) -> Playground:
    """Almost no dependence; one record moves by one step."""
    rows = tuple(((3 * k) % 5, (2 * k) % 7, k % 2) for k in range(n))
    x, y, z = rows[0]
    return Playground(rows, 0, (x + 1, y, z))


# Tables on which one record changes a score a lot (docs/guarantees.md).
PRESETS: dict[str, Preset] = {
    "small-stratum": Preset(
        "Conditional τ exceeds its published constant, 4.5/√n: the normaliser shrinks with the "
        "strata, so that one record in a stratum of three changes the score by more than 2, at any "
        "n.",
        _small_stratum,
    ),
    "corner": Preset(
        "All records are concordant, and the largest becomes discordant with all others. τ exceeds "
        "2/(n − 1) of Theorem 6; the bounds 4/n for τ and 6/(n + 1) for ρ are attained.",
        _corner,
    ),
    "change-of-stratum": Preset(
        "A record moves from one stratum to another and affects both. Conditional τ exceeds its "
        "published constant again; Z* comes close to its bound but stays within it.",
        _change_of_stratum,
    ),
    "rare-cell": Preset(
        "χ² falls from n to 0 when the only record with different values changes: a score that "
        "divides by an estimated spread has no useful bound.",
        _rare_cell,
    ),
    "ordinary": Preset(
        "An ordinary table: scores change much less than their bounds, which are for the worst "
        "case.",
        _nothing_special,
    ),
}


def _compute(values: Mapping[str, Any]) -> Moves:
    return sensitivity_playground(*PRESETS[values["preset"]].make(values["rows"]))


def playground_code(playground: Playground) -> str:
    """Return a script that makes the playground's replacement."""
    return f"""from privcore.extras.teaching.sensitivity import sensitivity_playground

rows = {[list(row) for row in playground.rows]!r}  # x, y and z
found = sensitivity_playground(rows, {playground.changed}, {list(playground.replacement)!r})
moves = [score.move for score in found.scores]
for score in found.scores:
    print(score.name, score.before, score.after, score.proven, score.published)
"""


def _code(values: Mapping[str, Any]) -> str:
    return playground_code(PRESETS[values["preset"]].make(values["rows"]))


_SOURCE = "docs/guarantees.md"

SENSITIVITY = Panel(
    name="sensitivity",
    title="Sensitivity playground",
    question="How much can one record change a score, and do the papers' bounds hold?",
    formula=r"\Delta = \max_{D \sim D'} |f(D) - f(D')|,\qquad "
    r"Z^* = \frac{3}{\sqrt n} \sum_b F(S_b, n_b),\quad \Delta(Z^*) = \frac{6}{\sqrt n}",
    sentence="If the change in one table exceeds a published constant, this constant is not a "
    "sensitivity. The proven bounds hold for every table.",
    source="Wang, Pang & Song 2020, Theorems 3, 6 and 9; Kusner et al. 2016; docs/proofs/z_star.md",
    parameters=(
        choice(
            "preset",
            "Start from",
            "small-stratum",
            tuple(PRESETS),
            "A table and a change to one of its records.",
            _SOURCE,
        ),
        number("rows", "Rows", "n", 12, (8, 20), "Number of records; public.", _SOURCE, kind="int"),
    ),
    compute=_compute,
    code=_code,
    reproduces=("moves",),
    words=lambda values: PRESETS[values["preset"]].words,
)
