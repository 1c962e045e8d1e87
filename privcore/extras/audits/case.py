"""Audit cases: a mechanism, two neighbouring data sets to run it on, and the claimed (ε, δ)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, Protocol

from privcore.extras.audits.outputs import Outputs
from privcore.privacy.mechanisms import NoiseSource

Side = Literal[0, 1]
Kind = Literal["mechanism", "release", "algorithm", "unit", "pairwise", "planted"]


class Trial(Protocol):
    """Runs of one mechanism or algorithm on D (side 0) and on its neighbour D′ (side 1).

    batch: number of runs made at a time. This number is fixed, and each batch has its own noise
    source, so that results do not depend on how batches are distributed over processes. Trials that
    run in other processes must be picklable.
    """

    @property
    def batch(self) -> int: ...

    def __call__(self, side: Side, runs: int, noise: NoiseSource) -> Outputs:
        """The outputs of `runs` independent runs."""
        ...


@dataclass(frozen=True)
class AuditCase:
    """One registered audit.

    neighbours: the two data sets in words, and why they are easy to distinguish.
    make: function that makes the runs for a claimed (ε, δ); raises ParameterError for a claim that
        is impossible for the mechanism, such as δ = 0 for Gaussian noise.
    epsilon, delta, runs: the default claim, and the default number of runs on each data set.
    ci_runs: number of runs on each data set in `ci_audit`.
    flaw: the error of a planted bug; empty if the claim is proven.
    protects: who is protected, if not a single record. rows: number of rows of the protected
        person.
    """

    name: str
    title: str
    kind: Kind
    neighbours: str
    make: Callable[[float, float], Trial]
    epsilon: float = 1.0
    delta: float = 0.0
    runs: int = 100_000
    ci_runs: int = 4000
    flaw: str = ""
    protects: str = ""
    rows: int = 1


def by_name(cases: Iterable[AuditCase]) -> dict[str, AuditCase]:
    """The cases by name; raises ValueError if two cases have the same name."""
    named: dict[str, AuditCase] = {}
    for case in cases:
        if case.name in named:
            raise ValueError(f"Two audits are called {case.name!r}; rename one of them.")
        named[case.name] = case
    return named
