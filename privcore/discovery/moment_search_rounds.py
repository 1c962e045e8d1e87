"""The releases of moment search, and the searches for edges between them.

What one round of tables shows decides which tables the next one counts.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

from privcore.discovery import common
from privcore.discovery.model import Run
from privcore.discovery.result import Step
from privcore.discovery.skeleton import Decision, Skeleton, search_skeleton
from privcore.noise_aware.local_score import Evidence
from privcore.noise_aware.plan import MomentPlan
from privcore.noise_aware.releases import release_pairs, release_tables
from privcore.noise_aware.table_choice import choose_tables

Around = dict[int, set[int]]
# Given what explains nearly all of x or y, as the inputs of a gate do, no test says anything.
_LEAST_LEFT = 0.05


class Rounds(NamedTuple):
    """evidence: on all that was released.  around: per column, those it may have an edge with.

    searched: the skeletons found on the way, the last one last.  tables: rounds of them made.
    """

    evidence: Evidence
    around: Around
    searched: tuple[Skeleton, ...]
    tables: int


class _NoiseAware(Decision):
    """Independent when the test that knows the noise does not reject, and could have.

    tabulated: conditioning sets of two and more columns count only where a table holds them.
    """

    def __init__(
        self, evidence: Evidence, level: float, recorder: common.Recorder, *, tabulated: bool
    ) -> None:
        self._evidence, self._level, self._tabulated = evidence, level, tabulated
        self._recorder = recorder

    def independent(self, x: int, y: int, given: tuple[int, ...]) -> bool:
        if self._tabulated and len(given) > 1 and not self._evidence.tabulated(x, y, *given):
            return False
        tested = self._evidence.test(x, y, given)
        found = tested.p_value
        verdict = found > self._level and tested.left >= _LEAST_LEFT
        self._recorder.add(
            Step(len(given), x, y, given, "test", found, 0.0, found, self._level, verdict)
        )
        return verdict


def released_in_rounds(run: Run, plan: MomentPlan, recorder: common.Recorder) -> Rounds:
    """Spends what the plan allows, and finds the edges that a search over DAGs may use."""
    given = run.parameters
    settings = {"penalty": given["penalty"], "level": given["candidate_level"]}
    moments = release_pairs(run.source, plan.pairs_sigma, run.noise)
    _record(recorder, plan.pairs_sigma, plan.pairs_share, 1)
    evidence = Evidence(moments, **settings)
    candidates = _narrowed(run, plan, evidence, recorder, None)
    searched, made = [candidates], 0
    while made < plan.rounds:
        around = _neighbours(searched[-1])
        chosen = choose_tables(around, evidence.strength, run.source.levels, plan.cells)
        if not chosen:
            break
        made += 1
        sigma = plan.tables_sigma(len(chosen))
        release_tables(moments, run.source, chosen, sigma, run.noise)
        _record(recorder, sigma, (1 - plan.pairs_share) / plan.rounds, 1 + made)
        evidence = Evidence(moments, **settings)
        # Tables measure pairs again, so that an edge that was lost before may be seen now.
        candidates = _narrowed(run, plan, evidence, recorder, None)
        searched += [candidates, _narrowed(run, plan, evidence, recorder, candidates)]
    around = _neighbours(searched[-1] if plan.refined else candidates)
    return Rounds(evidence, around, tuple(searched), made)


def _record(recorder: common.Recorder, sigma: float, share: float, number: int) -> None:
    recorder.add(Step(0, -1, -1, (), "release", nan, sigma, nan, nan, False, share, number))


def _narrowed(
    run: Run,
    plan: MomentPlan,
    evidence: Evidence,
    recorder: common.Recorder,
    within: Skeleton | None,
) -> Skeleton:
    """PC's search: over all pairs, or within the edges that an earlier one left."""
    largest = run.parameters["max_order"]
    if within is None:
        largest = plan.candidate_order if largest is None else min(largest, plan.candidate_order)
    level = run.parameters["candidate_level" if within is None else "threshold"]
    return search_skeleton(
        run.source.names,
        _NoiseAware(evidence, level, recorder, tabulated=within is not None),
        max_order=largest,
        hooks=run.hooks,
        start=None if within is None else within.graph,
    )


def _neighbours(skeleton: Skeleton) -> Around:
    return {c: skeleton.graph.adjacent(c) for c in range(len(skeleton.graph.nodes))}
