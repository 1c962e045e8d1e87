"""The command-line options for the parameters of an algorithm.

Writes pages to share.
"""

from __future__ import annotations

import argparse
from typing import Any

from privcore.algorithms import ALGORITHMS, Algorithm
from privcore.algorithms.search.parameters import HIDDEN_CAUSES, TARGET
from privcore.errors import ParameterError
from privcore.exchange.knowledge_files import stated_knowledge
from privcore.files import write_named
from privcore.naming import QUOTING
from privcore.text import short


def write_page(name: str, page: str) -> None:
    """Write an HTML file and print its size; raises DataError if the file cannot be written."""
    write_named(name, page)
    print(
        f"{short(name)}: {len(page.encode()) / 1000:,.0f} kB; the page opens in any browser, "
        "even offline"
    )


# Parameters with their own option; all others are given by --set.
_DIRECT = (
    "epsilon",
    "delta",
    "threshold",
    "tweak",
    "calibration",
    "score",
    "max_order",
    "neighbours",
)
# Parameters that are ignored by an algorithm without them.
_PRIVACY = ("epsilon", "delta", "tweak", "calibration", "rows_per_unit", "neighbours")


def add_parameter_options(group: argparse._ArgumentGroup) -> None:
    for name in _DIRECT:
        # Of several declarations, the one with the widest range.
        parameter = max(
            (p for a in reversed([*ALGORITHMS.values()]) for p in a.parameters if p.name == name),
            key=lambda p: len(p.choices),
        )
        group.add_argument(
            f"--{parameter.option}", help=f"{parameter.title}: {parameter.explained_range()}"
        )
    add_hidden_causes_option(group)
    group.add_argument(
        f"--{TARGET.option}",
        metavar="COLUMN",
        help="what is linked with this column, in place of the whole graph (moment-search, pc)",
    )
    add_knowledge_options(group)
    group.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="any other parameter"
    )


def add_knowledge_options(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--tiers",
        default="",
        metavar="A,B;C,D",
        help="columns in tiers, the earliest tier first; no arrow leads to an earlier tier. "
        f"{QUOTING[0].upper()}{QUOTING[1:]}",
    )
    for verb, meaning in (("forbid", "that is impossible"), ("require", "that exists")):
        group.add_argument(
            f"--{verb}",
            action="append",
            default=[],
            metavar="A--B",
            help=f"an edge {meaning}, or an arrow a->b; separate edges with semicolons. Names are "
            "quoted as for --tiers and as in printed edges, which can be given back here",
        )
    group.add_argument(
        "--knowledge", default="", metavar="FILE", help="a file with background knowledge"
    )


def add_hidden_causes_option(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        f"--{HIDDEN_CAUSES.option}",
        action="store_const",
        const="true",
        help="allow unobserved confounders: FCI on the released numbers then gives a PAG, at no "
        "further cost (pc, privpc-star, lapmech, moment-search)",
    )


def knowledge_of(options: argparse.Namespace) -> str:
    """The background knowledge stated in the options, as text for the parameter `knowledge`.

    Raises ParameterError for invalid statements, and DataError for a file that cannot be read.
    """
    return stated_knowledge(
        tiers=options.tiers,
        forbid=options.forbid,
        require=options.require,
        file=options.knowledge,
    ).text


def parameters_of(options: argparse.Namespace, algorithm: Algorithm) -> dict[str, Any]:
    """The algorithm's parameters in the options, by name; raises ParameterError for a bad --set."""
    parameters = {
        name: getattr(options, name)
        for name in (*_DIRECT, HIDDEN_CAUSES.name, TARGET.name)
        if getattr(options, name) is not None
    }
    # A data option: with --unit it belongs to the table, and the parameter follows the table.
    bound = getattr(options, "rows_per_unit", None)
    if bound is not None and vars(options).get("unit") is None:
        parameters["rows_per_unit"] = bound
    known = {parameter.name for parameter in algorithm.parameters}
    # So that one script can run every algorithm with the same options.
    parameters = {k: value for k, value in parameters.items() if k in known or k not in _PRIVACY}
    if known_text := knowledge_of(options):
        parameters["knowledge"] = known_text
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ParameterError("set-not-name-value", setting=short(setting))
        parameters[name.strip()] = value.strip()
    return parameters
