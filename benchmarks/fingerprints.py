"""Hashes of all algorithms' results, to show that a refactoring does not change them.

    python -m benchmarks.fingerprints > before.txt      (on the commit before)
    python -m benchmarks.fingerprints | diff before.txt -

One line for each algorithm, calibration, kind of columns and variant: the graph, separating sets,
guarantee, charges, plan, findings and the rest of `--json`, times left out, from fixed seeds.  Then
the release files and certificates of each form, of which ids, times and signatures are left out,
and effects and directions as the command line prints them.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks import parsed
from privcore import kernels
from privcore.algorithms import ALGORITHMS, discover
from privcore.data import Column, Dataset, load_network
from privcore.display.report import run_report
from privcore.errors import PrivcoreError
from privcore.faces.cli import main as command
from privcore.measures.references import references_of
from privcore.privacy.mechanisms import SimulatedNoise
from privcore.releases.ledger.ledger import Ledger
from privcore.releases.release import release
from privcore.releases.release_file import file_text, parsed_file, search_files

# What differs between two runs of the same code.
_PASSING = {
    "seconds",
    "id",
    "time",
    "signature",
    "versions",
    "version",
}
_KNOWN = "tiers: asia; smoke | forbid: tub--bronc"
_VARIANTS: dict[str, dict[str, Any]] = {
    "default": {},
    "small": {"epsilon": 0.1},
    "large": {"epsilon": 20.0, "max_order": 3},
    "person": {"rows_per_unit": 3},
    "added": {"neighbours": "added"},
    "votes": {"score": "g2-votes"},
    "median": {"score": "g2-median"},
    "kendall": {"score": "kendall"},
    "ties": {"correction": "ties and noise"},
    "p": {"space": "p"},
    "pairs": {"whole_table": 0},
    "rate": {"rate": 0.5},
    "permute": {"selection": "permute-and-flip"},
    "search": {"step_rule": "line search"},
    "laplace": {"mechanism": "laplace"},
}
_FEW = {"gradients": 20, "stages": 3}


def tables() -> Dataset:
    return load_network("asia").sample(4_000, 3)


def numbers(columns: int = 5, rows: int = 1_500) -> Dataset:
    drawn = np.random.default_rng(5)
    values: list[Any] = [drawn.normal(size=rows)]
    for _ in range(columns - 1):
        values.append(0.6 * values[-1] + drawn.normal(size=rows))
    named = tuple(
        Column(f"x{k}", "continuous", bounds=(-6.0, 6.0), declared=True) for k in range(columns)
    )
    return Dataset("numbers", named, tuple(np.clip(v, -6.0, 6.0) for v in values))


def mixed() -> Dataset:
    data = numbers(3)
    kinds = (np.digitize(data.values[1], (-0.5, 0.7))).astype(np.uint16)
    kind = Column("kind", "nominal", levels=("a", "b", "c"), declared=True)
    return Dataset("mixed", (*data.columns, kind), (*data.values, kinds))


def ordinal() -> Dataset:
    """Answers from 1 to 5, each following the one before; more cells than one table holds."""
    drawn = np.random.default_rng(8)
    values = [drawn.integers(0, 5, 1_000)]
    for _ in range(7):
        moved = np.clip(values[-1] + drawn.integers(-1, 2, 1_000), 0, 4)
        values.append(np.where(drawn.random(1_000) < 0.8, moved, drawn.integers(0, 5, 1_000)))
    named = tuple(
        Column(f"q{k}", "ordinal", levels=tuple("12345"), declared=True) for k in range(8)
    )
    return Dataset("answers", named, tuple(v.astype(np.uint16) for v in values))


def digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=_plain)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, frozenset | set):
        return sorted(value, key=repr)
    return value.as_dict() if hasattr(value, "as_dict") else repr(value)


def lasting(value: Any) -> Any:
    """A document without what differs between two runs of the same code."""
    if isinstance(value, dict):
        return {k: lasting(v) for k, v in value.items() if k not in _PASSING}
    return [lasting(item) for item in value] if isinstance(value, list) else value


def answered(data: Dataset, name: str, settings: dict[str, Any], seed: int) -> str:
    try:
        result = discover(data, name, settings, seed=seed)
    except PrivcoreError as refusal:
        return f"refused {digest(str(refusal))}"
    report = run_report(result, data, references_of(data, result, non_private=result), seed=seed)
    separated = sorted((list(k), sorted(v)) for k, v in result.separating_sets.items())
    # A step's values may end in another digit by another order of sums; what was decided may not.
    steps = [(s.order, s.x, s.y, s.conditioning_set, s.phase, s.independent) for s in result.trace]
    planned = [event.as_dict() for event in result.planned]
    charges = [step.charge for step in result.trace]
    return digest([lasting(report), separated, planned, charges, steps])


def runs() -> Iterator[tuple[str, str]]:
    kinds = {"tables": tables(), "numbers": numbers(), "mixed": mixed(), "ordinal": ordinal()}
    for name, algorithm in ALGORITHMS.items():
        declared = {parameter.name: parameter for parameter in algorithm.parameters}
        for calibration in algorithm.calibrations:
            for kind, data in kinds.items():
                for variant, changed in _VARIANTS.items():
                    if not changed.keys() <= declared.keys():
                        continue
                    if not all(declared[k].takes(v) for k, v in changed.items()):
                        continue
                    if calibration != "proven" and variant not in ("default", "large"):
                        continue
                    few = {key: value for key, value in _FEW.items() if key in declared}
                    settings = {**few, **changed}
                    if calibration != "none":
                        settings["calibration"] = calibration
                    for seed in (1, 2):
                        line = f"{name} {calibration} {kind} {variant} {seed}"
                        yield line, answered(data, name, settings, seed)


def releases(folder: Path) -> Iterator[tuple[str, str]]:
    made, others = Ledger(folder / "ledger.sqlite"), Ledger(folder / "others.sqlite")
    for ledger in (made, others):
        ledger.set_total("all", 100.0, 1e-3, "basic")
    forms = {
        "table": (tables(), {}),
        "pairs": (tables(), {"whole_table": 0}),
        "numbers": (numbers(), {}),
        "mixed": (mixed(), {}),
        "ordinal": (ordinal(), {}),
    }
    for form, (data, parameters) in forms.items():
        first = release(
            data, "moment-search", parameters, ledger=made, budget="all", keep_numbers=True
        )
        yield f"certificate {form}", digest(lasting(dict(first.certificate)))
        yield f"release file {form}", digest(lasting(dict(first.numbers or {})))
        file = parsed_file(file_text(first.numbers or {}).encode())
        again = search_files([file], {"threshold": 0.2} if form == "numbers" else {})
        yield (
            f"searched again {form}",
            digest([again.graph, [f.as_dict() for f in again.findings.values()]]),
        )
        second = release(
            data,
            "moment-search",
            {**file.parameters, "epsilon": 2.0},
            ledger=others,
            budget="all",
            keep_numbers=True,
            like=file,
        )
        yield f"release file like {form}", digest(lasting(dict(second.numbers or {})))
        files = [file, parsed_file(file_text(second.numbers or {}).encode())]
        yield f"pooled {form}", digest(search_files(files).graph)
    for name in ("laplace-pc", "priv-pc", "em-pc", "lapmech", "privpc-star", "noleaks"):
        one = release(tables(), name, {}, ledger=made, budget="all")
        yield f"certificate {name}", digest(lasting(dict(one.certificate)))


def printed(*words: str) -> str:
    """What a command prints as JSON."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = command([*words, "--json"])
    return digest([code, lasting(json.loads(out.getvalue()))])


def commands() -> Iterator[tuple[str, str]]:
    calls = {
        "effect": (
            "effect",
            "--cause",
            "smoke",
            "--outcome",
            "lung",
            "--network",
            "asia",
            "--seed",
            "3",
        ),
        "discover": ("discover", "--network", "sachs", "--rows", "5000", "--seed", "3"),
        "known": ("discover", "--network", "asia", "--seed", "3", "--forbid", "smoke--lung"),
        "example": ("discover", "--example", "linear-gaussian", "--seed", "3"),
    }
    for name, words in calls.items():
        yield f"command {name}", printed(*words)


class _OneDraw(SimulatedNoise):
    """In place of secure noise: the same noise in every release."""

    kind = "secure"

    def __init__(self) -> None:
        super().__init__(11)


def main() -> None:
    options = parsed(argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]))
    kernels.load()
    for line, found in islice(runs(), 2 if options.smallest else None):
        print(f"{line:<60} {found}", flush=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        patch("privcore.releases.release.SecureNoise", _OneDraw),
    ):
        for line, found in releases(Path(folder)):
            print(f"{line:<60} {found}", flush=True)
    for line, found in commands():
        print(f"{line:<60} {found}", flush=True)


if __name__ == "__main__":
    main()
