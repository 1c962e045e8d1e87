"""The options that say which data a run is on, and loading what they say."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from privcore.dataset import (
    EXAMPLES,
    Dataset,
    StructuralExample,
    build_dataset,
    declare,
    example_parameters,
    infer_schema,
    intervals,
    load_network,
    read_table,
    read_true_graph,
)
from privcore.errors import DataError, ParameterError
from privcore.parameter import Parameter
from privcore.text import short

_SOURCES = ("network", "example", "csv")


def _options() -> dict[str, Parameter]:
    """Every parameter that some example has, each once."""
    return {p.name: p for kind in EXAMPLES for p in example_parameters(kind)}


def add_data_options(command: argparse.ArgumentParser) -> None:
    data = command.add_argument_group("data")
    data.add_argument("--network", help="a built-in network (see `networks`)")
    data.add_argument("--example", help="or a structural example (see `examples`)")
    data.add_argument("--csv", metavar="FILE", help="or a CSV, TSV or Parquet file")
    data.add_argument("--rows", default="100000", help="rows to sample, but of a file (100000)")
    data.add_argument("--data-seed", default=None, help="seed of the sample (that of --seed)")
    data.add_argument(
        "--intervals", metavar="K",
        help="cut numeric columns into so many equal intervals of their bounds, or `none` "
        "(examples: none; files: 4)",
    )  # fmt: skip
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
    example = command.add_argument_group("of an example")
    for parameter in _options().values():
        example.add_argument(
            f"--{parameter.option}",
            help=f"{parameter.title}: {parameter.range_text()}",
        )


def whole(text: str, name: str) -> int:
    """A whole number; raises ParameterError unless it is one and at least 0."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise ParameterError(f"{name} is {short(text)}; it must be a whole number, at least 0.")
    return number


def load(options: argparse.Namespace, seed: int) -> Dataset:
    """The data set that the options say, sampled with `seed` if it is not a file."""
    check_source(options)
    if options.network is not None:
        dataset = load_network(options.network).sample(whole(options.rows, "rows"), seed)
    elif options.example is not None:
        dataset = example_of(options).sample(whole(options.rows, "rows"), seed)
    else:
        dataset = _read_file(options)
    cuts = intervals_of(options)
    if options.csv is None and cuts is not None:
        dataset = intervals(dataset, cuts)
    return _with_truth(dataset, options)


def check_source(options: argparse.Namespace) -> None:
    """Raises ParameterError unless just one source is named, with no other's parameters."""
    if sum(getattr(options, source) is not None for source in _SOURCES) != 1:
        raise ParameterError("Give either --network NAME, --example NAME or --csv FILE.")
    given = _given(options)
    if given and options.example is None:
        named = _options()[next(iter(given))].option
        raise ParameterError(f"--{named} is for --example; leave it out.")


def example_of(options: argparse.Namespace) -> StructuralExample:
    """The structural example that the options name."""
    return StructuralExample(options.example, **_given(options))


def intervals_of(options: argparse.Namespace) -> int | None:
    """Into how many intervals numeric columns are cut, None for not at all."""
    if options.intervals in (None, "none"):
        return None
    return whole(options.intervals, "intervals")


def load_file(options: argparse.Namespace) -> Dataset:
    """The file that --csv names, with its true graph if there is one."""
    return _with_truth(_read_file(options), options)


def _given(options: argparse.Namespace) -> dict[str, Any]:
    return {k: getattr(options, k) for k in _options() if getattr(options, k) is not None}


def _with_truth(dataset: Dataset, options: argparse.Namespace) -> Dataset:
    if not options.truth:
        return dataset
    path = Path(options.truth)
    return replace(dataset, true_edges=read_true_graph(_bytes(path), path.name, dataset.names))


def _read_file(options: argparse.Namespace) -> Dataset:
    path = Path(options.csv)
    raw = read_table(_bytes(path), path.name)
    schema = infer_schema(raw)
    if options.intervals is not None:
        bins = intervals_of(options)
        schema = [
            replace(column, bins=bins) if column.kind == "continuous" else column
            for column in schema
        ]
    if options.levels_public:
        schema = declare(schema)
    return build_dataset(raw, schema, name=path.name, missing=options.missing)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError):
        raise DataError(f"The file {short(path)!r} cannot be read; check its name.") from None
