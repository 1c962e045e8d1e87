"""Checks whether a release is possible, and what it costs, from public facts alone.

Synthetic rows, drawn from the public domain alone, to rehearse a run before it is charged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privcore.algorithms import discover, get_algorithm
from privcore.algorithms.engine import checked_parameters, planned_delta, planned_events, source_of
from privcore.algorithms.protecting import Protection, of_source
from privcore.counts import StoredTable
from privcore.data import Dataset
from privcore.data.domain import domain_of
from privcore.data.model import Described
from privcore.data.network import MAX_ROWS
from privcore.effects.model import ALGORITHM as EFFECTS
from privcore.effects.model import EffectPlan, in_moments
from privcore.errors import DataError, ParameterError, PrivcoreError, ReleaseError
from privcore.privacy.accounting import Guarantee
from privcore.privacy.accounting.composition import Event, rho_of_pure, total_rho
from privcore.privacy.accounting.guarantee import large_delta_sentence
from privcore.releases.private_domain import Split, UnboughtTable, bought_facts, split
from privcore.releases.release_file import ReleaseFile
from privcore.text import short
from privcore.unit import ADDED

# Most rows that are tried where the number of rows is private.
_MOST_TRIED = 1 << 20


def least_rows(run: Callable[[int], object]) -> int:
    """The smallest number of rows at which a rehearsal is not refused.

    run: makes a rehearsal with a number of rows.  A run that accepts a number of rows is taken to
    accept every larger one.  Raises the error of the rehearsal if about a million rows are refused.
    """
    refused, accepted = 1, 2
    while not _runs(run, accepted, last=accepted >= _MOST_TRIED):
        refused, accepted = accepted, 2 * accepted
    while accepted - refused > 1:
        middle = (accepted + refused) // 2
        refused, accepted = (refused, middle) if _runs(run, middle) else (middle, accepted)
    return accepted


def _runs(run: Callable[[int], object], rows: int, *, last: bool = False) -> bool:
    try:
        run(rows)
    except PrivcoreError:
        if last:
            raise
        return False
    return True


def rehearsal_rows(dataset: Described, rows: int) -> Dataset:
    """Draw synthetic rows over the same columns, at most 10,000,000.

    In half of the rows, a column has the same relative position in its range as the previous
    column, so that there are edges to find.  In the other rows, the column is uniform over its
    levels, or between its bounds.
    """
    drawn = np.random.default_rng(1)
    rows = min(rows, MAX_ROWS)
    shares, columns, values = drawn.random(rows), [], []
    for column in dataset.columns:
        shares = np.where(drawn.random(rows) < 0.5, shares, drawn.random(rows))
        if column.is_categorical:
            many = len(column.levels)
            values.append((shares * many).astype(np.min_scalar_type(max(many - 1, 0))))
        else:
            assert column.bounds is not None
            low, high = column.bounds
            values.append(low + shares * (high - low))
        columns.append(replace(column, declared=True))
    return Dataset("rehearsal", tuple(columns), tuple(values), unit=dataset.unit)


@dataclass(frozen=True)
class Check:
    """The cost and conditions of a release, known before it is made.

    rho: the cost in zCDP; None if it is not known.  planned: the steps of the charge; for a bought
    domain, the steps of the purchase and of a run with the maximum number of levels that can be
    bought.  caveats: accepted sentences that limit the guarantee.  warnings: sentences to read
    before the release.  split: the split of the budget between a domain to be bought and the run.
    effect: the effect released with the graph.  rows_private: whether the number of rows is
    private.
    public: what the guarantee takes as public, as the certificate will state it.
    """

    epsilon: float
    delta: float
    rho: float | None
    planned: tuple[Event, ...]
    caveats: tuple[str, ...]
    warnings: tuple[str, ...]
    split: Split | None = None
    effect: EffectPlan | None = None
    rows_private: bool = False
    public: tuple[str, ...] = ()


def _check_questions(
    dataset: Dataset | StoredTable | UnboughtTable, parameters: Mapping[str, Any] | None
) -> None:
    """Raises ReleaseError for facts that only the owner knows and has not stated."""
    for question in dataset.questions:
        # The bound on the rows of a person may be given with the run.
        if question.topic == "persons" and (parameters or {}).get("rows_per_unit") is not None:
            continue
        raise ReleaseError(
            "answer-before-release", sentence=question.sentence, answer=question.answer
        )


def check_release(
    dataset: Dataset | StoredTable | UnboughtTable,
    algorithm: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    accepted: Sequence[str] = (),
    effect: EffectPlan | None = None,
    like: ReleaseFile | None = None,
) -> Check:
    """Check a release from public facts, so that any refusal comes before anything is spent.

    accepted: the caveats of the data set (`Dataset.caveats`) that the owner accepts, word for word;
    levels and bounds that were read from the rows cannot be accepted.  effect: an effect to release
    with the graph, from the numbers of moment search.  like: an earlier release; this one measures
    in its form and units, so that both can be pooled.

    The run is rehearsed on rows drawn from the public domain, so that settings that the algorithm
    refuses are refused before the charge.  If the number of rows is private, no refusal depends on
    it: the rehearsal finds the smallest number of rows that the run accepts, and a warning gives
    this number.

    Raises ParameterError for an algorithm or calibration without a proven guarantee and for invalid
    parameters.  Raises ReleaseError for columns that are not declared, for facts that only the
    owner knows and has not stated, and for caveats that are not accepted.  Raises DataError for
    files whose rows may not fit into the memory allowed, and whatever the rehearsal raises.
    """
    if like is not None:
        _check_like(dataset, algorithm, parameters, effect, like)
    _check_questions(dataset, parameters)
    if effect is not None:
        _check_effect(dataset, algorithm, parameters, effect)
    if isinstance(dataset, UnboughtTable):
        return _check_bought(dataset, algorithm, parameters, accepted)
    chosen = get_algorithm(algorithm)
    if not chosen.private:
        raise ParameterError("release-of-no-privacy", name=chosen.name)
    checked = checked_parameters(algorithm, parameters)
    if checked["calibration"] != "proven":
        raise ParameterError("proven-calibration-alone")
    if dataset.undeclared:
        raise ReleaseError(unconfirmed(dataset))
    missing = [caveat for caveat in dataset.caveats if caveat not in accepted]
    if missing:
        raise ReleaseError("guarantee-would-not-hold-unconditionally", choices="; ".join(missing))
    if isinstance(dataset, StoredTable):
        dataset.check_memory()
    source = source_of(dataset)
    of_graph = checked if effect is None else effect.of_graph(checked, dataset)
    statistics = None if like is None else like.statistics
    planned = planned_events(algorithm, of_graph, source, statistics)
    planned += () if effect is None else effect.second(checked, dataset, planned)

    public: tuple[str, ...] = ()

    def rehearse(rows: int) -> None:
        nonlocal public
        run = discover(
            rehearsal_rows(dataset, rows),
            algorithm,
            of_graph,
            seed=1,
            keep_trace=False,
            like=statistics,
        )
        public = run.guarantee.public

    delta = planned_delta(algorithm, of_graph, source, statistics)
    if effect is not None and effect.share and in_moments(dataset):
        delta = float(checked["delta"])
    epsilon = float(checked["epsilon"])
    private = of_source(chosen, checked, source).relation == ADDED
    if private:
        warnings = _too_few_sentence(least_rows(rehearse))
    else:
        rehearse(dataset.n)
        warnings = size_warnings(epsilon, delta, dataset.n)
    # ρ of the steps may depend on the number of rows, and certificates show the ledger's sums.
    rho = _rho(epsilon, delta, () if private else planned)
    return Check(
        epsilon,
        delta,
        rho,
        planned,
        dataset.caveats,
        warnings,
        effect=effect,
        rows_private=private,
        public=public,
    )


def _check_effect(
    dataset: Dataset | StoredTable | UnboughtTable,
    algorithm: str,
    parameters: Mapping[str, Any] | None,
    effect: EffectPlan,
) -> None:
    """Raises ParameterError if no effect can be released with the graph."""
    if algorithm != EFFECTS:
        raise ParameterError("effects-computed-from-numbers-releases", effects=EFFECTS)
    if isinstance(dataset, UnboughtTable):
        raise ParameterError("effects-need-levels-stated-not-bought")
    effect.check(dataset)


def _check_like(
    dataset: Dataset | StoredTable | UnboughtTable,
    algorithm: str,
    parameters: Mapping[str, Any] | None,
    effect: EffectPlan | None,
    like: ReleaseFile,
) -> None:
    """Raises ReleaseError if the numbers could not be pooled with the earlier release."""
    if effect is not None or isinstance(dataset, UnboughtTable):
        raise ReleaseError("like-without-effect")
    different = ReleaseError("like-another")
    if (algorithm, domain_of(dataset.columns)) != (like.algorithm, list(like.columns)):
        raise different
    protection = Protection.of(checked_parameters(algorithm, parameters), source_of(dataset).unit)
    if protection.sentence != like.guarantee.neighbours:
        raise different
    if protection.relation == ADDED:
        raise ReleaseError("like-with-hidden-rows")


def size_warnings(epsilon: float, delta: float, rows: int) -> tuple[str, ...]:
    """A warning if δ is too large for this number of rows; otherwise empty."""
    guarantee = Guarantee(epsilon, delta, "", (), "proven", "", "")
    return tuple(filter(None, (large_delta_sentence(guarantee, rows),)))


def _too_few_sentence(rows: int) -> tuple[str, ...]:
    """A warning that a private number of rows may be too small for the run; empty if none is."""
    if rows <= 2:
        return ()
    return (
        f"With fewer than about {rows:,} rows, this run fails after it is charged: the number of "
        "rows is private, so it is not checked beforehand.",
    )


def _check_bought(
    table: UnboughtTable,
    algorithm: str,
    parameters: Mapping[str, Any] | None,
    accepted: Sequence[str],
) -> Check:
    """Check the purchase, and a run with the maximum number of levels that can be bought."""
    if table.unconfirmed:
        raise ReleaseError("kind-not-confirmed", column=short(table.unconfirmed[0]))
    wanted = split(table, algorithm, parameters)
    try:
        rest = check_release(table.largest(), algorithm, wanted.parameters, accepted=accepted)
    except DataError as error:
        raise DataError(
            "refused-with-all-levels", most_levels=table.most_levels, error=error
        ) from None
    epsilon, delta = wanted.epsilon, wanted.delta
    planned = (*wanted.plan.events, *rest.planned)
    warnings = size_warnings(epsilon, delta, table.n)
    public = bought_facts(rest.public)
    return Check(epsilon, delta, None, planned, rest.caveats, warnings, wanted, public=public)


def unconfirmed(dataset: Described) -> str:
    """The error message for levels or bounds that the owner has not confirmed as public."""
    undeclared = dataset.undeclared
    named = ", ".join(short(name, 20) for name in undeclared[:3])
    more = f" and {len(undeclared) - 3} more" if len(undeclared) > 3 else ""
    return (
        f"The {dataset.public_noun} of {named}{more} are not confirmed as public: draft a schema "
        "with `python -m privcore schema --csv FILE --out schema.json`, correct it to what is "
        "known without the rows, confirm it with `python -m privcore schema --confirm "
        "schema.json`, and give it as --schema (in the dashboard, confirm the values under Data)."
    )


def _rho(epsilon: float, delta: float, planned: tuple[Event, ...]) -> float | None:
    known = [total_rho(planned), rho_of_pure(epsilon) if delta == 0 else None]
    return min((rho for rho in known if rho is not None), default=None)
