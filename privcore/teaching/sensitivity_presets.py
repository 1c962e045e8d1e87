"""Tables on which one record moves a score far (docs/guarantees.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

Record = tuple[int, int, int]


class Playground(NamedTuple):
    """Records (x, y, z), which of them moves (from 0), and where it goes."""

    rows: tuple[Record, ...]
    changed: int
    replacement: Record


@dataclass(frozen=True)
class Preset:
    """make: number of rows, at least 8, to a table; words: what to see in it."""

    words: str
    make: Callable[[int], Playground]


def _small_stratum(n: int) -> Playground:
    """Three concordant records in one stratum, all others alone in theirs."""
    alone = tuple((k % 3, k % 2, k - 2) for k in range(3, n))
    return Playground(((1, 1, 0), (2, 2, 0), (3, 3, 0), *alone), 2, (3, 0, 0))


def _corner(n: int) -> Playground:
    """All concordant, and one record goes to the opposite corner."""
    return Playground(tuple((k, k, 0) for k in range(1, n + 1)), n - 1, (0, n, 0))


def _change_of_stratum(n: int) -> Playground:
    """A record that is discordant with its stratum joins one with which it is concordant."""
    half = n // 2
    up = tuple((k + 1, k + 1, 0) for k in range(half - 1))
    down = tuple((k + 1, half - k, 1) for k in range(n - half))
    return Playground((*up, (half + 1, 0, 0), *down), half - 1, (0, 0, 1))


def _rare_cell(n: int) -> Playground:
    """All records alike but one, which becomes like the others."""
    return Playground((*(((0, 0, 0),) * (n - 1)), (1, 1, 0)), n - 1, (0, 0, 0))


def _nothing_special(n: int) -> Playground:
    """No dependence to speak of; one record moves by one step."""
    rows = tuple(((3 * k) % 5, (2 * k) % 7, k % 2) for k in range(n))
    x, y, z = rows[0]
    return Playground(rows, 0, (x + 1, y, z))


PRESETS: dict[str, Preset] = {
    "small-stratum": Preset(
        "The published constant of conditional τ, 4.5/√n, is broken: its normaliser shrinks with "
        "the strata, so that in a stratum of three one record counts for more than 2, at any n.",
        _small_stratum,
    ),
    "corner": Preset(
        "All records are concordant, and the largest becomes discordant with all: Theorem 6's "
        "2/(n − 1) for τ is broken; Kusner's 4/n for τ and 6/(n + 1) for ρ are attained.",
        _corner,
    ),
    "change-of-stratum": Preset(
        "A record leaves one stratum for another and disturbs both: conditional τ breaks its "
        "published constant once more; Z* comes near its bound and keeps it.",
        _change_of_stratum,
    ),
    "rare-cell": Preset(
        "χ² falls from n to 0 when the only record of its kind moves: what divides by an estimated "
        "spread has no useful bound.",
        _rare_cell,
    ),
    "ordinary": Preset(
        "An ordinary table: scores move much less than their bounds, which are for the worst.",
        _nothing_special,
    ),
}
