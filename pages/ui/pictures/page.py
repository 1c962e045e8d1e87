"""A run as a page to print, and as networks to drag: self-contained HTML."""

from __future__ import annotations

from pages.ui.controls.data import Loaded
from pages.ui.graphs.networks import networks_page
from pages.ui.pictures.run import RunPictures, run_lines
from privcore.algorithms import ALGORITHMS
from privcore.display.answer import columns_words
from privcore.display.commands import command_line, python_code
from privcore.display.shown import Shown, details


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
