"""Text helpers for messages and exports: shortened names, safe cells and percentages."""


def short(name: object, limit: int = 40) -> str:
    """`name` on one line, cut to `limit` characters; control characters become spaces."""
    text = "".join(c if c.isprintable() else " " for c in str(name)).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def spreadsheet_cell(text: str) -> str:
    """`text`, with an apostrophe in front if a spreadsheet would read the text as a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def percent(share: float) -> str:
    """A share as a whole percentage, such as "97 %"; "over 99 %" and "under 1 %" near 1 and 0."""
    if 0.99 < share < 1:
        return "over 99 %"
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, such as "1 row" and "2,000 rows".

    plural: the noun for other numbers than 1, if it does not end in s.
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
