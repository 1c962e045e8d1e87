"""What becomes of a kind of file in the engine, on the command line, in Python and on the page.

Each function says what is not as expected, a sentence each; none means that all is.
"""

from __future__ import annotations

import contextlib
import fnmatch
import io
import json
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.file_kinds.model import Kind, StatedOptions
from privcore.errors import DataError
from privcore.faces.api.tables import read_table as read_path
from privcore.faces.cli import main
from privcore.intake import RawTable, read_table
from privcore.intake.proposing import Proposal
from privcore.intake.reading import ReadingOptions
from privcore.intake.triage import triage

# Of a sentence that refuses a file, at most.
_LONGEST = 400


def in_engine(kind: Kind) -> list[str]:
    """Everything that a kind says of its table, of the table as read by itself and as settled."""
    try:
        raw = read_table(kind.content(), kind.filename)
    except DataError as error:
        return _of_refusal(kind, str(error))
    if kind.refusal:
        return ["it is not refused"]
    faults = _of_table(kind, raw, triage(raw))
    if kind.stated.reading_options == ReadingOptions():
        return faults
    settled = read_table(kind.content(), kind.filename, kind.stated.reading_options)
    if kind.stated.unit is None:
        faults += _of_shape((settled.names, len(settled.frame)), kind.after or _shape(kind))
    if kind.stated.header is not None and any(q.topic == "header" for q in settled.questions):
        faults.append("the header is still asked")
    return faults


def _of_refusal(kind: Kind, sentence: str) -> list[str]:
    faults = []
    if not kind.refusal or kind.refusal not in sentence:
        faults.append(f"it is refused: {sentence}")
    if not sentence.rstrip().endswith(".") or "\n" in sentence.strip() or len(sentence) > _LONGEST:
        faults.append("the refusal is not one sentence")
    return faults


def _shape(kind: Kind) -> tuple[tuple[str, ...], int]:
    return kind.names, kind.rows


def _of_shape(
    shape: tuple[list[str], int], wanted: tuple[tuple[str, ...], int], order: bool = True
) -> list[str]:
    names, rows = shape
    same = tuple(names) == wanted[0] if order else sorted(names) == sorted(wanted[0])
    faults = [] if same else [f"the columns are {names[:8]}"]
    return faults if rows == wanted[1] else [*faults, f"there are {rows} rows, not {wanted[1]}"]


def _of_table(kind: Kind, raw: RawTable, proposals: list[Proposal]) -> list[str]:
    faults = _of_shape((raw.names, len(raw.frame)), _shape(kind))
    topics = tuple(question.topic for question in raw.questions)
    if topics != kind.topics:
        faults.append(f"it asks on {topics}")
    if not _is_mentioned(kind.note, "\n".join(_answered(raw).sentences)):
        faults.append(f"it says {_answered(raw).sentences}")
    if kind.encoding and raw.encoding != kind.encoding:
        faults.append(f"it is read as {raw.encoding}")
    by_name = {proposal.name: proposal for proposal in proposals}
    for name, taken in kind.taken.items():
        if name not in by_name:
            continue
        proposal = by_name[name]
        schema, writing = proposal.schema, proposal.schema.writing
        seen = proposal.ways[0].label, sorted(writing.missing_codes), writing.unit
        if seen != (taken.label, sorted(taken.codes), taken.unit):
            faults.append(f"{name} is taken as {seen}")
        if taken.levels and schema.levels != taken.levels:
            faults.append(f"{name} has the levels {schema.levels}")
    return faults


def _is_mentioned(note: str, texts: str) -> bool:
    """Whether a note is there; of files that need none there is none."""
    return note in texts if note else not texts.strip()


def on_command_line(kind: Kind) -> list[str]:
    """As `discover --csv` reads it, first without and then with what settles it."""
    faults: list[str] = []
    with _as_file(kind) as path:
        for stated in _tries(kind):
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                command = ["discover", "--csv", str(path), "--epsilon", "1", "--json"]
                code = main([*command, *stated.options])
            if code:
                faults += _of_refusal(kind, err.getvalue())
                continue
            report = json.loads(out.getvalue())
            names = [*report["nodes"], *report["left_out"]]
            faults += _of_run(kind, stated, names, report["data"]["rows"], err.getvalue())
    return faults


def in_python(kind: Kind) -> list[str]:
    """As `privcore.read_table` reads it, first without and then with what settles it."""
    faults: list[str] = []
    with _as_file(kind) as path:
        for stated in _tries(kind):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    data = read_path(
                        path,
                        columns=_chosen(kind, stated),
                        unit=stated.unit,
                        rows_per_unit=stated.rows_per_unit,
                        encoding=stated.encoding,
                        header=stated.header,
                        sheet=stated.sheet,
                        leave_last=stated.leave_last,
                    )
                except DataError as error:
                    faults += _of_refusal(kind, str(error))
                    continue
            texts = [str(warning.message) for warning in caught]
            left = [text for text in texts if text.startswith("Left out: ")]
            names = [*data.names, *(text[10:].split(" (")[0] for text in left)]
            texts = [text for text in texts if text not in left]
            faults += _of_run(kind, stated, names, data.n, "\n".join(texts))
    return faults


def _tries(kind: Kind) -> list[StatedOptions]:
    """By itself, and as settled; wide tables and other sheets need to be settled at once."""
    at_once = kind.stated.columns or kind.stated.sheet
    return (
        [kind.stated]
        if at_once
        else [StatedOptions(), *([kind.stated] if kind.stated != StatedOptions() else [])]
    )


def _chosen(kind: Kind, stated: StatedOptions) -> list[str] | None:
    if stated.columns is None:
        return None
    wanted = stated.columns.split(",")
    return [name for name in kind.names if any(fnmatch.fnmatch(name, each) for each in wanted)]


def _of_run(
    kind: Kind, stated: StatedOptions, names: list[str], rows: int, texts: str
) -> list[str]:
    if kind.refusal:
        return ["it is not refused"]
    wanted = kind.after if stated != StatedOptions() and kind.after else _shape(kind)
    chosen = _chosen(kind, stated)
    faults = _of_shape((names, rows), wanted if chosen is None else (tuple(chosen), rows), False)
    if stated == StatedOptions():
        answers = {"header": "To settle it, give --no-header", "persons": "give --unit"}
        for topic in kind.topics:
            if answers[topic] not in texts:
                faults.append(f"nothing asks on {topic}")
        if kind.note not in texts:
            faults.append(f"it says {texts}")
    return faults


def on_page(kind: Kind) -> list[str]:
    """As the page *Data* reads an upload, by itself."""
    from tests.pages.opening import open_table

    app = open_table(kind.content(), kind.filename, use=False)
    sentences = [str(error.value) for error in app.error]
    if kind.refusal:
        return [] if any(kind.refusal in each for each in sentences) else ["it is not refused"]
    if "upload_proposals" not in app.session_state:
        return [f"it is refused: {' '.join(sentences)}"]
    names = [proposal.name for proposal in app.session_state["upload_proposals"]]
    return _of_shape((names, kind.rows), _shape(kind))


def what_happens(kind: Kind) -> str:
    """What the engine makes of it, in one short cell."""
    try:
        raw = read_table(kind.content(), kind.filename)
    except DataError as error:
        return f"refused: {_short(str(error))}"
    texts = [f"{len(raw.frame)} rows, {len(raw.names):,} columns"]
    proposals = {proposal.name: proposal for proposal in triage(raw)}
    for name in kind.taken if len(kind.taken) <= 2 else ():
        proposal = proposals[name]
        writing = proposal.schema.writing
        words = f"`{name}`: {proposal.ways[0].label}"
        words += f" in {writing.unit}" * bool(writing.unit)
        words += f", {' and '.join(writing.missing_codes)} missing" * bool(writing.missing_codes)
        texts.append(f"{words} ({proposal.problem})" if proposal.problem else words)
    if raw.encoding not in ("", "utf-8"):
        texts.append(f"read as {raw.encoding}")
    topics = {"header": "whether the first line holds names", "persons": "whose rows are whose"}
    texts += [f"asks {topics[question.topic]}" for question in raw.questions]
    return "; ".join([*texts, *map(_short, _answered(raw).sentences)])


def _answered(raw: RawTable) -> RawTable:
    """The table without its questions, which are checked separately."""
    return raw.answered("header").answered("persons")


def _short(sentence: str) -> str:
    """The first part of a sentence, which says what is the matter."""
    first = sentence.split(": ")[0].split("; ")[0].rstrip(".")
    return first[0].lower() + first[1:]


@contextmanager
def _as_file(kind: Kind) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / kind.filename
        path.write_bytes(kind.content())
        yield path
