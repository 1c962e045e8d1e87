"""The pictures of a run, and their common footer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pages.ui.pictures.graphs import Drawing, graph_picture, pair_picture
from pages.ui.pictures.sheet import Form
from privcore.algorithms import ALGORITHMS, Discovery
from privcore.data.model import Described
from privcore.graphs import PDAG
from privcore.graphs.layout import Positions
from privcore.graphs.pag import PAG
from privcore.measures import Comparison, compare
from privcore.measures.references import Reference, base_title, own_test_title, reference_names
from privcore.releases.answer import answer_sentence, columns_words
from privcore.releases.findings import line_widths
from privcore.releases.promise import NOT_PRIVATE, SIMULATED, guarantee_sentence
from privcore.text import short


@dataclass(frozen=True)
class RunPictures:
    """The data for the pictures of a run; seed: the noise seed, or None for a run without noise.

    references: the graphs "non_private", "truth" if the true graph is known, and "same" (the same
    algorithm without noise) if it is drawn next to the graph.
    kind: the reference that the page compares with, so that a picture shows what the page shows.
    """

    result: Discovery
    dataset: Described
    positions: Positions
    references: Mapping[str, PDAG]
    seed: int | None
    kind: Reference = "non_private"

    @property
    def title(self) -> str:
        return f"{ALGORITHMS[self.result.algorithm].title} on {short(self.dataset.name, 60)}"

    @property
    def private(self) -> bool:
        return ALGORITHMS[self.result.algorithm].private

    @property
    def base_name(self) -> str:
        """The title of the run without privacy, such as "PC"."""
        return base_title(ALGORITHMS[self.result.algorithm])

    @property
    def names(self) -> dict[Reference, str]:
        """The names of the references, as readers see them."""
        return reference_names(ALGORITHMS[self.result.algorithm])

    def comparisons(self) -> list[Comparison]:
        """Comparisons of the graph with the truth, if known.

        For a private run, comparisons with the other references follow.
        """
        names = self.names
        shown = [n for n in names if n in self.references and (self.private or n == "truth")]
        return [compare(self.result.graph, self.references[n], names[n]) for n in shown]

    def graph(self, form: Form, *, framed: bool = True) -> bytes:
        """A picture of the graph alone, made only from the run.

        framed: whether to add a title and a footer.
        """
        return graph_picture(
            self.result.graph,
            self.positions,
            title=self.title if framed else "",
            lines=run_lines(self.result, self.dataset, seed=self.seed) if framed else (),
            widths=self.widths,
            tiers=self.result.tiers,
            form=form,
        )

    def pair(self, form: Form, *, framed: bool = True) -> bytes:
        """A picture of the private graph next to the one without privacy, as on the page.

        The edges are compared with the page's reference, and the title is the finding.
        framed: whether to add a title and a footer.
        """
        reference = self.references[self.kind]
        against = compare(self.result.graph, reference, self.names[self.kind])
        beside: Reference = "non_private" if self.kind == "truth" else self.kind
        base, before = self.references[beside], None
        if self.kind == "truth":
            before = compare(base, reference, self.names["truth"])
        lines = run_lines(self.result, self.dataset, seed=self.seed, compared=True)
        return pair_picture(
            Drawing(
                self.result.graph,
                "Private graph" if self.guaranteed else "Graph with noise",
                _classes(against),
                reference,
                widths=self.widths,
            ),
            Drawing(
                base,
                short(self.names[beside][0].upper() + self.names[beside][1:], 60),
                _classes(before) if before else {},
                reference if before else None,
            ),
            self.positions,
            title=self.finding(against, before) if framed else "",
            lines=lines if framed else (),
            reference_name=against.reference_name,
            tiers=self.result.tiers,
            form=form,
        )

    def finding(self, against: Comparison, before: Comparison | None) -> str:
        """The page's answer in one sentence.

        against: the graph compared with the page's reference.  before: the graph without privacy
        compared with the truth, if this is the reference.
        """
        algorithm = ALGORITHMS[self.result.algorithm]
        names = {"same": algorithm.title, "own_test": own_test_title(algorithm)}
        name = names.get(self.kind, self.base_name)
        pag = isinstance(self.references[self.kind], PAG)
        return answer_sentence(self.result.guarantee, against, before, name, self.kind, pag=pag)

    @property
    def guaranteed(self) -> bool:
        """Whether the guarantee is proven."""
        return self.result.guarantee.calibration == "proven"

    @property
    def widths(self) -> dict[tuple[int, int], float]:
        """Line widths in pixels by pair; more probable edges have thicker lines."""
        return line_widths(self.result.findings)


def _classes(comparison: Comparison) -> dict[tuple[int, int], str]:
    return {(pair.i, pair.j): pair.kind for pair in comparison.pairs}


def run_lines(
    result: Discovery, dataset: Described, *, seed: int | None, compared: bool = False
) -> list[str]:
    """The guarantee and the settings in plain text, for the footer of a picture.

    compared: whether a non-private graph or metrics are shown; the footer then says so.
    """
    lines = [plain_guarantee(result), settings_line(result, dataset, seed)]
    if result.noise == "simulated":
        lines.append(SIMULATED)
    return [*lines, NOT_PRIVATE] if compared else lines


def plain_guarantee(result: Discovery) -> str:
    """The guarantee of the run in plain text; "Not proven" comes first if there is no proof."""
    sentence = guarantee_sentence(result.guarantee, ALGORITHMS[result.algorithm])
    # A picture has no panel with the reasons.
    sentence = sentence.replace("; the reasons are under Guarantee", "")
    return f"Not proven. {sentence}" if result.guarantee.calibration == "published" else sentence


def settings_line(result: Discovery, dataset: Described, seed: int | None) -> str:
    """The data, the budget, and the settings that differ from their defaults."""
    parts = [f"{short(dataset.name, 60)}, {dataset.n:,} rows, {columns_words(dataset)}"]
    values = dict(result.parameters)
    for parameter in ALGORITHMS[result.algorithm].parameters:
        value = values.get(parameter.name)
        if not parameter.matters({"calibration": "none", **values}):
            continue
        if parameter.name in ("epsilon", "delta"):
            parts.append(f"{parameter.symbol} = {_value(value)}")
        elif value != parameter.default:
            parts.append(f"{parameter.title}: {_value(value)}")
    if seed is not None:
        parts.append(f"noise seed {seed}")
    return f"Settings: {'; '.join(parts)}."


def _value(value: object) -> str:
    if value is None:
        return "auto"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def edge_rows(comparisons: Sequence[Comparison], graph: PDAG) -> list[tuple[str, ...]]:
    """A row for each pair adjacent in the graph or a reference: its edge, then its classes.

    There is one class for each comparison, in the same order.
    """
    rows: dict[tuple[int, int], list[str]] = {}
    for comparison in comparisons:
        for pair in comparison.pairs:
            rows.setdefault((pair.i, pair.j), [pair.here])
    if not comparisons:
        own = compare(graph, graph, "")
        return [(pair.here,) for pair in own.pairs]
    for (i, j), row in rows.items():
        for comparison in comparisons:
            kind = next((p.kind for p in comparison.pairs if (p.i, p.j) == (i, j)), None)
            row.append(kind or "not adjacent")
    return [tuple(rows[key]) for key in sorted(rows)]
