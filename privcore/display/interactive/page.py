"""Builds the page: one self-contained HTML file that loads nothing from the network.

The runs of a page to share: one algorithm on one data set, at several ε.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from privcore.algorithms import ALGORITHMS, Algorithm, Discovery, discover
from privcore.counts import Source
from privcore.data.model import BOUGHT, UPLOADED, Dataset, Described
from privcore.display.answer import (
    answer_sentence,
    class_words,
    columns_words,
    pag_sentence,
    promise_sentence,
)
from privcore.display.drawing import (
    Pane,
    colours_css,
    curve_css,
    curve_script,
    graph_css,
    graph_script,
    scene,
)
from privcore.display.findings import line_texts, line_widths
from privcore.display.layout import shared_layout
from privcore.display.sentences import (
    NOT_PRIVATE,
    SIMULATED,
    facts,
    odds_sentence,
    plain_guarantee,
    protected,
)
from privcore.display.shown import escaped, json_in_html, policy_hash
from privcore.errors import PrivcoreError, ReleaseError
from privcore.graphs import PDAG
from privcore.graphs.pdag import PAG, Positions
from privcore.measures import Comparison, compare
from privcore.measures.comparison import spread
from privcore.measures.references import Reference, base_title, non_private_reference, references_of
from privcore.privacy.accounting import Guarantee
from privcore.text import counted, short
from privcore.threads import one_thread
from privcore.version import __version__

# The ε that a page shows in addition to the chosen one.
EPSILONS = (10.0, 3.0, 1.0, 0.3, 0.1)
# Runs at each ε for the curve: only the one shown, so that a page is ready soon.
RUNS = 1
# The confirmation typed to make a page of the user's own table.
CONFIRMATION = "this page is not private"


def is_built_in(dataset: Described) -> bool:
    """Whether the rows come from a network, an example or a sample, and so from no real person."""
    return isinstance(dataset, Dataset) and (
        dataset.recipe is not None or dataset.source not in ("", UPLOADED, BOUGHT)
    )


def check_may_be_sent(dataset: Described, confirmation: str = "") -> None:
    """Raises ReleaseError for the user's own table, unless the confirmation is typed exactly."""
    if not is_built_in(dataset) and confirmation != CONFIRMATION:
        raise ReleaseError("page-of-exact-rows", confirmation=CONFIRMATION)


@dataclass(frozen=True)
class Series:
    """Runs at several ε with the same noise seed.

    results: the run at each ε, in increasing order of ε; the key is 0 for an algorithm without ε.
    base: the run without privacy, the same for every ε.  others: graphs from further seeds at each
    ε.  shown: the chosen ε.
    """

    dataset: Described
    shown: float
    seed: int
    results: Mapping[float, Discovery]
    base: Discovery
    others: Mapping[float, Sequence[PDAG]]

    @property
    def algorithm(self) -> Algorithm:
        return ALGORITHMS[self.results[self.shown].algorithm]


def run_series(
    dataset: Described,
    source: Source,
    algorithm: str,
    parameters: Mapping[str, Any],
    *,
    seed: int = 1,
    runs: int = RUNS,
    made: Callable[[float, int], Discovery | None] = lambda epsilon, seed: None,
    on_progress: Callable[[float, str], None] = lambda share, text: None,
) -> Series:
    """Run at the chosen ε and at `EPSILONS`, each with `runs` noise seeds counted up from `seed`.

    source: the counts or rows of the data set.  made: takes an ε and a seed; returns that run if it
    exists already, or None.  on_progress: called before each run with the completed share of the
    series and a text; an exception raised by `on_progress` ends the series.

    Raises ParameterError or DataError if the run at the chosen ε is refused; any other ε whose run
    is refused is left out.
    """
    chosen = ALGORITHMS[algorithm]
    declared = next((p for p in chosen.parameters if p.name == "epsilon"), None)
    epsilons, shown = [0.0], 0.0
    if declared is not None:
        shown = float(declared.parse(parameters.get("epsilon", declared.default)))
        fitting = [e for e in EPSILONS if declared.low <= e <= declared.high]
        # The chosen one first, as it raises what is wrong with the settings.
        epsilons = [shown, *(e for e in fitting if e != shown)]
    results: dict[float, Discovery] = {}
    others: dict[float, list[PDAG]] = {}
    seeds = range(seed, seed + runs) if chosen.private else range(seed, seed + 1)
    for k, epsilon in enumerate(epsilons):
        values = dict(parameters) if declared is None else {**parameters, "epsilon": epsilon}
        for own in seeds:
            done = (k + (own - seed) / len(seeds)) / len(epsilons)
            at = f"ε = {epsilon:g}, " if declared is not None else ""
            on_progress(done, f"{at}run {own - seed + 1} of {len(seeds)}")
            run = made(epsilon, own)
            try:
                if run is None:
                    noise = own if chosen.private else None
                    with one_thread():
                        run = discover(source, algorithm, values, seed=noise, keep_trace=False)
            except PrivcoreError:
                if own == seed and epsilon != shown:
                    break
                raise
            if own != seed:
                others[epsilon].append(run.graph)
                continue
            results[epsilon], others[epsilon] = run, []
    base = non_private_reference(source, results[shown])
    return Series(dataset, shown, seed, dict(sorted(results.items())), base, others)


# A mark in every picture of the user's own table.
EXPLORATION = "Exploration: not private, not a release"
_NO_PROMISE = "This page guarantees nothing. A release would guarantee this:"
_NAME_LIMIT = 60


def interactive_page(
    series: Series, *, command: str = "", positions: Positions | None = None
) -> str:
    """Make one HTML file with the private and non-private graphs at each ε, and the guarantee.

    command: a shell command that makes the page again, or empty.  positions: the positions of the
    nodes, from `shared_layout`.  A page of the user's own table is marked as exploration.  The
    caller checks beforehand that such a page is allowed (`check_may_be_sent`).
    """
    dataset, algorithm = series.dataset, series.algorithm
    mark = "" if is_built_in(dataset) else EXPLORATION
    result, base = series.results[series.shown], series.base
    kind: Reference = "non_private" if dataset.true_edges is None else "truth"
    drawn = positions or _positions(series)
    scenes = [_scene(series, epsilon, kind, drawn, mark) for epsilon in series.results]
    steps = [
        _step(series, epsilon, kind, drawn, mark)
        for epsilon, drawn in zip(series.results, scenes, strict=True)
    ]
    start = list(series.results).index(series.shown)
    content = {
        # State once what is the same at every ε.
        "scene": {k: v for k, v in scenes[start].items() if k != "graphs"},
        "steps": steps,
        "start": start,
        "curve": _curve(series, kind) if len(steps) > 1 else None,
    }
    settings = [
        f"{p.title}: {_value(result.parameters[p.name])}"
        for p in algorithm.parameters
        if p.name not in ("epsilon", "delta")
        and p.matters({"calibration": "none", **result.parameters})
        and result.parameters[p.name] != p.default
    ]
    private = algorithm.private
    about = [
        (
            "Data",
            f"{short(dataset.name, _NAME_LIMIT)}: {dataset.n:,} rows, {columns_words(dataset)}",
        ),
        ("Algorithm", algorithm_words(algorithm)),
        ("Settings", "; ".join(settings) or "the defaults"),
        ("Noise", f"seed {series.seed}. {SIMULATED}" if private else "none"),
        ("Without privacy", f"{NOT_PRIVATE}" if base is not result else ""),
        ("Curve", _curve_words(series) if content["curve"] else ""),
        ("Reading it", pag_sentence(result)),
        ("Version", f"CausalVeil {__version__}"),
    ]
    title = f"{algorithm.title} on {short(dataset.name, _NAME_LIMIT)}"
    return html_page(title, content, about=about, command=command, banner=mark)


def _positions(series: Series) -> Positions:
    """Positions from the true DAG, or from the graph without noise."""
    dataset = series.dataset
    if dataset.true_edges:
        dag = PDAG.from_names(dataset.names, dataset.seen_edges).directed
        return shared_layout(dataset.names, dag=dag, tiers=series.base.tiers)
    return shared_layout(dataset.names, graph=series.base.graph, tiers=series.base.tiers)


def _compared(
    series: Series, epsilon: float, kind: Reference
) -> tuple[Comparison, Comparison | None, PDAG]:
    """Compare the graph at an ε, and the non-private graph, with the reference.

    Returns both comparisons and the reference.  The second comparison is None if the non-private
    graph is itself the reference.
    """
    result, base = series.results[epsilon], series.base
    reference = references_of(series.dataset, result, non_private=base)[kind]
    name = "truth" if kind == "truth" else f"{base_title(series.algorithm)} without privacy"
    before = None
    if kind == "truth" and base is not result:
        before = compare(base.graph, reference, name)
    return compare(result.graph, reference, name), before, reference


def _scene(
    series: Series, epsilon: float, kind: Reference, positions: Positions, mark: str
) -> dict[str, Any]:
    result, base = series.results[epsilon], series.base
    here, before, reference = _compared(series, epsilon, kind)
    private = base is not result
    proven = result.guarantee.calibration == "proven"
    title = series.algorithm.title
    if private:
        title = "Private graph" if proven else "Graph with noise"
    first = _pane("private", _marked(title, mark), result, here, reference)
    panes = [first]
    if private:
        name = _marked(f"Without privacy ({base_title(series.algorithm)})", mark)
        panes.append(_pane("base", name, base, before, reference))
    if len(series.results) == 1:
        # Pages with several runs share their nodes, and runs may differ in what repeats what.
        panes = [replace(pane, repeats=result.repeats) for pane in panes]
    words = class_words(kind, result.graph, reference)
    name = here.reference_name
    return scene(positions, panes, words=words, reference=name, tiers=result.tiers)


def _marked(title: str, mark: str) -> str:
    return f"{title} – {mark}" if mark else title


def _pane(
    key: str, title: str, result: Discovery, compared: Comparison | None, reference: PDAG
) -> Pane:
    edges = len(result.graph.skeleton)
    return Pane(
        key,
        title,
        result.graph,
        f"{title}: {compared.summary() if compared else counted(edges, 'edge')}",
        {(pair.i, pair.j): pair.kind for pair in compared.pairs} if compared else {},
        reference if compared else None,
        texts=line_texts(result.findings),
        widths=line_widths(result.findings),
    )


def _step(
    series: Series, epsilon: float, kind: Reference, drawn: Mapping[str, Any], mark: str
) -> dict[str, Any]:
    """The texts and pictures of the page for one ε."""
    result = series.results[epsilon]
    here, before, reference = _compared(series, epsilon, kind)
    guarantee = result.guarantee
    promise = promise_sentence(guarantee)
    return {
        "epsilon": f"{epsilon:g}" if epsilon else "",
        "said": answer_sentence(
            guarantee,
            here,
            before,
            base_title(series.algorithm),
            kind,
            pag=isinstance(reference, PAG),
        ),
        "promise": f"{_NO_PROMISE} {promise}" if mark else promise,
        "promised": promised(guarantee, series.algorithm),
        "facts": facts(guarantee),
        "graphs": drawn["graphs"],
    }


def promised(guarantee: Guarantee, algorithm: Algorithm) -> list[str]:
    """The guarantee in sentences."""
    sentences = [plain_guarantee(guarantee, algorithm)]
    if guarantee.calibration == "proven":
        sentences.append(
            odds_sentence(guarantee.epsilon, guarantee.delta, whom=protected(guarantee))
        )
    return [*sentences, *(f"Not covered: {caveat}." for caveat in guarantee.caveats)]


def algorithm_words(algorithm: Algorithm) -> str:
    """The title of an algorithm, and its source."""
    ours = algorithm.citation == "ours"
    return f"{algorithm.title}, {'of CausalVeil' if ours else algorithm.citation}"


def _curve(series: Series, kind: Reference) -> dict[str, Any]:
    """The data for `drawCurve` in the page's script, which marks the point of each step."""
    epsilons, last = list(series.results), len(series.results) - 1
    points, heights = [], []
    shown = series.results[series.shown]
    reference = references_of(series.dataset, shown, non_private=series.base)[kind]
    for k, epsilon in enumerate(epsilons):
        result = series.results[epsilon]
        quality = spread([result.graph, *series.others[epsilon]], reference)
        heights.append(spread([result.graph], reference).mean)
        points.append(
            {
                "at": k / last,
                "epsilon": k,
                **{name: round(getattr(quality, name), 4) for name in ("mean", "low", "high")},
                "label": f"{quality.mean:.2f}",
                "text": f"ε = {epsilon:g}: F1 {quality.mean:.2f}",
            }
        )
    base, label = None, ""
    if kind == "truth":
        base = spread([series.base.graph], reference).mean
        label = f"{base_title(series.algorithm)} without privacy {base:.2f}"
    name = "the true graph" if kind == "truth" else "the graph without privacy"
    return {
        "title": f"F1 with respect to {name}, at each ε",
        "inset": 10,
        "ways": "",
        "points": points,
        "heights": [round(height, 4) for height in heights],
        "base": base,
        "baseLabel": label,
        "ticks": [{"at": k / last, "text": f"{e:g}"} for k, e in enumerate(epsilons)],
    }


def _curve_words(series: Series) -> str:
    runs = 1 + len(series.others[series.shown])
    if runs == 1:
        return "skeleton F1 of the graphs on this page"
    return (
        f"at each ε, the mean skeleton F1 of {runs} runs with different noise, with a band from "
        "the 5th to the 95th percentile; the ring marks the shown graph"
    )


def _value(value: object) -> str:
    if value is None:
        return "auto"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else short(value, 200)


# ---- the file


def html_page(
    title: str,
    content: Mapping[str, Any],
    *,
    about: Iterable[tuple[str, str]],
    command: str = "",
    banner: str = "",
) -> str:
    """Build the HTML text of a page; all names are escaped.

    content: the data for the page's script, with the keys scene, steps, start and curve.  about:
    headings and texts of the small print; headings without a text are left out.  command: a shell
    command that makes the page again.  banner: a warning at the top.
    """
    first = content["steps"][content["start"]]
    # In braces, so that its names do not clash with the drawing code.
    script = "\n".join([graph_script(), curve_script(), "{", _text("page.js"), "}"])
    style = "\n".join([colours_css(".page"), graph_css(), curve_css(), _text("page.css")])
    policy = (
        f"default-src 'none'; script-src {policy_hash(script)}; style-src {policy_hash(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    slider = ""
    if len(content["steps"]) > 1:
        slider = (
            '<div class="handle"><div id="curve"></div>\n'
            '<div class="ends"><span>◂ more private</span><label for="epsilon">Privacy budget '
            '<output id="value"></output></label><span>less private ▸</span></div>\n'
            f'<input type="range" id="epsilon" min="0" max="{len(content["steps"]) - 1}" '
            'step="1"></div>\n'
        )
    rows = "".join(
        f"<dt>{escaped(head)}</dt><dd>{escaped(text)}</dd>\n" for head, text in about if text
    )
    again = ""
    if command:
        again = f"<dt>To make it again</dt><dd><code>{escaped(command)}</code></dd>\n"
    warning = f'<p class="banner" role="note">{escaped(banner)}</p>\n' if banner else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escaped(title)}</title>
<style>{style}</style>
</head>
<body class="page light">
<header><p class="title">{escaped(title)}</p>
<button type="button" id="theme" hidden>Dark</button></header>
<main>
{warning}<h1 id="said">{escaped(first["said"])}</h1>
<p id="promise">{escaped(first["promise"])}</p>
<details><summary>What is promised</summary><div id="promised"></div></details>
{slider}<div id="graphs"></div>
<noscript><p>The graphs need JavaScript, which is switched off in this browser.</p></noscript>
</main>
<footer><dl>
{rows}{again}</dl></footer>
<script type="application/json" id="content">{json_in_html(content)}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")
