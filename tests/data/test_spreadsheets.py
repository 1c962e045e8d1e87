"""Workbooks of Excel and OpenDocument as rows of text, hidden sheets, choice, and damage."""

import datetime
import io
import random
import zipfile

import numpy as np
import pytest
import xlsxwriter
import xlwt

from privcore.errors import DataError
from privcore.intake import spreadsheets
from privcore.intake.spreadsheets import Sheet, is_spreadsheet, read_sheet, text_columns
from tests.messages import raises_code, says

DAY = datetime.date(2024, 5, 31)
NOON = datetime.datetime(2024, 5, 31, 10, 0, 0)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def xlsx(fill):
    """The bytes of a workbook that a function fills."""
    content = io.BytesIO()
    book = xlsxwriter.Workbook(content)
    fill(book)
    book.close()
    return content.getvalue()


def xls():
    book = xlwt.Workbook()
    sheet = book.add_sheet("Old")
    style = xlwt.easyxf(num_format_str="yyyy-mm-dd")
    sheet.write(0, 0, "day")
    sheet.write(0, 1, "n")
    for row in range(1, 20):
        sheet.write(row, 0, DAY, style)
        sheet.write(row, 1, row / 2)
    sheet.write(20, 0, True)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def ods(rows, shown="Table"):
    """rows: of XML of cells."""
    head = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "table", "text")
    )
    body = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as parts:
        parts.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        parts.writestr(
            "content.xml",
            f"<office:document-content {head}><office:body><office:spreadsheet>"
            f'<table:table table:name="{shown}">{body}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
        parts.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"'
            "/>",
        )
    return content.getvalue()


def rezipped(content, change):
    """A zip whose parts went through `change`, name and bytes to bytes."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            new.writestr(name, change(name, old.read(name)))
    return result.getvalue()


def several(book):
    """An empty sheet, two with cells, one that is hidden, and a chart."""
    book.add_worksheet("Empty")
    book.add_worksheet("First").write_row(3, 2, ["a", "b"])
    book.add_worksheet("Hidden").write(0, 0, "secret")
    book.get_worksheet_by_name("Hidden").hide()
    book.add_worksheet("Second").write_column(0, 0, ["x", 1])
    book.add_chartsheet("Chart")


def test_cells_of_all_kinds():
    def fill(book):
        def form(text):
            return book.add_format({"num_format": text})

        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["first", "second", " spaced "])
        for row, (value, shown) in enumerate(
            [
                (45443, "yyyy-mm-dd"),
                (45443, "yyyy-mm-dd hh:mm:ss"),
                (45443.4166666667, "yyyy-mm-dd hh:mm:ss"),
                (0.4166666667, "hh:mm:ss"),
                (1.5, "[h]:mm:ss"),
                (3, "General"),
                (0.1 + 0.2, "General"),
                (-2.5, "0.00"),
                (2**53, "General"),
                (1e20, "General"),
                (0, "General"),
                (1, "General"),
            ],
            1,
        ):
            sheet.write_number(row, 0, value, form(shown))
        sheet.write_boolean(1, 1, True)
        sheet.write_boolean(2, 1, False)
        sheet.write_number(3, 1, 1)
        sheet.write_number(4, 1, 0)
        sheet.write_boolean(5, 1, True)
        sheet.write_formula(6, 1, "=1/0", None, "#DIV/0!")
        sheet.write_formula(7, 1, "=NA()", None, "#N/A")
        sheet.write_formula(8, 1, "=A1", None, "cached")
        sheet.write_formula(9, 1, "=1+1", None, 2)
        sheet.write_string(10, 1, "007")
        sheet.write_string(11, 1, "=1+1")

    read = read_sheet(xlsx(fill))
    rows = list(read.rows)
    assert rows[0] == ["first", "second", " spaced "]
    assert [row[0] for row in rows[1:]] == [
        "2024-05-31",
        "2024-05-31",
        "2024-05-31 10:00:00",
        "10:00:00",
        "36:00:00",
        "3",
        "0.3",
        "-2.5",
        "9007199254740992",
        "1e+20",
        "0",
        "1",
    ]
    assert [row[1] for row in rows[1:]] == [
        *["true", "false", "1", "0", "true", "", "", "cached", "2", "007", "=1+1", ""]
    ]
    assert {len(row) for row in rows} == {3}
    assert read.cells == 13 * 3


def test_sheets_and_their_choice():
    content = xlsx(several)
    read = read_sheet(content)
    assert (read.name, read.names) == ("First", ("First", "Second"))
    assert list(read.rows) == [["a", "b"]]
    assert read.cells == 2
    assert list(read_sheet(content, "Second").rows) == [["x"], ["1"]]
    # Who knows the name of a hidden sheet may have it.
    assert list(read_sheet(content, "Hidden").rows) == [["secret"]]
    for name in ("Third", "Empty", "Chart"):
        with pytest.raises(
            DataError, match=says("no-such-sheet", name=name, names="'First', 'Second'")
        ):
            read_sheet(content, name)


def test_hidden_sheets_are_read_where_no_other_holds_cells():
    def fill(book):
        book.add_worksheet("Empty")
        for name in ("One", "Two"):
            sheet = book.add_worksheet(name)
            sheet.write(0, 0, name)
            sheet.hide()

    read = read_sheet(xlsx(fill))
    assert (read.name, read.names) == ("One", ("One", "Two"))
    with raises_code(DataError, "no-sheet-with-cells"):
        read_sheet(xlsx(lambda book: book.add_worksheet()))


def test_many_distinct_cells(monkeypatch):
    """More than are kept."""
    monkeypatch.setattr(spreadsheets, "_KEPT", 3)

    def fill(book):
        book.add_worksheet().write_column(0, 0, [n / 2 for n in range(40)])

    assert [row[0] for row in read_sheet(xlsx(fill)).rows] == [f"{n / 2:g}" for n in range(40)]


def test_old_excel():
    content = xls()
    assert is_spreadsheet(content)
    read = read_sheet(content)
    rows = list(read.rows)
    assert (read.name, read.cells) == ("Old", 42)
    assert rows[:3] == [["day", "n"], ["2024-05-31", "0.5"], ["2024-05-31", "1"]]
    assert rows[-1] == ["true", ""]


def test_open_document():
    content = ods(
        [
            '<table:table-cell office:value-type="string"><text:p>a</text:p></table:table-cell>'
            '<table:table-cell office:value-type="float" office:value="0.5"/>',
            '<table:table-cell office:value-type="date" office:date-value="2024-05-31"/>'
            '<table:table-cell office:value-type="boolean" office:boolean-value="true"/>',
            '<table:table-cell office:value-type="time" office:time-value="PT10H00M00S"/>'
            '<table:table-cell office:value-type="date" office:date-value="2024-05-31T10:00:00"/>',
        ]
    )
    assert is_spreadsheet(content)
    read = read_sheet(content)
    assert read.names == ("Table",)
    assert list(read.rows) == [
        ["a", "0.5"],
        ["2024-05-31", "true"],
        ["10:00:00", "2024-05-31 10:00:00"],
    ]


def test_durations():
    for seconds, text in ((129600, "36:00:00"), (61, "0:01:01"), (-3600, "-1:00:00")):
        assert spreadsheets._duration(datetime.timedelta(seconds=seconds)) == text


def test_what_is_no_spreadsheet():
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as parts:
        parts.writestr("word/document.xml", "<x/>")
    text = rezipped(ods([]), lambda name, part: part.replace(b"spreadsheet", b"text"))
    for content in (b"", b"a,b\n1,2\n", b"PK\x03\x04", other.getvalue(), text):
        assert not is_spreadsheet(content)
    assert is_spreadsheet(xlsx(several))


def test_a_password_is_one_sentence():
    """A workbook with a password is an older Office file without a workbook."""
    for content in (OLE, OLE + bytes(4096), b"PK\x03\x04" + bytes(100), b"a,b\n1,2\n"):
        with raises_code(DataError, "password"):
            read_sheet(content)


def test_sizes_are_bounded(monkeypatch):
    content = xlsx(several)
    with monkeypatch.context() as patch:
        patch.setattr(spreadsheets, "MAX_UNPACKED", 1000)
        with raises_code(DataError, "unpacks-to-too-much"):
            read_sheet(content)
    for formats in (
        content,
        xls(),
        ods(["<table:table-cell office:value-type='float' office:value='1'/>"] * 2),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(spreadsheets, "MAX_CELLS", 1)
            with raises_code(DataError, "sheet-spans-too-much", cells=1):
                read_sheet(formats)


@pytest.mark.parametrize("place", [(1_048_575, 16_383), (1_048_575, 60)])
def test_a_stray_cell_far_away_is_refused_before_it_fills_the_memory(place):
    def fill(book):
        sheet = book.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(*place, 1)

    with raises_code(DataError, "sheet-spans-too-much", cells="50,000,000"):
        read_sheet(xlsx(fill))


@pytest.mark.parametrize("place", ["ZZZZZZ1", "B40000000000", "ZZZZ400000"])
def test_a_place_that_no_sheet_has_is_refused(place):
    content = rezipped(
        xlsx(several), lambda name, part: part.replace(b'r="D4"', f'r="{place}"'.encode())
    )
    with raises_code(DataError, "sheet-spans-too-much"):
        read_sheet(content)


@pytest.mark.parametrize("at_once", [64, 65, 1000])
def test_places_that_are_cut_in_two_are_found(monkeypatch, at_once):
    def fill(book):
        sheet = book.add_worksheet()
        sheet.write(0, 0, "a")
        sheet.write(98, 701, 1)

    monkeypatch.setattr(spreadsheets, "_AT_ONCE", at_once)
    monkeypatch.setattr(spreadsheets, "MAX_CELLS", 99 * 702)
    assert read_sheet(xlsx(fill)).cells == 99 * 702
    monkeypatch.setattr(spreadsheets, "MAX_CELLS", 99 * 702 - 1)
    monkeypatch.setattr(spreadsheets, "_find", None)  # It is refused before it is parsed.
    with raises_code(DataError, "sheet-spans-too-much"):
        read_sheet(xlsx(fill))


def test_a_directory_that_lies_about_sizes():
    """A part that is larger than the directory says is not unpacked."""
    content = xlsx(lambda book: book.add_worksheet().write(0, 0, "a"))
    at = content.rindex(b"PK\x01\x02")
    size = int.from_bytes(content[at + 24 : at + 28], "little")
    lie = (size - 1).to_bytes(4, "little")
    with pytest.raises(DataError, match=says("cannot-be-read")):
        read_sheet(content[: at + 24] + lie + content[at + 28 :])


def test_a_circle_in_old_excel_is_a_sentence():
    """It would fill the memory with one piece of the file, again and again."""
    damaged = bytearray(xls())
    table = 512 * (1 + int.from_bytes(damaged[76:80], "little"))
    directory = damaged[48:52]
    place = table + 4 * int.from_bytes(directory, "little")
    damaged[place : place + 4] = directory
    with pytest.raises(DataError, match=says("cannot-be-read")):
        read_sheet(bytes(damaged))


@pytest.mark.parametrize("kind", ["xlsx", "plain xlsx", "xls", "ods"])
def test_damaged_files_are_tables_or_sentences(kind):
    cell = '<table:table-cell office:value-type="float" office:value="1"/>'
    content = {"xls": xls, "ods": lambda: ods([cell * 3] * 9)}.get(kind, lambda: xlsx(several))()
    dice = random.Random(1)

    def damaged(part):
        part = bytearray(part)
        if dice.random() < 0.2:
            return bytes(part[: dice.randrange(len(part))])
        for _ in range(dice.randint(1, 4)):
            part[dice.randrange(len(part))] = dice.randrange(32, 127)
        return bytes(part)

    sentences = set()
    # Each of old Excel is looked at in a process of its own.
    for _ in range(40 if kind == "xls" else 200):
        if kind in {"plain xlsx", "ods"}:
            # Within the parts, where checksums do not tell.
            chosen = dice.choice(zipfile.ZipFile(io.BytesIO(content)).namelist())
            broken = rezipped(content, lambda n, p, c=chosen: damaged(p) if n == c and p else p)
        else:
            broken = damaged(content)
        is_spreadsheet(broken)
        try:
            rows = list(read_sheet(broken).rows)
        except DataError as error:
            sentences.add(str(error))
        else:
            assert all(type(text) is str for row in rows for text in row)
            assert len({len(row) for row in rows}) <= 1
    assert sentences
    assert all(sentence.endswith(".") for sentence in sentences)


def test_a_panic_is_a_sentence(monkeypatch):
    class PanicException(BaseException):
        pass

    def panic(book, wanted):
        raise PanicException("index 7 of 'a secret cell'")

    monkeypatch.setattr(spreadsheets, "_find", panic)
    with pytest.raises(DataError, match=says("cannot-be-read")) as caught:
        read_sheet(xlsx(several))
    assert "secret" not in str(caught.value)

    def interrupt(book, wanted):
        raise KeyboardInterrupt

    monkeypatch.setattr(spreadsheets, "_find", interrupt)
    with pytest.raises(KeyboardInterrupt):
        read_sheet(xlsx(several))


@pytest.mark.parametrize("seed", range(3))
def test_columns_are_the_rows_as_text(seed):
    """Numbers of every size and length, alone and among other cells."""
    dice = np.random.default_rng(seed)
    sizes = 10.0 ** dice.uniform(-12, 20, 300)
    short = dice.normal(0, 50, 300).round(2)
    odd = [0.0, -0.0, 0.1 + 0.2, 1e14, 1e15, 2.0**53, 1e-4, 9.99e-5, 123456789012345.0, -7.0]
    mixed = [["", "x", True, 1.0, DAY][k] for k in dice.integers(0, 5, 300)]
    rows = list(map(list, zip(sizes.tolist(), short.tolist(), (odd * 30), mixed, strict=True)))
    rows.insert(7, ["", "", "", ""])
    rows.insert(9, [0.0, False, "", ""])
    texts = list(Sheet("s", ("s",), iter(rows), 0).rows)
    columns = [column.to_pylist() for column in text_columns(rows)]
    assert list(zip(*columns, strict=True)) == [tuple(row) for row in texts if any(row)]
    alone = [column.to_pylist() for column in text_columns([row[:3] for row in rows[10:]])]
    assert list(zip(*alone, strict=True)) == [tuple(row[:3]) for row in texts[10:]]
