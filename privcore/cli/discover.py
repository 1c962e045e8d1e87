"""`discover`: one run, from a network, an example or a file, as JSON or in words."""

from __future__ import annotations

import argparse
import json
from typing import Any

from privcore.cli.data import add_data_options, load, whole
from privcore.cli.run_options import add_parameter_options, parameters_of
from privcore.counts import NumericRows
from privcore.discovery import count, discover, get_algorithm
from privcore.mechanisms import NoiseSource, SecureNoise, SimulatedNoise
from privcore.reporting import (
    effect_sentence,
    large_delta_sentence,
    non_private_reference,
    references_of,
    run_report,
)


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    text = "discover a causal graph"
    command = commands.add_parser("discover", help=text, description=text)
    add_data_options(command)
    run = command.add_argument_group("run")
    run.add_argument(
        "--algorithm", help="see `algorithms` (priv-pc; privpc-star for columns of numbers)"
    )
    run.add_argument("--seed", default="1", help="seed of the simulated noise (1)")
    run.add_argument("--secure", action="store_true", help="secure noise, no seed")
    add_parameter_options(run)
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    if options.algorithm is not None:
        get_algorithm(options.algorithm)  # A wrong name is told before any data are read.
    seed = whole(options.seed, "seed")
    data_seed = seed if options.data_seed is None else whole(options.data_seed, "data-seed")
    dataset = load(options, data_seed)
    source = count(dataset)
    usual = "privpc-star" if isinstance(source, NumericRows) else "priv-pc"
    algorithm = get_algorithm(options.algorithm or usual)
    given = parameters_of(options, algorithm)
    noise: NoiseSource | None = None
    if algorithm.private:
        noise = SecureNoise() if options.secure else SimulatedNoise(seed)
    result = discover(source, algorithm.name, given, noise=noise)
    reference = non_private_reference(source, result)
    references = references_of(dataset, reference)
    report = run_report(result, dataset, references, seed=None if options.secure else seed)
    if options.json:
        print(json.dumps(report, indent=1, ensure_ascii=False))
        return
    notes = [large_delta_sentence(result.guarantee, dataset.n), effect_sentence(result, dataset.n)]
    print("\n".join([_words(report), *filter(None, notes)]))


_NOISE = {
    "simulated": "noise simulated from a seed: to explore, never to release",
    "secure": "secure noise; the metrics below are computed from the exact data: leave them out of "
    "what you release",
}


def _words(report: dict[str, Any]) -> str:
    lines = [f"{a} -> {b}" for a, b in report["directed"]]
    lines += [f"{a} -- {b}" for a, b in report["undirected"]]
    guarantee = report["guarantee"]
    if guarantee["calibration"] == "none":
        lines.append("not private")
    else:
        epsilon = guarantee["epsilon"]
        shown = "beyond all numbers" if epsilon is None else f"{epsilon:g}"
        lines.append(
            f"epsilon {shown}, delta {guarantee['delta']:g} "
            f"({guarantee['calibration']}, {guarantee['accountant']}; {guarantee['neighbours']})"
        )
    lines += [f"note: {caveat}" for caveat in guarantee["caveats"]]
    if report["noise"] in _NOISE:
        lines.append(_NOISE[report["noise"]])
    form = get_algorithm(report["algorithm"]).output.upper()
    for name, metrics in report["metrics"].items():
        lines.append(
            f"against {name.replace('_', '-')}: skeleton F1 {metrics['skeleton']['f1']:.3f}, "
            f"{form} F1 {metrics['cpdag']['f1']:.3f}"
        )
    if report["stopped"]:
        ended = {
            "budget": "the budget ran out; edges not yet tested stay",
            "noise": "what was left of the budget would have bought mostly noise; edges not yet "
            "tested stay",
        }
        lines.append(ended[report["stopped"]])
        left = report["unreached"]
        over = f" over {left['rounds']} {report['spent']['noun']}" if left["rounds"] else ""
        need = f"; a total epsilon of {left['epsilon']:.3g}{over} reaches them"
        need = need if left["epsilon"] else ""
        lines.append(f"orders {left['first_order']} to {left['last_order']} not finished{need}")
    work = f"{report['tests_run']} tests"
    if report["weights"] is not None:
        noisy = f", {report['tests_run']} noisy gradients" if report["tests_run"] else ""
        work = f"{report['orders_run']} iterations{noisy}"
    lines.append(f"{work}, {report['seconds']:.3f} s")
    return "\n".join(lines)
