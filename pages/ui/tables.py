"""Tables of a run, as data frames for the page and for downloads."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from privcore.algorithms import Discovery, Parameter
from privcore.algorithms.search.result import PairFinding
from privcore.display.findings import share_text, sure_columns, verdict_text
from privcore.extras.lab.stability import Stability, often
from privcore.graphs import PDAG
from privcore.measures import Comparison
from privcore.measures.comparison import edge_text
from privcore.text import csv_text, percent

LOG_LIMIT = 5_000


def as_csv(table: pd.DataFrame) -> str:
    """The table as CSV, with a line of column names."""
    return csv_text([table.columns, *table.itertuples(index=False)])


def edges(graph: PDAG, comparisons: list[Comparison], tested: Discovery) -> pd.DataFrame:
    """Table of the pairs that are adjacent in the graph or in a reference graph.

    For each reference, the table has the class of the pair (such as missing or reversed) and the
    edge in the reference. tested: the run that supplies separating sets and, if available, edge
    probabilities.
    """
    rows: dict[tuple[int, int], dict[str, str]] = {}
    for comparison in comparisons:
        for pair in comparison.pairs:
            row = rows.setdefault((pair.i, pair.j), {"edge": pair.here})
            row[f"against {comparison.reference_name}"] = pair.kind
            row[f"in {comparison.reference_name}"] = pair.reference
    for pair_key, row in rows.items():
        separated = tested.separating_sets.get(pair_key)
        row["separated by"] = (
            ""
            if separated is None
            else ", ".join(graph.nodes[k] for k in sorted(separated)) or "(nothing)"
        )
    sure = sure_columns(tested)
    for pair_key, finding in tested.findings.items():
        if pair_key in rows:
            rows[pair_key] |= _sure(finding, sure)
    order = ["edge", *sure]
    for c in reversed(comparisons):
        order += [f"against {c.reference_name}", f"in {c.reference_name}"]
    # A search without separating sets, such as moment search, has no such column.
    columns = [*order, *(["separated by"] if any(r["separated by"] for r in rows.values()) else [])]
    frame = pd.DataFrame([rows[key] for key in sorted(rows)], columns=columns, dtype=object)
    return frame.fillna("not adjacent")


def edge_pairs(comparisons: list[Comparison]) -> list[tuple[int, int]]:
    """The pair in each row of the table from `edges`, in the same order."""
    return sorted({(pair.i, pair.j) for c in comparisons for pair in c.pairs})


def pairs(result: Discovery) -> pd.DataFrame:
    """Table of the finding on every pair as text, edges first."""
    nodes, sure = result.graph.nodes, sure_columns(result)
    rows = [
        {
            "pair": f"{nodes[i]} · {nodes[j]}",
            "verdict": verdict_text(result, (i, j)),
            "dependence": f"{finding.effect:.3f}",
            "smallest visible": _visible(finding),
            **_sure(finding, sure),
            **_ways(finding),
        }
        for (i, j), finding in sorted(
            result.findings.items(), key=lambda item: (item[1].verdict != "edge", item[0])
        )
    ]
    return pd.DataFrame(rows)


def _visible(finding: PairFinding) -> str:
    if finding.verdict in ("edge", "repeats"):
        return ""
    return "none" if finding.visible is None else f"{finding.visible:.3f}"


def _ways(finding: PairFinding) -> dict[str, str]:
    """The probability of an edge from the first column of the pair to the second, and back."""
    if finding.probability is None or finding.forward is None:
        return {}
    backward = finding.probability - finding.forward
    return {"first → second": share_text(finding.forward), "second → first": share_text(backward)}


def _sure(finding: PairFinding, columns: Mapping[str, str]) -> dict[str, str]:
    """The probabilities of a finding as text; columns: the field of the finding for each head."""
    values = {head: getattr(finding, field) for head, field in columns.items()}
    return {head: "" if value is None else share_text(value) for head, value in values.items()}


def decisions(result: Discovery, limit: int | None = LOG_LIMIT) -> pd.DataFrame:
    """Table of the decision log, one decision per row; not private."""
    nodes = result.graph.nodes
    private = result.noise != "none"
    rows = []
    for step in result.trace[:limit]:
        pair = step.x >= 0 and step.y >= 0
        row: dict[str, object] = {
            "order": step.order,
            "x": nodes[step.x] if step.x >= 0 else "",
            "y": nodes[step.y] if step.y >= 0 else "",
            "given": ", ".join(nodes[k] for k in step.conditioning_set),
            "step": step.phase,
            result.unit or "score": step.score,
        }
        if private:
            row |= {"noise scale": step.noise_scale, "noisy": step.noisy}
        row |= {
            "threshold": step.threshold,
            "verdict": _verdict(step.phase, step.independent, pair),
        }
        if private:
            row |= {"charge": step.charge, "round": step.round}
        rows.append(row)
    frame = pd.DataFrame(rows)
    # Selections have neither a noisy value nor a threshold.
    idle = [c for c in ("noisy", "threshold") if c in frame and frame[c].isna().all()]
    return frame.drop(columns=idle)


def _verdict(phase: str, independent: bool, pair: bool) -> str:
    if phase in ("which", "separating set"):
        return "chosen"
    return ("independent" if independent else "dependent") if pair else ""


OVER_ROLLS, OVER_HALVES = "over noise draws", "over halves"


def stability(
    judged: Stability, result: Discovery, reference: PDAG, reference_name: str
) -> pd.DataFrame:
    """Table of how often each pair is adjacent and has the run's arrow; edges of the run first.

    If the run has findings, the table includes undecided pairs. A run without noise has no columns
    on noise draws. A graph without arrows has no columns on arrows.
    """
    graph, findings = result.graph, result.findings
    sources = {OVER_ROLLS: judged.over_rolls, OVER_HALVES: judged.over_halves}
    if not judged.rolls:
        del sources[OVER_ROLLS]
    unclear = {pair for pair, f in findings.items() if f.verdict == "not enough budget"}
    rows = []
    for i, j in {*judged.pairs, *reference.skeleton, *unclear}:
        seen = {head: often(source, (i, j)) for head, source in sources.items()}
        nonadjacent = (i, j) not in graph.skeleton
        names = f"{graph.nodes[i]} · {graph.nodes[j]}"
        row: dict[str, object] = {
            "pair": names if nonadjacent else edge_text(graph, i, j),
            **{head: frequency.adjacent for head, frequency in seen.items()},
        }
        if findings:
            row["verdict"] = verdict_text(result, (i, j))
        else:
            row["in this run"] = "no" if nonadjacent else "yes"
        for head, frequency in seen.items() if graph.directed else ():
            arrow = {"->": frequency.forward, "<-": frequency.backward}.get(graph.mark(i, j) or "")
            row[f"arrow {head}"] = "" if arrow is None else percent(arrow)
        row[f"in {reference_name}"] = "yes" if (i, j) in reference.skeleton else "no"
        rows.append((nonadjacent, -seen[OVER_HALVES].adjacent, (i, j), row))
    return pd.DataFrame([row for *_, row in sorted(rows, key=lambda entry: entry[:3])])


def parameters(declared: tuple[Parameter, ...], values: dict[str, object]) -> pd.DataFrame:
    """Table of the parameters that have an effect in a run, with symbols, values and sources."""
    return pd.DataFrame(
        {
            "parameter": p.title,
            "symbol": p.symbol,
            "value": "auto" if values.get(p.name) is None else str(values[p.name]),
            "source": p.source,
        }
        for p in declared
        if p.matters({"calibration": "none", **values})
    )
