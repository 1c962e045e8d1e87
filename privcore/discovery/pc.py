"""PC: the non-private reference (Spirtes, Glymour & Scheines 2000; Wang et al. 2020, Alg. 3)."""

from __future__ import annotations

from privcore.accounting import Guarantee
from privcore.discovery import common
from privcore.discovery.model import Algorithm, Outcome, Run, Spent, Step
from privcore.independence import get_score, z_threshold


class _Threshold:
    """Independent when the exact p-value is at least the significance level."""

    def __init__(self, run: Run, recorder: common.Recorder) -> None:
        self._source = run.source
        self._score = get_score(run.parameters["score"])
        self._level = run.parameters["threshold"]
        self._bound = z_threshold(self._level)
        self._recorder = recorder

    def independent(self, x: int, y: int, given: tuple[int, ...]) -> bool:
        if self._score.scale == "z":
            # |Z| against its quantile, not p against the level: the same test, but as the
            # private algorithms make it, so that they agree to the last bit without noise.
            value = abs(self._score.value(self._source, x, y, given))
            threshold, verdict = self._bound, value <= self._bound
        else:
            value = self._score.evaluate(self._source, x, y, given).p_value
            threshold, verdict = self._level, value >= self._level
        self._recorder.add(
            Step(len(given), x, y, given, "test", value, 0.0, value, threshold, verdict)
        )
        return verdict


def _run(run: Run) -> Outcome:
    recorder = common.Recorder(run.keep_trace)
    return common.run_pc(
        run,
        _Threshold(run, recorder),
        recorder=recorder,
        guarantee=Guarantee.none,
        spent=lambda: Spent("none", 0.0, 0.0),
    )


PC = Algorithm(
    name="pc",
    title="PC (not private)",
    citation="Spirtes, Glymour & Scheines 2000; Colombo & Maathuis 2014",
    summary="The constraint-based search that the private algorithms protect: tests every "
    "adjacent pair given growing sets of neighbours and deletes the independent ones.",
    parameters=(common.ANY_SCORE, common.THRESHOLD, common.MAX_ORDER, common.STABLE),
    calibrations=("none",),
    run=_run,
)
