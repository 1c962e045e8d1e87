"""`effect`: the effect on an outcome of setting its cause, as JSON or in words."""

from __future__ import annotations

import argparse
import json
from typing import Any

from privcore.algorithms import get_algorithm
from privcore.algorithms.engine import source_of
from privcore.data import Dataset, load_network
from privcore.display.effects import effect_line, estimate_text, headline, width_sentence
from privcore.effects import (
    ALGORITHM,
    SHARE,
    EffectPlan,
    Effects,
    Question,
    effects,
    expected_precision,
    true_effect,
    without_privacy,
)
from privcore.errors import PrivcoreError
from privcore.faces.cli.data import add_data_options, load, whole
from privcore.faces.cli.run_options import add_parameter_options, parameters_of
from privcore.graphs.pdag import to_json_dict
from privcore.measures.references import non_private_reference
from privcore.privacy.mechanisms import NoiseSource, SecureNoise, SimulatedNoise
from privcore.storage.parquet import ParquetTable
from privcore.text import counted


def add_options(command: argparse.ArgumentParser) -> None:
    add_data_options(command)
    add_question_options(command, required=True)
    run = command.add_argument_group("run")
    run.add_argument("--seed", default="1", help="seed of the simulated noise (1)")
    run.add_argument("--secure", action="store_true", help="secure noise, no seed")
    add_parameter_options(run)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def add_question_options(command: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the options that state the effect to estimate."""
    question = command.add_argument_group("effect")
    question.add_argument(
        "--cause", metavar="COLUMN", required=required, help="the column that is set"
    )
    question.add_argument(
        "--outcome",
        metavar="COLUMN",
        required=required,
        help="the column that the cause may change",
    )
    question.add_argument(
        "--from",
        dest="compared",
        metavar="VALUE",
        help="level of the cause to compare with (the first level other than --to), or a number "
        "(with --to; else the effect is that of one more unit)",
    )
    question.add_argument(
        "--to",
        metavar="VALUE",
        help="level to which the cause is set (the level that means yes, or else the last), or a "
        "number",
    )
    question.add_argument(
        "--level",
        metavar="LEVEL",
        help="level of the outcome whose probability is estimated (as for --to)",
    )
    question.add_argument(
        f"--{SHARE.option}", default=SHARE.default, metavar="SHARE", help=SHARE.explained_range()
    )


def plan_of(options: argparse.Namespace) -> EffectPlan:
    """Read the question and the share of ε for it from the options.

    Raises ParameterError for an invalid share.
    """
    question = Question(options.cause, options.outcome, options.compared, options.to, options.level)
    return EffectPlan(question, float(SHARE.parse(options.effect_share)))


def _run(options: argparse.Namespace) -> None:
    plan = plan_of(options)
    seed = whole(options.seed, "seed")
    data = load(
        options, seed if options.data_seed is None else whole(options.data_seed, "data-seed")
    )
    parameters = parameters_of(options, get_algorithm(ALGORITHM))
    noise: NoiseSource = SecureNoise() if options.secure else SimulatedNoise(seed)
    answer = effects(data, plan.question, parameters, share=plan.share, noise=noise)
    others = {} if options.secure else compared(data, answer, options.network)
    if options.json:
        print(json.dumps(report(answer, others, None if options.secure else seed), indent=1))
        return
    print("\n".join(_words(answer, others, _cost(data, answer, parameters))))


def _cost(data: Dataset | ParquetTable, answer: Effects, parameters: dict[str, Any]) -> str:
    """The option for a second release, and its precision; empty if it would not help."""
    if not answer.lacks_release:
        return ""
    lacking = next((e.adjustment for e in answer.effects if e.estimate is None), ())
    width = expected_precision(EffectPlan(answer.question, 0.5), data, parameters, lacking)
    return f"--{SHARE.option} 0.5: {width_sentence(answer.question, width, 0.5)}"


def compared(data: Dataset | ParquetTable, answer: Effects, network: str | None) -> dict[str, Any]:
    """Compute reference effects by name; their values are not private.

    The references are the effect on PC's non-private graph, or the reason why it was refused, and
    for a network the true effect.
    """
    indexed = answer.question.on(data.columns)
    others: dict[str, Any] = {}
    try:
        base = non_private_reference(source_of(data), answer.result)
        others["without_privacy"] = without_privacy(data, base.graph, answer.question, base.repeats)
    except PrivcoreError as error:
        others["without_privacy_refused"] = str(error)
    if network is not None and indexed.level >= 0:
        others["truth"] = true_effect(load_network(network), indexed)
    return others


def report(answer: Effects, others: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """The answer and its comparisons as a JSON-ready dictionary.

    others: the comparisons that `compared` returns.
    """
    exact = others.get("without_privacy")
    return {
        **answer.as_dict(),
        "graph": to_json_dict(answer.result.graph),
        "guarantee": answer.guarantee.as_dict(),
        "not_private": {
            **others,
            **({} if exact is None else {"without_privacy": [e.as_dict() for e in exact]}),
        },
        "parameters": dict(answer.result.parameters),
        "seconds": answer.result.seconds,
        "noise": answer.result.noise,
        "seed": seed,
    }


def _words(answer: Effects, others: dict[str, Any], cost: str) -> list[str]:
    lines = [
        headline(answer),
        *(effect_line(answer.question, effect) for effect in answer.effects[:8]),
    ]
    if len(answer.effects) > 8:
        lines.append(
            f"and {counted(len(answer.effects) - 8, 'more set')} of parents (--json lists all)"
        )
    exact = [e.estimate for e in others.get("without_privacy", ()) if e.estimate is not None]
    if exact:
        estimates = "; ".join(dict.fromkeys(estimate_text(answer.question, e) for e in exact))
        lines.append(f"without privacy, on PC's graph: {estimates}")
    if "without_privacy_refused" in others:
        lines.append(f"without privacy: {others['without_privacy_refused']}")
    if "truth" in others:
        lines.append(f"true effect in the network: {100 * others['truth']:+.1f} points")
    if cost:
        lines.append(cost)
    promise = answer.guarantee
    lines.append(
        f"epsilon {promise.epsilon:g}, delta {promise.delta:g} ({promise.calibration}, "
        f"{promise.accountant}; {promise.neighbours})"
    )
    lines += [f"note: {caveat}" for caveat in promise.caveats]
    if answer.result.noise == "simulated":
        lines.append("noise simulated from a seed: for exploration, never for a release")
    return lines
