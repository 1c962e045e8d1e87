"""A run as pictures, as a page to print and as networks to drag, and their common footer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pages.ui.controls.data import Loaded
from pages.ui.graphs.networks import networks_page
from pages.ui.pictures.graphs import graph_picture
from pages.ui.pictures.sheet import Form
from privcore.algorithms import ALGORITHMS, Discovery
from privcore.data.model import Described
from privcore.display import sentences
from privcore.display.answer import answer_sentence, class_words, columns_words
from privcore.display.commands import command_line, python_code
from privcore.display.drawing import Pane
from privcore.display.findings import line_texts, line_widths
from privcore.display.graph_check import verdict_sentence
from privcore.display.sentences import NOT_PRIVATE, SIMULATED
from privcore.display.shown import Shown, details
from privcore.effects.by_graph import GraphAnswer
from privcore.graphs import PDAG
from privcore.graphs.pdag import PAG, Positions
from privcore.measures import Comparison, compare
from privcore.measures.references import Reference, base_title, own_test_title, reference_names
from privcore.text import short


@dataclass(frozen=True)
class RunPictures:
    """The data for the pictures of a run; seed: the noise seed, or None for a run without noise.

    references: the graphs "non_private", "truth" if the true graph is known, and "same" (the same
    algorithm without noise) if it is drawn next to the graph.
    kind: the reference that the page compares with, so that a picture shows what the page shows.
    answer, said: for the kind "mine", the check of the user's graph, and what the numbers say as a
    graph, with which the user's graph is compared.
    """

    result: Discovery
    dataset: Described
    positions: Positions
    references: Mapping[str, PDAG]
    seed: int | None
    kind: Reference
    answer: GraphAnswer | None = field(default=None, kw_only=True)
    said: PDAG | None = field(default=None, kw_only=True)

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

    def graph(self, form: Form) -> bytes:
        """A picture of the graph alone, made only from the run."""
        return graph_picture(
            [
                Pane(
                    "graph",
                    "",
                    self.result.graph,
                    widths=self.widths,
                    repeats=self.result.repeats,
                )
            ],
            self.positions,
            title=self.title,
            lines=run_lines(self.result, self.dataset, seed=self.seed),
            tiers=self.result.tiers,
            form=form,
        )

    @property
    def words(self) -> dict[str, str]:
        """The legend text of each class of edges."""
        return class_words(self.kind, self.result.graph, self.references[self.kind])

    def panes(self) -> tuple[Pane, ...]:
        """The private graph and the one without privacy, as on the page; else the graph alone.

        The edges are compared with the page's reference.
        """
        if not self.private:
            return (Pane("graph", "", self.result.graph, repeats=self.result.repeats),)
        against, before = self.against_and_before()
        reference, texts = self.references[self.kind], line_texts(self.result.findings)
        base = self.names[self._beside]
        return (
            Pane(
                "private",
                "Private graph" if self.guaranteed else "Graph with noise",
                self.result.graph,
                kinds={} if self.said else _classes(against),
                reference=None if self.said else reference,
                texts=texts,
                widths=self.widths,
                repeats=self.result.repeats,
            ),
            Pane(
                "base",
                short(base[0].upper() + base[1:], 60),
                self.references[self._beside],
                kinds=_classes(before) if before else {},
                reference=(self.said or reference) if before else None,
            ),
        )

    def pair(self, form: Form) -> bytes:
        """A picture of both graphs of `panes`, with the finding as its title."""
        return graph_picture(
            self.panes(),
            self.positions,
            title=self.finding(),
            lines=run_lines(self.result, self.dataset, seed=self.seed, compared=True),
            reference_name=self.names[self.kind],
            tiers=self.result.tiers,
            form=form,
        )

    @property
    def _beside(self) -> Reference:
        return "non_private" if self.kind == "truth" else self.kind

    def against_and_before(self) -> tuple[Comparison, Comparison | None]:
        """The graph compared with the page's reference, and the one without privacy with the truth.

        The second comparison is None if the truth is not the reference, or for a run without
        privacy. If the user's graph is the reference, it is compared with what the numbers say.
        """
        reference, name = self.references[self.kind], self.names[self.kind]
        before = None
        if self.said is not None:
            before = compare(reference, self.said, name)
        elif self.kind == "truth" and self.private:
            before = compare(self.references[self._beside], reference, name)
        return compare(self.result.graph, reference, name), before

    def finding(self) -> str:
        """The page's answer in one sentence."""
        if self.answer is not None:
            return verdict_sentence(self.answer.check)
        against, before = self.against_and_before()
        algorithm = ALGORITHMS[self.result.algorithm]
        names = {"same": algorithm.title, "own_test": own_test_title(algorithm)}
        name = names.get(self.kind, self.base_name)
        pag = isinstance(self.references[self.kind], PAG)
        return answer_sentence(
            self.result.guarantee,
            against,
            before,
            name,
            self.kind,
            pag=pag,
            about=self.result.about,
        )

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
    sentence = sentences.plain_guarantee(result.guarantee, ALGORITHMS[result.algorithm])
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


def run_page(pictures: RunPictures, loaded: Loaded) -> str:
    """A self-contained HTML file: graphs, guarantee, settings, edges, and the command."""
    result, dataset = pictures.result, loaded.dataset
    algorithm, comparisons = ALGORITHMS[result.algorithm], pictures.comparisons()
    seed = 1 if pictures.seed is None else pictures.seed
    again = [
        write(result, dataset, network=loaded.is_network, data_seed=loaded.seed, seed=seed)
        for write in (command_line, python_code)
    ]
    settings = [("Data", f"{dataset.name}: {dataset.n:,} rows, {columns_words(dataset)}")]
    if pictures.private:
        settings.append(("Noise seed", str(seed)))
    return Shown(
        pictures.title,
        (
            *([pictures.finding()] if pictures.private else []),
            *(f"Against {c.reference_name}: {c.summary()}." for c in comparisons),
        ),
        tuple(run_lines(result, dataset, seed=pictures.seed, compared=pictures.private)),
        pictures.panes(),
        pictures.positions,
        pictures.words,
        details(result, algorithm, result.parameters, comparisons, settings=settings, again=again),
    ).page()


def run_networks(pictures: RunPictures) -> str:
    """A self-contained HTML file with the run's graphs as networks to drag."""
    return networks_page(
        pictures.panes(),
        pictures.positions,
        pictures.words,
        title=pictures.title,
        lines=run_lines(
            pictures.result, pictures.dataset, seed=pictures.seed, compared=pictures.private
        ),
    )
