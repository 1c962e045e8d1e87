"""Load a table: file, schema to edit, missing values, and an optional true graph.

The file, the table and everything derived from them stay in the memory of this session.
"""

from __future__ import annotations

import hashlib
import math
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.ui.controls import known
from pages.ui.controls.data import SCHEMA_OF_SESSION, UPLOAD, Loaded
from pages.ui.controls.params import number_text
from pages.ui.controls.target import OWN
from pages.ui.controls.uploads import uploaded_file, uploads_allowed
from pages.ui.data import columns, domain, reading, samples, who
from pages.ui.discover import own, pins
from pages.ui.frame import go
from pages.ui.layout import problem
from pages.ui.texts import plain
from privcore.data import Dataset
from privcore.errors import DataError, PrivcoreError
from privcore.exchange.dot import read_true_graph
from privcore.intake import ColumnSchema, RawTable, build_dataset, read_table
from privcore.intake.bought_domain import StatedTable
from privcore.intake.coding import GAPS_AS_LEVEL, Missing
from privcore.intake.layout import DELIMITERS
from privcore.intake.proposing import Proposal, propose
from privcore.intake.reading import ENDINGS, MAX_BYTES, ReadingOptions
from privcore.intake.schema import read_schema
from privcore.intake.triage import choose, triage
from privcore.releases.private_domain import Purchase
from privcore.text import counted, number_of, short

_SEPARATOR = "; "
# A table as read, by its source: its digest, the file's name, and what its owner
# states about it.
_Held = tuple[tuple[str, str, ReadingOptions], RawTable]
_MISSING: dict[Missing, str] = {
    "level": "a level of its own",
    "drop": "leave out rows with missing values",
    "available": "missing at random: each test uses the rows that have values (PC, LapMech)",
    "refuse": "refuse the table, and report where values are missing",
}


def panel() -> None:
    """Draw the steps of loading a table. The table in use stays until a new table is accepted.

    While built-in data are in use, only the upload controls are shown. A loaded table replaces the
    built-in data.
    """
    own = st.session_state["data"] == UPLOAD
    key = f"upload_file_{st.session_state.get('upload_round', 0)}"
    file = uploaded_file(
        "A table of your own",
        endings=list(ENDINGS),
        key=key,
        on_change=partial(_file_changed, key),
        megabytes=MAX_BYTES // 1_000_000,
        help="Text (CSV, TSV), Excel, OpenDocument, Parquet, SPSS, Stata, SAS or R, up to 100 MB. "
        "The file stays on this computer, in memory, until the session ends. For larger Parquet "
        "files use the command line, which counts the rows without loading the whole file: "
        "`python -m privcore discover --table`.",
    )
    if file is not None:
        samples.clear()
    sample = samples.choose(_sample_changed, own=own)
    held: _Held | None = st.session_state.get("upload_raw")
    if not own or (not uploads_allowed() and sample is None):
        return
    if file is not None:
        content, filename = file.getvalue(), file.name
    elif sample is not None:
        content, filename = sample.path.read_bytes(), sample.path.name
    elif held is not None:
        # Leaving the page empties the uploader; the table stays.
        content, filename = st.session_state["upload_bytes"], held[0][1]
    else:
        st.info("Choose a file with at least two columns, or a sample table.")
        return
    table = hashlib.sha256(content).hexdigest()
    # Errors and the next step stay in view above the long table of columns.
    bar = st.container(key="upload-bar")
    try:
        raw = _read(content, filename, table)
    except PrivcoreError as error:
        problem(error, bar)
        if "upload" in st.session_state:
            bar.caption("The previous table stays in use.")
        reading.sheet(table[:12], content, None)
        reading.settings(table[:12], None)
    else:
        reading.sheet(table[:12], content, raw)
        reading.findings(table[:12], raw)
        try:
            _edit(raw, filename, bar)
        except PrivcoreError as error:
            problem(error, bar)
        reading.settings(table[:12], raw)
    st.button("Forget this table", on_click=_forget, icon=":material/delete:")


def waits() -> bool:
    """Whether the table that is shown above is read, but another one is still in use."""
    held: _Held | None = st.session_state.get("upload_raw")
    return (
        st.session_state["data"] == UPLOAD
        and held is not None
        and st.session_state.get("upload_used_of") != held[0]
    )


def _file_changed(key: str) -> None:
    if st.session_state[key] is not None:
        st.session_state["data"] = UPLOAD


def _sample_changed() -> None:
    """After a new choice of sample, empty the uploader; without a sample, forget the table too."""
    st.session_state["data"] = UPLOAD
    if samples.chosen() is None:
        _forget()
    else:
        _empty_uploader()


def _forget() -> None:
    """Forget the table and everything made from it, and show an empty uploader."""
    loaded: Loaded | None = st.session_state.get("upload")
    if loaded is not None:
        known.forget(loaded)
        own.forget(loaded)
    pins.forget_own()
    for made in ("_background", "_sweeps"):
        for runs in st.session_state.pop(made, {}).values():
            runs.give_way()
    for key in (
        *("upload", "upload_raw", "upload_bytes", "upload_schema", "upload_used"),
        *("upload_used_of", "upload_guessed", "upload_proposals", "upload_triaged"),
        *("upload_unit", "upload_bounded", "upload_edited", "upload_examples"),
        *("upload_repeats", "upload_stated", "upload_confirmed"),
        *("_results", "_surrogates", "_positions", "_look_of", "own_cause", "own_effect"),
        OWN,
    ):
        st.session_state.pop(key, None)
    samples.clear()
    _empty_uploader()


def _empty_uploader() -> None:
    st.session_state["upload_round"] = st.session_state.get("upload_round", 0) + 1


def _read(content: bytes, filename: str, table: str) -> RawTable:
    """Read a table once per file and reading options; only this session keeps the result."""
    key = (table, filename, reading.stated_options(table[:12]))
    held: _Held | None = st.session_state.get("upload_raw")
    if held is None or held[0] != key:
        with st.spinner("Reading the table"):
            raw = read_table(content, filename, key[2])
            proposals = triage(raw)
        st.session_state["upload_raw"] = held = (key, raw)
        st.session_state["upload_bytes"] = content
        st.session_state["upload_triaged"] = st.session_state["upload_proposals"] = proposals
        for key_of_old in ("upload_unit", "upload_bounded", "upload_edited"):
            st.session_state.pop(key_of_old, None)
        guessed = [proposal.schema for proposal in proposals]
        st.session_state["upload_schema"] = st.session_state["upload_guessed"] = guessed
        st.session_state.pop("upload_stated", None)
        st.session_state["upload_edits"] = st.session_state.get("upload_edits", 0) + 1
    return held[1]


def _edit(raw: RawTable, filename: str, bar: DeltaGenerator) -> None:
    """Draw the editable proposals for all columns, and the buttons that accept the table.

    bar: the container for messages and the next step.
    """
    triaged: list[Proposal] = st.session_state["upload_triaged"]
    size = f"{counted(len(raw.frame), 'row')}, {counted(len(triaged), 'column')}"
    about = f"{short(filename, 60)}: {size}"
    limited = who.choose(raw, triaged)
    raw = who.answered(raw) if limited is None else limited.table
    if raw.unit.column:
        about += f", with {short(raw.unit.column, 40)} as the identifier of persons"
    if raw.encoding:
        about += f"; {raw.encoding}, {DELIMITERS.get(raw.delimiter, raw.delimiter)}-separated"
    _follow(raw, columns.codes(raw, [p for p in triaged if p.name in raw.frame]))
    schema: list[ColumnSchema] = st.session_state["upload_schema"]
    proposals: list[Proposal] = st.session_state["upload_proposals"]
    with bar:
        left, right = st.columns([3, 2], vertical_alignment="center")
        with left:
            st.header(columns.summary(schema, proposals))
            st.text(about)
            if waits() and "upload" in st.session_state:
                st.caption("Until you use this table, the previous one stays in use.")
        with right.container(horizontal=True, horizontal_alignment="right"):
            discover = st.button("Discover its graph", type="primary", icon=":material/hub:")
            use = st.button("Use this table", icon=":material/check:")
    columns.table(raw)
    st.caption(
        "All of these values were read from the rows. Reading costs nothing, but no guarantee "
        "covers the values. Before a release, replace them with values that you know without the "
        "rows, or buy them."
    )
    with st.expander("Change levels, bounds and cut points"):
        edited = _details(schema)
    st.session_state["upload_edited"] = edited
    uncut = st.toggle(
        "Keep numbers as they are",
        key="upload_uncut",
        persist_state="session",
        help="Continuous columns are not cut: intervals and cut points are ignored, but bounds are "
        "needed. Only algorithms for numeric data can run. If there are categorical columns "
        "too, only moment search and PC can run.",
    )
    share = domain.chosen_share()
    if raw.missing:
        st.text(
            "Missing values: "
            + ", ".join(f"{short(k, 30)} {v:,}" for k, v in list(raw.missing.items())[:8])
        )
    missing = st.selectbox(
        "Missing values",
        list(_MISSING),
        format_func=_MISSING.__getitem__,
        key="upload_missing",
        help="If missing values are a level of their own, (missing) is one of the values that you "
        "confirm as public. If rows are left out, the number of remaining rows becomes public.",
    )
    left, right = st.columns(2)
    with left:
        stated = uploaded_file(
            "Schema (optional)",
            optional=True,
            endings=["json"],
            key="upload_schema_file",
            megabytes=5,
            help="The public part of the table, as written by `python -m privcore schema` or by "
            "this page. The schema replaces the values that were read from the rows.",
        )
    with right:
        truth = uploaded_file(
            "True graph (optional)",
            optional=True,
            endings=["csv", "tsv", "txt", "dot", "gv", "graphml", "xml", "bif"],
            key="upload_truth",
            megabytes=5,
            help="An edge list (cause,effect), DOT, GraphML, BIF or Tetrad's text over the same "
            "columns.",
        )
    if stated is not None and st.session_state.get("upload_stated") != stated.file_id:
        _state(read_schema(stated.getvalue()), schema)
        st.session_state["upload_stated"] = stated.file_id
        st.rerun()
    waiting = st.session_state.get(SCHEMA_OF_SESSION, [])
    lacking = {column.name for column in waiting} - {column.name for column in schema}
    if lacking:
        # It waits for its own table, which may be loaded next.
        bar.caption(
            f"The opened session is about another table: this one has no column "
            f"{plain(repr(short(min(lacking))))}."
        )
    elif waiting:
        _state(st.session_state.pop(SCHEMA_OF_SESSION), schema)
        st.rerun()
    if discover or use:
        wanted = _from_frame(edited, schema, kinds_alone=share is not None)
        columns.check_width(wanted)
        wanted = [_recut(raw, *each) for each in zip(wanted, schema, strict=True)]
        gaps = raw.missing if missing in GAPS_AS_LEVEL else {}
        if sum(column.include for column in wanted) < 2:
            choose(proposals)
        if missing not in GAPS_AS_LEVEL and "upload_stated" not in st.session_state:
            wanted = [replace(column, missing=False) for column in wanted]
        used = [replace(c, missing=c.missing or c.name in gaps) for c in wanted]
        used = [_without_cuts(column) for column in used] if uncut else used
        names = [column.name for column in wanted if column.include]
        edges = (
            read_true_graph(truth.getvalue(), truth.name, names)
            if truth
            else samples.true_edges(names)
        )
        name, content = short(filename, 60), st.session_state["upload_bytes"]
        alone = [
            column.name
            for column in used
            if column.include and not column.has_domain and raw.frame[column.name].notna().any()
        ]
        if alone and share is None:
            raise DataError(
                f"Column {short(alone[0])!r} has only a kind; give its levels, bounds or cut "
                "points, or switch on “Buy levels, bounds and cut points”."
            )
        if share is not None:
            table = StatedTable.state(
                raw,
                [domain.kind_alone(column) for column in used],
                name=name,
                purchase=Purchase(share),
                # The columns that have a level for missing values are part of the confirmation.
                missing="refuse" if missing == "level" else missing,
                true_edges=edges,
            )
            used = list(table.schema)
            domain.use(domain.explored(table), content, domain.stated(table, used))
        else:
            public = domain.confirmed(used)
            dataset: Dataset = build_dataset(
                raw,
                [replace(column, declared=public) for column in used],
                name=name,
                missing=missing,
                true_edges=edges,
            )
            domain.use(dataset, content)
        st.session_state["upload_used"] = used
        st.session_state["upload_used_of"] = st.session_state["upload_raw"][0]
        # The edits become the starting point, so that they remain when the user returns.
        st.session_state["upload_schema"] = wanted
        st.session_state["upload_edits"] += 1
        if discover:
            go("pages/discover.py")
        st.rerun()
    if "upload" in st.session_state and not waits():
        bar.success("The table is ready.")
        bar.page_link("pages/discover.py", label="Go to Discover", icon=":material/hub:")


def _details(schema: list[ColumnSchema]) -> pd.DataFrame:
    """Draw a table in which the values of each column in use can be edited; returns the table."""
    st.markdown(
        "List levels in order, separated by semicolons. Numbers are cut into intervals or kept as "
        "they are."
    )
    return st.data_editor(
        _to_frame(schema),
        hide_index=True,
        num_rows="fixed",
        disabled=["column"],
        key=f"upload_editor_{st.session_state['upload_edits']}",
        column_config={
            "kind": st.column_config.SelectboxColumn(
                options=["nominal", "ordinal", "continuous"],
                required=True,
                help="The levels of an ordinal column are in order; rank scores and moment search "
                "use this order.",
            ),
            "levels": st.column_config.TextColumn(
                help="Other values become (other) if (other) is listed."
            ),
            "low": st.column_config.NumberColumn(help="Lower bound of a numeric column."),
            "high": st.column_config.NumberColumn(help="Upper bound."),
            "intervals": st.column_config.NumberColumn(
                min_value=2,
                max_value=100,
                step=1,
                help="For a column with cut points, a new number of intervals gives new cut "
                "points, with equal numbers of rows in each interval. For a column without cut "
                "points, the intervals have equal width between the bounds.",
            ),
            "cut points": st.column_config.TextColumn(
                help="Inner boundaries of intervals of unequal width, separated by semicolons."
            ),
            "missing codes": st.column_config.TextColumn(
                help="Codes for missing values, separated by semicolons."
            ),
        },
    )


def _follow(raw: RawTable, values: set[str]) -> None:
    """Make new proposals if the rows per person or the codes that are real values have changed.

    Edits stay. raw: the table without the column that identifies persons, if there is one.
    """
    state = (raw.unit.column, raw.unit.rows, frozenset(values))
    if st.session_state.get("upload_unit", ("", 1, frozenset())) == state:
        return
    schema: list[ColumnSchema] = st.session_state["upload_schema"]
    with suppress(DataError, KeyError):
        schema = _from_frame(st.session_state["upload_edited"], schema, kinds_alone=True)
    before: list[ColumnSchema] = st.session_state["upload_guessed"]
    guessed = {column.name: column for column in before}
    edited = {c.name: c for c in schema if c != guessed.get(c.name)}
    proposals = triage(raw, values=values)
    st.session_state["upload_proposals"] = proposals
    st.session_state["upload_guessed"] = [proposal.schema for proposal in proposals]
    st.session_state["upload_schema"] = [edited.get(p.name, p.schema) for p in proposals]
    st.session_state["upload_unit"] = state
    st.session_state["upload_edits"] += 1


def _state(stated: list[ColumnSchema], schema: list[ColumnSchema]) -> None:
    """Apply a schema file; columns that it does not list are left out.

    Raises DataError for a column that the table does not have.
    """
    by_name = {column.name: column for column in stated}
    for name in by_name:
        if name not in {column.name for column in schema}:
            raise DataError(f"The table has no column {short(name)!r}; correct the schema.")
    if all(column.declared for column in stated):
        domain.confirm(stated)
    st.session_state["upload_schema"] = [
        replace(by_name[column.name], declared=False)
        if column.name in by_name
        else replace(column, include=False)
        for column in schema
    ]
    st.session_state["upload_edits"] += 1


def _to_frame(schema: list[ColumnSchema]) -> pd.DataFrame:
    """A data frame with the stated values of each column in use."""
    return pd.DataFrame(
        {
            "column": column.name,
            "kind": column.kind,
            "levels": _SEPARATOR.join(column.levels) if column.kind != "continuous" else "",
            "low": column.bounds[0] if column.bounds else None,
            "high": column.bounds[1] if column.bounds else None,
            "intervals": column.bins,
            "cut points": _SEPARATOR.join(map(number_text, column.cut_points)),
            "missing codes": _SEPARATOR.join(column.writing.missing_codes),
        }
        for column in schema
        if column.include
    )


def _from_frame(
    edited: pd.DataFrame, schema: list[ColumnSchema], *, kinds_alone: bool = False
) -> list[ColumnSchema]:
    """The schema as edited; raises DataError for cut points that are not numbers.

    kinds_alone: whether levels and bounds are ignored because they are bought.
    """
    wanted = []
    rows = iter(edited.to_dict("records"))
    for column in schema:
        if not column.include:
            wanted.append(column)
            continue
        row = next(rows)
        levels = column.levels
        if str(row["levels"] or "") != _SEPARATOR.join(column.levels):
            levels = _parts(str(row["levels"] or ""))
        numeric = column.kind == "continuous"
        if row["kind"] != "continuous" and numeric and not levels and not kinds_alone:
            raise DataError(
                f"Column {short(column.name)!r} was numeric; list its levels to treat the column "
                "as categorical."
            )
        low, high = row["low"], row["high"]
        bounds = (float(low), float(high)) if _present(low) and _present(high) else None
        wanted.append(
            replace(
                column,
                kind=row["kind"],
                levels=() if row["kind"] == "continuous" else levels,
                bounds=bounds,
                bins=int(row["intervals"]) if _present(row["intervals"]) else None,
                cut_points=_cuts(str(row["cut points"] or ""), column.name),
                writing=replace(
                    column.writing, missing_codes=_parts(str(row["missing codes"] or ""))
                ),
            )
        )
    return wanted


def _recut(raw: RawTable, column: ColumnSchema, before: ColumnSchema) -> ColumnSchema:
    """The column with new cut points if the edit changed only its number of intervals."""
    bins, cuts = column.bins, column.cut_points
    if bins is None or bins == before.bins or not cuts or cuts != before.cut_points:
        return column
    proposed = propose(column.name, raw.cells(column), bins).schema
    return replace(column, cut_points=proposed.cut_points, bins=proposed.bins)


def _without_cuts(column: ColumnSchema) -> ColumnSchema:
    return replace(column, bins=None, cut_points=())


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _present(value: object) -> bool:
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def _cuts(text: str, name: str) -> tuple[float, ...]:
    cuts = [number_of(part) for part in _parts(text)]
    if None in cuts:
        raise DataError(
            f"The cut points of column {short(name)!r} must be numbers, separated by semicolons."
        )
    return tuple(cut for cut in cuts if cut is not None)
