"""The base class of all estimators."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import pandas as pd

from privcore.algorithms import Algorithm, Discovery, Parameter, get_algorithm
from privcore.errors import PrivcoreError
from privcore.faces.api.runs import Table, discover
from privcore.graphs import PDAG
from privcore.graphs.pdag import ordered
from privcore.parameter import parse_all
from privcore.privacy.accounting import Guarantee

RANDOM_STATE = Parameter(
    name="random_state",
    title="Random state",
    symbol="seed",
    kind="int",
    default=None,
    range="[0, inf)",
    optional=True,
    auto_help="secure noise",
    help="Seed of simulated noise. A run with a seed can be repeated; it is a simulation, not a "
    "release. With None the noise is secure, and two runs differ.",
    source="privcore.privacy.mechanisms",
)
_OF_EDGES = ("probability", "direction", "effect")


class NotFittedError(PrivcoreError, AttributeError):
    """Raised if a fitted attribute is read before `fit`.

    The class extends AttributeError, so that `hasattr` returns False before `fit`.
    """


@dataclass(frozen=True)
class Fitted:
    """The result of `fit`, from which the attributes of the estimator are read."""

    result: Discovery
    edges: pd.DataFrame


class Estimator:
    """An algorithm with its parameters, to be fitted to a table.

    An estimator follows scikit-learn's conventions (`fit`, `get_params`, `set_params`, attributes
    that end in an underscore) but does not need scikit-learn.  `sklearn.base.clone` can copy it.

    Attributes:
        graph_: the graph that was discovered, a `privcore.PDAG`.
        edges_: a data frame with one row per edge and the columns from, to and kind ("directed",
            "undirected" or "bidirected").  Where the algorithm provides them, there are also the
            columns probability, direction and effect (see `PairFinding`), or weight.
        guarantee_: the guarantee of the run, a `privcore.Guarantee`.
        result_: everything that `privcore.discover` returns.
    """

    algorithm: ClassVar[str]
    _fitted: Fitted

    def __init__(self, **parameters: Any) -> None:
        self.set_params(**{p.name: p.default for p in self.declared()} | parameters)

    @classmethod
    def declared(cls) -> tuple[Parameter, ...]:
        """The algorithm's parameters, and `random_state`."""
        return (*get_algorithm(cls.algorithm).parameters, RANDOM_STATE)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name, as they were set; `deep` has no effect."""
        return {p.name: getattr(self, p.name) for p in self.declared()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters; their values are checked by `fit`.

        Raises:
            ParameterError: for a name that is not a parameter of the algorithm.
        """
        parse_names(self.declared(), parameters, self.algorithm)
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def fit(self, X: Table, y: object = None) -> Self:
        """Discover the graph of a table.

        Args:
            X: a data frame, a data set, or the path of a table (see `privcore.read_table`).
            y: ignored; there is no target.

        Returns:
            The estimator itself, with `graph_`, `edges_`, `guarantee_` and `result_`.

        Raises:
            ParameterError: for a value that its parameter does not allow.
            DataError: for data that the algorithm cannot use.
        """
        parameters = self.get_params()
        seed = RANDOM_STATE.parse(parameters.pop(RANDOM_STATE.name))
        result = discover(X, self.algorithm, seed=seed, **parameters)
        self._fitted = Fitted(result, edge_frame(result))
        return self

    @property
    def result_(self) -> Discovery:
        return self._after_fit().result

    @property
    def graph_(self) -> PDAG:
        return self._after_fit().result.graph

    @property
    def guarantee_(self) -> Guarantee:
        return self._after_fit().result.guarantee

    @property
    def edges_(self) -> pd.DataFrame:
        return self._after_fit().edges

    def _after_fit(self) -> Fitted:
        if "_fitted" not in self.__dict__:
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit first.")
        return self._fitted

    def __repr__(self) -> str:
        values = self.get_params()
        changed = [
            f"{p.name}={values[p.name]!r}" for p in self.declared() if values[p.name] != p.default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def edge_frame(result: Discovery) -> pd.DataFrame:
    """The edges of a run as a data frame, one edge per row, sorted by kind and then by column.

    Example:
        >>> from privcore import load_network
        >>> data = load_network("cancer").sample(20_000, seed=1)
        >>> print(edge_frame(discover(data, "pc")).to_string(index=False))
             from       to       kind
        Pollution   Cancer   directed
           Smoker   Cancer   directed
           Cancer     Xray   directed
           Cancer Dyspnoea undirected
    """
    graph = result.graph
    rows: list[dict[str, Any]] = []
    for kind, edges in graph.by_kind.items():
        for i, j in sorted(edges):
            row: dict[str, Any] = {"from": graph.nodes[i], "to": graph.nodes[j], "kind": kind}
            if result.findings:
                finding = result.findings[ordered(i, j)]
                row |= {name: getattr(finding, name) for name in _OF_EDGES}
            if result.weights is not None:
                row["weight"] = float(result.weights[i, j])
            rows.append(row)
    more = [*_OF_EDGES] if result.findings else []
    more += ["weight"] if result.weights is not None else []
    table = pd.DataFrame(rows, columns=["from", "to", "kind", *more])
    return table.astype(dict.fromkeys(more, float))


def class_name(algorithm: Algorithm) -> str:
    """The class name of an algorithm: the words of its name, spelt as in its title.

    Example:
        >>> [class_name(get_algorithm(name)) for name in ("moment-search", "svt-pc", "lapmech")]
        ['MomentSearch', 'SVTPC', 'LapMech']
    """
    spelt = {word.lower(): word for word in re.findall(r"\w+", algorithm.title)}
    words = [spelt.get(word, word) for word in algorithm.name.split("-")]
    return "".join(word[0].upper() + word[1:] for word in words)


def estimator_of(algorithm: Algorithm, module: str) -> type[Estimator]:
    """Create the estimator class for an algorithm, as if it were defined in `module`."""
    made = type(
        class_name(algorithm),
        (Estimator,),
        {
            "algorithm": algorithm.name,
            "__doc__": described(algorithm),
            "__module__": module,
            "__signature__": signature((*algorithm.parameters, RANDOM_STATE)),
        },
    )
    return made


def described(algorithm: Algorithm) -> str:
    """The docstring of an estimator, written from the declaration of the algorithm."""
    lines = [f"{algorithm.title}: {algorithm.summary}", "", f"Source: {algorithm.citation}", ""]
    lines.append("Args:")
    for parameter in (*algorithm.parameters, RANDOM_STATE):
        default = parameter.auto_help if parameter.default is None else f"{parameter.default}"
        lines.append(
            f"    {parameter.name}: {parameter.help} Allowed: {parameter.range_text()}; "
            f"default: {default}."
        )
    attributes = inspect.cleandoc(Estimator.__doc__ or "").partition("Attributes:")
    return "\n".join([*lines, "", *attributes[1:]]).replace("Attributes:\n\n", "Attributes:\n")


def signature(parameters: tuple[Parameter, ...]) -> inspect.Signature:
    """The signature of an estimator: keyword arguments with the declared types and defaults."""
    return inspect.Signature(
        [
            inspect.Parameter(
                parameter.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=parameter.default,
                annotation=annotation(parameter),
            )
            for parameter in parameters
        ]
    )


def annotation(parameter: Parameter) -> str:
    """The Python type annotation of a parameter.

    Example:
        >>> annotation(RANDOM_STATE)
        'int | None'
    """
    kind: str = parameter.kind
    if parameter.kind == "choice":
        kind = f"Literal[{', '.join(map(repr, parameter.choices))}]"
    if parameter.kind == "text":
        kind = "str"
    return f"{kind} | None" if parameter.optional else kind


def parse_names(parameters: tuple[Parameter, ...], names: Iterable[str], owner: str) -> None:
    """Raise ParameterError for an unknown parameter name; values are not checked."""
    known = {parameter.name for parameter in parameters}
    parse_all(parameters, {name: None for name in names if name not in known}, owner)
