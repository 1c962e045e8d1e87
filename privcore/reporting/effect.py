"""What a significance level means at a number of rows, in words."""

from __future__ import annotations

from privcore.discovery import Discovery, get_algorithm
from privcore.independence import get_score, z_threshold


def effect_sentence(result: Discovery, n: int) -> str:
    """The level, the threshold that it sets, and the effect size just at it without conditioning.

    Such as "Significance level 0.05 at 100,000 rows, noise aside: a pair counts as dependent when
    |Z| is above 1.96: Kendall's |τ| above 0.0041."
    """
    level = result.parameters["threshold"]
    reference = get_algorithm(result.algorithm).reference(result.parameters)
    name = reference.get("score") or result.parameters.get("score")
    if name is None:
        name = "fisher-z" if result.unit == "|Z|" else "g2"
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
    return (
        f"Significance level {level:g} at {where}{aside}: a pair counts as dependent when {rule}."
    )
