"""Report an inference of a direction as JSON."""

from __future__ import annotations

import math
from typing import Any

from privcore.extras.pairs.pair import Inference, Pair, ScoreRelease
from privcore.version import __version__


def direction_report(result: Inference, pair: Pair, *, seed: int | None) -> dict[str, Any]:
    """Return a JSON-ready report: decision, released scores, guarantee and parameters.

    The entry "not_private", which includes the time, is for study and must not be released. The
    report has this entry only if the noise is simulated.
    """
    report: dict[str, Any] = {
        "x": result.names[0],
        "y": result.names[1],
        "decision": result.decision,
        "scores": [_released(release) for release in result.releases],
        "guarantee": result.guarantee.as_dict(),
        "true_direction": pair.direction,
        "parameters": dict(result.parameters),
        "data": {
            "rows": pair.n,
            "train": result.n_train,
            "test": result.n_test,
            "bounds": [list(ends) for ends in pair.bounds],
            "source": pair.source,
        },
        "bins": result.bins or None,
        "noise": result.noise,
        "seed": seed,
        "version": __version__,
    }
    if result.noise == "simulated":
        report["not_private"] = {
            "scores": [_exact(release) for release in result.releases],
            "clipped": pair.clipped,
            "seconds": result.seconds,
        }
    return report


def _released(release: ScoreRelease) -> dict[str, Any]:
    """The fields of one score that the guarantee covers; x → y first."""
    return {
        "score": release.score,
        "mechanism": release.mechanism,
        "decision": release.decision,
        "released": list(release.released),
        "intervals": [None if each is None else list(each) for each in release.intervals],
        "noise_scale": _finite(release.scale),
        "log_ranges": list(release.parts.released) if release.parts else None,
        "refused": release.refused,
    }


def _exact(release: ScoreRelease) -> dict[str, Any]:
    return {
        "score": release.score,
        "exact": list(release.exact),
        "before_noise": list(release.before_noise),
        "decision": release.exact_decision,
        "probability": _finite(release.probability),
        "log_ranges": list(release.parts.exact) if release.parts else None,
    }


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


# Below this value noise distorts both regressions so much that the decision is a coin toss, as
# measured in docs/proofs/binned_regression.md.
_LEAST_EPSILON_ROWS = 400


def caution(result: Inference) -> str:
    """Why a decision is unreliable at this ε and number of rows (both public), or an empty text."""
    if not result.fits.private or result.guarantee.epsilon * result.n_train >= _LEAST_EPSILON_ROWS:
        return ""
    strength = result.guarantee.epsilon * result.n_train
    return (
        f"ε times the number of training records is {strength:.3g}, below {_LEAST_EPSILON_ROWS}: "
        "noise distorts both regressions so much that the decision may be no better than a coin "
        "toss, and the wrong direction may even win more often. Use more rows, a larger share for "
        "training, or a larger ε."
    )


def undecided(result: Inference) -> str:
    """Why the released decision may be hardly better than a coin toss; "" if no reason is known.

    The reason uses only released and public values.
    """
    if caution(result):
        return "noise on both regressions may decide the direction"
    deciding = [release for release in result.releases if release.decision]
    if deciding and all(release.overlapping for release in deciding):
        return "the 95 % noise intervals of the two scores overlap"
    return ""
