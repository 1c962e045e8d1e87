"""The registry of algorithms. A new algorithm needs one file of its own and one line here."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

from privcore.algorithms.search.model import Algorithm
from privcore.errors import ParameterError
from privcore.text import short

# Name and place of declaration, in the order in which algorithms are listed.
_PLACES = {
    "pc": "pc:PC",
    "moment-search": "moment_search.algorithm:MOMENT_SEARCH",
    "laplace-pc": "laplace_pc:LAPLACE_PC",
    "svt-pc": "svt_pc:SVT_PC",
    "priv-pc": "priv_pc:PRIV_PC",
    "sg-pc": "sg_pc:SG_PC",
    "em-pc": "em_pc.algorithm:EM_PC",
    "lapmech": "lapmech:LAPMECH",
    "privpc-star": "privpc_star:PRIVPC_STAR",
    "curate": "curate:CURATE",
    "notears": "gradients.notears:NOTEARS",
    "noleaks": "gradients.notears:NOLEAKS",
    "curate-score": "gradients.curate_score:CURATE_SCORE",
    "moment-notears": "gradients.notears:MOMENT_NOTEARS",
}
# The default algorithm: docs/experiments has the measurements.
RECOMMENDED = "moment-search"


class _Registry(MutableMapping[str, Algorithm]):
    """Algorithms by name, each loaded on first use."""

    def __init__(self, places: dict[str, str]) -> None:
        self._held: dict[str, str | Algorithm] = dict(places)

    def __getitem__(self, name: str) -> Algorithm:
        held = self._held[name]
        if isinstance(held, str):
            module, _, constant = held.partition(":")
            held = getattr(import_module(f"privcore.algorithms.{module}"), constant)
            assert isinstance(held, Algorithm)
            assert held.name == name
            self._held[name] = held
        return held

    def __setitem__(self, name: str, algorithm: Algorithm) -> None:
        self._held[name] = algorithm

    def __delitem__(self, name: str) -> None:
        del self._held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, name: object) -> bool:
        return name in self._held


ALGORITHMS: MutableMapping[str, Algorithm] = _Registry(_PLACES)


def get_algorithm(name: str) -> Algorithm:
    """The algorithm called `name`; raises ParameterError if there is none."""
    if name not in ALGORITHMS:
        raise ParameterError("no-such-algorithm", name=short(name), choices=", ".join(ALGORITHMS))
    return ALGORITHMS[name]
