"""Functions shared by all algorithms: they record steps, state guarantees and finish a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.parameters import (
    GraphParameters,
    PrivateParameters,
    SearchParameters,
)
from privcore.algorithms.search.result import Beyond, Spent, Step, Unreached
from privcore.algorithms.search.skeleton import Decision, Skeleton, search_skeleton
from privcore.counts import has_numbers
from privcore.errors import ParameterError
from privcore.graphs import orient
from privcore.graphs.knowledge import Knowledge
from privcore.graphs.orientation import overruled
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.guarantee import REPLACE_ONE


def public_facts(run: Run[GraphParameters]) -> tuple[str, ...]:
    """The facts that every guarantee treats as public."""
    numeric = has_numbers(run.source)
    known = Knowledge.read(run.parameters.knowledge).words
    return (
        f"number of rows ({run.source.n:,})",
        "column names and bounds" if numeric else "column names, and each column's levels in order",
        "every parameter of the run",
        *([f"background knowledge: {'; '.join(known)}"] if known else []),
    )


@dataclass
class Recorder:
    """Collects the steps of a run, if requested."""

    keep: bool
    steps: list[Step] = field(default_factory=list)

    def add(self, step: Step) -> None:
        if self.keep:
            self.steps.append(step)


def search(run: Run[SearchParameters], decision: Decision) -> Skeleton:
    """Search for the skeleton with the run's settings."""
    return search_skeleton(
        run.source.names,
        decision,
        stable=run.parameters.stable,
        max_order=run.parameters.max_order,
        hooks=run.hooks,
        prepare=run.source.prepare,
        limit=run.test_limit,
        known=run.known,
    )


def oriented(run: Run[GraphParameters], skeleton: Skeleton, **rules: Any) -> Skeleton:
    """The skeleton, oriented by its separating sets and the run's background knowledge.

    rules: further arguments for `orient`.
    """
    sets, known = skeleton.found_sets, run.known
    return skeleton._replace(
        graph=orient(skeleton.graph, sets, known=known, **rules),
        overruled=overruled(skeleton.graph, sets, "first", known),
    )


def outcome(
    skeleton: Skeleton,
    recorder: Recorder,
    guarantee: Guarantee,
    spent: Spent,
    *,
    unit: str,
    epsilon_to_finish: float | None = None,
    rounds_to_finish: int = 0,
) -> Outcome:
    """The outcome of a search, given the oriented skeleton.

    epsilon_to_finish: the total ε that would have paid for all remaining tests as well, split over
    `rounds_to_finish` planned rounds.
    """
    unreached = None
    # After a limit on the work, no budget would have finished the search.
    limited = skeleton.stopped in ("work", "size")
    if skeleton.stopped:
        orders = [order for order, tests in skeleton.unreached.items() if tests]
        unreached = Unreached(
            first=min(orders, default=skeleton.orders_run - 1),
            last=max(orders, default=skeleton.orders_run - 1),
            tests=sum(skeleton.unreached.values()),
            epsilon=None if limited else epsilon_to_finish,
            rounds=0 if limited else rounds_to_finish,
        )
    return Outcome(
        graph=skeleton.graph,
        separating_sets=skeleton.separating_sets,
        guarantee=guarantee,
        spent=spent,
        tests_run=skeleton.tests_run,
        orders_run=skeleton.orders_run,
        stopped=skeleton.stopped,
        trace=tuple(recorder.steps),
        unreached=unreached,
        unit=unit,
        overruled=skeleton.overruled,
        beyond=Beyond(hidden_stage=skeleton.hidden_stage, repeats=skeleton.repeats),
    )


def proven_guarantee(
    run: Run[PrivateParameters], accountant: str, proofs: tuple[str, ...], delta: float
) -> Guarantee:
    """The guarantee of a proven run, with the total (ε, δ) that was fixed before the run."""
    if run.parameters.knowledge:
        proofs = (*proofs, "docs/proofs/background_knowledge.md")
    return Guarantee(
        epsilon=run.parameters.epsilon,
        delta=delta,
        neighbours=REPLACE_ONE,
        public=public_facts(run),
        calibration="proven",
        accountant=accountant,
        proof=", ".join(dict.fromkeys(proof for proof in proofs if proof)),
    )


def published_guarantee(
    run: Run[GraphParameters],
    epsilon: float,
    delta: float,
    accountant: str,
    flaws: tuple[str, ...],
) -> Guarantee:
    """The total (ε, δ) that a paper claims, with the reasons why the claim does not hold."""
    return Guarantee(
        epsilon=epsilon,
        delta=delta,
        neighbours=REPLACE_ONE,
        public=public_facts(run),
        calibration="published",
        accountant=accountant,
        proof="",
        caveats=tuple(flaw for flaw in flaws if flaw),
    )


def checked_rows(n: int, rate: float) -> int:
    """Number of rows in a sub-sample: n times the rate, rounded down.

    Raises ParameterError if fewer than 2 rows remain.
    """
    rows = int(n * rate)
    if rows < 2:
        raise ParameterError("sub-sampling-rate-leaves-of-rows", rate=rate, rows=rows, n=n)
    return rows
