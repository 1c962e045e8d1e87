"""`discover`: one run, from a network or a file, as JSON or in words."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from privcore.dataset import (
    Dataset,
    build_dataset,
    declare,
    infer_schema,
    load_network,
    read_table,
    read_true_graph,
)
from privcore.discovery import ALGORITHMS, count, discover, get_algorithm
from privcore.errors import DataError, ParameterError
from privcore.mechanisms import NoiseSource, SecureNoise, SimulatedNoise
from privcore.reporting import non_private_reference, references_of, run_report
from privcore.text import short

# Parameters with an option of their own; all others go through --set.
_DIRECT = ("epsilon", "delta", "threshold", "tweak", "calibration", "score", "max_order")

# Of these, those that only private algorithms have; the others leave them aside.
_PRIVACY = ("epsilon", "delta", "tweak", "calibration")


def add_command(commands: argparse._SubParsersAction[Any]) -> None:
    text = "discover a causal graph"
    command = commands.add_parser("discover", help=text, description=text)
    data = command.add_argument_group("data")
    data.add_argument("--network", help="a built-in network (see `networks`)")
    data.add_argument("--rows", default="100000", help="rows to sample from it (100000)")
    data.add_argument("--data-seed", default=None, help="seed of the sample (that of --seed)")
    data.add_argument("--csv", metavar="FILE", help="a CSV, TSV or Parquet file instead")
    data.add_argument(
        "--levels-public",
        action="store_true",
        help="the file's levels and bounds are public knowledge; otherwise they are reported as "
        "read from the data, which no guarantee covers",
    )
    data.add_argument(
        "--missing", choices=("refuse", "drop", "level"), default="refuse",
        help="what to do with missing values (refuse)",
    )  # fmt: skip
    data.add_argument("--truth", metavar="FILE", help="the true graph, to compare with")
    run = command.add_argument_group("run")
    run.add_argument("--algorithm", default="priv-pc", help="see `algorithms` (priv-pc)")
    run.add_argument("--seed", default="1", help="seed of the simulated noise (1)")
    run.add_argument("--secure", action="store_true", help="secure noise, no seed")
    for name in _DIRECT:
        parameter = next(
            p for a in reversed(ALGORITHMS.values()) for p in a.parameters if p.name == name
        )
        run.add_argument(
            f"--{parameter.option}", help=f"{parameter.title}: {parameter.range_text()}"
        )
    run.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other parameter"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    algorithm = get_algorithm(options.algorithm)
    seed = _whole(options.seed, "seed")
    given = {name: getattr(options, name) for name in _DIRECT if getattr(options, name) is not None}
    if not algorithm.private:
        # So that one script can run every algorithm with the same options.
        given = {name: value for name, value in given.items() if name not in _PRIVACY}
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError(f"--set {short(setting)} is not NAME=VALUE.")
        given[name.strip()] = value.strip()
    data_seed = seed if options.data_seed is None else _whole(options.data_seed, "data-seed")
    dataset = _load(options, data_seed)
    source = count(dataset)
    noise: NoiseSource | None = None
    if algorithm.private:
        noise = SecureNoise() if options.secure else SimulatedNoise(seed)
    result = discover(source, algorithm.name, given, noise=noise)
    reference = non_private_reference(source, result)
    references = references_of(dataset, reference)
    report = run_report(result, dataset, references, seed=None if options.secure else seed)
    print(json.dumps(report, indent=1, ensure_ascii=False) if options.json else _words(report))


def _whole(text: str, name: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise ParameterError(f"{name} is {short(text)}; it must be a whole number, at least 0.")
    return number


def _load(options: argparse.Namespace, seed: int) -> Dataset:
    if (options.network is None) == (options.csv is None):
        raise ParameterError("Give either --network NAME or --csv FILE.")
    if options.network is not None:
        rows = _whole(options.rows, "rows")
        dataset = load_network(options.network).sample(rows, seed)
    else:
        path = Path(options.csv)
        raw = read_table(_bytes(path), path.name)
        schema = infer_schema(raw)
        if options.levels_public:
            schema = declare(schema)
        dataset = build_dataset(raw, schema, name=path.name, missing=options.missing)
    if options.truth:
        path = Path(options.truth)
        edges = read_true_graph(_bytes(path), path.name, dataset.names)
        dataset = replace(dataset, true_edges=edges)
    return dataset


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError):
        raise DataError(f"The file {short(path)!r} cannot be read; check its name.") from None


def _words(report: dict[str, Any]) -> str:
    lines = [f"{a} -> {b}" for a, b in report["directed"]]
    lines += [f"{a} -- {b}" for a, b in report["undirected"]]
    guarantee = report["guarantee"]
    if guarantee["epsilon"] is None:
        lines.append("not private")
    else:
        lines.append(
            f"epsilon {guarantee['epsilon']:g}, delta {guarantee['delta']:g} "
            f"({guarantee['calibration']}, {guarantee['accountant']}; {guarantee['neighbours']})"
        )
    lines += [f"note: {caveat}" for caveat in guarantee["caveats"]]
    for name, metrics in report["metrics"].items():
        lines.append(
            f"against {name.replace('_', '-')}: skeleton F1 {metrics['skeleton']['f1']:.3f}, "
            f"CPDAG F1 {metrics['cpdag']['f1']:.3f}"
        )
    if report["stopped"]:
        lines.append("the budget ran out; edges not yet tested stay")
    lines.append(f"{report['tests_run']} tests, {report['seconds']:.3f} s")
    return "\n".join(lines)
