"""Finds the table in a file: its delimiter, its column names, and where its rows begin and end.

Notes state what was found.  What the file leaves open becomes a question to the file's owner.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

from privcore.data.model import OpenQuestion
from privcore.intake.cells import cell_text
from privcore.intake.numbers_and_dates import spelling

DELIMITERS = {"\t": "tab", ",": "comma", ";": "semicolon", "|": "bar", " ": "blank"}
# Rows at the start that are read for the layout, and most rows above the names.
_LOOKED_AT, _BEFORE = 200, 30
_COMMENT = re.compile(r"\s*(#|//|%)")
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
# A number, with the signs that people write next to it.
_NUMBER = re.compile(r"[+\-−(]?[$£€¥]?\s?[\d.,'’ ]*\d[\d.,'’ ]*([eE][+-]?\d+)?\s?[%€$)]?")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*")
_TOTALS = {
    *("total", "totals", "grand total", "sum", "mean", "average", "avg", "median", "count", "all"),
    *("summe", "gesamt", "insgesamt", "mittelwert", "somme", "moyenne", "suma", "promedio"),
    *("totale", "итого", "合计", "合計", "小计"),
}
# If the distinct cells of a column are fewer than this share of its rows, they are levels.
_LEVELS = 0.5
NO_HEADER = OpenQuestion(
    "header",
    "The first line looks like a row of values, so the line is read as a row of the table, and the "
    "columns are called col_1, col_2, …",
    "give --no-header, or --header if the line holds the names (in Python header=False or True)",
)


@dataclass(frozen=True)
class Layout:
    """How the first rows of a file become a table.

    start: position of the table's first row among the rows read.  names: column names, empty where
    the file has none.  width: number of cells per row, not counting a last cell that is always
    empty.
    notes: what was left out.  question: whether the first row is a header, if this is unclear.
    """

    start: int
    names: tuple[str, ...]
    width: int
    notes: tuple[str, ...] = ()
    question: OpenQuestion | None = None


class Ends(NamedTuple):
    """The end of a file.

    left: number of last rows that do not belong to the table.  notes: the note on these rows, if
    there is one.  totals: number of rows just above them that look like sums or means.
    """

    left: int
    notes: tuple[str, ...]
    totals: int


def rows_of(lines: Iterable[str], delimiter: str) -> Iterator[tuple[list[str], int]]:
    """Yields the rows of a text, each with the number of lines read so far."""
    if delimiter == " ":
        lines = map(tabbed, lines)
        delimiter = "\t"
    reader = csv.reader(lines, delimiter=delimiter)
    return ((row, reader.line_num) for row in reader)


def tabbed(text: str) -> str:
    """Replaces the blanks between the aligned cells of a text by tabs."""
    text = re.sub(r"(?m)^[ \t]+|[ \t]+$", "", text)
    return re.sub(r'("[^"\n]*")|[ \t]+', lambda match: match[1] or "\t", text)


def skipped_lines(lines: Sequence[str]) -> tuple[int, str | None]:
    """Number of lines at the start that are blank, comments, or a declaration of the delimiter.

    Also returns the declared delimiter, or None.
    """
    delimiter = None
    for number, line in enumerate(lines):
        declared = _SEPARATOR_LINE.fullmatch(line) if number == 0 else None
        if declared is not None:
            delimiter = declared[1]
        elif line.strip() and not _COMMENT.match(line):
            return number, delimiter
    return 0, None


def find_delimiter(lines: Sequence[str]) -> str:
    """The delimiter that splits the first rows into equally many cells, and into the most cells."""

    def quality(delimiter: str) -> tuple[bool, float, int, int]:
        try:
            rows = [row for row, _ in islice(rows_of(lines, delimiter), _LOOKED_AT) if row]
        except csv.Error:
            return False, 0.0, 0, 0
        # The last row may be incomplete.
        sizes = [len(row) for row in rows[: max(1, len(rows) - 1)]]
        if not sizes:
            return False, 0.0, 0, 0
        width, times = Counter(sizes).most_common(1)[0]
        if max(sizes) > 1 and width == 1:
            return False, 0.0, 0, max(sizes)
        # The row of names may lack the name of an index, or have one name too many.
        fits = -min(2, abs(sizes[0] - width))
        return width > 1, round(times / len(sizes), 1), fits, width

    best = max(",;\t|", key=quality)
    aligned = quality(" ")
    return " " if not quality(best)[0] and aligned[0] and aligned[1] > 0.9 else best


def layout_of(rows: Sequence[Sequence[str]], header: bool | None, above: str = "") -> Layout:
    """Finds the layout of the table in the first rows of a file.

    rows: the first rows, including blank rows.  header: whether the first row of the table holds
    names; None if not stated.  above: the last comment above the table, which may hold the names.
    """
    filled = [place for place, row in enumerate(rows) if any(cell.strip() for cell in row)]
    if not filled:
        return Layout(0, (), 0)
    width = _width([rows[place] for place in filled])
    first = next((p for p in filled if len(rows[p]) >= width - 1), filled[0])
    at = _names_at(rows, first, width)
    names = [cell.strip() for cell in rows[at]]
    below = [row for row in rows[at + 1 :] if len(row) >= width]
    trailing = all(not row[width - 1].strip() for row in below[:-1] or below) if below else False
    notes = []
    if len(names) == width + 1 and not names[-1]:
        names = names[:-1]
        notes.append("The row of names ends with a delimiter, which is ignored.")
    elif len(names) == width - 1 and below:
        # R writes no name above the names of rows.
        names = [*names, ""] if trailing else ["rownames", *names]
    if at > filled[0]:
        notes.append(f"{_span(filled[0] + 1, at)} left out.")
    if len(names) != width:
        return Layout(at + 1, tuple(names), len(names), tuple(notes))
    unnamed = tuple(f"col_{k}" for k in range(1, width + 1))
    if header is False:
        return Layout(at, unnamed, width, tuple(notes))
    guessed = header is None and _is_values(names, below)
    if guessed and above:
        commented = [cell.strip() for cell in re.split(r"[\t,;|]", re.sub(_COMMENT, "", above))]
        if len(commented) == width and all(commented) and not _is_values(commented, below):
            return Layout(
                at,
                tuple(commented),
                width,
                ("The column names are taken from the comment above the table.",),
            )
    if guessed:
        return Layout(at, unnamed, width, tuple(notes), NO_HEADER)
    start = at + 1
    explained = _explanations(rows, start, width)
    if explained:
        notes.append(
            "The row below the column names explains the columns and is left out."
            if explained == 1
            else f"The {explained} rows below the column names explain the columns and are "
            "left out."
        )
    return Layout(start + explained, tuple(names), width, tuple(notes))


def last_rows(rows: Sequence[Sequence[str]], width: int) -> Ends:
    """Counts the rows at the end of a file that do not belong to the table or look like totals.

    rows: the last rows of the file.  width: number of cells of a row of the table.
    """
    left = 0
    for row in reversed(rows[-_BEFORE:]):
        filled = sum(bool(cell.strip()) for cell in row)
        if filled > 1 or (filled == 1 and (width < 3 or len(row) == width)):
            break
        left += 1
    left = max(left, _below_a_blank_line(rows, width))
    # Blank lines need no note.
    texts = sum(any(cell.strip() for cell in row) for row in rows[len(rows) - left :])
    lines = "line below the table is" if texts == 1 else f"{texts} lines below the table are"
    notes = (f"The {lines} left out.",) if texts else ()
    totals = 0
    for row in reversed(rows[: len(rows) - left]):
        if len(row) != width or not is_total(row):
            break
        totals += 1
    return Ends(left, notes, totals)


def _below_a_blank_line(rows: Sequence[Sequence[str]], width: int) -> int:
    """Number of last rows from a blank line on, if all of them have too few cells for the table."""
    blank = 0
    for count, row in enumerate(reversed(rows[-_BEFORE:]), 1):
        if len(row) >= width:
            break
        blank = blank if row else count
    return blank


def is_total(row: Sequence[str]) -> bool:
    """Whether a row is labelled as a sum or a mean and holds numbers."""
    words = next((cell for cell in row if cell.strip()), "")
    others = [cell.strip() for cell in row if cell.strip() and cell is not words]
    numbers = sum(bool(_NUMBER.fullmatch(cell)) for cell in others)
    return spelling(words).strip(" :.") in _TOTALS and 2 * numbers > len(others)


def _width(rows: Sequence[Sequence[str]]) -> int:
    """The most frequent number of cells in a row; the largest if several are equally frequent."""
    times = Counter(len(row) for row in rows)
    return max(times, key=lambda width: (times[width], width))


def _names_at(rows: Sequence[Sequence[str]], first: int, width: int) -> int:
    """Position of the row of column names.

    This is the first row with a name in each column, if it does not look like values; otherwise
    the row at `first`, which is the first that is wide enough.
    """

    def lacking(place: int) -> int:
        # The first column may be an index, and the last empty.
        return sum(not cell.strip() for cell in rows[place][1 : width - 1])

    if not lacking(first):
        return first
    for place in range(first + 1, min(first + _BEFORE, len(rows) - 1)):
        row = rows[place]
        if len(row) < width - 1 or lacking(place) or not row[0].strip():
            continue
        below = [each for each in rows[place + 1 :] if len(each) == len(row)]
        named = len({cell.strip() for cell in row if cell.strip()}) == sum(map(bool, row))
        return place if named and not _holds_values(row, below) else first
    return first


def _holds_values(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether any cell of a row is a number, or occurs again in the same column below."""
    return any(
        _NUMBER.fullmatch(cell.strip()) or cell.strip() in {each[k].strip() for each in below}
        for k, cell in enumerate(row)
        if cell.strip()
    )


def _is_values(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the names look more like values of their columns than like names."""
    if len(below) < 2 or _counts_up(names):
        return False
    values = words = 0
    for k, name in enumerate(names):
        cells = [text for row in below if (text := cell_text(row[k])) is not None]
        if not cells or not name:
            continue
        for pattern in (_NUMBER, _DATE):
            like = sum(bool(pattern.fullmatch(cell)) for cell in cells) > 0.8 * len(cells)
            if like:
                matches = bool(pattern.fullmatch(name))
                values, words = values + matches, words + (not matches)
                break
        else:
            levels = set(cells)
            if name in levels:
                values += 1
            elif len(levels) <= max(2, _LEVELS * len(cells)):
                words += 1
    return values > words


def _counts_up(names: Sequence[str]) -> bool:
    """Whether the names are consecutive years, or positions from 0 as pandas writes them.

    Positions from 1 do not count: the cells 1, 2, 3 may be answers.
    """
    numbers = [int(name) for name in names if name.isdecimal()]
    steps = {b - a for a, b in pairwise(numbers)}
    years = len(numbers) >= 2 and all(1800 <= number <= 2200 for number in numbers)
    if years and len(numbers) >= len(names) - 2:
        return len(steps) == 1 and min(steps) > 0
    return len(numbers) == len(names) > 1 and numbers[0] == 0 and steps == {1}


def _explanations(rows: Sequence[Sequence[str]], start: int, width: int) -> int:
    """Number of rows below the names that explain them: units, or the text of a question.

    Such a row has words in every column whose other cells are numbers (at least two columns).
    """
    for count in range(2, 0, -1):
        below = [row for row in rows[start + count :] if len(row) == width]
        above = [row for row in rows[start : start + count] if len(row) == width]
        if len(below) < 3 or len(above) < count:
            continue
        numeric = [k for k in range(width) if _all_numbers([row[k] for row in below])]
        if len(numeric) >= 2 and all(_are_words([row[k] for k in numeric]) for row in above):
            return count
    return 0


def _all_numbers(cells: Sequence[str]) -> bool:
    known = [text for cell in cells if (text := cell_text(cell)) is not None]
    return len(known) > 1 and all(_NUMBER.fullmatch(text) for text in known)


def _are_words(cells: Sequence[str]) -> bool:
    known = [text for cell in cells if (text := cell_text(cell)) is not None]
    # Codes for missing values are few, and the same in every column.
    return (
        len(known) == len(cells)
        and not any(map(_NUMBER.fullmatch, known))
        and len(set(known)) >= min(2, len(known))
    )


def _span(first: int, last: int) -> str:
    if last == first:
        return f"Row {first}, before the names, is"
    return f"Rows {first} to {last}, before the names, are"
