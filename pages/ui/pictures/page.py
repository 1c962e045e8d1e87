"""A run as a page to print: self-contained HTML for A4."""

from __future__ import annotations

from pages.ui.controls.data import Loaded
from pages.ui.pictures.run import RunPictures, run_lines
from privcore.algorithms import ALGORITHMS
from privcore.graphs.drawing import Pane
from privcore.releases import command_line, python_code
from privcore.releases.answer import class_words, columns_words
from privcore.releases.shown import Shown, details


def run_page(pictures: RunPictures, loaded: Loaded) -> str:
    """A self-contained HTML file: graphs, guarantee, settings, edges, and the command."""
    result, dataset = pictures.result, loaded.dataset
    algorithm, comparisons = ALGORITHMS[result.algorithm], pictures.comparisons()
    seed = 1 if pictures.seed is None else pictures.seed
    again = [
        write(result, dataset, network=loaded.is_network, data_seed=loaded.seed, seed=seed)
        for write in (command_line, python_code)
    ]
    graphs = [result.graph, *pictures.references.values()]
    settings = [("Data", f"{dataset.name}: {dataset.n:,} rows, {columns_words(dataset)}")]
    if pictures.private:
        settings.append(("Noise seed", str(seed)))
    return Shown(
        pictures.title,
        tuple(f"Against {c.reference_name}: {c.summary()}." for c in comparisons),
        tuple(run_lines(result, dataset, seed=pictures.seed, compared=pictures.private)),
        pictures.panes() if pictures.private else (Pane("graph", "", result.graph),),
        pictures.positions,
        class_words(pictures.kind, *graphs),
        details(result, algorithm, result.parameters, comparisons, settings=settings, again=again),
    ).page()
