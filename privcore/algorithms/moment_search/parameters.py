"""Parameters of moment search, the noise-aware search over released moments."""

from __future__ import annotations

from dataclasses import dataclass, replace

from privcore.algorithms.gradients import parameters as gradient_parameters
from privcore.algorithms.search import parameters
from privcore.parameter import Parameter

_OURS = "chosen here on random networks; docs/experiments/choosing_defaults.md"

LEVEL = Parameter(
    name="false_edges",
    title="Accepted share of false edges (FDR level)",
    symbol="q",
    kind="float",
    default=0.03,
    range="(0, 1)",
    scale="log",
    slider=(1e-4, 0.5),
    help="Expected share of false edges among the edges of the graph, with noise accounted for. If "
    "all columns are independent, this level is the probability that the graph has any edge.",
    source="Benjamini & Hochberg 1995",
)
DELTA = replace(
    gradient_parameters.DELTA,
    help=f"{gradient_parameters.DELTA.help} If all combinations of levels are counted at once, "
    "this value is not used and δ is 0.",
)
THRESHOLD = replace(
    parameters.THRESHOLD,
    advanced=True,
    default=0.03,
    help="Two columns are taken to be independent given other columns if the test on noisy counts "
    "does not reject at this level. The test allows for the variance of the noise. Not used if all "
    "combinations of levels are counted at once.",
)
CANDIDATES = Parameter(
    name="candidate_level",
    advanced=True,
    title="Significance level for the first counts",
    symbol="a",
    kind="float",
    default=0.15,
    range="(0, 1)",
    scale="log",
    slider=(1e-3, 0.5),
    help="Pairs that are significant at this level in the first noisy counts are tested again. At "
    "a higher level, more pairs are tested, with more noise on each. With more than 60 columns the "
    "level is lowered, so that a column has no more false candidates on average than with 60. "
    "Not used if all combinations of levels are counted at once.",
    source=_OURS,
)
WHOLE = Parameter(
    name="whole_table",
    advanced=True,
    title="Maximum number of combinations counted at once",
    symbol="K",
    kind="int",
    default=2048,
    range="[0, 100000]",
    slider=(0, 5000),
    help="If the columns have at most this number of combinations of levels, all combinations are "
    "counted in one table, with noise on each count, and δ is 0. Otherwise pairs of columns are "
    "counted first, then larger tables. At 0, pairs are always counted first; fewer edges are then "
    "found, but the run costs less ρ if the budget is in zCDP.",
    source=_OURS,
)
SHARE = Parameter(
    name="table_share",
    advanced=True,
    title="Budget share for tables of several columns",
    symbol="s",
    kind="float",
    default=0.45,
    range="[0.01, 0.99]",
    slider=(0.1, 0.9),
    help="Share of the budget (of μ², in Gaussian differential privacy) for tables of a column "
    "and its likely neighbours. The rest goes to the counts of all pairs of columns.",
    source=_OURS,
)
TABLES = Parameter(
    name="table_noise_ratio",
    advanced=True,
    title="Largest noise in a table",
    symbol="c",
    kind="float",
    default=100.0,
    range="[0.01, 10000]",
    scale="log",
    slider=(1.0, 1000.0),
    help="Largest allowed ratio of noise variance to sampling variance in a test on a table of "
    "several columns. The ratio limits the size of these tables. If even a small table would "
    "exceed the ratio, the whole budget goes to the counts of pairs of columns.",
    source=_OURS,
)
PENALTY = Parameter(
    name="penalty",
    advanced=True,
    title="Penalty per parameter",
    symbol="λ",
    kind="float",
    default=3.0,
    range="[0, 100]",
    slider=(1.0, 20.0),
    help="Smallest reduction in deviance that justifies adding a parent, per parameter that the "
    "parent adds to the model. The penalty takes the place of log n in BIC. Not used if all "
    "combinations of levels are counted at once.",
    source=f"Schwarz 1978; {_OURS}",
)
REFERENCE = Parameter(
    name="reference_effect",
    advanced=True,
    title="Smallest dependence of interest",
    symbol="V",
    kind="float",
    default=0.1,
    range="(0, 1]",
    slider=(0.01, 0.5),
    help="Given as Cramér's V (for balanced yes/no columns, 0.1 is a difference of 10 percentage "
    "points) or, for numeric columns, as a correlation. For each pair without an edge, the result "
    "states whether the test had power to detect a dependence of this size. This value does not "
    "change the graph.",
    source="Cohen 1988: a small effect",
)
RADIUS = Parameter(
    name="longest_row",
    advanced=True,
    title="Largest norm of a row",
    symbol="R",
    kind="float",
    default=None,
    optional=True,
    auto_help="from 1 to 3 for numeric columns (the more noise, the smaller), otherwise 0.9",
    range="[0.1, 100]",
    slider=(0.5, 5.0),
    help="For numeric columns, and for levels coded by a few numbers each: standardised rows whose "
    "norm is above R√p (p: number of entries in a row) are scaled down to that norm. With a "
    "smaller R, less noise is needed but more rows are scaled down.",
    source=_OURS,
)
MEASURED = Parameter(
    name="measured",
    advanced=True,
    title="How columns are measured",
    symbol="f",
    kind="choice",
    default=None,
    optional=True,
    auto_help="by the products of the target, if there is one and the whole graph would show "
    "too little; otherwise level by level if this shows most links with this number of rows and "
    "ε, otherwise in the way that shows most: by a few numbers or by distances",
    choices=("levels", "lines", "distances", "target"),
    labels=(
        ("levels", "Level by level"),
        ("lines", "By a few numbers each"),
        ("distances", "By distances of pairs"),
        ("target", "By the products of one column"),
    ),
    help="“Level by level” detects any dependence, but needs many rows. “By a few numbers each” "
    "turns ordered levels into one linear score and merges unordered levels into three groups. "
    "Trends are then detected even in small tables, but a dependence that rises and then falls is "
    "missed. “By distances of pairs” measures how far each pair of columns is from independence, "
    "with noise that does not grow with the number of levels: any dependence between unordered "
    "levels is detected in fewer rows, but few directions are. “By the products of one column” "
    "first looks for columns that are linked with the target, then measures these alone. Numeric "
    "columns are measured in this way or as numbers. If the number of rows is private, the default "
    "is level by level, or by the products of the target.",
    source=_OURS,
)
MAX_PARENTS = Parameter(
    name="max_parents",
    advanced=True,
    title="Maximum number of parents",
    symbol="m",
    kind="int",
    default=4,
    range="[1, 10]",
    slider=(1, 8),
    help="Maximum number of parents of a column in the graph. Runs with higher values take longer.",
    source=_OURS,
)

# Penalty for each pair of a parent's and the column's coordinates, as a multiple of BIC's log n.
LINE_PENALTY = 1.5
# With more columns `candidate_level` falls, and not every pair of numeric columns is a candidate.
USUAL_COLUMNS = 60


@dataclass(frozen=True, kw_only=True)
class MomentSearchParameters(parameters.ProvenParameters):
    """Parameters of moment search."""

    delta: float = DELTA.field()
    false_edges: float = LEVEL.field()
    threshold: float = THRESHOLD.field()
    candidate_level: float = CANDIDATES.field()
    whole_table: int = WHOLE.field()
    table_share: float = SHARE.field()
    table_noise_ratio: float = TABLES.field()
    penalty: float = PENALTY.field()
    max_parents: int = MAX_PARENTS.field()
    measured: str | None = MEASURED.field()
    longest_row: float | None = RADIUS.field()
    reference_effect: float = REFERENCE.field()
    max_order: int | None = parameters.MAX_ORDER.field()
    hidden_causes: bool = parameters.HIDDEN_CAUSES.field()
    target: str = parameters.TARGET.field()

    def level_of_candidates(self, columns: int) -> float:
        """`candidate_level`, adjusted for this number of columns."""
        return self.candidate_level * min(1.0, (USUAL_COLUMNS - 1) / max(columns - 1, 1))
