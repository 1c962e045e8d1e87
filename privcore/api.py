"""What `import privcore` offers: eight functions over the engine.

>>> import privcore
>>> data = privcore.load_network("asia").sample(20_000, seed=1)
>>> result = privcore.discover(data, epsilon=1, seed=7)
>>> result.guarantee.epsilon, result.guarantee.calibration
(1.0, 'proven')
>>> sorted(data.names[i] + " - " + data.names[j] for i, j in result.graph.skeleton)[:2]
['asia - tub', 'bronc - dysp']
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from privcore.algorithms import engine, get_algorithm
from privcore.algorithms.registry import RECOMMENDED
from privcore.algorithms.search.parameters import EPSILON, ROWS_PER_UNIT
from privcore.algorithms.search.result import Discovery
from privcore.data import ColumnSchema, Dataset, Missing, RawTable, build_dataset, reading
from privcore.data.samples import get_sample
from privcore.data.schema_file import read_schema
from privcore.data.triage import Proposal, choose, left_out
from privcore.data.triage import triage as proposals_for
from privcore.data.units import bounded
from privcore.effects import EffectPlan, Effects, Question
from privcore.effects import effects as effects_with
from privcore.errors import DataError, ParameterError
from privcore.evaluation.sweeps.sweep import SweepPlan, TableData, run_sweep
from privcore.privacy.mechanisms import SecureNoise
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import Release
from privcore.releases.release import release as charged_release
from privcore.releases.release_file import SPENT, read_release_file, search_files
from privcore.text import short
from privcore.unit import noun_of

Table = Dataset | pd.DataFrame | Path | str


def read_table(
    source: pd.DataFrame | Path | str,
    *,
    schema: Sequence[ColumnSchema] | Path | str | None = None,
    columns: Collection[str] | None = None,
    missing: Missing | None = None,
    unit: str | None = None,
    rows_per_unit: int | None = None,
) -> Dataset:
    """A table as a data set.

    Args:
        source: a data frame, or the path of a CSV, TSV or Parquet file.
        schema: what is public of each column (its kind; its levels, or its bounds), as a list, or
            as the path of a JSON file that its owner has confirmed (`causalveil schema`).  Without
            one it is what `triage` proposes from the rows.  No guarantee covers that, and every
            guarantee says so; columns that are left out are named in a warning.
        columns: the columns to use; None for all that can be used.
        missing: what to do with missing cells: make them a "level" of their own, "drop" their
            rows, "refuse" them, or take them as missing at random: each test of PC and LapMech then
            uses the "available" rows, in which its columns have values.  None for a level without a
            schema, and to refuse with one.

    Returns:
        The data set: n rows of coded levels and of numbers within their bounds.

    Raises:
        DataError: for a file that is no table, a column that is not there, a value outside its
            schema, missing cells that are refused, or rows that name no unit.
        ParameterError: for one of unit and rows_per_unit without the other.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"smokes": ["no", "yes", "no"], "age": [31.5, 64.0, 47.2]})
        >>> data = read_table(frame)
        >>> data.n, data.names
        (3, ('smokes', 'age'))
        >>> frame["patient_id"] = ["p1", "p2", "p2"]
        >>> data = read_table(frame, unit="patient_id", rows_per_unit=2)
        >>> data.unit.words, data.names
        ('one patient with at most 2 rows', ('smokes', 'age'))
    """
    name = "table" if isinstance(source, pd.DataFrame) else Path(source).stem
    raw = _raw(source)
    if unit is None and rows_per_unit is not None:
        raise ParameterError(
            "rows_per_unit needs unit, the column that says whose rows are whose; give both."
        )
    if unit is not None:
        if rows_per_unit is None:
            raise ParameterError(
                f"How many rows of one {short(noun_of(unit))} are kept at most is not said; give "
                "rows_per_unit, such as 5."
            )
        raw = bounded(raw, unit, ROWS_PER_UNIT.parse(rows_per_unit)).table
    if schema is None:
        proposals = choose(proposals_for(raw), columns)
        for column, reason in left_out(proposals).items():
            warnings.warn(f"Left out: {short(column)} ({reason})", UserWarning, stacklevel=2)
        proposed = [proposal.schema for proposal in proposals]
        if missing in ("drop", "refuse"):
            proposed = [replace(column, missing=False) for column in proposed]
        return build_dataset(raw, proposed, name=name, missing=missing or "refuse")
    wanted = list(read_schema(_bytes_of(schema)) if isinstance(schema, Path | str) else schema)
    if columns is not None:
        absent = [column for column in columns if column not in raw.names]
        if absent:
            raise DataError(
                f"There is no column {short(absent[0])!r}; there are "
                f"{', '.join(short(column, 20) for column in raw.names)}."
            )
        wanted = [column for column in wanted if column.name in columns]
    return build_dataset(raw, wanted, name=name, missing=missing or "refuse")


def load_sample(name: str) -> Dataset:
    """A sample table as `read_table` reads its file, with its true graph.

    Args:
        name: one of `privcore.SAMPLES`, which has each one's story and path.

    Raises:
        ParameterError: for an unknown name.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # Identifiers and free text are left out.
        ...     data = load_sample("clinic")
        >>> data.n, len(data.names), len(data.true_edges)
        (12000, 9, 11)
    """
    sample = get_sample(name)
    dataset = read_table(sample.path)
    return replace(dataset, true_edges=sample.true_edges(dataset.names))


def triage(source: pd.DataFrame | Path | str) -> list[Proposal]:
    """What to do with each column of a table: a proposal, its reason, and other ways.

    Args:
        source: a data frame, or the path of a CSV, TSV or Parquet file.

    Returns:
        One proposal for each column.  Its `ways` are schemas for `read_table`; the first is what
        `read_table` does by itself.

    Raises:
        DataError: for a file that is no table.

    Example:
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"day": ["2024-01-31", "2024-02-01"] * 9, "ward": ["a", "b"] * 9})
        >>> for proposal in triage(frame):
        ...     print(proposal.name, proposal.problem or "fine", proposal.ways[0].label, sep=": ")
        day: date: month of the year
        ward: fine: each value
    """
    return proposals_for(_raw(source))


def _raw(source: pd.DataFrame | Path | str) -> RawTable:
    if isinstance(source, pd.DataFrame):
        content = source.to_csv(index=False).encode()
        return reading.read_table(content, "table.csv", encoding="utf-8")
    return reading.read_table(_bytes_of(source), Path(source).name)


def discover(
    data: Table, algorithm: str = RECOMMENDED, *, seed: int | None = None, **parameters: Any
) -> Discovery:
    """Discover a causal graph.

    Args:
        data: a data set, or what `read_table` takes.
        algorithm: a name of `privcore.ALGORITHMS`.
        seed: of simulated noise, for runs to be repeated.  Without one the noise is secure: such a
            run can be published, though only `release` keeps a record of what was spent.
        **parameters: of the algorithm, such as epsilon; those left out take their defaults.

    Returns:
        The graph (`graph`), what is promised (`guarantee`), what was spent (`spent`), and for some
        algorithms what is said of each pair of columns (`findings`).  `trace` is not private.

    Raises:
        ParameterError: for an unknown algorithm or parameter, or a value that it does not take.
        DataError: for data that the algorithm does not work on.

    Example:
        >>> from privcore import load_network
        >>> result = discover(load_network("asia").sample(5_000, seed=1), "pc", threshold=0.01)
        >>> result.graph.nodes[:3]
        ('asia', 'tub', 'smoke')
    """
    noise = None
    if seed is None and get_algorithm(algorithm).private:
        noise = SecureNoise()
    return engine.discover(
        _dataset(data), algorithm, parameters, seed=seed, noise=noise, keep_trace=seed is not None
    )


def effect(
    data: Table,
    cause: str,
    outcome: str,
    *,
    compared: str | None = None,
    to: str | None = None,
    level: str | None = None,
    share: float = 0.0,
    seed: int | None = None,
    **parameters: Any,
) -> Effects:
    """Say what setting a cause does to an outcome, by a private graph and what it is made of.

    Args:
        data: a data set, or what `read_table` takes.
        cause: the column that is set; outcome: the column that it may change.
        compared, to: levels of the cause: without it and with it; level: of the outcome, whose
            probability is told.  By default what says yes, or the last level.  Of numbers the
            effect is that of one more unit.
        share: of ε, for a table that is measured for this question once the graph is known.
        seed: of simulated noise, for runs to be repeated.  Without one the noise is secure.
        **parameters: of moment search, such as epsilon, the total.

    Returns:
        The effect under each set of parents that the cause may have (`effects`), an interval that
        holds all of them (`interval`), and the run (`result`).

    Raises:
        ParameterError: for a column or level that is not there, or a bad parameter.
        DataError: for data that moment search does not work on.

    Example:
        >>> from privcore import load_network
        >>> data = load_network("asia").sample(50_000, seed=1)
        >>> said = effect(data, "smoke", "lung", epsilon=1, seed=1)
        >>> [round(e.estimate.value, 2) for e in said.shown if e.affected][:1]
        [0.09]
    """
    question = Question(cause, outcome, compared, to, level)
    noise = SecureNoise() if seed is None else None
    return effects_with(
        _dataset(data),
        question,
        parameters,
        share=share,
        seed=seed,
        noise=noise,
        keep_trace=seed is not None,
    )


def release(
    data: Table,
    algorithm: str = RECOMMENDED,
    *,
    budget: str,
    ledger: Ledger | Path | str | None = None,
    accepted: Sequence[str] = (),
    effect: EffectPlan | None = None,
    keep_numbers: bool = False,
    adds_to: Path | str | None = None,
    **parameters: Any,
) -> Release:
    """Charge a budget, run once with secure noise, and sign a certificate.

    Args:
        data: a data set, or what `read_table` takes.
        algorithm: a private one, in its proven calibration.
        budget: the name of a budget in the ledger; `Ledger.set_total` makes one.
        ledger: where spending is recorded; the user's own if None.
        accepted: caveats of the guarantee that the releaser takes responsibility for, such as that
            levels were read from the rows.
        effect: what is released with the graph, from the same ε, such as
            `EffectPlan(Question("smoke", "lung"))` of `privcore.effects`.
        keep_numbers: whether the released numbers are handed back (`Release.numbers`) and kept
            beside the certificate, as a file for `search_again`.
        adds_to: such a file of an earlier release of the same table.  Both together are as one
            release at the sum of their ε, and epsilon is what is spent more.
        **parameters: of the algorithm; beside adds_to, as they were but for those given.

    Raises:
        ReleaseError: if there are caveats that are not accepted, with their texts.
        BudgetError: if too little is left.  Nothing is charged then.
    """
    kept = ledger if isinstance(ledger, Ledger) else Ledger(ledger)
    earlier = None if adds_to is None else read_release_file(adds_to)
    if earlier is not None:
        more = float(EPSILON.parse(parameters.get("epsilon", EPSILON.default)))
        parameters = {**earlier.parameters, **parameters, "epsilon": earlier.total(more)}
    return charged_release(
        _dataset(data),
        algorithm,
        parameters,
        ledger=kept,
        budget=budget,
        accepted=accepted,
        effect=effect,
        keep_numbers=keep_numbers or earlier is not None,
        adds_to=earlier,
    )


def search_again(*files: Path | str, sites: bool = False, **parameters: Any) -> Discovery:
    """Search the numbers of release files with other settings; it costs nothing.

    Args:
        *files: as `release` keeps them, beside the certificate.  Several are put together.
        sites: whether they hold different rows of the same columns, each person in one of them;
            otherwise they are releases of the same rows.
        **parameters: of the search; those left out are as in the first file.

    Returns:
        A graph, with the guarantee of what was released.

    Raises:
        CertificateError: for a file that is no release file, or was changed.
        ReleaseError: for files that do not go together.
        ParameterError: for what was spent, such as epsilon, or a bad parameter.
    """
    if not files:
        raise ParameterError("Give at least one release file.")
    for name in SPENT:
        if name in parameters:
            raise ParameterError(f"{name} is spent already and stays as it was; leave it out.")
    return search_files([read_release_file(file) for file in files], parameters, sites=sites)


def sweep(
    data: Dataset,
    algorithms: Sequence[str] = (RECOMMENDED,),
    *,
    epsilons: Sequence[float] = (0.1, 1.0, 10.0),
    seeds: int = 20,
    workers: int | None = 0,
    **settings: Any,
) -> pd.DataFrame:
    """Run algorithms over budgets, with simulated noise, and measure each graph.

    Args:
        data: a data set; its true graph, where it is known, is the reference.
        algorithms: names of `privcore.ALGORITHMS`.
        epsilons: budgets to try.
        seeds: runs of each, with noise of their own.
        workers: processes; 0 for this one, None for one on each processor.
        **settings: of other parameters, for every algorithm that has them.

    Returns:
        One row for each run: what was requested, `skeleton_f1` and other measures against each
        reference, and seconds.

    Example:
        >>> from privcore import load_network
        >>> data = load_network("cancer").sample(2_000, seed=1)
        >>> rows = sweep(data, ["laplace-pc"], epsilons=(1.0, 10.0), seeds=2)
        >>> sorted(set(rows["epsilon"]))
        [1.0, 10.0]
    """
    plan = SweepPlan(
        data=(TableData(data),),
        algorithms=tuple(algorithms),
        grids={"epsilon": tuple(epsilons)},
        settings=settings,
        seeds=seeds,
    )
    if plan.unused:
        raise ParameterError(f"None of the algorithms has a parameter {short(plan.unused[0])!r}.")
    return pd.DataFrame(list(run_sweep(plan, workers=workers)))


def _dataset(data: Table) -> Dataset:
    return data if isinstance(data, Dataset) else read_table(data)


def _bytes_of(path: Path | str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(reading.MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or "unknown cause"
        raise DataError(f"{short(path)!r} cannot be read: {reason}.") from None
