"""`release`: one charged run with secure noise."""

from __future__ import annotations

import argparse
from pathlib import Path

from privcore.algorithms import get_algorithm
from privcore.display.certificate_html import certificate_html
from privcore.display.effects import effects_sentence
from privcore.display.graph_check import asked_sentence, verdict_sentence
from privcore.effects import EffectPlan
from privcore.errors import LedgerError, ParameterError, ReleaseError
from privcore.exchange.stated import read_graph
from privcore.faces.api.tables import public_schema
from privcore.faces.cli.data import (
    add_data_options,
    add_purchase_options,
    load,
    stated_table,
    whole,
)
from privcore.faces.cli.effect import add_question_options, plan_of
from privcore.faces.cli.ledger import describe, open_ledger
from privcore.faces.cli.run_options import add_parameter_options, parameters_of
from privcore.files import write_whole
from privcore.measures.graph_check import GraphCheck
from privcore.releases.certificate import certificate_json
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import Release, release
from privcore.releases.release_file import file_text, read_release_file
from privcore.text import short


def add_options(command: argparse.ArgumentParser) -> None:
    add_data_options(command)
    add_purchase_options(command)
    run = command.add_argument_group("release")
    run.add_argument("--algorithm", required=True, help="see `algorithms`")
    add_parameter_options(run)
    add_question_options(command, required=False)
    run.add_argument(
        "--budget-name", required=True, metavar="NAME", help="budget to charge (see `ledger total`)"
    )
    run.add_argument(
        "--accept-caveats",
        action="store_true",
        help="release even if the guarantee has caveats, such as rows that were left out; the "
        "certificate lists the caveats",
    )
    run.add_argument(
        "--keep-numbers",
        action="store_true",
        help="also write the released numbers to a signed file, which can be searched again at no "
        "cost (`search-again`)",
    )
    run.add_argument(
        "--like",
        metavar="FILE",
        help="measure as the release of this release file did, in the same units, and keep the "
        "numbers, so that `search-again` can pool both; the file gives the defaults of --schema "
        "and of the parameters",
    )
    run.add_argument(
        "--graph",
        metavar="FILE",
        help="check this causal graph (see `check`): only its columns are measured, and the "
        "certificate states what the released numbers say of it",
    )
    run.add_argument(
        "--out",
        metavar="DIR",
        default=".",
        help="directory for the certificate (the current directory)",
    )
    run.add_argument("--ledger", metavar="FILE", default=None, help="another ledger file")
    command.set_defaults(run=_release)


def _release(options: argparse.Namespace) -> None:
    algorithm = get_algorithm(options.algorithm)
    like = None if options.like is None else read_release_file(options.like)
    if like is not None:
        options.public_schema = public_schema(like)
    directory = release_directory(options.out)
    seed = 1 if options.data_seed is None else whole(options.data_seed, "data-seed")
    dataset = stated_table(options) or load(options, seed)
    effect = _effect(options)
    graph = None if options.graph is None else read_graph(options.graph)
    ledger = open_ledger(options)
    try:
        made = release(
            dataset,
            algorithm.name,
            {**(like.parameters if like else {}), **parameters_of(options, algorithm)},
            ledger=ledger,
            budget=options.budget_name,
            content=None if options.csv is None else Path(options.csv).read_bytes(),
            accepted=dataset.caveats if options.accept_caveats else (),
            effect=effect,
            keep_numbers=options.keep_numbers or like is not None,
            like=like,
            graph=graph,
        )
        written = write_release(made, directory)
    except KeyboardInterrupt:
        raise INTERRUPTED from None
    print_release(made, written, directory, ledger, options.budget_name)


INTERRUPTED = ReleaseError("interrupted")


def print_release(
    made: Release, written: list[Path], directory: Path, ledger: Ledger, name: str
) -> None:
    """Print what was released, the remaining budget, and where the files are.

    What is in no file is printed itself.  Raises ReleaseError if no file could be written.
    """
    # Printed last: what was paid for is already in files, even if printing fails.
    print(_words(made))
    try:
        budget = ledger.budget(name)
        print(f"{budget.name}: {describe(budget, ledger.spending(budget.name))}")
    except LedgerError as error:
        print(error)
    if made.path is not None:
        print(f"a copy of the certificate is kept in {made.path}")
    if written:
        print("\n".join(map(str, written)))
        return
    if made.numbers is not None and made.numbers_path is None:
        print(file_text(made.numbers), end="")
    if made.path is None:
        print(certificate_json(made.certificate), end="")
        raise ReleaseError("save-certificate", directory=short(directory, 200))
    raise ReleaseError(
        "release-made-charged-but-certificate-cannot",
        directory=short(directory, 200),
        path=short(made.path, 200),
    )


def _effect(options: argparse.Namespace) -> EffectPlan | None:
    """The effect to release, if any; raises ParameterError if cause or outcome is missing."""
    if options.cause is None and options.outcome is None:
        return None
    if options.cause is None or options.outcome is None:
        raise ParameterError("effect-needs-columns")
    return plan_of(options)


def write_release(made: Release, directory: Path) -> list[Path]:
    """Write the certificate as JSON and HTML, and the release file if requested.

    Returns the paths of the files, or an empty list if they cannot be written.
    """
    stem = directory / f"certificate-{made.certificate['id']}"
    texts = {
        stem.with_suffix(".json"): certificate_json(made.certificate),
        stem.with_suffix(".html"): certificate_html(made.certificate),
    }
    if made.numbers is not None:
        texts[directory / f"release-{made.certificate['id']}.json"] = file_text(made.numbers)
    try:
        for path, text in texts.items():
            write_whole(path, text)
    except OSError:
        return []
    return list(texts)


def release_directory(name: str) -> Path:
    """Create the directory for the certificate if it is missing, and return its path.

    Raises ReleaseError if the directory cannot be created.
    """
    directory = Path(name)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError):
        raise ReleaseError("cannot-be-made", name=short(name, 200)) from None
    return directory


def _words(made: Release) -> str:
    promise = made.guarantee
    lines = made.graph.lines()
    lines.append(
        f"epsilon {promise.epsilon:g}, delta {promise.delta:g} ({promise.calibration}, "
        f"{promise.accountant}; {promise.neighbours})"
    )
    lines += [f"accepted: {caveat}" for caveat in promise.caveats]
    lines += [] if made.effects is None else [effects_sentence(made.effects)]
    if checked := made.certificate["released"].get("check"):
        check = GraphCheck.of(checked)
        lines += filter(None, [verdict_sentence(check), asked_sentence(check)])
    lines += [made.note] if made.note else []
    lines += made.warnings
    lines.append(f"signed by the key {made.certificate['signature']['fingerprint']}")
    return "\n".join(lines)
