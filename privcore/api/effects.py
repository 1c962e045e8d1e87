"""The effect of setting a cause on an outcome."""

from __future__ import annotations

from typing import Any

from privcore.api.tables import Table, dataset_of
from privcore.effects import Effects, Question
from privcore.effects import effects as effects_with
from privcore.privacy.mechanisms import SecureNoise


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
    """Estimate the effect of setting a cause on an outcome, from a private graph and its numbers.

    Args:
        data: a data set, or what `read_table` takes.
        cause: the column that is set.
        outcome: the column that it may change.
        compared: a level of the cause; by default the one that means yes, or the last one.  For
            numbers the effect is for one more unit.
        to: the level of the cause that it is compared with; by default the first other one.
        level: the level of the outcome whose probability is estimated; its default is found alike.
        share: of ε, for a table measured for this question once the graph is known.
        seed: of simulated noise, for repeatable runs.  Without one the noise is secure.
        **parameters: of moment search, such as epsilon, the total.

    Returns:
        The effect under each set of parents that the cause may have (`effects`), an interval that
        holds all of them (`interval`), and the run (`result`).

    Raises:
        ParameterError: for an unknown column or level, or a bad parameter.
        DataError: for data that moment search does not work on.

    Example:
        >>> from privcore import load_network
        >>> data = load_network("asia").sample(50_000, seed=1)
        >>> answer = effect(data, "smoke", "lung", epsilon=1, seed=1)
        >>> [round(e.estimate.value, 2) for e in answer.shown if e.affected][:1]
        [0.09]
    """
    question = Question(cause, outcome, compared, to, level)
    noise = SecureNoise() if seed is None else None
    return effects_with(
        dataset_of(data),
        question,
        parameters,
        share=share,
        seed=seed,
        noise=noise,
        keep_trace=seed is not None,
    )
