"""Command-line options for the data of a run, and functions that load the data."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from privcore.algorithms.search.parameters import ROWS_PER_UNIT
from privcore.data import (
    EXAMPLES,
    Dataset,
    StructuralExample,
    example_parameters,
    intervals,
    load_network,
)
from privcore.errors import DataError, ParameterError
from privcore.exchange.dot import read_true_graph
from privcore.extras.lab.work import WIDE, wide_sentence
from privcore.intake import ColumnSchema, RawTable, build_dataset, read_table
from privcore.intake.bought_domain import StatedTable
from privcore.intake.proposing import Proposal
from privcore.intake.reading import MAX_BYTES, MEMORY, ReadingOptions
from privcore.intake.samples import Sample, get_sample
from privcore.intake.schema import read_schema
from privcore.intake.triage import KINDS, choose, left_out, merge_rare, triage
from privcore.intake.units import bounded
from privcore.naming import QUOTING, listed
from privcore.parameter import Parameter
from privcore.releases.private_domain import OWN_DELTA, SHARE, Purchase
from privcore.storage.parquet import ParquetTable, open_parquet, triage_parquet
from privcore.text import number_of, short, whole_of
from privcore.unit import noun_of

_CHOOSE = (
    "choose by name (--columns 'q*'), by kind (--kinds ordered) or at random (--at-random 200)"
)
_EXACT = "This figure is exact, so do not publish it."
_SOURCES = ("network", "example", "csv", "sample", "table")
_FILES = ("csv", "sample", "table")
# The largest whole number that every format and library involved can hold.
MOST = 2**63 - 1

Data = TypeVar("Data", Dataset, ParquetTable)


def _options() -> dict[str, Parameter]:
    """The parameters of all examples, each once."""
    return {p.name: p for kind in EXAMPLES for p in example_parameters(kind)}


def add_data_options(command: argparse.ArgumentParser) -> None:
    data = command.add_argument_group("data")
    data.add_argument("--network", help="a built-in network (see `networks`)")
    data.add_argument("--example", help="or a structural example (see `examples`)")
    data.add_argument(
        "--csv",
        metavar="FILE",
        help="or a file: text (CSV, TSV), a workbook, Parquet, SPSS, Stata, SAS or R",
    )
    add_reading_options(data)
    data.add_argument("--sample", metavar="NAME", help="or a sample file (see `samples`)")
    data.add_argument(
        "--table",
        metavar="PATH",
        help="or a Parquet file of any size, or a folder of such files; the rows are counted on "
        "disk and never all loaded into memory",
    )
    data.add_argument(
        "--schema",
        metavar="FILE",
        help="JSON file that lists the columns to use, each with its levels, or its bounds and cut "
        "points (`schema` drafts one). Without a schema, levels and bounds are read from the data, "
        "and no guarantee covers them",
    )
    data.add_argument(
        "--memory",
        metavar="GIB",
        default=f"{MEMORY / 2**30:g}",
        help=f"memory that a file or a table may use, in GiB ({MEMORY / 2**30:g})",
    )
    data.add_argument(
        "--rows", default="100000", help="number of rows to sample; not for a file (100000)"
    )
    data.add_argument(
        "--data-seed", default=None, help="seed for sampling the rows (the value of --seed)"
    )
    data.add_argument(
        "--intervals",
        metavar="K",
        help="number of intervals into which each numeric column is cut, or `none` to leave "
        "numeric columns uncut. The intervals have about equal numbers of rows for a file, and "
        "equal widths for other data (examples: none; files: chosen from the numbers of rows and "
        "columns)",
    )
    data.add_argument(
        "--columns",
        metavar="A,B,…",
        help=f"for a file: the columns to use, by name or pattern such as q*; {QUOTING}",
    )
    data.add_argument(
        "--values",
        metavar="A,B,…",
        help="for a file: cells that are values although they look like codes for missing values, "
        "such as 99",
    )
    data.add_argument(
        "--drop", metavar="A,B,…", help="for a file: columns to leave out, by name or pattern"
    )
    data.add_argument(
        "--kinds",
        metavar="A,B,…",
        help=f"for a file: use only columns of these kinds ({', '.join(KINDS)})",
    )
    data.add_argument("--at-random", metavar="K", help="for a file: K columns chosen at random")
    data.add_argument(
        "--index", metavar="NAME", help="for a file: the column that identifies its rows"
    )
    data.add_argument(
        "--merge-rare",
        metavar="ROWS",
        help="for a file: merge levels with fewer than ROWS rows into the level `(other)`",
    )
    data.add_argument(
        "--missing",
        choices=("level", "drop", "available", "refuse"),
        default=None,
        help="treatment of missing values. level: make them a level of their own. drop: leave "
        "their rows out. available: take them as missing at random, so that each test uses the "
        "rows in which its columns have values (only pc and lapmech). refuse: stop with an error. "
        "The default is level, but refuse for columns without such a level in --schema",
    )
    data.add_argument(
        "--hide",
        metavar="A,B,…",
        help="for a network: columns to hide; the true graph is then a PAG of the other columns",
    )
    data.add_argument("--truth", metavar="FILE", help="file with the true graph, for comparison")
    add_unit_options(command, "with --unit, rows beyond K are left out")
    example = command.add_argument_group("parameters of an example")
    for parameter in _options().values():
        example.add_argument(
            f"--{parameter.option}",
            help=f"{parameter.title}: {parameter.range_text()}",
        )


def add_reading_options(command: argparse._ActionsContainer) -> None:
    """Add the options on how to read the file of --csv if its format is ambiguous."""
    command.add_argument(
        "--encoding", metavar="NAME", help="encoding of a text file, such as gb18030"
    )
    command.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="whether the first row holds the names of the columns (detected)",
    )
    command.add_argument("--sheet", metavar="NAME", help="sheet of a workbook (the first)")
    command.add_argument(
        "--leave-last", metavar="ROWS", default="0", help="number of rows to drop at the end (0)"
    )


def add_unit_options(command: argparse.ArgumentParser, bound_help: str) -> None:
    """Add the options for the unit of privacy.

    bound_help: help text on the effect of the maximum number of rows per unit.
    """
    who = command.add_argument_group("who is protected")
    who.add_argument(
        "--unit",
        metavar="COLUMN",
        help="for a file: the column that identifies the person of each row, such as patient_id; "
        "all rows of a person are protected together, and the column is used for nothing else",
    )
    who.add_argument(
        f"--{ROWS_PER_UNIT.option}",
        metavar="K",
        help=f"maximum number of rows per person; {bound_help}",
    )


def add_purchase_options(command: argparse.ArgumentParser) -> None:
    """Add the options for buying the domain of --csv."""
    domain = command.add_argument_group("a bought domain")
    domain.add_argument(
        f"--{SHARE.option}",
        metavar="SHARE",
        help="share of ε and δ, such as 0.2, for buying levels, bounds and cut points from the "
        "rows of --csv, with noise, for columns that have only a kind in --schema",
    )
    domain.add_argument(
        f"--{OWN_DELTA.option}",
        metavar="DELTA",
        help="δ of the bought domain, for a run that has no δ",
    )


def whole(text: str, name: str) -> int:
    """Parse a whole number from 0 to `MOST`; raises ParameterError for anything else."""
    number = whole_of(text)
    if number is None or number < 0:
        raise ParameterError("option-no-whole-number", name=name, text=short(text))
    if number > MOST:
        raise ParameterError("option-too-large", name=name, text=short(text), most=MOST)
    return number


def load(options: argparse.Namespace, seed: int) -> Dataset | ParquetTable:
    """Load the data that the options name; networks and examples are sampled with `seed`."""
    check_source(options)
    if options.table is not None:
        return load_table(options)
    if options.network is not None:
        dataset = load_network(options.network).sample(whole(options.rows, "rows"), seed)
    elif options.example is not None:
        dataset = example_of(options).sample(whole(options.rows, "rows"), seed)
    else:
        dataset = _read_file(options)
    cuts = intervals_of(options)
    if options.csv is None and cuts is not None:
        dataset = intervals(dataset, cuts)
    return _with_truth(dataset.hiding(hidden_of(options)), options)


def hidden_of(options: argparse.Namespace) -> tuple[str, ...]:
    """The column names given to --hide."""
    return tuple(filter(None, listed(options.hide or "")))


def check_source(options: argparse.Namespace) -> None:
    """Raises ParameterError unless exactly one data source is named, with only its own options.

    If the source is --sample, the file of the sample is then stored as --csv (`take_sample`).
    """
    if sum(getattr(options, source) is not None for source in _SOURCES) != 1:
        raise ParameterError("data-source")
    if options.schema is not None and all(getattr(options, file) is None for file in _FILES):
        raise ParameterError("schema-is-for-files")
    if options.unit is not None and options.csv is None and options.sample is None:
        raise ParameterError("unit-is-for-csv" if options.table is None else "unit-with-table")
    if options.hide is not None and options.network is None:
        raise ParameterError("hide-is-for-networks")
    parameters = _given(options)
    if parameters and options.example is None:
        named = _options()[next(iter(parameters))].option
        raise ParameterError("option-is-for-examples", named=named)
    take_sample(options)


def take_sample(options: argparse.Namespace) -> None:
    """Use the file of --sample as --csv; raises ParameterError for an unknown name."""
    if options.sample is not None:
        options.from_sample = get_sample(options.sample)
        options.csv, options.sample = str(options.from_sample.path), None


def example_of(options: argparse.Namespace) -> StructuralExample:
    """The structural example that the options name."""
    return StructuralExample(options.example, **_given(options))


def intervals_of(options: argparse.Namespace) -> int | None:
    """The number of intervals into which numeric columns are cut; None to leave them uncut."""
    if options.intervals in (None, "none"):
        return None
    return whole(options.intervals, "intervals")


def load_file(options: argparse.Namespace) -> Dataset:
    """Load the file of --csv as a data set, with its true graph if one is known."""
    return _with_truth(_read_file(options), options)


def load_table(options: argparse.Namespace) -> ParquetTable:
    """Open the Parquet files of --table as one table, with its true graph if one is known."""
    schema, memory = stated_schema(options), _bytes_of(options.memory)
    if options.merge_rare is not None:
        raise ParameterError("merge-rare-is-for-csv")
    if schema is None:
        if options.intervals == "none":
            raise ParameterError("counts-levels-alone")
        proposals = triage_parquet(options.table, intervals_of(options), memory=memory)
        schema = _proposed(proposals, options)
    else:
        _refuse_on_proposals(options)
        if options.intervals is not None:
            raise ParameterError("intervals-cannot-combined-table-schema")
    table = open_parquet(options.table, schema, missing=options.missing or "refuse", memory=memory)
    return _with_truth(table, options)


def _bytes_of(text: str) -> int:
    """The memory limit in bytes; raises ParameterError unless it is 0.1 to 4096 GiB."""
    gibibytes = number_of(text)
    if gibibytes is None or not 0.1 <= gibibytes <= 4096:
        raise ParameterError("memory-out-of-range", text=short(text))
    return int(gibibytes * 2**30)


def stated_schema(options: argparse.Namespace) -> list[ColumnSchema] | None:
    """Read the file of --schema; without this option the schema of --like, or None.

    Raises DataError if the schema states only the kind of a column.
    """
    if options.schema is None:
        return getattr(options, "public_schema", None)
    schema = read_schema(file_bytes(Path(options.schema)))
    for column in schema:
        if not column.has_domain:
            raise DataError("kind-alone", name=short(column.name))
    return schema


def stated_table(options: argparse.Namespace) -> StatedTable | None:
    """Read the file of --csv as a table whose domain is to be bought; None without --buy-domain.

    Raises ParameterError if the options name data whose domain cannot be bought.
    """
    if options.buy_domain is None:
        if options.domain_delta is not None:
            raise ParameterError("domain-delta-is-for-buy-domain")
        return None
    check_source(options)
    if options.csv is None or options.schema is None:
        raise ParameterError("schema-for-csv")
    if options.intervals is not None:
        raise ParameterError("intervals-cannot-combined-buy-domain")
    share, delta = SHARE.parse(options.buy_domain), OWN_DELTA.parse(options.domain_delta)
    path, truth = Path(options.csv), options.truth and Path(options.truth)
    schema = read_schema(file_bytes(Path(options.schema)))
    names = [column.name for column in schema]
    sample: Sample | None = getattr(options, "from_sample", None)
    edges = None if sample is None else sample.true_edges(names)
    return StatedTable.state(
        raw_table(options),
        schema,
        name=path.name,
        purchase=Purchase(share, delta),
        missing=options.missing or "refuse",
        true_edges=read_true_graph(file_bytes(truth), truth.name, names) if truth else edges,
    )


def _given(options: argparse.Namespace) -> dict[str, Any]:
    return {k: getattr(options, k) for k in _options() if getattr(options, k) is not None}


def _with_truth(dataset: Data, options: argparse.Namespace) -> Data:
    if not options.truth:
        sample: Sample | None = getattr(options, "from_sample", None)
        if sample is not None:
            return replace(dataset, true_edges=sample.true_edges(dataset.names))
        return dataset
    path = Path(options.truth)
    return replace(dataset, true_edges=read_true_graph(file_bytes(path), path.name, dataset.names))


def _read_file(options: argparse.Namespace) -> Dataset:
    raw = raw_table(options)
    name = Path(options.csv).name
    schema = stated_schema(options)
    if schema is None:
        _check_width(len(raw.names), options)
        values = listed(vars(options).get("values") or "")
        schema = _proposed(triage(raw, intervals_of(options), values=values), options)
        if options.intervals == "none":
            schema = [replace(column, cut_points=(), bins=None) for column in schema]
        if options.merge_rare is not None:
            schema = merge_rare(raw, schema, whole(options.merge_rare, "merge-rare"))
    else:
        _refuse_on_proposals(options)
    if options.schema is not None and options.intervals is not None:
        bins = intervals_of(options)
        schema = [
            replace(column, bins=bins) if column.kind == "continuous" else column
            for column in schema
        ]
    return build_dataset(raw, schema, name=name, missing=options.missing or "refuse")


_ON_PROPOSALS = ("columns", "values", "drop", "index", "kinds", "at_random", "merge_rare")


def _refuse_on_proposals(options: argparse.Namespace) -> None:
    """Raises ParameterError if options that change proposals are given with a schema."""
    named = [option for option in _ON_PROPOSALS if vars(options).get(option) is not None]
    if named:
        raise ParameterError("option-is-without-schema", named=named[0].replace("_", "-"))


def _check_width(columns: int, options: argparse.Namespace) -> None:
    """Raises DataError if a table has too many columns and no option chooses among them."""
    chosen = any(vars(options).get(name) is not None for name in ("columns", "kinds", "at_random"))
    if columns > WIDE and not chosen:
        raise DataError(wide_sentence(columns, _CHOOSE))


def _proposed(proposals: list[Proposal], options: argparse.Namespace) -> list[ColumnSchema]:
    """The proposed schema of the chosen columns; sets `options.left_out` to the unused columns."""
    drawn = vars(options).get("at_random")
    proposals = choose(
        proposals,
        None if options.columns is None else listed(options.columns),
        [*listed(options.drop or ""), *([] if options.index is None else [options.index])],
        kinds=listed(vars(options).get("kinds") or ""),
        at_random=None if drawn is None else whole(drawn, "at-random"),
    )
    options.left_out = left_out(proposals)
    schema = [proposal.schema for proposal in proposals]
    if options.missing in ("drop", "refuse"):
        schema = [replace(column, missing=False) for column in schema]
    return schema


def raw_table(options: argparse.Namespace) -> RawTable:
    """Read the cells of the file of --csv; with --unit, at most --rows-per-unit rows of each unit.

    Sentences about the file are stored in the options, as `file_sentences`, and not in any result.
    """
    unit: str | None = vars(options).get("unit")
    bound = getattr(options, "rows_per_unit", None)
    if unit is not None and bound is None:
        raise ParameterError(
            "maximum-number-of-rows-per-not-stated-give", noun_of=short(noun_of(unit))
        )
    path = Path(options.csv)
    memory = getattr(options, "memory", None)
    values = vars(options)
    reading = ReadingOptions(
        values.get("encoding"),
        values.get("header"),
        values.get("sheet"),
        whole(values.get("leave_last", "0"), "leave-last"),
    )
    raw = read_table(
        file_bytes(path), path.name, reading, memory=MEMORY if memory is None else _bytes_of(memory)
    )
    if bound is not None:
        raw = raw.answered("persons")
    limited = None if unit is None else bounded(raw, unit, ROWS_PER_UNIT.parse(bound))
    options.file_sentences = [
        *raw.sentences,
        *_encodings(raw),
        *([] if limited is None else [f"{limited.kept_sentence} {_EXACT}"]),
    ]
    return raw if limited is None else limited.table


def _encodings(raw: RawTable) -> list[str]:
    """A sentence on an uncertain encoding, with samples of the text under each candidate."""
    if not raw.readings:
        return []
    (taken, sample), *others = raw.readings

    def shown(name: str, texts: Sequence[str]) -> str:
        return f"{name} ({', '.join(short(text, 20) for text in texts[:2])})"

    listed = ", ".join(shown(*reading) for reading in others[:3])
    return [
        f"The text was decoded as {shown(taken, sample)}; "
        f"if this text looks wrong, choose another --encoding: {listed}."
    ]


def file_bytes(path: Path) -> bytes:
    """Read the bytes of a file, up to `MAX_BYTES` + 1, so that callers can refuse larger files.

    Raises DataError if the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError):
        raise DataError("knowledge-file-unreadable", path=short(path)) from None
