"""`topup`: a release that adds to an earlier release of the same table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from privcore.algorithms.search.parameters import EPSILON
from privcore.errors import ParameterError
from privcore.faces.cli.data import add_data_options, load, whole
from privcore.faces.cli.ledger import open_ledger
from privcore.faces.cli.release import INTERRUPTED, print_release, release_directory, write_release
from privcore.graphs.pdag import Edge
from privcore.releases.open_pairs import open_pairs
from privcore.releases.release import release
from privcore.releases.release_file import ReleaseFile, read_release_file, search_files


def add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", help="the release file of the earlier release")
    add_data_options(command)
    run = command.add_argument_group("release")
    run.add_argument(
        "--epsilon",
        required=True,
        help="additional ε; the two releases together cost the sum of their ε",
    )
    run.add_argument(
        "--open-pairs",
        action="store_true",
        help="measure only the pairs that are inconclusive in the earlier release; `search-again` "
        "lists them",
    )
    run.add_argument(
        "--budget-name",
        metavar="NAME",
        default=None,
        help="budget to charge (the budget of the earlier release)",
    )
    run.add_argument("--accept-caveats", action="store_true", help="as for `release`")
    run.add_argument(
        "--out",
        metavar="DIR",
        default=".",
        help="directory for the certificate (the current directory)",
    )
    run.add_argument("--ledger", metavar="FILE", default=None, help="another ledger file")
    command.set_defaults(run=_topup)


def _topup(options: argparse.Namespace) -> None:
    file = read_release_file(options.file)
    more = float(EPSILON.parse(options.epsilon))
    directory = release_directory(options.out)
    if options.rows_per_unit is None:
        options.rows_per_unit = file.parameters.get("rows_per_unit")
    seed = 1 if options.data_seed is None else whole(options.data_seed, "data-seed")
    dataset = load(options, seed)
    ledger, name = open_ledger(options), options.budget_name or file.budget
    parameters: dict[str, Any] = {**file.parameters, "epsilon": file.total(more)}
    only = _open(file) if options.open_pairs else ()
    try:
        made = release(
            dataset,
            file.algorithm,
            parameters,
            ledger=ledger,
            budget=name,
            content=None if options.csv is None else Path(options.csv).read_bytes(),
            accepted=dataset.caveats if options.accept_caveats else (),
            keep_numbers=True,
            adds_to=file,
            only=only,
        )
        written = write_release(made, directory)
    except KeyboardInterrupt:
        raise INTERRUPTED from None
    print_release(made, written, directory, ledger, name)


def _open(file: ReleaseFile) -> list[Edge]:
    """The inconclusive pairs; raises ParameterError if there are none."""
    pairs = [entry.pair for entry in open_pairs(search_files([file]), file.statistics)]
    if not pairs:
        raise ParameterError(
            "No pair of the earlier release is inconclusive; leave --open-pairs out."
        )
    return pairs
