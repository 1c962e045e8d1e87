"""`direction`: decide which of two variables causes the other; print words or JSON."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from privcore.data import Dataset
from privcore.errors import ParameterError
from privcore.extras.pairs import (
    GENERATORS,
    PARAMETERS,
    Inference,
    Pair,
    PairGenerator,
    generator_parameters,
    infer,
)
from privcore.extras.pairs.report import caution, direction_report
from privcore.faces.cli.data import add_reading_options, raw_table, stated_schema, whole
from privcore.intake import ColumnSchema, RawTable, build_dataset
from privcore.intake.triage import number_columns, proposed_schema
from privcore.parameter import Parameter
from privcore.privacy.accounting.guarantee import large_delta_sentence
from privcore.privacy.mechanisms import NoiseSource, SecureNoise, SimulatedNoise
from privcore.text import short

# Parameters with their own option; all others are given by --set.
_DIRECT = ("epsilon", "delta", "score", "protects", "calibration", "penalty")


def _options() -> dict[str, Parameter]:
    """The parameters of all generators by name, without duplicates."""
    return {p.name: p for kind in GENERATORS for p in generator_parameters(kind)}


def add_options(command: argparse.ArgumentParser) -> None:
    data = command.add_argument_group("data")
    data.add_argument("--generator", help=f"a pair with a known direction: {', '.join(GENERATORS)}")
    data.add_argument("--rows", default="8000", help="rows to generate (8000)")
    data.add_argument(
        "--data-seed", default=None, help=("seed of the rows (default: the value of --seed)")
    )
    data.add_argument("--csv", metavar="FILE", help="a file, in any format of `discover`")
    add_reading_options(data)
    data.add_argument("--x", metavar="COLUMN", help="the file's first variable")
    data.add_argument("--y", metavar="COLUMN", help="the file's second variable")
    data.add_argument(
        "--schema",
        metavar="FILE",
        help="JSON with the bounds of the columns, confirmed by the data owner (see `schema`). "
        "Without this file the bounds are read from the data, and no guarantee covers the bounds",
    )
    data.add_argument(
        "--missing",
        choices=("refuse", "drop"),
        default="refuse",
        help="what to do with missing values (refuse)",
    )
    generator = command.add_argument_group("parameters of a generator")
    for parameter in _options().values():
        generator.add_argument(
            f"--{parameter.option}", help=f"{parameter.title}: {parameter.explained_range()}"
        )
    run = command.add_argument_group("run")
    run.add_argument("--seed", default="1", help="seed of the split and the simulated noise (1)")
    run.add_argument("--secure", action="store_true", help="use secure noise, without a seed")
    for parameter in PARAMETERS:
        if parameter.name in _DIRECT:
            run.add_argument(
                f"--{parameter.option}", help=f"{parameter.title}: {parameter.explained_range()}"
            )
    run.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other parameter"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    seed = whole(options.seed, "seed")
    pair = _pair(
        options, seed if options.data_seed is None else whole(options.data_seed, "data-seed")
    )
    parameters = {
        name: getattr(options, name) for name in _DIRECT if getattr(options, name) is not None
    }
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError("set-not-name-value", setting=short(setting))
        parameters[name.strip()] = value.strip()
    noise: NoiseSource = SecureNoise() if options.secure else SimulatedNoise(seed)
    result = infer(pair, parameters, noise=noise)
    if options.json:
        report = direction_report(result, pair, seed=None if options.secure else seed)
        print(json.dumps(report, indent=1, ensure_ascii=False))
        return
    print(
        "\n".join(
            [*_words(result), *filter(None, [large_delta_sentence(result.guarantee, pair.n)])]
        )
    )


def _pair(options: argparse.Namespace, data_seed: int) -> Pair:
    """The pair that the options select; raises ParameterError unless they select exactly one."""
    if (options.generator is None) == (options.csv is None):
        raise ParameterError("either-pair-source")
    parameters = {k: getattr(options, k) for k in _options() if getattr(options, k) is not None}
    if options.generator is not None:
        if options.x is not None or options.y is not None:
            raise ParameterError("pair-options-are-for-csv")
        rows = whole(options.rows, "rows")
        return PairGenerator(options.generator, parameters).sample(rows, data_seed)
    if parameters:
        named = _options()[next(iter(parameters))].option
        raise ParameterError("option-is-for-generators", named=named)
    if options.x is None or options.y is None:
        raise ParameterError("pair-needs-columns")
    return Pair.from_dataset(_file(options), options.x, options.y)


def _file(options: argparse.Namespace) -> Dataset:
    """Read the columns --x and --y, without binning numbers; all columns if one is missing."""
    raw = raw_table(options)
    schema = stated_schema(options) or _read_off(raw)
    pair = {options.x, options.y} & set(raw.names)
    schema = [
        replace(
            column,
            bins=None,
            # Cut points are for graphs, but are the only public facts of a column without bounds.
            cut_points=() if column.bounds else column.cut_points,
            include=len(pair) < 2 or column.name in pair,
        )
        for column in schema
    ]
    return build_dataset(raw, schema, name=Path(options.csv).name, missing=options.missing)


def _read_off(raw: RawTable) -> list[ColumnSchema]:
    """Propose schemas in which numbers are not binned and missing values are not a level."""
    numbers = {column.name: column for column in number_columns(raw)}
    proposed = (numbers.get(column.name, column) for column in proposed_schema(raw))
    return [replace(column, missing=False) for column in proposed]


def _words(result: Inference) -> list[str]:
    x, y = (short(name) for name in result.names)
    arrows = {"x->y": f"{x} -> {y}", "y->x": f"{y} -> {x}"}
    lines = [arrows[result.decision] if result.decision else f"{x}, {y}: no decision"]
    for release in result.releases:
        decision = arrows[release.decision] if release.decision else "no decision"
        lines.append(f"{release.score}: {decision}")
        for arrow, value, around in zip(
            arrows.values(), release.released, release.intervals, strict=True
        ):
            shown = "not released" if value is None else f"{value:.5g}"
            if around is not None:
                shown += f" (95 %: {around[0]:.5g} to {around[1]:.5g})"
            lines.append(f"  {arrow}: {shown}")
        lines += [f"  {release.refused}"] if release.refused else []
    guarantee = result.guarantee
    lines.append(
        f"epsilon {guarantee.epsilon:g}, delta {guarantee.delta:g} "
        f"({guarantee.calibration}, {guarantee.accountant}; {guarantee.neighbours})"
    )
    lines += [f"note: {caveat}" for caveat in (*guarantee.caveats, caution(result)) if caveat]
    if result.noise == "simulated":
        exact = ", ".join(
            f"{release.score} {arrows.get(release.exact_decision or '', 'no decision')}"
            for release in result.releases
        )
        lines.append(f"without noise (not private): {exact}")
        lines.append("noise simulated from a seed: for exploration, never for a release")
        lines.append(f"{result.seconds:.3f} s")
    else:
        lines.append("secure noise")
    return lines
