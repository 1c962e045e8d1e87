"""Sentences on what a significance level, δ and nearly constant columns mean for a run."""

from __future__ import annotations

from math import sqrt, tanh

from privcore.algorithms import Discovery, get_algorithm
from privcore.data.model import ONE_LEVEL
from privcore.independence import get_score, z_threshold
from privcore.text import percent, short

# Most columns that a sentence names; beyond that it gives their number.
_NAMED = 3


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
    """A sentence on how a run summarised or cut columns; empty if the run did neither."""
    if result.in_lines:
        return (
            "With this number of rows and this ε, each column is summarised by a few numbers: a "
            "column with ordered levels by one trend, any other column by its two most frequent "
            "levels and the rest. Dependences that rise and fall again, and dependences between "
            "rare levels, are missed. With more rows, a larger ε or fewer columns, every level is "
            "counted."
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
