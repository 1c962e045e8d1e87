"""Parameters that several algorithms declare."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from privcore.errors import ParameterError
from privcore.graphs.knowledge import canonical
from privcore.graphs.orientation import ColliderRule, ConflictRule
from privcore.independence import SCORES
from privcore.independence.measures import Calibration, Space
from privcore.parameter import Parameter, Parameters
from privcore.text import short
from privcore.unit import ADDED, MOST_ROWS, REPLACED, Relation

BLOCK_SCORES = ("g2-votes", "chi2-votes")
MEDIAN_SCORES = ("g2-median", "chi2-median")
_PROVEN = tuple(name for name, score in SCORES.items() if score.proven)
_PUBLISHED = tuple(name for name, score in SCORES.items() if score.published)
_STREAM = tuple(dict.fromkeys((*_PROVEN, *BLOCK_SCORES, *_PUBLISHED)))
_SIEVE = tuple(dict.fromkeys((*_PROVEN, *BLOCK_SCORES, *MEDIAN_SCORES, *_PUBLISHED)))
_TABLE_SCORES = tuple(name for name, score in SCORES.items() if score.of_tables)


_SCORE_LABELS = (
    *((name, score.label) for name, score in SCORES.items()),
    ("g2-votes", "Blocks vote with G²"),
    ("chi2-votes", "Blocks vote with χ²"),
    ("g2-median", "Median block, G²"),
    ("chi2-median", "Median block, χ²"),
)


def _labels(names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple(pair for pair in _SCORE_LABELS if pair[0] in names)


def _titled(names: tuple[str, ...]) -> str:
    """The scores with their titles, such as "z-star: Z* (…); …"."""
    return "; ".join(f"{name}: {SCORES[name].title}" for name in names)


_WANG = "Wang, Pang & Song 2020"

EPSILON = Parameter(
    name="epsilon",
    title="Privacy budget",
    symbol="ε",
    kind="float",
    default=1.0,
    range="(0, 1e6]",
    scale="log",
    slider=(0.05, 20.0),
    help="A single record may change the probability of any result by at most a factor of e^ε. "
    "Usually ε is the total for the whole run; if a published calibration computes its total after "
    "the run, ε is the cost of one round or test.",
    source="Dwork & Roth 2014, Definition 2.4",
)
DELTA = Parameter(
    name="delta",
    title="Failure probability",
    symbol="δ",
    kind="float",
    default=1e-6,
    range="[0, 1)",
    scale="log",
    slider=(1e-9, 1e-3),
    help="Probability with which the bound ε may fail. Keep it well below 1/n; 0 is allowed.",
    source="Dwork & Roth 2014, Definition 2.4",
)
THRESHOLD = Parameter(
    name="threshold",
    title="Significance level",
    symbol="T",
    kind="float",
    default=0.05,
    range="(0, 1)",
    scale="log",
    slider=(1e-12, 0.5),
    help="A pair is called independent when the test does not reject at this level. Lower levels "
    "delete more edges. |Z| is compared with the matching two-sided normal quantile.",
    source=f"{_WANG}, Definition 4",
)
MAX_ORDER = Parameter(
    name="max_order",
    advanced=True,
    title="Largest conditioning set",
    symbol="k",
    kind="int",
    default=3,
    range="[0, 30]",
    optional=True,
    auto_help="no limit",
    slider=(0, 10),
    help="Tests condition on at most this many columns. Larger sets take more time, and their "
    "strata hold too few rows for a test to have power.",
    source="Spirtes, Glymour & Scheines 2000, Section 5.4.2",
)
STABLE = Parameter(
    name="stable",
    advanced=True,
    title="Order-independent search",
    symbol="stable",
    kind="bool",
    default=True,
    help="Freeze the neighbourhoods while one order is tested, so that the skeleton does not "
    "depend on the order of the columns. Off: the original PC.",
    source="Colombo & Maathuis 2014",
)
COLLIDER_RULE = Parameter(
    name="collider_rule",
    advanced=True,
    title="Rule for v-structures",
    symbol="sets",
    kind="choice",
    default="majority",
    choices=("majority", "conservative", "union", "first"),
    labels=(
        ("majority", "Majority of the sets"),
        ("conservative", "All sets agree"),
        ("union", "Sets of one size"),
        ("first", "First set found"),
    ),
    help="Two non-adjacent columns point at a common neighbour (a v-structure) unless the "
    "neighbour is in their separating sets. majority: the neighbour must be absent from more than "
    "half of all separating sets among the neighbours of either column; if it is absent from "
    "exactly half, the edges stay undirected. conservative: it must be absent from all of these "
    "sets; if it is in only some, the edges stay undirected. union: it must be absent from all "
    "separating sets of the size at which the pair was separated. first: it must be absent from "
    "the one set that the search found, which depends on the order of the columns.",
    source="Colombo & Maathuis 2014 (majority); Ramsey, Zhang & Spirtes 2006 (conservative); "
    "causal-learn (union); Spirtes, Glymour & Scheines 2000 (first)",
)
CONFLICT_RULE = Parameter(
    name="conflict_rule",
    advanced=True,
    title="Rule for contradicting v-structures",
    symbol="conflicts",
    kind="choice",
    default="strength",
    choices=("strength", "drop", "bi-directed", "keep first", "overwrite"),
    labels=(
        ("strength", "The stronger one stays"),
        ("drop", "Neither stays"),
        ("bi-directed", "Both, as a ↔ b"),
        ("keep first", "The first stays"),
        ("overwrite", "The last stays"),
    ),
    help="What happens when two v-structures orient one edge in opposite directions. strength: "
    "the v-structure with the stronger evidence stays (evidence that its ends are dependent given "
    "the middle). With the rule first, the v-structure with the smaller separating set stays. "
    "drop: neither stays. bi-directed: the edge is drawn a ↔ b. keep first, overwrite: the first "
    "or the last in the order of the columns stays, so the graph depends on that order and may "
    "have a cycle.",
    source="causal-learn (strength, keep first, overwrite); Colombo & Maathuis 2014 (bi-directed); "
    "choice made here (drop)",
    only_with=("hidden_causes", (False,)),
)
IN_TURN = Parameter(
    name="in_turn",
    advanced=True,
    title="Decide open cases by column order",
    symbol="in turn",
    kind="bool",
    default=False,
    help="Off: edges that no other rule decides stay undirected, and the graph does not depend on "
    "the order of the columns. On: these edges are decided one at a time in the order of the "
    "columns, as in causal-learn; the graph may then have a cycle. Always on with keep first and "
    "overwrite.",
    source="causal-learn",
    only_with=("conflict_rule", ("strength", "drop", "bi-directed")),
)
HIDDEN_CAUSES = Parameter(
    name="hidden_causes",
    title="Allow unobserved confounders",
    symbol="H",
    kind="bool",
    default=False,
    help="Off: the search assumes that there are no unobserved confounders (causal sufficiency). "
    "On: the search allows unobserved confounders and selection bias. FCI then "
    "searches the released statistics, which costs no further budget, and draws a PAG: an "
    "arrow still means a cause, a double arrow an unobserved confounder, and a circle an end "
    "that the data do not determine.",
    source="Spirtes, Glymour & Scheines 2000, Chapter 6; Zhang 2008",
)
ORIENTATION_NAMES = ("collider_rule", "conflict_rule", "in_turn", "hidden_causes")
ANY_SCORE = Parameter(
    name="score",
    advanced=True,
    title="Independence score",
    symbol="score",
    kind="choice",
    default=None,
    optional=True,
    auto_help="g2 for columns with levels, fisher-z for numbers",
    choices=tuple(SCORES),
    labels=_labels(tuple(SCORES)),
    help="How dependence is measured. G² and χ² detect any dependence between categories; the rank "
    "scores have the low sensitivity that private algorithms need; Fisher's z is for numeric "
    "columns.",
    source=f"{_WANG}, Appendix D–F; Kalisch & Bühlmann 2007",
)
TABLE_SCORE = Parameter(
    name="score",
    advanced=True,
    title="Independence score",
    symbol="score",
    kind="choice",
    default="g2",
    choices=_TABLE_SCORES,
    labels=_labels(_TABLE_SCORES),
    help="How dependence is measured on the noisy counts. Any score may be used at "
    "no further cost, because scores of the noisy counts are post-processing.",
    source="Xu, Yuan & Wu 2017, Section III-A",
)
STREAM_SCORE = Parameter(
    name="score",
    advanced=True,
    title="Independence score",
    symbol="score",
    kind="choice",
    default=None,
    optional=True,
    auto_help="z-star when proven, kendall when published",
    choices=_STREAM,
    labels=_labels(_STREAM),
    limited=(("proven", (*_PROVEN, *BLOCK_SCORES)), ("published", _PUBLISHED)),
    help="How dependence is measured. With a proven sensitivity: "
    f"{_titled(_PROVEN)}; {' and '.join(BLOCK_SCORES)}: blocks of the rows vote with G² or χ². "
    f"With a published sensitivity only: {_titled(_PUBLISHED)}.",
    source=f"{_WANG}, Appendix D–F",
)
SCORE = Parameter(
    name="score",
    advanced=True,
    title="Independence score",
    symbol="score",
    kind="choice",
    default=None,
    optional=True,
    auto_help="z-star when proven, kendall when published",
    choices=_SIEVE,
    labels=_labels(_SIEVE),
    limited=(
        ("proven", (*_PROVEN, *BLOCK_SCORES, *MEDIAN_SCORES)),
        ("published", (*_PUBLISHED, *MEDIAN_SCORES)),
    ),
    help="How dependence is measured. With a proven sensitivity: "
    f"{_titled(_PROVEN)}; {' and '.join(BLOCK_SCORES)}: blocks of the rows vote with G² or χ². In "
    f"both calibrations: {' and '.join(MEDIAN_SCORES)}, the median p-value over the blocks. With a "
    f"published sensitivity only: {_titled(_PUBLISHED)}.",
    source=f"{_WANG}, Appendix D–F and Algorithm 6",
)
BLOCKS = Parameter(
    name="blocks",
    advanced=True,
    title="Blocks of rows",
    symbol="m",
    kind="int",
    default=51,
    range="[3, 1001]",
    slider=(3, 301),
    help="Number of random blocks that the rows are split into; it must be odd. With more blocks "
    "one record has less influence, but each block has fewer rows and therefore less power.",
    source=f"{_WANG}, Algorithm 6",
    only_with=("score", (*BLOCK_SCORES, *MEDIAN_SCORES)),
)
SPACE = Parameter(
    name="space",
    advanced=True,
    title="Where noise is added",
    symbol="space",
    kind="choice",
    default="z",
    choices=("z", "p"),
    labels=(("z", "The score |Z|"), ("p", "Its p-value")),
    help="z: noise is added to |Z|. p: noise is added to the p-value, as in the papers' code. A "
    "p-value changes most where Z is 0, so it needs large noise, but it changes little near the "
    "threshold: at level 0.05 the signal-to-noise ratio is less than a sixth of the ratio in z.",
    source="docs/proofs/p_space.md; Bhattacharjee & Tandon 2024, Appendix B",
    only_with=("score", (None, *_PROVEN, *_PUBLISHED)),
)
CORRECTION = Parameter(
    name="correction",
    advanced=True,
    title="Correction for ties",
    symbol="T_ij",
    kind="choice",
    default="none",
    choices=("none", "ties", "ties and noise"),
    help="With ties, rank scores vary less than the normal quantile assumes, so weak edges are "
    "lost, above all where one level is rare. ties: a tenth of ε is spent on the level counts of "
    "all columns, and each pair gets a threshold that fits its ties. ties and noise: the threshold "
    "also includes the variance of the noise, so that fewer false edges remain.",
    source="docs/proofs/one_way_marginals.md",
    calibrations=("proven",),
    only_with=("space", ("z",)),
)
RATE = Parameter(
    name="rate",
    advanced=True,
    title="Sub-sampling rate",
    symbol="m/n",
    kind="float",
    default=1.0,
    range="(0, 1]",
    slider=(0.05, 1.0),
    help="The sieve uses this fraction of the rows, drawn at random for every round.",
    source=f"{_WANG}, Algorithm 2",
)
MIXED_LEVELS = Parameter(
    name="mixed_levels",
    advanced=True,
    title="Levels per numeric column",
    symbol="L",
    kind="int",
    default=4,
    range="[2, 100]",
    slider=(2, 10),
    help="If some columns have levels and others are numeric, the numeric columns are cut into "
    "this many intervals of equal width between their public bounds. Differences within an "
    "interval are lost.",
    source="choice made here",
)
CALIBRATION = Parameter(
    name="calibration",
    title="Calibration",
    symbol="calibration",
    kind="choice",
    default="proven",
    choices=("proven", "published"),
    labels=(("published", "As in the paper"),),
    help="Proven: the noise scale is derived and tested in this project; the total (ε, δ) is fixed "
    "before the run. Published: the noise has the paper's constants, to reproduce the paper's "
    "figures; the paper's guarantee does not hold.",
    source="docs/guarantees.md",
)

PROVEN_ONLY = replace(
    CALIBRATION.offering(("proven",)),
    help="Proven: the noise scale is derived and tested in this project; the total (ε, δ) is fixed "
    "before the run.",
)


KNOWLEDGE = Parameter(
    name="knowledge",
    advanced=True,
    title="Background knowledge",
    symbol="K",
    kind="text",
    default="",
    read=canonical,
    help="A time order (tiers), forbidden edges and required edges, as JSON; empty for none. "
    "Background knowledge is public, so it must not come from these rows. Every graph respects "
    "this knowledge, and algorithms that test pair by pair spend no budget on edges that the "
    "knowledge decides.",
    source="Meek 1995; docs/how-to/knowledge.md",
)


def _name(value: Any) -> str:
    """A column's name as it is; raises ParameterError for anything but text."""
    if not isinstance(value, str):
        raise ParameterError("target-not-a-name", value=short(str(value)))
    return value


TARGET = Parameter(
    name="target",
    advanced=True,
    title="One column",
    symbol="t",
    kind="text",
    default="",
    read=_name,
    help="The name of a column, if the question is what is linked with this column alone; empty "
    "for the whole graph. The answer has the links of the column, and the other causes of its "
    "effects.",
    source="docs/how-to/one-column.md",
)

ROWS_PER_UNIT = Parameter(
    name="rows_per_unit",
    advanced=True,
    title="Rows per person",
    symbol="k",
    kind="int",
    default=None,
    range=f"[1, {MOST_ROWS}]",
    optional=True,
    auto_help="the table's own bound, or 1 if no column identifies the person",
    slider=(1, 20),
    help="Maximum number of rows of one person (or other unit of protection). The guarantee "
    "covers all rows of a person together. Noise grows with this number.",
    source="docs/proofs/units.md",
    calibrations=("proven",),
)
NEIGHBOURS = Parameter(
    name="neighbours",
    advanced=True,
    title="What is hidden",
    symbol="D ~ D′",
    kind="choice",
    default=REPLACED,
    choices=(REPLACED, ADDED),
    labels=((REPLACED, "The values of the rows"), (ADDED, "Also whether a person is in the table")),
    help="replaced: neighbouring tables differ in the values of one person's rows, and the number "
    "of rows is public. added or removed: the tables differ in whether a person's rows are "
    "in the table at all. A twentieth of ε pays for a noisy number of rows, and rows in excess of "
    "this number are left out at random.",
    source="docs/proofs/units.md; Dwork & Roth 2014, Section 2.3",
    calibrations=("proven",),
)


@dataclass(frozen=True, kw_only=True)
class GraphParameters(Parameters):
    """Parameters of every algorithm that finds a graph."""

    knowledge: str = KNOWLEDGE.field()


@dataclass(frozen=True, kw_only=True)
class PrivateParameters(GraphParameters):
    """Parameters of every private algorithm."""

    calibration: Calibration = CALIBRATION.field()
    epsilon: float = EPSILON.field()
    rows_per_unit: int | None = ROWS_PER_UNIT.field()
    neighbours: Relation = NEIGHBOURS.field()


@dataclass(frozen=True, kw_only=True)
class ProvenParameters(PrivateParameters):
    """Parameters of a private algorithm that has no published calibration."""

    calibration: Calibration = PROVEN_ONLY.field()


@dataclass(frozen=True, kw_only=True)
class SearchParameters(GraphParameters):
    """Parameters of every search for a skeleton."""

    max_order: int | None = MAX_ORDER.field()
    stable: bool = STABLE.field()


@dataclass(frozen=True, kw_only=True)
class OrientedParameters(SearchParameters):
    """Parameters of a search that can make further tests for v-structures at no privacy cost."""

    collider_rule: ColliderRule = COLLIDER_RULE.field()
    conflict_rule: ConflictRule = CONFLICT_RULE.field()
    in_turn: bool = IN_TURN.field()
    hidden_causes: bool = HIDDEN_CAUSES.field()


@dataclass(frozen=True, kw_only=True)
class ScoreParameters(PrivateParameters):
    """Parameters of an algorithm that compares a score with a threshold under noise."""

    delta: float = DELTA.field()
    score: str | None = STREAM_SCORE.field()
    blocks: int = BLOCKS.field()
    threshold: float = THRESHOLD.field()


@dataclass(frozen=True, kw_only=True)
class PerTestParameters(SearchParameters, ScoreParameters):
    """Parameters of an algorithm that decides test by test."""

    space: Space = SPACE.field()
    correction: str = CORRECTION.field()
