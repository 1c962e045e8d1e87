"""Background knowledge on a graph: a time order, and edges that are ruled out or required."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product, zip_longest
from typing import Any, Literal, NamedTuple

import networkx as nx
import numpy as np

from privcore.errors import DataError, ParameterError
from privcore.graphs.constraints import Constraints
from privcore.graphs.pdag import PAG, PDAG, ordered
from privcore.naming import QUOTING, divided, quoted
from privcore.strict_json import JsonFault, read_json
from privcore.text import short

Mark = Literal["--", "->"]
_MARKS: dict[str, tuple[Mark, bool]] = {
    "--": ("--", False),
    "->": ("->", False),
    "<-": ("->", True),
    "–": ("--", False),
    "→": ("->", False),
    "←": ("->", True),
}
_LISTED = "[,;]"
_MARKED = "|".join([_LISTED, *_MARKS])
# Names are compared in pairs, so their number is limited first.
_MOST_COLUMNS, _MOST_STATEMENTS = 10_000, 200_000


class Statement(NamedTuple):
    """An edge in either direction ("--", with the names sorted), or an arrow a → b ("->")."""

    a: str
    mark: Mark
    b: str

    @property
    def words(self) -> str:
        """The statement as text, such as "smoke → lung"."""
        sign = "→" if self.mark == "->" else "–"
        return f"{short(self.a)} {sign} {short(self.b)}"


def statement(a: str, mark: Mark, b: str) -> Statement:
    """The statement, with the names of an edge sorted; raises ParameterError if a equals b."""
    if a == b:
        raise ParameterError("statement-names-one-column-twice", a=short(a), mark=mark, b=short(b))
    first, second = sorted((a, b)) if mark == "--" else (a, b)
    return Statement(first, mark, second)


def statements(text: str) -> frozenset[Statement]:
    """Read statements separated by semicolons, such as "a--b; a, b -> c".

    The second of these statements means a → c and b → c.  Names may be quoted (`divided`).  Raises
    ParameterError if the text cannot be read.
    """
    read: set[Statement] = set()
    many = 0
    for sides, marks in _parts(text):
        if not marks and sides == [[]]:
            continue
        if len(marks) != 1 or not all(sides):
            words = (", ".join(map(quoted, side)) for side in sides)
            part = " ".join(chain.from_iterable(zip_longest(words, marks, fillvalue="")))
            raise ParameterError("no-edge-in-statement", statement=short(part), quoting=QUOTING)
        mark, turned = _MARKS[marks[0]]
        many += len(sides[0]) * len(sides[1])
        limit_statements(many)
        for a, b in product(*(sides[::-1] if turned else sides)):
            read.add(statement(a, mark, b))
    return frozenset(read)


def _parts(text: str, marked: str = _MARKED) -> Iterator[tuple[list[list[str]], list[str]]]:
    """For each part between semicolons, the lists of names between its marks, and its marks."""
    names: list[list[str]] = [[]]
    marks: list[str] = []
    parts = [*divided(text, marked), ";"]
    for name, mark in zip(parts[::2], parts[1::2], strict=True):
        names[-1] += [name] if name else []
        if mark == ";":
            yield names, marks
            names, marks = [[]], []
        elif mark != ",":
            names.append([])
            marks.append(mark)


def limit_statements(many: int) -> None:
    """Raises ParameterError for too many statements; call this before pairs are formed."""
    if many > _MOST_STATEMENTS:
        raise ParameterError("there-more-than-statements", most_statements=_MOST_STATEMENTS)


@dataclass(frozen=True)
class Knowledge:
    """Background knowledge about a graph over named columns.

    tiers: groups of columns, in time order.  No arrow leads from a column to a column in an earlier
    tier.  Columns that are in no tier are not restricted.
    forbidden, required: edges and arrows.  A forbidden edge rules out both arrows between its
    ends; a required arrow rules out the opposite arrow.

    Raises a ParameterError that names both statements if two statements contradict each other.

    Example:
        >>> known = Knowledge.of(tiers="asia, smoke; tub, lung", require="smoke -> lung")
        >>> known.words
        ('asia, smoke before lung, tub', 'smoke → lung required')
        >>> Knowledge.read(known.text) == known
        True
        >>> Knowledge.of(tiers="a; b", require="b->a")
        Traceback (most recent call last):
            ...
        privcore.errors.ParameterError: b → a is required, but a is in an earlier tier than b; \
remove one of these statements.
    """

    tiers: tuple[tuple[str, ...], ...] = ()
    forbidden: frozenset[Statement] = frozenset()
    required: frozenset[Statement] = frozenset()

    def __post_init__(self) -> None:
        # The order within a tier has no meaning.
        tiers = tuple(tuple(sorted(tier)) for tier in self.tiers if tier)
        object.__setattr__(self, "tiers", tiers)
        limit_statements(len(self.forbidden) + len(self.required))
        where: dict[str, int] = {}
        for number, tier in enumerate(self.tiers, 1):
            for name in tier:
                if name in where:
                    places = f"tier {where[name]} and tier {number}"
                    raise ParameterError("column-in-two-tiers", name=short(name), places=places)
                where[name] = number
        if len(where) > _MOST_COLUMNS:
            raise ParameterError("there-more-than-columns-in-tiers", most_columns=_MOST_COLUMNS)
        for sentence in self._contradictions(where):
            raise ParameterError("take-one-back", sentence=sentence)

    def _contradictions(self, tier: dict[str, int]) -> Iterator[str]:
        """The contradictions, each as a sentence with both statements."""

        def against(a: str, b: str) -> str:
            """The statement that rules out a → b; empty if there is none."""
            if tier.get(a, 0) > tier.get(b, 0) > 0:
                return f"{short(b)} is in an earlier tier than {short(a)}"
            for each in (statement(a, "--", b), Statement(a, "->", b)):
                if each in self.forbidden:
                    return f"{each.words} is forbidden"
            back = Statement(b, "->", a)
            return f"{back.words} is required" if back in self.required else ""

        arrows: dict[tuple[str, str], Statement] = {}
        for each in sorted(self.required):
            forward, backward = against(each.a, each.b), against(each.b, each.a)
            if each.mark == "->":
                if forward:
                    yield f"{each.words} is required, but {forward}"
                arrows[each.a, each.b] = each
            elif forward and backward:
                both = forward if forward == backward else f"{forward}, and {backward}"
                yield f"{each.words} is required, but {both}"
            elif forward or backward:
                arrows[(each.b, each.a) if forward else (each.a, each.b)] = each
        try:
            cycle = nx.find_cycle(nx.DiGraph(list(arrows)))
        except nx.NetworkXNoCycle:
            return
        path = " → ".join(short(a) for a, _ in [*cycle, cycle[0]])
        yield f"{arrows[cycle[0]].words} is required, but the required arrows form the cycle {path}"

    @classmethod
    def of(cls, *, tiers: str = "", forbid: str = "", require: str = "") -> Knowledge:
        """Knowledge read from texts.

        tiers: tiers separated by semicolons, with columns separated by commas; names may be quoted
        (`divided`).
        forbid, require: statements in the form that `statements` reads.
        """
        parts = [names for (names,), _ in _parts(tiers, _LISTED)]
        return cls(tuple(map(tuple, parts)), statements(forbid), statements(require))

    @classmethod
    def of_graph(cls, graph: PDAG) -> Knowledge:
        """Knowledge from an expert's partial graph, all of whose arrows and edges are required.

        Raises DataError for a PAG, because its arrows may stand for indirect effects.
        """
        if isinstance(graph, PAG):
            raise DataError("knowledge-cannot-read-from-partial-ancestral")
        names = graph.nodes
        stated = {Statement(names[i], "->", names[j]) for i, j in graph.directed}
        stated |= {statement(names[i], "--", names[j]) for i, j in graph.undirected}
        return cls(required=frozenset(stated))

    @classmethod
    def read(cls, text: str) -> Knowledge:
        """Read knowledge from JSON as written by the property `text`; "" means no knowledge.

        Raises ParameterError for any other text.
        """
        return _read(text)

    def __bool__(self) -> bool:
        """Whether the knowledge constrains a graph; a single tier does not."""
        return bool(len(self.tiers) > 1 or self.forbidden or self.required)

    @property
    def text(self) -> str:
        """The knowledge as one line of JSON, or "" if there is none.

        Equal knowledge has equal text.
        """
        known = {
            "tiers": self.tiers,
            "forbidden": sorted(self.forbidden),
            "required": sorted(self.required),
        }
        stated = {name: value for name, value in known.items() if value}
        return json.dumps(stated, ensure_ascii=False, separators=(",", ":")) if stated else ""

    @property
    def words(self) -> tuple[str, ...]:
        """The tiers and each statement as text."""
        several = self.tiers if len(self.tiers) > 1 else ()
        order = " before ".join(", ".join(map(short, tier)) for tier in several)
        return (
            *filter(None, [order]),
            *(f"{each.words} forbidden" for each in sorted(self.forbidden)),
            *(f"{each.words} required" for each in sorted(self.required)),
        )

    @property
    def names(self) -> frozenset[str]:
        """All columns that the knowledge names."""
        ends = ((each.a, each.b) for each in self.forbidden | self.required)
        return frozenset(chain(*self.tiers, *ends))

    def tiers_of(self, names: Iterable[str]) -> tuple[int | None, ...]:
        """The number of each column's tier, None if it is in none; empty without a time order."""
        number = {name: k for k, tier in enumerate(self.tiers) for name in tier}
        return tuple(map(number.get, names)) if len(self.tiers) > 1 else ()

    def among(self, names: Iterable[str]) -> Knowledge:
        """The knowledge about these columns alone; all other columns are left out."""
        kept = set(names)
        tiers = tuple(tuple(name for name in tier if name in kept) for tier in self.tiers)
        forbidden, required = (
            frozenset(each for each in own if {each.a, each.b} <= kept)
            for own in (self.forbidden, self.required)
        )
        return Knowledge(tiers, forbidden, required)

    def on(self, names: Sequence[str]) -> Constraints:
        """The constraints on a graph over these columns.

        Raises ParameterError if the knowledge names other columns.
        """
        index = {name: i for i, name in enumerate(names)}
        if strange := sorted(self.names - index.keys()):
            raise ParameterError(
                "background-knowledge-names",
                strange=short(strange[0]),
                choices=", ".join(short(name, 20) for name in list(names)[:20]),
            )
        allowed = ~np.eye(len(names), dtype=bool)
        later: list[int] = []
        for tier in reversed(self.tiers):
            own = [index[name] for name in tier]
            allowed[np.ix_(later, own)] = False
            later += own
        for each in self.forbidden:
            i, j = index[each.a], index[each.b]
            allowed[i, j] = False
            allowed[j, i] &= each.mark == "->"
        required = set()
        for each in self.required:
            i, j = index[each.a], index[each.b]
            required.add(ordered(i, j))
            allowed[j, i] &= each.mark == "--"
        return Constraints(allowed, frozenset(required))


@lru_cache(maxsize=256)
def _read(text: str) -> Knowledge:
    if not text:
        return Knowledge()
    try:
        known = read_json(text)
        tiers = tuple(tuple(_word(name) for name in tier) for tier in known.pop("tiers", ()))
        forbidden, required = (
            frozenset(statement(_word(a), _mark(mark), _word(b)) for a, mark, b in known.pop(k, ()))
            for k in ("forbidden", "required")
        )
        if known:
            raise ValueError
    except ParameterError:
        raise
    except (ValueError, TypeError, AttributeError) as error:
        fault = f", which {error}" if isinstance(error, JsonFault) else ""
        raise ParameterError("knowledge-out-of-range", text=short(text), fault=fault) from None
    return Knowledge(tiers, forbidden, required)


def _word(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ValueError
    return name


def _mark(mark: Any) -> Mark:
    if mark not in ("--", "->"):
        raise ValueError
    return "->" if mark == "->" else "--"


def canonical(text: Any) -> str:
    """The knowledge as `Knowledge.text` writes it; raises ParameterError for unreadable text."""
    if isinstance(text, Knowledge):
        return text.text
    return _read(text if isinstance(text, str) else json.dumps(text, default=str)).text
