"""How setting a cause affects an outcome."""

from __future__ import annotations

from typing import Any

from privcore.effects import Effects, Question
from privcore.effects import effects as effects_with
from privcore.faces.api.runs import Table, dataset_of
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
    """Estimate from a private run how setting a cause affects an outcome.

    Args:
        data: a data set, or any table that `read_table` accepts.
        cause: the column that is set.
        outcome: the column that may change as a result.
        compared: the level of the cause to compare with; by default the first level other than
            `to`.  If the cause is a number, a number as text; without `compared` and `to` the
            effect is that of raising the cause by one unit.
        to: the level to which the cause is set; by default the level that means yes, else the last.
        level: the level of the outcome whose probability is estimated; its default is chosen as
            for `to`.  If the outcome is a number, the effect is the change of its mean.
        share: the share of ε for a second release, of the columns of this question alone, once the
            graph is known.  Most questions on numbers need one.
        seed: seed of the simulated noise, for repeatable runs.  Without a seed the noise is secure.
        **parameters: parameters of moment search, such as epsilon, the total ε.

    Returns:
        The effect under each set of parents that the cause may have (`effects`), an interval that
        covers all of these effects (`interval`), and the run (`result`).

    Raises:
        ParameterError: for an unknown column or level, or an invalid parameter.
        DataError: for data that moment search cannot use.

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
