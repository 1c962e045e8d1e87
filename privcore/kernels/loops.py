"""Counting loops compiled by numba; imported by `compiled` only, since numba takes long to import.

Each has a path in numpy (`encoding`, `projections`, `frequencies`, `ranks`, `greedy_distance`,
`table_climb`, `margins`), which is what runs where numba is missing or not loaded yet.  Its result
is the same, to the last bit; of `table_climb` up to rounding, so that kernels are waited for there.
"""

from privcore.kernels.dag_fits import fit_dag
from privcore.kernels.dags import best_moves, walk
from privcore.kernels.distance import greedy_removals
from privcore.kernels.every import test_every
from privcore.kernels.margins import fit_margins, margin_places
from privcore.kernels.rows import merge_keys, unique_keys, unique_small_keys
from privcore.kernels.scan import DEPENDENT, UNDECIDED, scan_pairs
from privcore.kernels.tables import (
    concordance,
    kendall_terms,
    statistic,
    stratum_tables,
    z_star_terms,
)

__all__ = [
    "DEPENDENT",
    "UNDECIDED",
    "best_moves",
    "concordance",
    "fit_dag",
    "fit_margins",
    "greedy_removals",
    "kendall_terms",
    "margin_places",
    "merge_keys",
    "scan_pairs",
    "statistic",
    "stratum_tables",
    "test_every",
    "unique_keys",
    "unique_small_keys",
    "walk",
    "z_star_terms",
]
