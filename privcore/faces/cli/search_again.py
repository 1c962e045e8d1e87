"""`search-again`: search the numbers of release files again, at no further cost."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from privcore.algorithms import get_algorithm
from privcore.algorithms.search.result import Discovery, described_pairs, named_repeats
from privcore.display.findings import repeats_sentences
from privcore.display.interactive import numbers_page
from privcore.display.sentences import hidden_sentence
from privcore.errors import ParameterError
from privcore.extras.lab.planning.open_pairs import OpenPair, open_pairs
from privcore.faces.cli.run_options import add_parameter_options, parameters_of, write_page
from privcore.graphs.pdag import to_json_dict
from privcore.releases.release_file import SPENT, put_together, read_release_file, search_files
from privcore.text import counted

# Most pairs that are listed in words.
_LISTED = 10


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        help="release files written by `release --keep-numbers`",
    )
    command.add_argument(
        "--sites",
        action="store_true",
        help="the files hold different rows of the same columns, each person in only one file; "
        "without this option the files must be releases of the same rows",
    )
    command.add_argument(
        "--key",
        action="append",
        default=[],
        metavar="FINGERPRINT",
        help="fingerprint of an expected signer's key; repeat the option for several signers",
    )
    search = command.add_argument_group("search")
    add_parameter_options(search)
    shown = command.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print JSON")
    shown.add_argument(
        "--html", metavar="FILE", help="write a page to share: the graph as one HTML file"
    )
    command.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    files = [read_release_file(name, options.key) for name in options.files]
    signers, checked = list(dict.fromkeys(file.signer for file in files)), bool(options.key)
    parameters = parameters_of(options, get_algorithm(files[0].algorithm))
    for name in SPENT:
        if name in parameters:
            raise ParameterError("fixed-by-release", name=name)
    result = search_files(files, parameters, sites=options.sites)
    if options.html is not None:
        names = [Path(name).name for name in options.files]
        write_page(options.html, numbers_page(result, names, signers))
        print("\n".join(_signed(signers, checked)))
        return
    unsettled = open_pairs(result, put_together(files, sites=options.sites)[0])
    if options.json:
        signed = {"signers": signers, "signers_checked": checked}
        report = {**_report(result, unsettled), **signed}
        print(json.dumps(report, indent=1, ensure_ascii=False))
        return
    print("\n".join([*_words(result, unsettled, checked), *_signed(signers, checked)]))


def _signed(signers: list[str], checked: bool) -> list[str]:
    lines = [f"signed by the key {signer}" for signer in signers]
    if not checked:
        lines.append(
            "The signer was not checked: anyone could have made this file with their own key; give "
            "the fingerprint of the expected key as --key."
        )
    return lines


def _report(result: Discovery, unsettled: list[OpenPair]) -> dict[str, Any]:
    nodes = result.graph.nodes
    return {
        "graph": to_json_dict(result.graph),
        "guarantee": result.guarantee.as_dict(),
        "parameters": dict(result.parameters),
        "settled": result.settled,
        "hidden_stage": result.hidden_stage,
        "repeats": named_repeats(result.graph, result.repeats),
        "pairs": described_pairs(result.graph, result.findings),
        "cannot_be_told": [
            {
                "columns": [nodes[c] for c in entry.pair],
                "visible": entry.visible,
                "epsilon": entry.epsilon,
            }
            for entry in unsettled
        ],
    }


def _words(result: Discovery, unsettled: list[OpenPair], checked: bool) -> list[str]:
    promise, nodes = result.guarantee, result.graph.nodes
    lines = [*result.graph.lines(), *filter(None, [hidden_sentence(result)])]
    lines += repeats_sentences(named_repeats(result.graph, result.repeats))
    stated = "the result is covered by" if checked else "the signer states"
    lines.append(
        f"searched again at no further cost; {stated} epsilon {promise.epsilon:g}, delta "
        f"{promise.delta:g} ({promise.neighbours})"
    )
    if result.settled is False:
        lines.append("not settled: two samplers disagree on the probabilities of edges")
    if not unsettled:
        return [*lines, "no pair is inconclusive at this budget"]
    size = float(result.parameters["reference_effect"])
    lines.append(
        f"{counted(len(unsettled), 'pair is', 'pairs are')} inconclusive: an edge of size "
        f"{size:g} could have been missed"
    )
    for entry in unsettled[:_LISTED]:
        names = " and ".join(nodes[c] for c in entry.pair)
        price = (
            "no budget is enough with this number of rows"
            if entry.epsilon is None
            else f"about epsilon {entry.epsilon:.2g} in total, "
            f"{max(entry.epsilon - promise.epsilon, 0):.2g} more than already spent"
        )
        lines.append(f"  {names}: {price}")
    if len(unsettled) > _LISTED:
        lines.append(f"  and {counted(len(unsettled) - _LISTED, 'more pair')}, listed by --json")
    return lines
