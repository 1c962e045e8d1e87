"""A finished sweep as a table on the screen."""

from __future__ import annotations

from typing import Any

import pandas as pd

from privcore.evaluation.sweeps.sweep import Row, summarise

# Of ε in the table on the screen; the file has them all.
_COLUMNS = 7


def sweep_table(rows: list[Row]) -> str:
    """Mean skeleton F1 with a line for each algorithm and a column for each ε."""
    table = pd.DataFrame(rows)
    known = table["truth_skeleton_f1"].notna().any()
    metric = "truth_skeleton_f1" if known else "non_private_skeleton_f1"
    means = summarise(table.sort_values("cell"), metric)
    several = [
        name
        for name in means.columns[: means.columns.get_loc("runs")]
        if name not in ("algorithm", "calibration", "epsilon") and means[name].nunique() > 1
    ]
    lines: dict[tuple[str, ...], dict[str, str]] = {}
    for line in means.to_dict("records"):
        key = tuple(_cell(line[n]) for n in (*several, "algorithm", "calibration"))
        epsilon = _cell(line["epsilon"])
        value = "refused" if line["runs"] == 0 else f"{line['mean']:.3f}"
        lines.setdefault(key, {})[epsilon] = value
    epsilons = _few(sorted({e for line in lines.values() for e in line if e != "-"}, key=float))
    head = [*several, "algorithm", "calibration", *(f"ε {e}" for e in epsilons)]
    body = [
        [*key, *(line.get(e, line.get("-", "-")) for e in epsilons or ["-"])]
        for key, line in lines.items()
    ]
    head += [] if epsilons else ["F1"]
    widths = [max(len(line[i]) for line in (head, *body)) for i in range(len(head))]
    against = "the truth" if known else "non-private PC or NOTEARS"
    return "\n".join(
        [
            f"Mean skeleton F1 against {against}:",
            *(
                "  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)).rstrip()
                for line in (head, *body)
            ),
        ]
    )


def _few(epsilons: list[str]) -> list[str]:
    """All, or the ends and some between them where a line would be too long."""
    if len(epsilons) <= _COLUMNS:
        return epsilons
    steps = _COLUMNS - 1
    return [epsilons[round(i * (len(epsilons) - 1) / steps)] for i in range(_COLUMNS)]


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
