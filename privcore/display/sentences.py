"""Sentences on a run: what it promises, what noise costs, what limits it.

The cost of privacy, separated from the gain or loss due to the algorithm itself.

A private graph differs from PC's graph because of the noise and because of the algorithm. A run of
the same algorithm without noise separates the two effects.

Plain-text sentences on what a guarantee promises, and whom it protects.

Sentences on what a significance level, δ and nearly constant columns mean for a run.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt, tanh
from typing import NamedTuple

from privcore.algorithms import Algorithm, Discovery, get_algorithm
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape, visible, visible_effects
from privcore.algorithms.protecting import Protection
from privcore.data.model import ONE_LEVEL
from privcore.errors import ParameterError
from privcore.independence import get_score, z_threshold
from privcore.measures.comparison import Comparison
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.guarantee import guessing_bound
from privcore.text import counted, percent, short
from privcore.unit import ADDED, RECORD, understood


class LinkCount(NamedTuple):
    """Numbers of adjacent pairs in a graph and a reference, whatever their directions.

    right: pairs adjacent in both; wanted: pairs adjacent in the reference; false: pairs adjacent
    only in the graph.
    """

    right: int
    wanted: int
    false: int


def link_count(comparison: Comparison) -> LinkCount:
    extra, missing = comparison.count("extra"), comparison.count("missing")
    right = len(comparison.pairs) - extra - missing
    return LinkCount(right, right + missing, extra)


def noise_cost_sentence(private: LinkCount, same: LinkCount, title: str) -> str:
    """A sentence on the cost of noise, if the truth is known.

    private: counts for the private run; same: counts for the same algorithm without noise, which
    has the title `title`; both compared with the truth.

    >>> noise_cost_sentence(LinkCount(6, 8, 1), LinkCount(8, 8, 0), "Moment search")
    'Without noise, Moment search finds 8: noise costs 2 links and adds 1 false one.'
    """
    lost, added = same.right - private.right, private.false - same.false
    parts = [f"costs {_links(lost)}"] if lost > 0 else []
    if lost < 0:
        parts.append(f"finds {-lost} more by chance")
    if added > 0:
        parts.append(f"adds {added} false {'one' if added == 1 else 'ones'}")
    if added < 0:
        parts.append(f"leaves out {-added} false {'one' if added == -1 else 'ones'} by chance")
    noise = " and ".join(parts) or "costs no link here"
    invents = f" and invents {same.false}" if same.false else ""
    return f"Without noise, {title} finds {same.right}{invents}: noise {noise}."


def noise_sentence(private: LinkCount, title: str, *, begun: bool = False) -> str:
    """A sentence on the cost of noise if the truth is not known.

    private: counts for the private graph, compared with the graph of the same algorithm without
    noise; title: the title of the algorithm; begun: whether the sentence continues another.

    >>> noise_sentence(LinkCount(9, 12, 0), "Moment search")
    'The noise costs 3 of the 12 links that Moment search finds without it.'
    """
    right, wanted, false = private
    lost = f"{wanted - right}" if wanted > right else "none"
    added = f", and adds {_links(false)}" if false else ""
    the = "the" if begun else "The"
    return f"{the} noise costs {lost} of the {_links(wanted)} that {title} finds without it{added}."


def _links(count: int) -> str:
    return counted(count, "link")


ONE_ROW = Protection(RECORD)

NOT_PRIVATE = "The non-private graph and the metrics are not private."
SIMULATED = "The noise is simulated from a seed, for exploring: this is not a release."


def precise_percent(share: float) -> str:
    """A probability in per cent, with more digits near 1."""
    if 0.99999 < share < 1:
        return "over 99.999 %"
    text = f"{100 * share:.1f}" if share < 0.999 else f"{100 * share:.3f}"
    return f"{text.rstrip('0').rstrip('.')} %"


def protected(guarantee: Guarantee) -> Protection:
    """The unit that a guarantee protects, and its neighbour relation."""
    try:
        return Protection(*understood(guarantee.neighbours))
    except ParameterError:
        # The guarantee of a direction protects a record of one half of the rows.
        return ONE_ROW


def for_whom(protection: Protection) -> str:
    """The protected unit in words, such as "per row"."""
    unit = protection.unit
    return f"for {unit.words}" if unit.rows > 1 else "per row"


def odds_sentence(
    epsilon: float,
    delta: float,
    seen: str = "the private graph",
    whom: Protection = ONE_ROW,
) -> str:
    """A sentence on what ε means for an attacker with prior probability one half.

    seen: what is released, in words.  whom: the protected unit and the neighbouring relation.
    """
    top = guessing_bound(epsilon, delta)
    unit, there = whom.unit, whom.relation == ADDED
    whose = "one row" if unit.rows == 1 else f"the rows of {unit.words}"
    if top > 0.99999:
        return (
            f"With ε = {epsilon:g} someone who is 50 % sure of {whose} may become practically "
            "certain: this is hardly any protection."
        )
    statement = f"of what {whose} {'contains' if unit.rows == 1 else 'contain'}"
    if there:
        statement = f"that {unit.words if unit.rows > 1 else 'one row'} is in the table"
    if delta > 0:
        which = f"which of two equally likely values {whose} has"
        if unit.rows > 1:
            which = f"which of two equally likely sets of values {whose} have"
        if there:
            which = f"whether {statement.removeprefix('that ')}, which is as likely as not,"
        return (
            f"With ε = {epsilon:g} and δ = {delta:g}, someone who must guess {which} is right with "
            f"probability at most {precise_percent(top)} after seeing {seen}."
        )
    return (
        f"With ε = {epsilon:g}, someone who is 50 % sure {statement} can become at most "
        f"{precise_percent(top)} sure after seeing {seen}."
    )


def guarantee_sentence(guarantee: Guarantee, algorithm: Algorithm) -> str:
    """The guarantee of a run in one line."""
    if guarantee.calibration == "none":
        return f"{algorithm.title}: no privacy is promised."
    needless = "; this run needs no δ" if not guarantee.delta else ""
    amount = f"(ε = {guarantee.epsilon:.3g}, δ = {guarantee.delta:g}{needless})"
    if guarantee.calibration == "published":
        when = "" if algorithm.published_epsilon == "total" else ", computed after the run"
        return (
            f"The published constants give {amount}{when}. This is not a guarantee; the reasons "
            "are under Guarantee."
        )
    if guarantee.caveats:
        return f"Proven {amount}, but with a caveat: {guarantee.caveats[0]}."
    return f"Proven: {amount}, fixed before the run; neighbours: {guarantee.neighbours}."


def plain_guarantee(guarantee: Guarantee, algorithm: Algorithm) -> str:
    """`guarantee_sentence` for pages that have no panel with the reasons."""
    sentence = guarantee_sentence(guarantee, algorithm)
    return sentence.replace("; the reasons are under Guarantee", "")


def facts(guarantee: Guarantee) -> list[tuple[str, str]]:
    """The guarantee as pairs of name and value; empty if the run is not private."""
    if guarantee.calibration == "none":
        return []
    return [
        ("Guarantee", guarantee.calibration),
        ("ε", f"{guarantee.epsilon:.6g}"),
        ("δ", f"{guarantee.delta:g}"),
        ("Neighbours", guarantee.neighbours),
        ("Public", "; ".join(guarantee.public)),
        ("Added up by", guarantee.accountant),
        ("Proof", guarantee.proof or "none"),
    ]


# Most columns that a sentence names; beyond that it gives their number.
_NAMED = 3
# A clear dependence, and the largest ε that is proposed to detect it.
_CLEAR = 0.3
_LARGEST = 20.0


def effect_sentence(result: Discovery, n: int) -> str:
    """A sentence on the significance level and the effect size at the resulting threshold.

    n: number of rows.  For a graph from weights, the sentence is on the threshold for the weights.
    Example: "Significance level 0.05 at 100,000 rows, ignoring noise: a pair counts as dependent if
    |Z| is above 1.96, that is, Kendall's |τ| above 0.0041."
    """
    if result.weight_threshold is not None:
        cut = f"Edges with an absolute weight below {result.weight_threshold:g} are left out."
        if result.noise == "secure":
            return f"{cut} Another threshold on the released weights is free; a new run is not."
        return f"{cut} Another threshold on the same weights spends no further budget."
    level = result.parameters["threshold"]
    reference = get_algorithm(result.algorithm).reference(result.parameters)
    name = reference.get("score") or result.parameters.get("score")
    if name is None:
        name = "fisher-z" if result.unit == "|Z|" else "lines" if result.in_lines else "g2"
    score = get_score(name)
    blocks = 1
    if str(result.parameters.get("score")).endswith(("-votes", "-median")):
        blocks = result.parameters["blocks"]
    size = score.effect(level, n // blocks)
    where = f"{n:,} rows" if blocks == 1 else f"{n:,} rows in {blocks} blocks"
    rule = f"{size.symbol} is above {size.value:.2g}"
    if score.scale == "z":
        rule = (
            f"|Z| is above {z_threshold(level):.3g}, that is, {size.symbol} above {size.value:.2g}"
        )
    aside = "" if result.noise == "none" else ", ignoring noise"
    if result.parameters.get("correction", "none") != "none":
        raised = " and raised for noise" if "noise" in result.parameters["correction"] else ""
        aside += f", before each pair's threshold is lowered for ties{raised}"
    thresholds = [step.threshold for step in result.trace if step.phase == "test"]
    if reference["score"] == "fisher-z" and thresholds and max(thresholds) > min(thresholds):
        low, high = min(thresholds), max(thresholds)
        sizes = [tanh(z / sqrt(max(n - 3, 1))) for z in (low, high)]
        rule = (
            f"|Z| is above a threshold that allows for the noise, {low:.3g} to {high:.3g} here "
            f"(a correlation |r| above {sizes[0]:.2g} to {sizes[1]:.2g})"
        )
        aside = ""
    return f"Significance level {level:g} at {where}{aside}: a pair counts as dependent if {rule}."


def shape_sentence(result: Discovery) -> str:
    """A sentence on what a run measured and how it cut columns; empty if it measured everything."""
    if result.alone:
        names = result.graph.nodes
        looked = [names[c] for c in sorted({c for pair in result.findings for c in pair})]
        left = counted(len(names) - len(looked), "other column")
        return (
            "With this number of rows and this ε, the links of one column are measured: first its "
            "products with all others, then the second moments of "
            f"{', '.join(short(name, 20) for name in looked)} alone. What seemed not linked, "
            f"{left}, was not looked at. Bends, and columns that are linked only given others, are "
            "missed. What was not measured may cause both ends of a link, so links have no "
            "direction of their own."
        )
    if result.about:
        return (
            f"With this number of rows and this ε, the whole graph shows enough, so all of it was "
            f"measured, and the part near {short(result.about)} is shown."
        )
    if result.in_lines:
        return (
            "With this number of rows and this ε, each column is summarised by a few numbers: a "
            "column with ordered levels by one trend, any other column by its two most frequent "
            "levels and the rest. Dependences that rise and fall again, and dependences between "
            "rare levels, are missed. “By distances of pairs” shows them, but fewer trends; with "
            "more rows, a larger ε or fewer columns, every level is counted."
        )
    if result.by_distances:
        return (
            "Each pair of columns is measured by its distance from independence, and only the "
            "linked pairs are counted. Any dependence can show, but few directions do."
        )
    statistics = result.released.statistics if result.released else None
    if statistics is not None and statistics.form == "numbers" and len(result.planned) < 3:
        return (
            "With this number of rows and this ε, numbers are measured by their second moments "
            "without a look at shapes: dependences that rise and fall again are missed."
        )
    if result.intervals is None:
        return ""
    return (
        "The first released numbers show non-linear dependence, so the rest of the budget pays for "
        f"counts of numeric columns in {result.intervals} intervals."
    )


def one_level_columns(result: Discovery) -> dict[str, float]:
    """The columns whose most frequent level has an estimated probability above 95 %.

    Returns this probability by column name.

    Columns with too much noise for this estimate are left out.  The estimate is post-processing of
    the release.  The dictionary is empty if the algorithm releases no marginals.
    """
    largest = {
        name: max(margin.probabilities)
        for name, margin in zip(result.graph.nodes, result.margins, strict=False)
        if margin.deviation < 1 - ONE_LEVEL
    }
    return {name: share for name, share in largest.items() if share > ONE_LEVEL}


def overruled_sentence(result: Discovery) -> str:
    """A sentence on where background knowledge overrules the tests; empty if it does not.

    Example: "Background knowledge overrules the tests in 2 places, one of them at column either:
    the tests alone would direct edges from tub and lung into this column."
    """
    if not result.overruled:
        return ""
    names = result.graph.nodes
    x, z, y = (short(names[node]) for node in min(result.overruled))
    many = len(result.overruled)
    places = "1 place" if many == 1 else f"{many} places, one of them"
    return (
        f"Background knowledge overrules the tests in {places} at column {z}: the tests alone "
        f"would direct edges from {x} and {y} into this column."
    )


# The test for edges that are due only to unobserved confounders.
STAGES = {"possible-d-sep": "FCI with Possible-D-Sep", "rfci": "RFCI"}


def hidden_sentence(result: Discovery) -> str:
    """A sentence on how unobserved confounders were handled; empty under causal sufficiency."""
    if result.hidden_stage is None:
        return ""
    if result.hidden_stage == "possible-d-sep":
        return (
            f"Unobserved confounders are allowed; the algorithm is {STAGES[result.hidden_stage]}."
        )
    return (
        "Unobserved confounders are allowed; the algorithm is RFCI, because Possible-D-Sep would "
        "need too many tests. RFCI may leave a few edges and circles that FCI would remove."
    )


def one_level_sentence(result: Discovery) -> str:
    """A sentence on columns in which one level has nearly all rows; empty if there are none."""
    columns = one_level_columns(result)
    if not columns:
        return ""
    named = [f"{short(name)} ({percent(share)})" for name, share in columns.items()]
    if len(columns) == 1:
        name, share = next(iter(columns.items()))
        about = percent(share) if share > 0.99 else f"about {percent(share)}"
        return (
            f"One level of column {short(name)} has {about} of the rows (estimated privately), so "
            "this column carries little information."
        )
    last = f"{len(named) - _NAMED} more" if len(named) > _NAMED else named.pop()
    return (
        f"In each of the columns {', '.join(named[:_NAMED])} and {last}, one level has over "
        f"{percent(ONE_LEVEL)} of the rows (estimated privately), so these columns carry little "
        "information."
    )


def changing_sentence(shape: PublicShape, parameters: MomentSearchParameters) -> str:
    """A sentence on changes that would make a clear dependence detectable.

    Empty if a clear dependence is detectable already. A clear dependence has a correlation, or a
    Cramér's V, of `_CLEAR`.
    """

    def shows(rows: int, epsilon: float) -> bool:
        tried = replace(shape, n=rows), replace(parameters, epsilon=epsilon)
        least = visible_effects(*tried).alone
        return least is not None and least <= _CLEAR

    def asks_less() -> bool:
        if parameters.target or not shape.names:
            return False
        one = replace(parameters, target=shape.names[0], measured="target")
        least = visible_effects(shape, one).alone
        return least is not None and least <= _CLEAR

    n, own = shape.n, parameters.epsilon
    if shows(n, own):
        return ""
    epsilons = [own * 1.25**k for k in range(1, 30)]
    epsilon = next((e for e in epsilons if e <= _LARGEST and shows(n, e)), None)
    rows = next((m for m in (int(n * 1.25**k) for k in range(1, 40)) if shows(m, own)), None)
    ways = [
        *(["a question about one column"] if asks_less() else []),
        *([f"ε = {epsilon:.2g} with the present number of rows"] if epsilon else []),
        *([f"about {float(f'{rows:.2g}'):,.0f} rows with the present ε"] if rows else []),
        "fewer columns, or coarser levels",
    ]
    return (
        f"A dependence of {_CLEAR:g} may be missed with these settings. Any of these changes would "
        f"make such a dependence detectable: {'; '.join(ways)}."
    )


def visible_sentence(
    shape: PublicShape, parameters: MomentSearchParameters, epsilon: float | None = None
) -> str:
    """A sentence that states the smallest detectable dependence in plain words.

    parameters: parameters of the run, with ε per row. epsilon: the total ε per person, if a person
    may have several rows.
    """
    plan = shape.plan(parameters)
    least = visible(plan, parameters, shape.pairs).alone
    where = f"At ε = {epsilon or parameters.epsilon:g} and {shape.n:,} rows, moment search"
    if least is None:
        return (
            f"{where} would miss even a perfect dependence between two columns in more than one in "
            "ten runs; raise ε."
        )
    if plan.rows is not None:
        return (
            f"{where} detects a correlation of {least:.2g} or more between two columns with 90 % "
            "probability."
        )
    return (
        f"{where} detects a dependence with a Cramér's V of {least:.2g} or more between two "
        "columns with at least 90 % probability. For balanced yes/no columns, this is a difference "
        f"of {100 * least:.1f} percentage points."
    )
