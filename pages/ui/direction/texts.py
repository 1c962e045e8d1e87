"""Texts of the Direction page."""

from __future__ import annotations

import math

from pages.ui.texts import plain
from privcore.extras.pairs import Inference, Pair, ScoreRelease
from privcore.text import short

NOT_PRIVATE = "Points, residuals and exact fits come directly from the data: not private."

_TITLES = {
    "spearman": "Spearman's |ρ|",
    "kendall": "Kendall's |τ|",
    "hsic": "HSIC",
    "hsic-root": "√HSIC",
    "iqr": "IQR, by private quantiles",
    "iqr-ptr": "IQR, propose-test-release",
}
_COVERED = {
    "both": "training and test records",
    "test": "test records only; the regressions reveal training records",
    "training": "training records only; the scores reveal test records",
}


def score_title(score: str) -> str:
    return _TITLES[score]


def arrow(direction: str | None, names: tuple[str, str], none: str = "none") -> str:
    """A direction as text, such as "x → y"."""
    if direction is None:
        return none
    first, second = names if direction == "x->y" else names[::-1]
    return f"{short(first, 14)} → {short(second, 14)}"


def guarantee_line(result: Inference, pair: Pair) -> str:
    """The guarantee of the run in one line, with the first caveat about the data, if any."""
    guarantee = result.guarantee
    amount = f"(ε = {guarantee.epsilon:.3g}, δ = {guarantee.delta:g})"
    covered = _COVERED[result.parameters["protects"]]
    if guarantee.calibration == "published":
        return (
            f"The published constants give {amount} for {covered}. This is not a guarantee; the "
            "reasons are under Guarantee."
        )
    if pair.caveats:
        return f"Proven {amount} for {covered}, but with a caveat: {plain(pair.caveats[0])}."
    return f"Proven guarantee: {amount}, fixed before the run, for {covered}."


def cost_sentence(result: Inference) -> str:
    """State what was released, and the privacy cost."""
    count = len(result.releases)
    what = "both directions' scores" if count == 1 else f"{count} scores of both directions"
    fits = " and both regressions" if result.fits.private else ""
    if result.guarantee.calibration == "published":
        return (
            f"Computed with noise: {what} and the decision; ε is the cost of each score, as in "
            "the paper."
        )
    split = f" and is split evenly over {2 * count} values"
    if result.parameters["protects"] == "both":
        return (
            f"Computed with noise: {what}{fits}, and the decision. The total is a single ε: each "
            "record is used either to fit or to test, so the costs of the two parts are not added."
        )
    return f"Computed with noise: {what} and the decision. The total ε covers all scores{split}."


def mechanism_sentence(release: ScoreRelease, result: Inference) -> str:
    """State how noise was added to one score."""
    if release.mechanism == "laplace":
        return f"Laplace noise of scale {release.scale:.3g} on each score."
    if release.mechanism == "quantiles":
        return (
            "each quartile is chosen on a public grid by permute-and-flip. There is no closed form "
            "for the probability of the decision."
        )
    if release.mechanism == "propose-test-release":
        return (
            f"each log IQR gets Laplace noise of scale {release.scale:.3g} if only a change in "
            "many records could move this log IQR far; otherwise nothing is released."
        )
    if release.mechanism == "stability":
        return (
            "the exact score is released only if many training records would have to change "
            "before any rank changes, according to a noisy count. Test records are used without "
            "protection."
        )
    scale = "" if math.isnan(release.scale) else f" of scale {release.scale:.3g}"
    return f"Laplace noise{scale} on the interquartile ranges of the residuals."
