"""`check`: whether a graph of one's own agrees with the data, with its effect."""

from __future__ import annotations

import argparse
import json

from privcore.algorithms import get_algorithm
from privcore.display.graph_check import asked_sentence, effect_lines, pair_line, verdict_sentence
from privcore.effects.by_graph import GraphAnswer, check_data
from privcore.effects.model import ALGORITHM
from privcore.errors import ParameterError
from privcore.exchange.stated import read_graph
from privcore.faces.api.checks import check_release
from privcore.faces.cli.data import add_data_options, load, whole
from privcore.faces.cli.run_options import add_parameter_options, parameters_of
from privcore.measures.graph_check import LEVEL, SIZE
from privcore.privacy.mechanisms import NoiseSource, SecureNoise, SimulatedNoise


def add_options(command: argparse.ArgumentParser) -> None:
    add_data_options(command)
    add_graph_options(command, required=True)
    run = command.add_argument_group("run")
    run.add_argument(
        "--from-release",
        metavar="FILE",
        help="check against the numbers of a release file, at no cost, in place of data",
    )
    run.add_argument("--seed", default="1", help="seed of the simulated noise (1)")
    run.add_argument("--secure", action="store_true", help="secure noise, no seed")
    add_parameter_options(run)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def add_graph_options(command: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the options that state the graph to check."""
    graph = command.add_argument_group("graph")
    graph.add_argument(
        "--graph",
        metavar="FILE",
        required=required,
        help="the graph to check: a file of DAGitty, Tetrad, GML or JSON, or edges such as "
        "'a -> b; b -> c; a <-> c'",
    )
    for role in ("exposure", "outcome"):
        graph.add_argument(f"--{role}", metavar="COLUMN", help=f"the {role}, if not in the graph")
    for parameter in (LEVEL, SIZE):
        option = {"level": "fdr"}.get(parameter.name, parameter.name)
        graph.add_argument(
            f"--{option}",
            dest=f"check_{parameter.name}",
            default=parameter.default,
            help=f"{parameter.title}: {parameter.explained_range()}",
        )


def _run(options: argparse.Namespace) -> None:
    graph = read_graph(options.graph).asking(options.exposure, options.outcome)
    level, size = LEVEL.parse(options.check_level), SIZE.parse(options.check_size)
    if options.from_release is not None:
        if any(getattr(options, source) for source in ("network", "example", "csv", "table")):
            raise ParameterError("check-data-or-release")
        answer = check_release(options.from_release, graph, level=level, size=size)
    else:
        seed = whole(options.seed, "seed")
        data = load(
            options, seed if options.data_seed is None else whole(options.data_seed, "data-seed")
        )
        noise: NoiseSource = SecureNoise() if options.secure else SimulatedNoise(seed)
        parameters = parameters_of(options, get_algorithm(ALGORITHM))
        answer = check_data(data, graph, parameters, noise=noise, level=level, size=size)
    if options.json:
        report = {
            **answer.as_dict(),
            "guarantee": answer.result.guarantee.as_dict(),
            "parameters": dict(answer.result.parameters),
            "noise": answer.result.noise,
        }
        print(json.dumps(report, indent=1, ensure_ascii=False))
        return
    print("\n".join(words(answer, free=options.from_release is not None)))


def words(answer: GraphAnswer, *, free: bool) -> list[str]:
    """The answer in lines of text; free: whether the release was there before."""
    promise = answer.result.guarantee
    lines = [verdict_sentence(answer.check), *map(pair_line, answer.check.pairs)]
    lines += filter(None, [asked_sentence(answer.check)])
    lines += effect_lines(answer)
    cost = "at no further cost; covered by " if free else ""
    lines.append(
        f"{cost}epsilon {promise.epsilon:g}, delta {promise.delta:g} ({promise.calibration}, "
        f"{promise.accountant}; {promise.neighbours})"
    )
    lines += [f"note: {caveat}" for caveat in promise.caveats]
    if answer.result.noise == "simulated":
        lines.append("noise simulated from a seed: for exploration, never for a release")
    return lines
