"""What a level, a failure probability, and a column of one level mean for a run, in words."""

from __future__ import annotations

from math import sqrt, tanh

from privcore.algorithms import Discovery, get_algorithm
from privcore.data.proposing import ONE_LEVEL
from privcore.independence import get_score, z_threshold
from privcore.privacy.accounting import Guarantee
from privcore.text import percent, short

# Columns that a sentence names; of more it gives the number.
_NAMED = 3


def effect_sentence(result: Discovery, n: int) -> str:
    """The level, the threshold that it sets, and the effect size just at it without conditioning.

    Such as "Significance level 0.05 at 100,000 rows, noise aside: a pair counts as dependent when
    |Z| is above 1.96: Kendall's |τ| above 0.0041."
    """
    if result.weight_threshold is not None:
        cut = f"Edges with a weight below {result.weight_threshold:g} in size are left out."
        if result.noise == "secure":
            return f"{cut} Another threshold on the released weights costs nothing, a new run does."
        return (
            f"{cut} Moving that threshold only cuts the same weights elsewhere: it spends nothing."
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
            f"|Z| is above a threshold that knows the noise, {low:.3g} to {high:.3g} here: "
            f"correlation |r| above {sizes[0]:.2g} to {sizes[1]:.2g}"
        )
        aside = ""
    return (
        f"Significance level {level:g} at {where}{aside}: a pair counts as dependent when {rule}."
    )


def large_delta_sentence(guarantee: Guarantee, n: int) -> str:
    """Why a δ of 1/n or more protects little; empty for a smaller one."""
    if guarantee.calibration == "none" or guarantee.delta * n < 1:
        return ""
    return (
        f"δ = {guarantee.delta:g} is not below 1/n = {1 / n:.2g}: publishing one random row as it "
        "is would keep to it; choose a smaller δ."
    )


def shape_sentence(result: Discovery) -> str:
    """How a run measured columns and what that cannot show; empty where all can be seen."""
    if result.in_lines:
        return (
            "With these rows and ε each column is measured in few numbers: ordered levels as one "
            "trend, other levels as the two most frequent and the rest. A dependence that rises "
            "and falls again does not show, nor one between rare levels. With more rows, a larger "
            "ε or fewer columns, levels are counted one by one."
        )
    if result.intervals is None:
        return ""
    return (
        "The first releases show dependence beyond straight lines, so the rest of the budget "
        f"counts numbers in {result.intervals} intervals."
    )


def one_level_columns(result: Discovery) -> dict[str, float]:
    """The largest probability of a level, by column, where a run estimates it above 95 %.

    Columns with so much noise that it could be far less are left aside.  Post-processing of what
    was released; empty where the algorithm releases no margins.
    """
    largest = {
        name: max(margin.probabilities)
        for name, margin in zip(result.graph.nodes, result.margins, strict=False)
        if margin.deviation < 1 - ONE_LEVEL
    }
    return {name: share for name, share in largest.items() if share > ONE_LEVEL}


def overruled_sentence(result: Discovery) -> str:
    """Where what the run saw and what was known beforehand disagree; empty where nowhere.

    Such as "What was known is kept against the data in 2 places, such as at either: tests point
    tub and lung at it."
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
    """How edges were tested that only unobserved confounders make; empty where none are allowed."""
    if result.hidden_stage is None:
        return ""
    if result.hidden_stage == "possible-d-sep":
        return f"Unobserved confounders are allowed: {STAGES[result.hidden_stage]}."
    return (
        "Unobserved confounders are allowed: RFCI, as Possible-D-Sep would need too many tests. A "
        "few more edges and circles may be left."
    )


def one_level_sentence(result: Discovery) -> str:
    """The columns of which little can be seen, as one level holds nearly all rows; else empty."""
    columns = one_level_columns(result)
    if not columns:
        return ""
    named = [f"{short(name)} ({percent(share)})" for name, share in columns.items()]
    if len(columns) == 1:
        name, share = next(iter(columns.items()))
        about = percent(share) if share > 0.99 else f"about {percent(share)}"
        return (
            f"Of column {short(name)} one level holds {about} of the rows (estimated privately): "
            "little can be seen of it; cut it or merge its levels differently."
        )
    last = f"{len(named) - _NAMED} more" if len(named) > _NAMED else named.pop()
    return (
        f"Of columns {', '.join(named[:_NAMED])} and {last} one level each holds over "
        f"{percent(ONE_LEVEL)} of the rows (estimated privately): little can be seen of them; cut "
        "them or merge their levels differently."
    )
