"""Cells of text files: numbers as people write them, codes, levels, dates."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.file_kinds.model import (
    BETWEEN_COLUMNS,
    Kind,
    StatedOptions,
    Taken,
    between_columns,
    mixed,
    people,
    text,
)

Generator = np.random.Generator
Cells = Callable[[Generator], Sequence[object]]
_ROWS = 240


def _column(name: str, cells: Cells, taken: Taken, **options: object) -> Kind:
    """A kind of cells, in a column x between two others."""
    title = str(options.pop("title", "x"))

    def make(generator: Generator) -> bytes:
        sep = str(options.get("sep", ","))
        shown = [f'"{c}"' if sep in str(c) else c for c in cells(generator)]
        return text(between_columns(generator, shown, title), sep).encode()

    kept = {key: value for key, value in options.items() if key != "sep"}
    names = BETWEEN_COLUMNS if title == "x" else ("sex", title, "age")
    return Kind(name, "table.csv", make, names, _ROWS, {title: taken}, **kept)  # type: ignore[arg-type]


def _numbers(form: str, low: float = 900, high: float = 90_000) -> Cells:
    return lambda g: [form.format(n) for n in g.uniform(low, high, _ROWS)]


def _of(words: str, sep: str = "/") -> Cells:
    return lambda g: list(g.choice(words.split(sep), _ROWS))


def _with(cells: Cells, others: Sequence[str], share: float = 0.06) -> Cells:
    return lambda g: mixed(g, cells(g), others, share)


def _days(first: str, days: int, form: str = "%Y-%m-%d") -> Cells:
    def cells(generator: Generator) -> list[str]:
        start = np.datetime64(first)
        dates = start + generator.integers(0, days, _ROWS).astype("timedelta64[D]")
        return [date.strftime(form) for date in dates.astype(object)]

    return cells


def _ages(generator: Generator) -> list[str]:
    return [str(age) for age in generator.integers(18, 95, _ROWS)]


def _negatives(generator: Generator) -> list[str]:
    sums = generator.normal(500, 2_000, _ROWS)
    return [f"({-s:,.2f})" if s < 0 else f"{s:,.2f}" for s in sums]


def _spelt(generator: Generator) -> list[str]:
    ways = ["yes", "yes", "Yes", "YES", "yes ", "no", "no", "No", "NO", " no"]
    return list(generator.choice(ways, _ROWS))


def _codes_of_digits(generator: Generator) -> list[str]:
    return [f"{code:05}" for code in generator.choice([1307, 1309, 4109, 9111, 20095], _ROWS)]


def _long(generator: Generator) -> list[str]:
    return [f"{a:010}{b:010}" for a, b in generator.integers(10**9, 10**10, (_ROWS, 2))]


def _skewed(generator: Generator) -> bytes:
    """No cut parts the rows, for nearly all of them are one number."""
    rows = 400
    amounts = ["0.0"] * (rows - 25) + [f"{x:.3f}" for x in generator.uniform(1, 9, 25)]
    return text(between_columns(generator, list(generator.permutation(amounts)))).encode()


def _visits(name: str, form: str) -> Callable[[Generator], bytes]:
    def make(generator: Generator) -> bytes:
        whose = np.repeat(generator.permutation(60), 5)
        columns = {name: [form.format(w) for w in whose], **people(generator, 300)}
        return text(columns).encode()

    return make


_VISITS = ("sex", "age", "weight", "ward", "ill")
_MONTHS = "January/February/March/April/May/June/July/August/September/October/November/December"
_AGREE = "strongly disagree/disagree/neutral/agree/strongly agree"
_LIKERT = _of("1/2/3/4/5")


def _ordered(*levels: str) -> Taken:
    return Taken("levels in order", levels=levels)


CELLS = (
    _column("thousands and $ signs", _numbers("${:,.0f}"), Taken("intervals", unit="$")),
    _column("euros behind the number", _numbers("{:.2f} €", 1, 90), Taken("intervals", unit="€")),
    _column("per cent", _numbers("{:.0f} %", 0, 100), Taken("intervals", unit="%")),
    _column("units (5 mg)", _numbers("{:.1f} mg", 1, 20), Taken("intervals", unit="mg")),
    _column("accounting negatives: (1,234.00)", _negatives, Taken("intervals")),
    _column(
        "spaces between thousands",
        lambda g: [c.replace(",", " ") for c in _numbers("{:,.0f}")(g)],  # type: ignore[attr-defined]
        Taken("intervals"),
    ),
    _column(
        "apostrophes between thousands",
        lambda g: [c.replace(",", "'") for c in _numbers("{:,.0f}")(g)],  # type: ignore[attr-defined]
        Taken("intervals"),
    ),
    _column(
        "points between thousands, decimal commas",
        lambda g: [c.translate({44: 46, 46: 44}) for c in _numbers("{:,.2f}")(g)],  # type: ignore[attr-defined]
        Taken("intervals"),
    ),
    _column("powers of ten (1.2e-05)", _numbers("{:.2e}", 1e-6, 1e-3), Taken("intervals")),
    _column("true, TRUE, t", _of("true/TRUE/t/false/FALSE/f"), Taken("levels")),
    _column("case and blanks around levels", _spelt, Taken("levels", levels=("no", "yes"))),
    _column("numbers of 20 digits", _long, Taken("left out")),
    _column("codes with leading zeros", _codes_of_digits, Taken("levels")),
    _column("999 beside ages", _with(_ages, ["999"]), Taken("intervals", ("999",))),
    _column("99 beside answers", _with(_LIKERT, ["99"]), Taken("levels in order", ("99",))),
    _column("-9 beside answers", _with(_LIKERT, ["-9"]), Taken("levels in order", ("-9",))),
    _column(
        "8 and 9 beside 1 to 5",
        _with(_LIKERT, ["8", "9"]),
        Taken("levels in order", ("8", "9")),
    ),
    _column("“unknown”", _with(_of("a/b/c"), ["unknown"]), Taken("levels", ("unknown",))),
    _column("“k. A.”", _with(_of("ledig/verheiratet"), ["k. A."]), Taken("levels", ("k. A.",))),
    _column("“.” and “*” for nothing", _with(_ages, [".", "*"]), Taken("intervals")),
    _column("Excel's #DIV/0!", _with(_ages, ["#DIV/0!", "#N/A"]), Taken("intervals")),
    _column(
        "text among numbers",
        _with(_ages, ["see notes", "about forty"], 0.03),
        Taken("intervals"),
    ),
    _column(
        "never … always",
        _of("always/never/often/rarely/sometimes"),
        _ordered("never", "rarely", "sometimes", "often", "always"),
    ),
    _column("strongly disagree … agree", _of(_AGREE), _ordered(*_AGREE.split("/"))),
    _column(
        "ranges of age (18-25)",
        _of("18-25/26-40/41-64/65+/under 18"),
        _ordered("under 18", "18-25", "26-40", "41-64", "65+"),
    ),
    _column(
        "ranges of money (<$10k)",
        _of("<$10k/$10k-$50k/$50k-$100k/>$100k"),
        _ordered("<$10k", "$10k-$50k", "$50k-$100k", ">$100k"),
    ),
    _column("3 or more (3+)", _of("0/1/2/3+"), _ordered("0", "1", "2", "3+")),
    _column(
        "weeks with gaps (week 12)",
        _of("week 12/week 0/week 4"),
        _ordered("week 0", "week 4", "week 12"),
    ),
    _column("months", _of(_MONTHS), _ordered(*_MONTHS.split("/"))),
    _column("grades A to F", _of("A/B/C/D/F"), _ordered("F", "D", "C", "B", "A"), title="grade"),
    _column(
        "stage 1 to 3", _of("stage 2/stage 1/stage 3"), _ordered(*(f"stage {k}" for k in "123"))
    ),
    _column(
        "numbered answers (1 - low)",
        _of("2 - middle/1 - low/3 - high"),
        _ordered("1 - low", "2 - middle", "3 - high"),
    ),
    _column("dates within a month", _days("2024-05-01", 31), Taken("day of the week")),
    _column("dates within a year", _days("2024-01-01", 366), Taken("calendar month")),
    _column("dates over ten years", _days("2012-01-01", 3_652), Taken("year")),
    _column("31.05.2024", _days("2024-01-01", 366, "%d.%m.%Y"), Taken("calendar month")),
    _column("05/31/2024", _days("2024-01-01", 366, "%m/%d/%Y"), Taken("calendar month")),
    _column("one value in every row", lambda _: ["x"] * _ROWS, Taken("left out")),
    Kind(
        "a number that is nearly always 0",
        "table.csv",
        _skewed,
        BETWEEN_COLUMNS,
        400,
        {"x": Taken("intervals")},
    ),
    _column(
        "more than 50 levels",
        lambda g: [f"town {n}" for n in np.minimum(g.geometric(0.02, _ROWS), 90)],
        Taken("frequent levels"),
    ),
    _column(
        "free text",
        lambda g: [f"came in on day {k} and left well" for k in range(_ROWS)],
        Taken("left out"),
    ),
    _column(
        "mostly missing",
        lambda g: ["" if m else "yes" for m in g.random(_ROWS) < 0.8],
        Taken("left out"),
    ),
    Kind(
        "patient_id, with several rows each",
        "visits.csv",
        _visits("patient_id", "{}"),
        ("patient_id", *_VISITS),
        300,
        {"patient_id": Taken("left out"), "age": Taken("intervals")},
        ("persons",),
        stated=StatedOptions(unit="patient_id", rows_per_unit=8),
        after=(_VISITS, 300),
    ),
    Kind(
        "USUBJID, with several rows each",
        "visits.csv",
        _visits("USUBJID", "S01-{:03}"),
        ("USUBJID", *_VISITS),
        300,
        {"USUBJID": Taken("left out")},
        ("persons",),
        stated=StatedOptions(rows_per_unit=1),
    ),
    Kind(
        "codes such as P017 that repeat",
        "visits.csv",
        _visits("who", "P{:03}"),
        ("who", *_VISITS),
        300,
        {"who": Taken("left out")},
        ("persons",),
        stated=StatedOptions(rows_per_unit=1),
    ),
)
