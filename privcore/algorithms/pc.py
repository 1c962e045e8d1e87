"""PC: the non-private reference (Spirtes, Glymour & Scheines 2000; Wang et al. 2020, Alg. 3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import inf, log

from privcore.algorithms.search import common, parameters
from privcore.algorithms.search.model import Algorithm, Outcome, Run
from privcore.algorithms.search.result import Edge, Spent, Step
from privcore.algorithms.search.skeleton import Answer, conditioning_sets
from privcore.algorithms.search.v_structures import Answered, FreeDecision, with_v_structures
from privcore.arrays import Columns
from privcore.counts import CountSource, MomentSource, has_numbers, require_levels
from privcore.independence import Score, get_score, z_threshold
from privcore.independence.repeats import repeated
from privcore.independence.table_scores import Scanned, scan
from privcore.privacy.accounting import Guarantee


@dataclass(frozen=True, kw_only=True)
class PCParameters(parameters.OrientedParameters):
    """Parameters of PC."""

    score: str | None = parameters.ANY_SCORE.field()
    threshold: float = parameters.THRESHOLD.field()
    mixed_levels: int = parameters.MIXED_LEVELS.field()
    target: str = parameters.TARGET.field()


class Threshold(FreeDecision):
    """Decides that a pair is independent if the p-value is at least the significance level."""

    def __init__(
        self, source: CountSource, score: str | None, level: float, recorder: common.Recorder
    ) -> None:
        self._source = source
        self._score = score_of(source, score)
        self._level = level
        self._bound = z_threshold(self._level)
        self._recorder = recorder
        self.unit = "|Z|" if self._score.scale == "z" else "p-value"

    def fits(self, x: int, y: int, conditioning_set: Columns) -> bool:
        return self._score.fits(self._source, x, y, conditioning_set)

    def prepare(self, families: list[tuple[int, ...]]) -> None:
        self._source.prepare(families)

    def independent(self, x: int, y: int, conditioning_set: Columns) -> bool:
        value, threshold, verdict = self._tested(x, y, conditioning_set)
        self._recorder.add(Step.noiseless(x, y, conditioning_set, value, threshold, verdict))
        return verdict

    def answer(self, x: int, y: int, conditioning_set: Columns) -> Answered:
        value, threshold, verdict = self._tested(x, y, conditioning_set)
        if not verdict and self._separates(value, threshold):
            # A set that determines an end of the pair says nothing about the pair.
            return Answered(False, -inf)
        return Answered(verdict, self._score.log_p(self._source, x, y, conditioning_set))

    def _separates(self, value: float, threshold: float) -> bool:
        return value <= threshold if self._score.scale == "z" else value >= threshold

    def _tested(self, x: int, y: int, conditioning_set: Columns) -> tuple[float, float, bool]:
        """The value, the threshold, and whether the pair counts as independent.

        A set that nearly determines one of the two columns separates no pair; only a set that
        would otherwise separate the pair is looked at for this.
        """
        value, threshold = self._value(x, y, conditioning_set)
        verdict = self._separates(value, threshold)
        if verdict and conditioning_set:
            verdict = not self._score.determined(self._source, x, y, conditioning_set)
        return value, threshold, verdict

    def _value(self, x: int, y: int, conditioning_set: Columns) -> tuple[float, float]:
        """The value of the test and its threshold."""
        if self._score.scale == "z":
            # |Z| against its quantile, not p against the level: the same test, but as the
            # private algorithms make it, so that they agree to the last bit without noise.
            value = abs(self._score.value(self._source, x, y, conditioning_set))
            return value, self._bound
        return self._score.evaluate(self._source, x, y, conditioning_set).p_value, self._level

    def whole_order(
        self, order: int, pairs: list[Edge], adjacent: list[set[int]]
    ) -> Iterator[Answer | None] | None:
        scanned = scan(self._source, self._score.name, self._level, order, order, pairs, adjacent)
        if scanned is None:
            return None
        return (
            scanned_pair and self._answer(x, y, order, adjacent, scanned_pair)
            for (x, y), scanned_pair in zip(pairs, scanned, strict=True)
        )

    def answers(
        self, first: int, last: int, pairs: list[Edge], adjacent: list[set[int]]
    ) -> Iterator[list[Answered] | None] | None:
        name = self._score.name
        scanned = scan(self._source, name, self._level, first, last, pairs, adjacent, every=True)
        if scanned is None:
            return None
        level = log(self._level)
        # Where rounding may matter, the verdict is that of the exact p-value.
        return (
            None
            if tests is None or (abs(tests.p_values - level) <= 1e-8 * (1 - level)).any()
            else [Answered(value >= level, value) for value in tests.p_values.tolist()]
            for tests in scanned
        )

    def _answer(
        self, x: int, y: int, order: int, adjacent: list[set[int]], scanned: Scanned
    ) -> Answer:
        last, tests = scanned.separated_by, scanned.p_values.size
        if last is None and not self._recorder.keep:
            return Answer(None, tests)
        sets = list(islice(conditioning_sets(adjacent, x, y, order), tests))
        if self._recorder.keep:
            p_values = scanned.p_values.tolist()
            for number, (tested, p_value) in enumerate(zip(sets, p_values, strict=True)):
                step = Step.noiseless(x, y, tested, p_value, self._level, number == last)
                self._recorder.add(step)
        return Answer(None if last is None else sets[last], tests)


def score_of(source: MomentSource, name: str | None) -> Score:
    """The requested score; by default, G² for columns with levels and Fisher's z for numbers.

    Raises DataError if the score needs levels and the columns are numeric.
    """
    numeric = has_numbers(source)
    score = get_score(name or ("fisher-z" if numeric else "g2"))
    if score.needs_levels:
        require_levels(source, f"the score {score.name}", "the score fisher-z")
    return score


def _run(run: Run[PCParameters]) -> Outcome:
    recorder = common.Recorder(run.keep_trace)
    parameters, score = run.parameters, score_of(run.source, run.parameters.score)
    pairs = repeated(run.source, score.name, run.parameters.threshold)
    run = replace(run, repeated=tuple(pairs))
    decision = Threshold(run.source, parameters.score, parameters.threshold, recorder)
    oriented = with_v_structures(run, common.search(run, decision), decision)
    return common.outcome(
        oriented,
        recorder,
        Guarantee.none(),
        Spent("none", 0.0, 0.0),
        unit=decision.unit,
    )


PC = Algorithm(
    name="pc",
    title="PC (not private)",
    citation="Spirtes, Glymour & Scheines 2000; Colombo & Maathuis 2014",
    line="the standard search, without noise",
    summary="The constraint-based search on which many of the private algorithms build: it tests "
    "every adjacent pair given larger and larger sets of neighbours and deletes the edges of "
    "independent pairs.",
    takes=PCParameters,
    calibrations=("none",),
    run=_run,
    needs="moments",
    available_cases=True,
)
