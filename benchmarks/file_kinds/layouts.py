"""Layouts of text files: headers, delimiters, comments, totals, encodings."""

from __future__ import annotations

import json

import numpy as np

from benchmarks.file_kinds.model import PEOPLE, USUAL, Kind, StatedOptions, Taken, people, text

Generator = np.random.Generator
_UNNAMED = tuple(f"col_{k}" for k in range(1, 6))
_COMMENT = "# exported by the clinic\n# one row for each patient\n"


def _lines(generator: Generator, **options: object) -> str:
    return text(people(generator), **options)  # type: ignore[arg-type]


def _named(generator: Generator, line: str) -> str:
    """The table with another line above it in place of its names."""
    return line + _lines(generator, header=False)


def _aligned(generator: Generator) -> bytes:
    rows = [list(PEOPLE), *zip(*people(generator).values(), strict=True)]
    return "".join(" ".join(f"{cell:>9}" for cell in row) + "\n" for row in rows).encode()


def _notes_over_lines(generator: Generator) -> bytes:
    columns = people(generator)
    columns["weight"] = [f'"{w.replace(".", ",")}"' for w in columns["weight"]]
    columns["remark"] = [f'"came in ""{k}"",\nleft well, again"' for k in range(200)]
    return text(columns).encode()


def _two_header_rows(generator: Generator) -> bytes:
    return ("Person,,,Stay,\n" + _lines(generator)).encode()


def _units_below(generator: Generator) -> bytes:
    return _named(generator, "sex,age,weight,ward,ill\n,years,kg,,yes/no\n").encode()


def _qualtrics(generator: Generator) -> bytes:
    whom = people(generator)
    columns = {
        "StartDate": [f"2024-03-{1 + k % 28:02} 10:{k % 60:02}:00" for k in range(200)],
        "Progress": ["100", "100", "50", "75"] * 50,
        "Q1": whom["age"],
        "Q2": list(map(str, generator.integers(1, 6, 200))),
        "Q3": whom["ward"],
    }
    questions = [
        "Start Date",
        "Progress",
        "How old are you?",
        "How well do you sleep?",
        "Your ward",
    ]
    ids = [json.dumps({"ImportId": f"QID{k}"}).replace('"', '""') for k in range(5)]
    above = ",".join(columns) + "\n" + ",".join(questions) + "\n"
    above += ",".join(f'"{each}"' for each in ids) + "\n"
    return (above + text(columns, header=False)).encode()


def _index(generator: Generator, name: str, places: list[int]) -> bytes:
    columns = {name: [str(k) for k in places], **people(generator)}
    return text(columns).encode()


def _row_names(generator: Generator) -> bytes:
    body = text({"": [f'"{k}"' for k in range(1, 201)], **people(generator)}, " ", header=False)
    return (" ".join(f'"{name}"' for name in PEOPLE) + "\n" + body).encode()


def _gaps(generator: Generator) -> list[int]:
    return sorted(map(int, generator.choice(900, 200, replace=False)))


def _total(generator: Generator) -> bytes:
    columns = people(generator)
    return (text(columns) + f"Total,{sum(map(int, columns['age']))},14112.3,,71\n").encode()


def _survey(generator: Generator) -> bytes:
    whom = people(generator, 300)
    places = map(str, generator.permutation(10_000)[:300])
    columns = {"respondent_id": [*places], "age": whom["age"], "sex": whom["sex"]}
    mood = generator.integers(1, 6, 300)
    for k in range(1, 37):
        answers = np.clip(mood + generator.integers(-1, 2, 300), 1, 5)
        columns[f"q{k}"] = [*map(str, np.where(generator.random(300) < 0.04, 99, answers))]
    return text(columns).encode()


def _wide(generator: Generator) -> bytes:
    cells = generator.integers(0, 3, (80, 1_500)).astype(str)
    return text({f"g{k}": list(cells[:, k]) for k in range(1_500)}).encode()


def _pairs_of_years(generator: Generator) -> bytes:
    cells = generator.normal(50, 10, (120, 6)).round(1).astype(str)
    columns = {"land": list(generator.choice(["north", "south", "west"], 120))}
    return text(columns | {str(2019 + k): list(cells[:, k]) for k in range(6)}).encode()


def _words(generator: Generator, names: str, **levels: str) -> str:
    """A table of words in another script, a hundred rows."""
    columns = {
        name: list(generator.choice(words.split(), 100))
        for name, words in zip(names.split(), levels.values(), strict=True)
    }
    return text({**columns, "n": [str(k) for k in generator.integers(0, 90, 100)]})


def _russian(generator: Generator) -> str:
    return _words(generator, "город пол", a="Москва Казань Самара Омск Тверь", b="мужской женский")


def _german(generator: Generator, **options: str) -> str:
    table = _words(generator, "größe übung", a="groß mäßig klein", b="früh spät nie täglich")
    return table.replace(",", options.get("sep", ","))


def _chinese(generator: Generator) -> str:
    return _words(generator, "城市 性别", a="北京 上海 广州 深圳 成都", b="男性 女性")


def _taiwan(generator: Generator) -> str:
    return _words(generator, "城市 性別", a="臺北 高雄 臺中 臺南 新竹", b="男性 女性")


def _korean(generator: Generator) -> str:
    return _words(generator, "도시 성별", a="서울 부산 대구 인천 광주", b="남성 여성")


def _japanese(generator: Generator) -> str:
    return _words(generator, "都市 性別", a="東京 大阪 京都 札幌 名古屋", b="男性 女性")


def _csv(name: str, make: object, **options: object) -> Kind:
    """A kind of text that gives the table of people unless it says otherwise."""
    usual: dict[str, object] = {"names": PEOPLE, "rows": 200, "taken": USUAL}
    return Kind(name, **{"filename": "table.csv", "make": make, **usual, **options})  # type: ignore[arg-type]


def _foreign(name: str, write: object, encoding: str, **options: object) -> Kind:
    known: dict[str, object] = {"filename": "table.csv", "rows": 100, "encoding": encoding}
    return Kind(
        name,
        make=lambda g: write(g).encode(encoding),  # type: ignore[operator]
        **{**known, **options},  # type: ignore[arg-type]
    )


def _quoted(generator: Generator) -> str:
    columns = {f'"{name}"': [f'"{c}"' for c in cells] for name, cells in people(generator).items()}
    return text(columns)


def _ragged(generator: Generator) -> str:
    lines = _lines(generator).splitlines(keepends=True)
    lines[51] = lines[51].replace(".", ",")
    return "".join(lines)


def _picture(generator: Generator) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + generator.bytes(2_000)


def _web_page(generator: Generator) -> bytes:
    rows = "".join(f"<tr><td>{cell}</td></tr>\n" for cell in people(generator)["age"])
    return f"<!DOCTYPE html>\n<html><body><table>\n{rows}</table></body></html>\n".encode()


def _json(generator: Generator) -> bytes:
    columns = people(generator)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return json.dumps(rows).encode()


_NO_HEADER = {f"col_{k}": taken for k, taken in enumerate(USUAL.values(), 1)}
LAYOUTS = (
    _csv(
        "no header",
        lambda g: _lines(g, header=False).encode(),
        names=_UNNAMED,
        topics=("header",),
        taken=_NO_HEADER,
        stated=StatedOptions(header=False),
    ),
    _csv(
        "header ends with a comma",
        lambda g: _named(g, ",".join(PEOPLE) + ",\n").encode(),
        note="ends with a delimiter",
    ),
    _csv("aligned by spaces", _aligned, filename="table.txt", note="separated by blanks"),
    _csv("a `sep=;` line", lambda g: ("sep=;\n" + _lines(g, sep=";")).encode()),
    _csv(
        "decimal commas in quotes, notes over lines",
        _notes_over_lines,
        names=(*PEOPLE, "remark"),
        taken={**USUAL, "remark": Taken("left out")},
    ),
    _csv("two header rows", _two_header_rows, note="before the names"),
    Kind(
        "survey of 39 columns with an identifier",
        "survey.csv",
        _survey,
        ("respondent_id", "age", "sex", *(f"q{k}" for k in range(1, 37))),
        300,
        {"respondent_id": Taken("left out"), "q1": Taken("levels in order", ("99",))},
        stated=StatedOptions(columns="age,sex,q3*"),
    ),
    Kind(
        "1,500 columns",
        "genes.csv",
        _wide,
        tuple(f"g{k}" for k in range(1_500)),
        80,
        {"g7": Taken("levels in order", levels=("0", "1", "2"))},
        stated=StatedOptions(columns="g1,g2,g3,g4,g5"),
    ),
    _csv(
        "comments (#) before the header",
        lambda g: (_COMMENT + _lines(g)).encode(),
    ),
    _csv(
        "names in the last comment",
        lambda g: _named(g, _COMMENT + "# sex,age,weight,ward,ill\n").encode(),
        note="comment above",
    ),
    _csv(
        "title lines above",
        lambda g: ("Patients of 2024\nAll wards\n\n" + _lines(g)).encode(),
        note="before the names",
    ),
    _csv(
        "“Source: …” and a blank line below",
        lambda g: (_lines(g) + "\nSource: the clinic\n").encode(),
        note="below the table",
    ),
    _csv(
        "a row of totals",
        _total,
        rows=201,
        taken={"age": Taken("intervals")},
        note="looks like a total",
        stated=StatedOptions(leave_last=1),
        after=(PEOPLE, 200),
    ),
    _csv("units below the names", _units_below, note="explain"),
    Kind(
        "question texts below the names",
        "survey.csv",
        _qualtrics,
        ("StartDate", "Progress", "Q1", "Q2", "Q3"),
        200,
        {
            "Q1": Taken("intervals"),
            "Q2": Taken("levels in order"),
            "Progress": Taken("levels in order"),
        },
        note="explain",
    ),
    _csv(
        "an empty last column",
        lambda g: _lines(g, after=",").encode(),
        note="no name and no value",
    ),
    _csv("empty rows at the end (`,,,`)", lambda g: (_lines(g) + ",,,,\n" * 4).encode()),
    _csv("blank lines between rows", lambda g: _lines(g).replace("\nf,", "\n\nf,").encode()),
    _csv(
        "R's row names, with no name above them",
        _row_names,
        filename="table.txt",
        names=("rownames", *PEOPLE),
        taken={**USUAL, "rownames": Taken("left out")},
        note="separated by blanks",
    ),
    _csv(
        "pandas' index, without a name",
        lambda g: _index(g, "", list(range(200))),
        names=("Unnamed: 0", *PEOPLE),
        taken={**USUAL, "Unnamed: 0": Taken("left out")},
    ),
    _csv(
        "names of rows, with gaps",
        lambda g: _index(g, "rownames", _gaps(g)),
        names=("rownames", *PEOPLE),
        taken={**USUAL, "rownames": Taken("left out")},
    ),
    _csv("tabs in a .csv", lambda g: _lines(g, sep="\t").encode()),
    _csv("bars between cells", lambda g: _lines(g, sep="|").encode()),
    _csv(
        "semicolons, decimal commas",
        lambda g: _lines(g, sep=";").replace(".", ",").encode(),
    ),
    _csv("CR line ends", lambda g: _lines(g, end="\r").encode()),
    _csv("CRLF line ends", lambda g: _lines(g, end="\r\n").encode()),
    _csv("no line end after the last row", lambda g: _lines(g).rstrip("\n").encode()),
    _csv("every cell in quotes", lambda g: _quoted(g).encode()),
    _csv("a space after every comma", lambda g: _lines(g, sep=", ").encode()),
    Kind(
        "years as names of columns",
        "years.csv",
        _pairs_of_years,
        ("land", *(str(2019 + k) for k in range(6))),
        120,
        {"2021": Taken("intervals"), "land": Taken("levels")},
    ),
    _csv(
        "names that repeat",
        lambda g: _named(g, "sex,age,age,ward,ill\n").encode(),
        refusal="more than once",
    ),
    _csv(
        "rows of different lengths",
        lambda g: _ragged(g).encode(),
        refusal="Line 52 has 6 cells",
    ),
    _csv("a picture called .csv", _picture, refusal="neither text"),
    _csv("a web page called .xls", _web_page, filename="table.xls", refusal="a web page"),
    _csv("JSON", _json, filename="table.txt", refusal="JSON"),
    _csv("an empty file", lambda _: b" \n\n", refusal="is empty"),
    _csv("names and no rows", lambda _: b"sex,age,ill\n", refusal="no rows"),
    # Encodings.
    _csv("a byte order mark", lambda g: _lines(g).encode("utf-8-sig"), encoding="utf-8-sig"),
    _csv("UTF-16 with a mark", lambda g: _lines(g).encode("utf-16"), encoding="utf-16"),
    _csv("UTF-16 without a mark", lambda g: _lines(g).encode("utf-16-le"), encoding="utf-16-le"),
    _foreign("Chinese in GBK", _chinese, "gb18030", names=("城市", "性别", "n")),
    _foreign("Chinese in Big5", _taiwan, "big5", names=("城市", "性別", "n")),
    _foreign("Japanese in Shift-JIS", _japanese, "shift_jis", names=("都市", "性別", "n")),
    _foreign("Korean in EUC-KR", _korean, "euc_kr", names=("도시", "성별", "n")),
    _foreign("Russian in cp1251", _russian, "cp1251", names=("город", "пол", "n")),
    _foreign("umlauts in cp1252", _german, "cp1252", names=("größe", "übung", "n")),
    _foreign(
        "a .txt in Latin-1, with tabs",
        lambda g: _german(g, sep="\t"),
        "cp1252",
        filename="table.txt",
        names=("größe", "übung", "n"),
    ),
)
