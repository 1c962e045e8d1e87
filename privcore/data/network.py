"""Bayesian networks: the built-in ones, their tiers in time, and rows sampled from them.

Checks the arguments of every function that samples: number of rows and seed.

Time orders of the columns of built-in networks, from the literature.

They are examples of background knowledge; each network's true DAG agrees with its order.

Built-in Bayesian networks: published structure and probabilities, and forward sampling.

Each network is a JSON file in `networks/`: variables with levels, parents and the conditional
probabilities as one flat list, in which the first parent varies slowest and the variable's own
level fastest.  `published` holds the size of the network as stated by the source; a test checks
this size.  To add a network, add such a file and put its name into `NETWORKS`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import prod
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from privcore.data.model import Column, Dataset, code_type
from privcore.errors import ParameterError
from privcore.text import short

MAX_ROWS = 10_000_000


def check_rows(rows: int) -> int:
    """Returns `rows`; raises ParameterError unless it is a whole number from 2 to 10,000,000."""
    if not _is_whole(rows) or not 2 <= rows <= MAX_ROWS:
        raise ParameterError("rows-out-of-range", rows=short(rows), max_rows=MAX_ROWS)
    return int(rows)


def check_seed(seed: int | np.random.Generator) -> np.random.Generator:
    """A random generator seeded with `seed`, or `seed` itself if it is a generator.

    Raises ParameterError unless `seed` is a generator or a non-negative whole number.
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if not _is_whole(seed) or seed < 0:
        raise ParameterError("seed-out-of-range", seed=short(seed))
    return np.random.default_rng(int(seed))


def _is_whole(value: object) -> bool:
    """Whether `value` is a finite number without a fraction (True and False are not)."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(value % 1 == 0)


# Semicolons separate tiers, commas their columns: habits and travel before diseases
# before findings, signals from the membrane inwards, drivers before cars before accidents.
TIERS: dict[str, str] = {
    "cancer": "Pollution, Smoker; Cancer; Xray, Dyspnoea",
    "earthquake": "Burglary, Earthquake; Alarm; JohnCalls, MaryCalls",
    "survey": "A, S; E; O, R, T",
    "asia": "asia, smoke; tub, lung, bronc, either; xray, dysp",
    "sachs": "Plcg, PIP3, PIP2, PKC, PKA; Raf, Jnk, P38; Mek, Erk, Akt",
    "child": "BirthAsphyxia, Disease; LVH, DuctFlow, CardiacMixing, LungParench, LungFlow, Sick, "
    "HypDistrib, HypoxiaInO2, CO2, ChestXray, Grunting; Age, LVHreport, LowerBodyO2, RUQO2, "
    "CO2Report, XrayReport, GruntingReport",
    "insurance": "Age, Mileage, SocioEcon, GoodStudent, RiskAversion, OtherCar; VehicleYear, "
    "MakeModel, SeniorTrain, HomeBase, AntiTheft, RuggedAuto, DrivingSkill, Antilock, CarValue, "
    "Airbag, DrivQuality, DrivHist, Cushioning; Theft, Accident, ThisCarDam, OtherCarCost, "
    "MedCost, ILiCost, ThisCarCost, PropCost",
    "alarm": "HYPOVOLEMIA, LVFAILURE, ERRLOWOUTPUT, ERRCAUTER, INSUFFANESTH, ANAPHYLAXIS, "
    "KINKEDTUBE, FIO2, PULMEMBOLUS, INTUBATION, DISCONNECT, MINVOLSET; LVEDVOLUME, STROKEVOLUME, "
    "TPR, SHUNT, VENTMACH, VENTTUBE, VENTLUNG, VENTALV, PVSAT, ARTCO2, SAO2, CATECHOL, HR, CO; "
    "HISTORY, CVP, PCWP, PAP, PRESS, MINVOL, EXPCO2, HRBP, HREKG, HRSAT, BP",
}


NETWORKS = (
    "cancer",
    "earthquake",
    "survey",
    "asia",
    "sachs",
    "child",
    "alarm",
    "insurance",
    "hailfinder",
    "hepar2",
    "win95pts",
)


@dataclass(frozen=True, eq=False)
class Variable:
    """A column, the positions of its parents, and its conditional probabilities.

    probabilities: shape (parent configurations, levels).
    """

    column: Column
    parents: tuple[int, ...]
    probabilities: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BayesianNetwork:
    """A published Bayesian network; `variables` are in the order of the publication.

    title: the subject of the network, in a few words.
    """

    name: str
    title: str
    citation: str
    source: str
    variables: tuple[Variable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(variable.column.name for variable in self.variables)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The DAG as (cause, effect) names."""
        names = self.names
        return tuple(
            (names[parent], variable.column.name)
            for variable in self.variables
            for parent in variable.parents
        )

    def sample(self, rows: int, seed: int | np.random.Generator) -> Dataset:
        """Draws `rows` independent records by forward sampling.

        The same seed gives the same records. Raises ParameterError unless rows is a whole number
        from 2 to 10,000,000, and seed is a generator or a non-negative whole number.
        """
        rows, generator = check_rows(rows), check_seed(seed)
        values: dict[int, NDArray[np.unsignedinteger]] = {}
        while len(values) < len(self.variables):
            for position, variable in enumerate(self.variables):
                if position not in values and all(p in values for p in variable.parents):
                    values[position] = self._draw(variable, values, rows, generator)
        return Dataset(
            name=self.name,
            columns=tuple(variable.column for variable in self.variables),
            values=tuple(values[i] for i in range(len(self.variables))),
            true_edges=self.edges,
            source=self.citation,
        )

    def _draw(
        self,
        variable: Variable,
        values: dict[int, NDArray[np.unsignedinteger]],
        rows: int,
        generator: np.random.Generator,
    ) -> NDArray[np.unsignedinteger]:
        """Draws a column by the inverse distribution function for each row's parent values."""
        uniform = generator.random(rows)
        table = np.cumsum(variable.probabilities, axis=1)
        table /= table[:, -1:]  # published tables are rounded
        levels = table.shape[1]
        configuration = np.zeros(rows, dtype=np.intp)
        for parent in variable.parents:
            configuration *= len(self.variables[parent].column.levels)
            configuration += values[parent]
        drawn = np.zeros(rows, dtype=code_type(levels))
        for level in range(levels - 1):
            drawn += uniform >= table[configuration, level]
        return drawn


@cache
def load_network(name: str) -> BayesianNetwork:
    """Loads a built-in network by name; raises ParameterError if no network has that name."""
    if name not in NETWORKS:
        raise ParameterError("no-such-network", name=short(name), choices=", ".join(NETWORKS))
    text = resources.files("privcore.data").joinpath("networks", f"{name}.json").read_text("utf-8")
    described = json.loads(text)
    position = {v["name"]: i for i, v in enumerate(described["variables"])}
    sizes = [len(v["levels"]) for v in described["variables"]]
    variables = []
    for v in described["variables"]:
        parents = tuple(position[parent] for parent in v["parents"])
        table = np.asarray(v["probabilities"], dtype=np.float64)
        variables.append(
            Variable(
                column=Column(v["name"], v["kind"], tuple(v["levels"]), declared=True),
                parents=parents,
                probabilities=table.reshape(prod(sizes[p] for p in parents), len(v["levels"])),
            )
        )
    return BayesianNetwork(
        described["name"],
        described["title"],
        described["citation"],
        described["source"],
        tuple(variables),
    )
