"""Text helpers for messages and exports: names cut to a readable length, cells made safe."""


def short(name: object, limit: int = 40) -> str:
    """`name` on one line, control characters dropped, cut to `limit` characters."""
    text = "".join(c if c.isprintable() else " " for c in str(name)).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def spreadsheet_cell(text: str) -> str:
    """`text`, with an apostrophe in front where a spreadsheet would take it for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def percent(share: float) -> str:
    """A share in whole per cent, such as "97 %"; never rounded to 100 % or 0 %."""
    if 0.99 < share < 1:
        return "over 99 %"
    return "under 1 %" if 0 < share < 0.01 else f"{100 * share:.0f} %"
