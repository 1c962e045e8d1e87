"""`advise`: recommend an algorithm for data of a given shape, from public facts alone."""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict

from privcore.algorithms import ALGORITHMS
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.visible import PublicShape, visible_effects
from privcore.algorithms.search.model import NoHooks
from privcore.algorithms.search.parameters import DELTA, EPSILON
from privcore.data.network import MAX_ROWS
from privcore.display.sentences import visible_sentence
from privcore.errors import ParameterError
from privcore.extras.lab.planning.adviser import (
    SECONDS,
    Advice,
    Candidate,
    advise,
    enough,
    settings,
)
from privcore.extras.lab.planning.knowledge_gain import knowledge_gain
from privcore.extras.lab.planning.optimality_gap import OptimalityGap, optimality_gap
from privcore.extras.lab.planning.surrogate import Shape, Spread, Surrogates
from privcore.faces.cli.data import whole
from privcore.faces.cli.run_options import add_knowledge_options, knowledge_of
from privcore.graphs.knowledge import Knowledge
from privcore.text import number_of, short

_MOST_COLUMNS = 200
_MOST_LEVELS = 1000


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--rows", default="100000", help="number of rows of the table (100000)")
    command.add_argument("--columns", default="8", help="number of columns, all of one kind (8)")
    command.add_argument(
        "--levels",
        default="2",
        help="number of levels of every column (2), or a comma-separated number for each column",
    )
    command.add_argument(
        "--numbers", action="store_true", help="all columns are numeric, with bounds"
    )
    command.add_argument("--epsilon", default="1", help="total epsilon (1)")
    command.add_argument("--delta", default="1e-6", help="total delta (1e-6)")
    command.add_argument(
        "--algorithms", default="", help="algorithms to compare, comma-separated; all by default"
    )
    command.add_argument(
        "--f1", help="also find the smallest epsilon that reaches this skeleton F1"
    )
    command.add_argument("--runs", default="5", help="number of surrogates (5)")
    command.add_argument(
        "--seconds", default=f"{SECONDS:.0f}", help=f"time limit for all runs ({SECONDS:.0f})"
    )
    add_knowledge_options(command)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    shape = _shape(options)
    runs = _between(options.runs, "runs", 1, 100)
    seconds = _between(options.seconds, "seconds", 1, 86_400)
    epsilon, delta = EPSILON.parse(options.epsilon), DELTA.parse(options.delta)
    wanted = None if options.f1 is None else _share(options.f1)
    known = knowledge_of(options)
    surrogates = Surrogates(shape, range(1, runs + 1), known)
    names = [name for name in options.algorithms.split(",") if name]
    progress = _Progress()
    advice = advise(
        surrogates, epsilon, delta, names, progress.watch, seconds=seconds, on_result=progress.row
    )
    best = advice.best
    reached = None
    if wanted is not None and best is not None:
        reached = enough(surrogates, best.algorithm, delta, wanted)
    gain = None
    if known and best is not None:
        chosen = settings(ALGORITHMS[best.algorithm], epsilon, delta)
        gain = knowledge_gain(surrogates, best.algorithm, chosen)
    parameters = MomentSearchParameters(epsilon=epsilon, delta=delta)
    open_pairs = Knowledge.read(known).on(shape.names).open_pairs
    public = PublicShape(shape.n, shape.levels, len(shape.names), open_pairs)
    gap = optimality_gap(surrogates, parameters)
    if options.json:
        described = {
            "epsilon": epsilon,
            "delta": delta,
            "runs": runs,
            "algorithms": [
                {
                    "name": c.algorithm,
                    "skeleton_f1": _known(c.skeleton),
                    "cpdag_f1": _known(c.cpdag),
                    "refused": c.refused,
                }
                for c in advice.candidates
            ],
            "use": None if best is None else best.algorithm,
            "as_many_edges": [c.algorithm for c in advice.close if c is not best],
            "epsilon_for_f1": None if reached is None else reached.epsilon,
            "smallest_visible": visible_effects(public, parameters).alone,
            "weak_edge": None if gap is None else _described(gap),
            "knowledge_worth": None if gain is None else asdict(gain),
        }
        print(json.dumps(described, indent=1, ensure_ascii=False))
        return
    _print(advice, epsilon)
    if reached is not None and best is not None:
        needed = "none up to 50 is" if reached.epsilon is None else f"{reached.epsilon:.3g} is"
        print(
            f"Of the epsilons tried with {best.algorithm}, {needed} enough for a skeleton F1 of "
            f"{wanted:g}."
        )
    if gain is not None:
        print(gain.sentence)
    print(visible_sentence(public, parameters))
    if gap is not None:
        print(f"{gap.verdict} {gap.reason}")


class _Progress:
    """Show progress on standard error: the current run, and each algorithm's result so far."""

    def watch(self, done: int) -> NoHooks:
        if sys.stderr.isatty():
            print(f"\rRun {done + 1} …", end="", file=sys.stderr, flush=True)
        return NoHooks()

    def row(self, candidate: Candidate) -> None:
        text = candidate.refused or f"skeleton F1 {_text(candidate.skeleton)}"
        start = "\r" if sys.stderr.isatty() else ""
        print(f"{start}{candidate.algorithm}: {text}", file=sys.stderr, flush=True)


def _shape(options: argparse.Namespace) -> Shape:
    rows = _between(options.rows, "rows", 2, MAX_ROWS)
    listed = options.levels.split(",")
    many = str(len(listed)) if len(listed) > 1 else options.columns
    columns = _between(many, "columns", 2, _MOST_COLUMNS)
    if options.numbers:
        return Shape(rows, bounds=((-1.0, 1.0),) * columns)
    levels = [_between(word, "levels", 2, _MOST_LEVELS) for word in listed]
    return Shape(rows, levels=tuple(levels if len(levels) > 1 else levels * columns))


def _between(text: str, name: str, low: int, high: int) -> int:
    value = whole(text, name)
    if not low <= value <= high:
        raise ParameterError("option-not-between", name=name, value=value, low=low, high=high)
    return value


def _share(text: str) -> float:
    value = number_of(text)
    if value is None or not 0 < value <= 1:
        raise ParameterError("f1-out-of-range", text=short(text))
    return value


def _print(advice: Advice, epsilon: float) -> None:
    width = max(len(c.algorithm) for c in advice.candidates)
    print(f"{'algorithm':{width}}  skeleton F1    CPDAG F1")
    for c in advice.candidates:
        text = c.refused or f"{_text(c.skeleton)}  {_text(c.cpdag)}"
        print(f"{c.algorithm:{width}}  {text}")
    if advice.best is None:
        print("No algorithm could run on data of this shape.")
        return
    print(
        f"At epsilon {epsilon:g} use {advice.best.algorithm}: a skeleton F1 of about "
        f"{advice.best.skeleton.mean:.2f} and a CPDAG F1 of about {advice.best.cpdag.mean:.2f} on "
        f"{advice.runs} random models with columns like these; your data may be easier or harder."
    )
    others = [c.algorithm for c in advice.close if c is not advice.best]
    if others:
        print(f"Not clearly worse in skeleton F1: {', '.join(others)}.")


def _text(spread: Spread) -> str:
    return f"{spread.mean:.3f}" + ("" if math.isnan(spread.sd) else f" ± {spread.sd:.3f}")


def _known(spread: Spread) -> dict[str, float | None]:
    return {k: None if math.isnan(v) else v for k, v in spread._asdict().items()}


def _described(gap: OptimalityGap) -> dict[str, float | str | None]:
    def known(epsilon: float) -> float | None:
        return epsilon if math.isfinite(epsilon) else None

    return {
        "effect": gap.effect,
        "oracle_epsilon": known(gap.oracle),
        "algorithm_epsilon": known(gap.algorithm),
        "limit": gap.limit,
    }
