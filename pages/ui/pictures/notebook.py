"""A run as a Jupyter notebook that reproduces it."""

from __future__ import annotations

import json
import pprint
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from pages.ui.controls.data import Loaded
from pages.ui.pictures.run import RunPictures, plain_guarantee, settings_line
from pages.ui.texts import plain
from privcore.algorithms import ALGORITHMS
from privcore.data import Dataset
from privcore.data.model import Column
from privcore.display.commands import python_code
from privcore.display.sentences import NOT_PRIVATE, SIMULATED
from privcore.intake import ColumnSchema
from privcore.intake.coding import DROPPED
from privcore.intake.schema import MISSING_LEVEL, schema_json
from privcore.version import __version__


def notebook(
    pictures: RunPictures, loaded: Loaded, *, schema: Sequence[ColumnSchema] | None = None
) -> str:
    """The JSON of a notebook (nbformat 4.5): data, run, edges, a picture and a comparison.

    A user's own table is read with its schema, from a path that the user fills in. schema: the
    schema of an uploaded table; if None, the columns of the data set give the schema.
    """
    result, dataset = pictures.result, loaded.dataset
    seed = 1 if pictures.seed is None else pictures.seed
    script = python_code(
        result, dataset, network=loaded.is_network, data_seed=loaded.seed, seed=seed
    )
    load, run, rest = script.partition("result = discover(")
    call = run + rest.partition("\n")[0]
    hide = f"dataset = dataset.hiding({list(dataset.hidden)!r})\n" if dataset.hidden else ""
    if hide and hide not in load:
        load += hide
    if not loaded.is_network and dataset.recipe is None:
        load = _load_table(dataset, _schema_of(dataset) if schema is None else schema)
    graph = result.graph
    edges = graph.named_edges()
    made = f"Made with CausalVeil {__version__}."
    if pictures.private:
        made += f" {SIMULATED}"
    lines = (pictures.title, plain_guarantee(result), settings_line(result, dataset, pictures.seed))
    cells = [
        _text("# " + "\n\n".join([*map(plain, lines), made])),
        _text("## The data"),
        _code(load.strip()),
        _text("## The run"),
        _code(f"{call}\nprint(result.guarantee)"),
        _text("## Its edges"),
        _code(
            "from privcore.graphs.pdag import SIGNS\n\n"
            "graph = result.graph\n"
            "edges = graph.named_edges()\n"
            "for a, b, kind in edges:\n"
            "    print(a, SIGNS[kind], b)"
        ),
        _code("result"),
        _text("Is this the same graph as on the page?"),
        _code(
            f"shown = {pprint.pformat(edges, width=96)}\n"
            'print("the same graph" if edges == shown else "another graph")'
        ),
    ]
    if ALGORITHMS[result.algorithm].private:
        cells += [
            _text(f"## Without noise\n\n{NOT_PRIVATE}"),
            _code(
                "import privcore\n"
                "from privcore.algorithms import count\n"
                "from privcore.measures import compare\n"
                "from privcore.measures.references import non_private_reference\n\n"
                "reference = non_private_reference(count(dataset), result)\n"
                f"name = {'non-private ' + pictures.base_name!r}\n"
                "print(compare(graph, reference.graph, name).summary())\n"
                "privcore.show(result, reference)"
            ),
        ]
    document = {
        "cells": [{**cell, "id": f"cell-{k}"} for k, cell in enumerate(cells, start=1)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def _load_table(dataset: Dataset, schema: Sequence[ColumnSchema]) -> str:
    used = [column for column in schema if column.include]
    text = schema_json(used, confirmed=bool(used) and all(column.declared for column in used))
    missing = "level"
    if dataset.available:
        missing = "available"
    elif DROPPED in dataset.notes:
        missing = "drop"
    unit = ""
    if dataset.unit.column:
        unit = f", unit={dataset.unit.column!r}, rows_per_unit={dataset.unit.rows}"
    unit += "".join(
        f", {name}={value!r}" for name, value in dataset.reading_options.set_options().items()
    )
    return (
        "import json\n\nimport privcore\n"
        "from privcore.algorithms import discover\n"
        "from privcore.intake.schema import read_schema\n\n"
        f"# The table: put the path of your file here.\npath = {dataset.name!r}\n"
        f"schema = {pprint.pformat(json.loads(text), width=96, sort_dicts=False)}\n\n"
        "columns = read_schema(json.dumps(schema).encode())\n"
        f"dataset = privcore.read_table(path, schema=columns, missing={missing!r}{unit})"
    )


def _schema_of(dataset: Dataset) -> list[ColumnSchema]:
    """The schema that reads a table into this data set; dates must be converted first."""
    return [_column(column) for column in dataset.columns]


def _column(column: Column) -> ColumnSchema:
    schema = ColumnSchema(
        column.name, column.kind, column.levels, column.bounds, declared=column.declared
    )
    if not column.cut_points:
        return schema
    return replace(
        schema,
        kind="continuous",
        levels=(),
        cut_points=column.cut_points,
        missing=MISSING_LEVEL in column.levels,
    )


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(source: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source.splitlines(keepends=True),
    }
