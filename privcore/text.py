"""Wording shared by messages: names cut to a readable length."""


def short(name: object, limit: int = 40) -> str:
    """`name` on one line, control characters dropped, cut to `limit` characters."""
    text = "".join(c if c.isprintable() else " " for c in str(name)).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"
