"""The runs of a page to share: one algorithm on one data set, at several ε."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from privcore.algorithms import ALGORITHMS, Algorithm, Discovery, discover
from privcore.counts import MixedRows, MomentSource
from privcore.data.model import BOUGHT, UPLOADED, Dataset, Described
from privcore.errors import PrivcoreError, ReleaseError
from privcore.graphs import PDAG
from privcore.measures.references import non_private_reference
from privcore.threads import one_thread

# The ε that a page shows in addition to the chosen one.
EPSILONS = (10.0, 3.0, 1.0, 0.3, 0.1)
# Runs at each ε for the curve: only the one shown, so that a page is ready soon.
RUNS = 1
# The confirmation typed to make a page of the user's own table.
CONFIRMATION = "this page is not private"


def is_built_in(dataset: Described) -> bool:
    """Whether the rows come from a network, an example or a sample, and so from no real person."""
    return isinstance(dataset, Dataset) and (
        dataset.recipe is not None or dataset.source not in ("", UPLOADED, BOUGHT)
    )


def check_may_be_sent(dataset: Described, confirmation: str = "") -> None:
    """Raises ReleaseError for the user's own table, unless the confirmation is typed exactly."""
    if not is_built_in(dataset) and confirmation != CONFIRMATION:
        raise ReleaseError(
            "A page of this table would show results computed from its exact rows: make a page "
            "of a release instead (search-again RELEASE --html FILE, or verify CERTIFICATE --html "
            f'FILE), or type --explored "{CONFIRMATION}" to make a page that is marked as '
            "exploration."
        )


@dataclass(frozen=True)
class Series:
    """Runs at several ε with the same noise seed.

    results: the run at each ε, in increasing order of ε; the key is 0 for an algorithm without ε.
    base: the run without privacy, the same for every ε.  others: graphs from further seeds at each
    ε.  shown: the chosen ε.
    """

    dataset: Described
    shown: float
    seed: int
    results: Mapping[float, Discovery]
    base: Discovery
    others: Mapping[float, Sequence[PDAG]]

    @property
    def algorithm(self) -> Algorithm:
        return ALGORITHMS[self.results[self.shown].algorithm]


def run_series(
    dataset: Described,
    source: MomentSource | MixedRows,
    algorithm: str,
    parameters: Mapping[str, Any],
    *,
    seed: int = 1,
    runs: int = RUNS,
    made: Callable[[float, int], Discovery | None] = lambda epsilon, seed: None,
    on_progress: Callable[[float, str], None] = lambda share, text: None,
) -> Series:
    """Run at the chosen ε and at `EPSILONS`, each with `runs` noise seeds counted up from `seed`.

    source: the counts or rows of the data set.  made: takes an ε and a seed; returns that run if it
    exists already, or None.  on_progress: called before each run with the completed share of the
    series and a text; an exception raised by `on_progress` ends the series.

    Raises ParameterError or DataError if the run at the chosen ε is refused; any other ε whose run
    is refused is left out.
    """
    chosen = ALGORITHMS[algorithm]
    declared = next((p for p in chosen.parameters if p.name == "epsilon"), None)
    epsilons, shown = [0.0], 0.0
    if declared is not None:
        shown = float(declared.parse(parameters.get("epsilon", declared.default)))
        fitting = [e for e in EPSILONS if declared.low <= e <= declared.high]
        # The chosen one first, as it raises what is wrong with the settings.
        epsilons = [shown, *(e for e in fitting if e != shown)]
    results: dict[float, Discovery] = {}
    others: dict[float, list[PDAG]] = {}
    seeds = range(seed, seed + runs) if chosen.private else range(seed, seed + 1)
    for k, epsilon in enumerate(epsilons):
        values = dict(parameters) if declared is None else {**parameters, "epsilon": epsilon}
        for own in seeds:
            done = (k + (own - seed) / len(seeds)) / len(epsilons)
            at = f"ε = {epsilon:g}, " if declared is not None else ""
            on_progress(done, f"{at}run {own - seed + 1} of {len(seeds)}")
            run = made(epsilon, own)
            try:
                if run is None:
                    noise = own if chosen.private else None
                    with one_thread():
                        run = discover(source, algorithm, values, seed=noise, keep_trace=False)
            except PrivcoreError:
                if own == seed and epsilon != shown:
                    break
                raise
            if own != seed:
                others[epsilon].append(run.graph)
                continue
            results[epsilon], others[epsilon] = run, []
    base = non_private_reference(source, results[shown])
    return Series(dataset, shown, seed, dict(sorted(results.items())), base, others)
