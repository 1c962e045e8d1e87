"""`discover`: one run on a network, an example or a file, reported as JSON or in words."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any

from privcore.algorithms import discover, get_algorithm
from privcore.algorithms.engine import (
    MISSING_AT_RANDOM,
    TEST_LIMIT,
    checked_parameters,
    cut_sentence,
    source_of,
)
from privcore.algorithms.registry import RECOMMENDED
from privcore.counts import Source
from privcore.data import Dataset
from privcore.data.discretise import usual_intervals
from privcore.data.model import Described
from privcore.display.commands import page_command
from privcore.display.findings import (
    confidence_text,
    repeats_sentences,
    settled_sentence,
    verdict_counts,
)
from privcore.display.interactive import (
    CONFIRMATION,
    check_may_be_sent,
    interactive_page,
    run_series,
)
from privcore.display.report import price_sentence, reference_name, reference_sentence, run_report
from privcore.display.sentences import (
    effect_sentence,
    hidden_sentence,
    one_level_sentence,
    overruled_sentence,
    shape_sentence,
)
from privcore.errors import ParameterError
from privcore.exchange.formats import TEXT_FORMATS, text_format
from privcore.extras.lab.stability import NOT_PRIVATE, RUNS, Stability, judge
from privcore.extras.lab.work import (
    DEGREE,
    estimate,
    moment_search_sentence,
    moment_search_work,
)
from privcore.faces.cli.data import (
    add_data_options,
    add_purchase_options,
    load,
    stated_table,
    whole,
)
from privcore.faces.cli.run_options import add_parameter_options, parameters_of, write_page
from privcore.graphs.pdag import MARKS
from privcore.measures.references import (
    NON_PRIVATE,
    non_private_reference,
    reference_names,
    references_of,
)
from privcore.naming import quoted
from privcore.privacy.accounting.guarantee import large_delta_sentence
from privcore.privacy.mechanisms import NoiseSource, SecureNoise, SimulatedNoise
from privcore.releases.private_domain import split, with_purchase
from privcore.text import counted, percent, short


def add_options(command: argparse.ArgumentParser) -> None:
    add_data_options(command)
    add_purchase_options(command)
    run = command.add_argument_group("run")
    run.add_argument("--algorithm", help=f"see `algorithms` ({RECOMMENDED})")
    run.add_argument("--seed", default="1", help="seed of the simulated noise (1)")
    run.add_argument("--secure", action="store_true", help="secure noise, no seed")
    add_parameter_options(run)
    run.add_argument(
        "--reference",
        choices=[_spelled(name) for name in NON_PRIVATE],
        default=_spelled(NON_PRIVATE[0]),
        help="graphs to compare with, besides the true graph. non-private: PC's graph, the "
        "same for every algorithm on a table. same: also the graph of the same algorithm without "
        "noise, which shows the cost of noise. own-test: also the graph of PC with the algorithm's "
        "own test, or of NOTEARS",
    )
    work = command.add_argument_group("work")
    work.add_argument(
        "--estimate",
        action="store_true",
        help="estimate the number of tests and the time they take, without running them",
    )
    for parameter in (DEGREE, TEST_LIMIT):
        work.add_argument(
            f"--{parameter.option}", help=f"{parameter.title}: {parameter.range_text()}"
        )
    work.add_argument(
        "--stability",
        metavar="K",
        help="check the stability of the graph by K runs with fresh noise and K runs on halves of "
        "the rows (not private)",
    )
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print JSON")
    shown.add_argument(
        "--format",
        metavar="NAME",
        help=f"print only the graph, in one of these formats: {', '.join(TEXT_FORMATS)}",
    )
    shown.add_argument(
        "--html",
        metavar="FILE",
        help="write a page to share for a network, an example or a sample: one HTML file with the "
        "private and non-private graphs at several ε. The file also opens offline",
    )
    command.add_argument(
        "--explored",
        metavar="WORDS",
        help=f'type "{CONFIRMATION}", word for word, to use --html with your own table',
    )
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    if options.algorithm is not None:
        get_algorithm(options.algorithm)  # Report a wrong name before any data are read.
    if options.format is not None:
        text_format(options.format)
    runs = None if options.stability is None else RUNS.parse(options.stability)
    if runs is not None and options.format is not None:
        raise ParameterError("format-prints-graph")
    _check_page(options)
    seed = whole(options.seed, "seed")
    data_seed = seed if options.data_seed is None else whole(options.data_seed, "data-seed")
    table = stated_table(options)
    # Before the domain is bought, estimates use the largest possible one.
    dataset = load(options, data_seed) if table is None else table.largest()
    if options.estimate:
        _estimate(options, dataset)
        return
    source = source_of(dataset)
    algorithm = get_algorithm(options.algorithm or RECOMMENDED)
    parameters = parameters_of(options, algorithm)
    if options.html is not None:
        _write_page(options, dataset, source, parameters, seed, data_seed)
        return
    noise: NoiseSource | None = None
    if algorithm.private:
        noise = SecureNoise() if options.secure else SimulatedNoise(seed)
    wanted = None if table is None else split(table, algorithm.name, parameters)
    if table is not None and wanted is not None and noise is not None:
        dataset = table.buy(wanted.plan, noise)
        source, parameters = source_of(dataset), dict(wanted.parameters)
    limit = options.test_limit
    result = discover(source, algorithm.name, parameters, noise=noise, test_limit=limit)
    judged = None
    if runs is not None:
        judged = judge(source, result, runs=runs, seed=seed, test_limit=limit)
    if wanted is not None:
        result = with_purchase(result, wanted)
    if options.format is not None:
        print(text_format(options.format).export(result.graph), end="")
        return
    runs = {"non_private": non_private_reference(source, result)}
    further = next(kind for kind in NON_PRIVATE if _spelled(kind) == options.reference)
    if further not in runs and result.noise != "none":
        runs[further] = non_private_reference(source, result, reference=further)
    references = references_of(dataset, result, **runs)
    report = run_report(result, dataset, references, seed=None if options.secure else seed)
    if judged is not None:
        report["stability"] = judged.as_dict()
    unused = getattr(options, "left_out", {})
    if options.json:
        print(json.dumps({**report, "left_out": unused}, indent=1, ensure_ascii=False))
        return
    for name, reason in unused.items():
        print(f"left out: {short(name)} ({reason.rstrip('.')})")
    narrow = one_level_sentence(result)
    cut = cut_sentence(source, algorithm, result.parameters)
    notes = [
        hidden_sentence(result),
        overruled_sentence(result),
        cut and f"note: {cut}",
        shape_sentence(result),
        narrow and f"note: {narrow}",
        *([] if judged is None else _stability_lines(judged)),
        *(reference_sentence(result, run, kind) for kind, run in runs.items()),
        price_sentence(result, references),
        large_delta_sentence(result.guarantee, result.rows or dataset.n),
        effect_sentence(result, result.rows or dataset.n),
    ]
    called = {
        "truth": "truth",
        "same": reference_names(algorithm)["same"],
        **{kind: reference_name(result, run) for kind, run in runs.items() if kind != "same"},
    }
    print("\n".join([_words(report, called), *filter(None, notes)]))


def _spelled(name: str) -> str:
    """The name of a reference as written on the command line."""
    return name.replace("_", "-")


def _check_page(options: argparse.Namespace) -> None:
    """Raises ParameterError for options that conflict with --html, or that need it."""
    if options.html is None:
        if options.explored is not None:
            raise ParameterError("explored-is-for-html")
        return
    for name in ("stability", "secure", "estimate", "buy_domain"):
        if getattr(options, name):
            raise ParameterError("html-of-simulated-noise", name=name.replace("_", "-"))


def _write_page(
    options: argparse.Namespace,
    dataset: Described,
    source: Source,
    parameters: Mapping[str, Any],
    seed: int,
    data_seed: int,
) -> None:
    """Write the page to share; raises ReleaseError if the data do not allow one."""
    check_may_be_sent(dataset, options.explored or "")
    name = options.algorithm or RECOMMENDED
    series = run_series(dataset, source, name, parameters, seed=seed, on_progress=_progress)
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    command = ""
    if isinstance(dataset, Dataset):
        command = page_command(
            series.results[series.shown],
            dataset,
            network=options.network is not None,
            data_seed=data_seed,
            seed=seed,
            sample=getattr(options, "from_sample", None),
            explored=options.explored or "",
        )
    write_page(options.html, interactive_page(series, command=command))


def _progress(share: float, text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r{share:4.0%}  {text}\x1b[K", end="", file=sys.stderr, flush=True)


def _stability_lines(judged: Stability) -> list[str]:
    return [judged.sentence(), judged.seldom_sentence(), NOT_PRIVATE]


def _estimate(options: argparse.Namespace, dataset: Described) -> None:
    """Print the tests and time that the run will take, from public facts of the data."""
    name = options.algorithm or RECOMMENDED
    parameters = parameters_of(options, get_algorithm(name))
    degree = DEGREE.default if options.degree is None else options.degree
    if name == "moment-search":
        levels, whole_table = _counted_levels(dataset, checked_parameters(name, parameters))
        seconds, memory = moment_search_work(levels, whole_table)
        if options.json:
            print(json.dumps({"seconds": seconds, "memory_gib": memory}, indent=1))
        else:
            print(moment_search_sentence(levels, whole_table))
        return
    work = estimate(dataset.n, dataset.levels, name, parameters, degree=degree)
    if options.json:
        print(json.dumps(work and work.as_dict(), indent=1))
        return
    if work is None:
        print(f"{name} does not search test by test; its work grows with the number of pairs.")
        return
    for order in work.orders:
        print(
            f"order {order.order}: about {counted(order.likely, 'test')}, at most {order.at_most:,}"
        )
    print(work.sentence())


def _counted_levels(dataset: Described, checked: Mapping[str, Any]) -> tuple[tuple[int, ...], int]:
    """The number of levels of each column in moment search, and the largest full table."""
    columns = dataset.columns
    cut = usual_intervals(dataset.n, len(columns), checked["epsilon"])
    levels = tuple(len(c.levels) if c.is_categorical else cut for c in columns)
    numbers = not all(column.is_categorical for column in columns)
    return levels, 0 if numbers else checked["whole_table"]


_NOISE = {
    "simulated": "noise simulated from a seed: for exploration, never for a release",
    "secure": "secure noise; the metrics below are computed from the exact data: leave them out of "
    "what you release",
}


def _edge_lines(report: dict[str, Any]) -> list[str]:
    """The edges, each with its confidence where the algorithm estimates one."""
    edges = [
        ((a, b), f"{quoted(a)} {mark} {quoted(b)}")
        for kind, mark in MARKS.items()
        for a, b in report.get(kind, ())
    ]
    pairs = report["pairs"]
    notes: dict[frozenset[str], list[str]] = {frozenset(pair): [] for pair, _ in edges}
    for finding in pairs or ():
        notes.setdefault(frozenset(finding["pair"]), []).append(confidence_text(finding))
    for seen in report.get("stability", {"pairs": ()})["pairs"]:
        notes.setdefault(frozenset(seen["pair"]), []).append(_again_text(seen))
    width = max((len(edge) for _, edge in edges), default=0)
    lines = [
        f"{edge:{width}}  {'; '.join(filter(None, notes[frozenset(pair)]))}".rstrip()
        for pair, edge in edges
    ]
    lines += repeats_sentences(report["repeats"])
    if pairs is None:
        return lines
    reference = report["parameters"]["reference_effect"]
    counts = (
        f"of the pairs without an edge in the graph, {verdict_counts(pairs)} "
        f"(for a dependence of size {reference:g})"
    )
    return [*lines, counts, *filter(None, [settled_sentence(report["settled"])])]


def _again_text(seen: dict[str, Any]) -> str:
    """How often a pair is adjacent: "in 95 % of the noise draws, 80 % of the halves"."""
    halves = f"{percent(seen['over_halves']['adjacent'])} of the halves"
    draws = seen["over_rolls"]
    if draws is None:
        return f"in {halves}"
    return f"in {percent(draws['adjacent'])} of the noise draws, {halves}"


def _words(report: dict[str, Any], called: Mapping[str, str]) -> str:
    """The report in lines; called: the names of the references, in words."""
    lines = _edge_lines(report)
    guarantee = report["guarantee"]
    if guarantee["calibration"] == "none":
        lines.append("not private")
    else:
        epsilon = guarantee["epsilon"]
        shown = "infinite" if epsilon is None else f"{epsilon:g}"
        lines.append(
            f"epsilon {shown}, delta {guarantee['delta']:g} "
            f"({guarantee['calibration']}, {guarantee['accountant']}; {guarantee['neighbours']})"
        )
    notes = [*guarantee["caveats"], *(f for f in guarantee["public"] if f == MISSING_AT_RANDOM)]
    lines += [f"note: {note}" for note in notes]
    if report["noise"] in _NOISE:
        lines.append(_NOISE[report["noise"]])
    algorithm = get_algorithm(report["algorithm"])
    form = "PAG" if report["hidden_stage"] else algorithm.output.upper()
    for name, metrics in report["metrics"].items():
        lines.append(
            f"against {called[name]}: skeleton F1 {metrics['skeleton']['f1']:.3f}, "
            f"{form} F1 {metrics['cpdag']['f1']:.3f}"
        )
    if report["stopped"]:
        ended = {
            "budget": "the budget ran out; untested edges stay",
            "noise": "the remaining budget would have bought mostly noise; untested edges stay",
            "work": "the limit on tests was reached; untested edges stay",
            "size": "tests that could need more than 67 million cells were skipped; edges that "
            "only these tests would have removed stay",
        }
        lines.append(ended[report["stopped"]])
        left = report["unreached"]
        over = f" over {left['rounds']} {report['spent']['noun']}" if left["rounds"] else ""
        # Only for the budget is it known how much more would be enough.
        need = (
            left["epsilon"]
            and f"; a total epsilon of {left['epsilon']:.3g}{over} would finish these orders"
        )
        orders = f"orders {left['first_order']} to {left['last_order']} not finished"
        lines.append(f"{orders}{need or ''}")
    work = counted(report["tests_run"], "test")
    if report["weights"] is not None:
        many = report["tests_run"]
        noisy = f", {counted(many, 'noisy gradient')}" if many else ""
        work = f"{counted(report['orders_run'], 'iteration')}{noisy}"
    lines.append(f"{work}, {report['seconds']:.3f} s")
    return "\n".join(lines)
