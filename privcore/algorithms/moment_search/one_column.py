"""The links of one column: first its products with all others, then moments of the few that count.

The noise on all second moments of p columns grows with p, that on the products of one column with
√p. The second release measures the column together with those whose products are unlikely to be
chance, so its noise grows with their number alone. Everything after both releases is
post-processing. Proof: docs/proofs/moment_search.md, statement 10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

import numpy as np
from scipy.special import chdtrc

from privcore.algorithms.moment_search.findings import (
    MEASURED,
    of_edges_alone,
    released_margins,
)
from privcore.algorithms.moment_search.measure import bases_of, even_points, number_units
from privcore.algorithms.moment_search.parameters import MomentSearchParameters
from privcore.algorithms.moment_search.plan import BY_CHANCE, Plan, Scales
from privcore.algorithms.moment_search.released import LineUnits, ReleasedNumbers, released_rows
from privcore.algorithms.search.common import public_facts
from privcore.algorithms.search.model import Outcome, Run
from privcore.algorithms.search.result import Parents, Released, Step
from privcore.arrays import Integers, Matrix
from privcore.counts import CountSource, NumberSource, PublicColumns
from privcore.counts.numbers import cut_numbers
from privcore.graphs.knowledge import Knowledge, Statement
from privcore.graphs.pdag import PAG, Kind
from privcore.privacy.mechanisms.moments import CENTRED_SHARE

Noted = Callable[[float, float, int], None]


class Among(NamedTuple):
    """The released numbers of some columns.

    columns: these columns, in order. run: a run on them alone, without rows.
    """

    columns: tuple[int, ...]
    run: Run[MomentSearchParameters]
    statistics: ReleasedNumbers


def measured_near(run: Run[MomentSearchParameters], plan: Plan, noted: Noted) -> ReleasedNumbers:
    """Make the releases of a plan for one column.

    noted: called with the scale, the share of the budget and the number of each release.
    """
    target, source, noise = run.target, run.source, run.noise
    assert target is not None
    assert plan.counts is not None
    assert plan.products is not None
    assert plan.rows is not None
    made = 0

    def note(scale: float) -> None:
        nonlocal made
        noted(scale, plan.shares[made], made + 1)
        made += 1

    if isinstance(plan.units, Scales):
        numbers = cast(NumberSource, source)
        scales = plan.units.measure(numbers, noise)
        note(plan.units.sigma)
        units = number_units(scales, numbers, plan.rows.radius)
        points = even_points(units.centre, units.scale, plan.intervals, plan.levels)
        source = cut_numbers(numbers, points)
    counts = plan.counts.measure(source, noise)
    note(plan.counts.sigma)
    bases = bases_of(counts, plan)
    products = plan.products.measure(source, noise, bases, target)
    note(plan.products.correlation_noise)
    widths = np.array([own.shape[1] for own in bases])
    columns = linked(run, plan, products, widths)
    rows = replace(plan.rows, columns=int(widths[list(columns)].sum()))
    # A column without coordinates adds nothing to the norm of a row.
    kept = (own if c in columns else own[:, :0] for c, own in enumerate(bases))
    units_of_rows = LineUnits(tuple(own / rows.longest for own in kept), CENTRED_SHARE)
    moments = rows.measure(source, noise, units_of_rows)
    note(rows.sigma)
    return released_rows(plan.n, units_of_rows, moments, counts, near_one=True)


def linked(
    run: Run[MomentSearchParameters], plan: Plan, products: Matrix, widths: Integers
) -> tuple[int, ...]:
    """The target, and the columns whose products with it are unlikely to be chance.

    At least one other column, and at most as many as the plan's rows have coordinates for; the
    most significant first, after the columns that background knowledge links with the target.
    products: shape (own, others). widths: number of coordinates of each column.
    """
    target = run.target
    assert target is not None
    assert plan.products is not None
    assert plan.rows is not None
    others = np.delete(np.arange(len(widths)), target)
    ends = np.cumsum(widths[others])[:-1]
    squares = np.array([part.sum() for part in np.split((products**2).sum(axis=0), ends)])
    variance = plan.products.correlation_noise**2 + 1 / plan.n
    p_values = chdtrc(widths[target] * widths[others], squares / variance)
    required = {i + j - target for i, j in run.known.required if target in (i, j)}
    chosen, left = [target], plan.rows.columns - int(widths[target])
    for k in sorted(range(len(others)), key=lambda k: (others[k] not in required, p_values[k])):
        column = int(others[k])
        chance = p_values[k] >= BY_CHANCE / len(others)
        if len(chosen) > 1 and column not in required and (chance or widths[column] > left):
            break
        chosen.append(column)
        left -= int(widths[column])
    return tuple(sorted(chosen))


def among_measured(run: Run[MomentSearchParameters], statistics: ReleasedNumbers) -> Among:
    """The numbers of the columns that were measured, and a run that searches them.

    The FDR level stays that of all pairs of one column: among fewer pairs it is lower.
    """
    units = statistics.units
    assert isinstance(units, LineUnits)
    columns = tuple(c for c, own in enumerate(units.bases) if own.size)
    *counts, moments = statistics.measurements
    own_numbers = released_rows(
        statistics.n,
        units._replace(bases=tuple(units.bases[c] for c in columns)),
        replace(moments, columns=tuple(range(len(columns)))),
        [replace(counts[c], columns=(k,)) for k, c in enumerate(columns)],
    )
    names = tuple(run.source.names[c] for c in columns)
    # What is ruled out by way of other columns is ruled out among these, too.
    ruled_out = {
        Statement(run.source.names[a], "->", run.source.names[b])
        for a in columns
        for b in columns
        if a != b and not run.known.allowed[a, b]
    }
    required = Knowledge.read(run.parameters.knowledge).among(names).required
    known = Knowledge((), frozenset(ruled_out), required)
    among = replace(run.parameters, target="", measured=None, knowledge=known.text)
    source = PublicColumns(names, statistics.n, own_numbers.levels, run.source.unit)
    # With as many links as a tree has, the threshold is that of one link of p − 1 pairs.
    level = among.false_edges * min(1.0, len(columns) / 2 / (len(run.source.names) - 1))
    searched = replace(
        run, source=cast(CountSource, source), parameters=replace(among, false_edges=level)
    )
    return Among(columns, searched, own_numbers)


def lifted(
    run: Run[MomentSearchParameters],
    columns: Sequence[int],
    statistics: ReleasedNumbers,
    outcome: Outcome,
) -> Outcome:
    """The outcome of a search among some columns, as an outcome over all columns.

    statistics: the released numbers of all columns.
    """

    def pair(edge: tuple[int, int]) -> tuple[int, int]:
        return columns[edge[0]], columns[edge[1]]

    def step(own: Step) -> Step:
        if own.x < 0:
            return own
        given = tuple(columns[c] for c in own.conditioning_set)
        return own._replace(x=columns[own.x], y=columns[own.y], conditioning_set=given)

    found, beyond = outcome.graph, outcome.beyond
    kinds = {kind: frozenset(map(pair, pairs)) for kind, pairs in found.by_kind.items()}
    findings = {pair(edge): own for edge, own in beyond.findings.items()}
    known, open_ends = {*run.known.required}, "nondirected"
    if not isinstance(found, PAG):
        # Columns that were not measured may cause both ends of a link, so no arrow is sure.
        known |= set(map(pair, found.skeleton))
        kinds, open_ends = dict.fromkeys(kinds, frozenset()), "undirected"
        findings = of_edges_alone(findings, frozenset(map(pair, found.skeleton)))
    # What is known beforehand needs no measurement.
    allowed, measured = run.known.allowed, frozenset().union(*kinds.values())
    for i, j in known:
        if not {(i, j), (j, i)} & measured:
            kind = cast(Kind, open_ends if allowed[i, j] and allowed[j, i] else "directed")
            kinds[kind] |= {(i, j) if allowed[i, j] else (j, i)}
    graph = type(found)(run.source.names, **kinds)

    def dag(parents: Parents) -> Parents:
        lifted = [frozenset[int]()] * len(run.source.names)
        for k, those in enumerate(parents):
            lifted[columns[k]] = frozenset(columns[c] for c in those)
        return tuple(lifted)

    assert beyond.released is not None
    dags = tuple((dag(parents), share) for parents, share in beyond.released.dags)
    public = (*public_facts(run), MEASURED["target"])
    return outcome._replace(
        graph=graph,
        guarantee=replace(outcome.guarantee, public=public),
        separating_sets={
            pair(edge): frozenset(columns[c] for c in given)
            for edge, given in outcome.separating_sets.items()
        },
        trace=tuple(map(step, outcome.trace)),
        beyond=replace(
            beyond,
            findings=findings,
            margins=released_margins(statistics.moments),
            released=Released(dags, statistics=statistics),
            repeats={columns[c]: columns[first] for c, first in beyond.repeats.items()},
        ),
    )
