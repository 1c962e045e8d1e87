"""Sentences on what a significance level, δ and nearly constant columns mean for a run."""

from __future__ import annotations

from math import sqrt, tanh

from privcore.algorithms import Discovery, get_algorithm
from privcore.data.proposing import ONE_LEVEL
from privcore.independence import get_score, z_threshold
from privcore.privacy.accounting import Guarantee
from privcore.text import percent, short

# Most columns that a sentence names; beyond that it gives their number.
_NAMED = 3


def effect_sentence(result: Discovery, n: int) -> str:
    """The significance level, its threshold, and the unconditional effect size at that threshold.

    Such as "Significance level 0.05 at 100,000 rows, noise aside: a pair counts as dependent when
    |Z| is above 1.96: Kendall's |τ| above 0.0041."
    """
    if result.weight_threshold is not None:
        cut = f"Edges with a weight below {result.weight_threshold:g} in size are left out."
        if result.noise == "secure":
            return f"{cut} Another threshold on the released weights costs nothing; a new run does."
        return (
            f"{cut} Moving the threshold cuts the same weights at another value and spends nothing."
        )
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
        rule = f"|Z| is above {z_threshold(level):.3g}: {size.symbol} above {size.value:.2g}"
    aside = "" if result.noise == "none" else ", noise aside"
    if result.parameters.get("correction", "none") != "none":
        raised = " and raised for noise" if "noise" in result.parameters["correction"] else ""
        aside += f", before each pair's threshold is lowered for ties{raised}"
    thresholds = [step.threshold for step in result.trace if step.phase == "test"]
    if reference["score"] == "fisher-z" and thresholds and max(thresholds) > min(thresholds):
        low, high = min(thresholds), max(thresholds)
        sizes = [tanh(z / sqrt(max(n - 3, 1))) for z in (low, high)]
        rule = (
            f"|Z| is above a threshold that allows for the noise, {low:.3g} to {high:.3g} here: "
            f"correlation |r| above {sizes[0]:.2g} to {sizes[1]:.2g}"
        )
        aside = ""
    return (
        f"Significance level {level:g} at {where}{aside}: a pair counts as dependent when {rule}."
    )


def large_delta_sentence(guarantee: Guarantee, n: int) -> str:
    """Why a δ of 1/n or more protects little; empty for a smaller δ."""
    if guarantee.calibration == "none" or guarantee.delta * n < 1:
        return ""
    return (
        f"δ = {guarantee.delta:g} is not below 1/n = {1 / n:.2g}: publishing one random row "
        "unchanged would satisfy it; choose a smaller δ."
    )


def shape_sentence(result: Discovery) -> str:
    """How a run measured columns and which dependences this misses; empty where none are missed."""
    if result.in_lines:
        return (
            "With this number of rows and this ε, each column is summarised by a few numbers: "
            "ordered levels by one trend, other levels by the two most frequent and the rest. A "
            "dependence that rises and falls again is missed, and so is one between rare levels. "
            "With more rows, a larger ε or fewer columns, every level is counted."
        )
    if result.intervals is None:
        return ""
    return (
        "The first releases show non-linear dependence, so the rest of the budget "
        f"counts numbers in {result.intervals} intervals."
    )


def one_level_columns(result: Discovery) -> dict[str, float]:
    """The columns with one level of estimated probability above 95 %, with that probability.

    Columns with too much noise for this estimate are left out.  Post-processing of the release;
    empty where the algorithm releases no margins.
    """
    largest = {
        name: max(margin.probabilities)
        for name, margin in zip(result.graph.nodes, result.margins, strict=False)
        if margin.deviation < 1 - ONE_LEVEL
    }
    return {name: share for name, share in largest.items() if share > ONE_LEVEL}


def overruled_sentence(result: Discovery) -> str:
    """Where the tests contradict the background knowledge; empty where they do not.

    Such as "What was known beforehand is kept against the tests in 2 places, one of them at either,
    where they would point tub and lung at it."
    """
    if not result.overruled:
        return ""
    names = result.graph.nodes
    x, z, y = (short(names[node]) for node in min(result.overruled))
    many = len(result.overruled)
    places = "1 place" if many == 1 else f"{many} places, one of them"
    return (
        f"What was known beforehand is kept against the tests in {places} at {z}, where they would "
        f"point {x} and {y} at it."
    )


# How edges were tested that only unobserved confounders make.
STAGES = {"possible-d-sep": "FCI with Possible-D-Sep", "rfci": "RFCI"}


def hidden_sentence(result: Discovery) -> str:
    """How unobserved confounders were handled; empty where they are ruled out."""
    if result.hidden_stage is None:
        return ""
    if result.hidden_stage == "possible-d-sep":
        return f"Unobserved confounders are allowed: {STAGES[result.hidden_stage]}."
    return (
        "Unobserved confounders are allowed: RFCI, as Possible-D-Sep would need too many tests. A "
        "few more edges and circles may remain."
    )


def one_level_sentence(result: Discovery) -> str:
    """The columns with little information, as one level has nearly all rows; else empty."""
    columns = one_level_columns(result)
    if not columns:
        return ""
    named = [f"{short(name)} ({percent(share)})" for name, share in columns.items()]
    if len(columns) == 1:
        name, share = next(iter(columns.items()))
        about = percent(share) if share > 0.99 else f"about {percent(share)}"
        return (
            f"One level of column {short(name)} has {about} of the rows (estimated privately), so "
            "it carries little information."
        )
    last = f"{len(named) - _NAMED} more" if len(named) > _NAMED else named.pop()
    return (
        f"In the columns {', '.join(named[:_NAMED])} and {last}, one level has over "
        f"{percent(ONE_LEVEL)} of the rows (estimated privately), so they carry little "
        "information."
    )
