"""What the documentation takes from the engine: tables and pages made from the registry.

    python -m docs.reference

writes the generated block of the README again; a test fails while it is not what this makes.
MkDocs calls `on_files` and gets the pages of the reference, which are nowhere on disk.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from privcore.algorithms import ALGORITHMS, Algorithm
from privcore.extras.lab.sweeps.eight_networks import eight_networks_means
from privcore.independence.registry import SCORES
from privcore.parameter import Parameter

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
EPSILONS = (0.1, 1.0, 10.0)
_BLOCK = re.compile(r"(<!-- results: .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def results_table() -> str:
    """Every algorithm with its mean skeleton F1 over eight networks at three totals."""
    means = eight_networks_means()
    networks = means["data"].nunique()
    lines = [
        "| algorithm | from | ε = 0.1 | 1 | 10 |",
        "|---|---|---|---|---|",
    ]
    for algorithm in ALGORITHMS.values():
        mine = means[means["algorithm"] == algorithm.name]
        cells = []
        for epsilon in EPSILONS:
            here = mine[mine["epsilon"] == epsilon] if algorithm.private else mine
            scores = here["mean"].dropna()
            cells.append(f"{scores.mean():.3f}" if len(scores) == networks else "–")
        if not algorithm.private:
            cells = [cells[0], *[""] * (len(EPSILONS) - 1)]
        lines.append(f"| `{algorithm.name}` | {_from(algorithm)} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _from(algorithm: Algorithm) -> str:
    source = algorithm.citation.split(";")[0].split(", Algorithm")[0].split(", Section")[0]
    return source if algorithm.private else f"{source}; not private"


def readme(text: str) -> str:
    """The README with its generated block made anew."""
    return _BLOCK.sub(lambda block: block[1] + results_table() + block[2], text)


def algorithms_page() -> str:
    """Every algorithm: what it is, where it comes from, its parameters."""
    parts = [
        "# Algorithms\n\nGenerated from the registry, `privcore.ALGORITHMS`. *Proven* is the "
        "default calibration of every private algorithm: a total (ε, δ) fixed before the run. "
        "*Published* uses a paper's own constants and is not a guarantee. "
        "[Guarantees](../guarantees.md) has what is promised, and the proofs.\n"
    ]
    for algorithm in ALGORITHMS.values():
        needs = {
            "tables": "columns with levels",
            "moments": "levels or numbers",
            "either": "levels, numbers, or both",
        }[algorithm.needs]
        output = {"cpdag": "a CPDAG", "dag": "a DAG"}[algorithm.output]
        parts.append(
            f"\n## {_escaped(algorithm.title)} {{ #{algorithm.name} }}\n\n"
            f"{_escaped(algorithm.summary)}\n\n"
            f"`{algorithm.name}` · {algorithm.citation} · calibrations: "
            f"{', '.join(algorithm.calibrations)} · takes {needs} · gives {output}\n"
        )
        if algorithm.published_flaw:
            flaw = algorithm.published_flaw.rstrip(".")
            parts.append(f"\nWhy the published calibration is not proven: {_escaped(flaw)}.\n")
        parts.append("\n" + _parameters(algorithm.parameters))
    return "".join(parts)


def scores_page() -> str:
    """Every score of independence, with its proof."""
    lines = ["# Scores\n\nGenerated from the registry of scores.\n"]
    for score in SCORES.values():
        lines.append(
            f"\n## {_escaped(score.title)} {{ #{score.name} }}\n\n{_escaped(score.help)}\n\n"
            f"`{score.name}` · {score.citation}"
        )
        if score.proof:
            lines.append(f" · [proof](../{score.proof.removeprefix('docs/')})")
        lines.append("\n")
    return "".join(lines)


def _parameters(parameters: tuple[Parameter, ...]) -> str:
    rows = ["| parameter | default | takes | what it is | source |", "|---|---|---|---|---|"]
    for parameter in parameters:
        default = "auto" if parameter.default is None else parameter.default
        meaning = parameter.help
        if parameter.auto_help:
            meaning += f" Auto: {parameter.auto_help.rstrip('.')}."
        cells = (
            f"`{parameter.option}`",
            f"{default:g}" if isinstance(default, float) else str(default).lower(),
            parameter.explained_range(),
            meaning,
            parameter.source,
        )
        rows.append(f"| {' | '.join(map(_escaped, cells))} |")
    return "\n".join(rows) + "\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*").replace("_", "\\_").replace("\n", " ")


PAGES = {"reference/algorithms.md": algorithms_page, "reference/scores.md": scores_page}


def on_files(files: Any, config: Any) -> Any:
    """MkDocs: the generated pages beside the written ones, and the project's own files."""
    from mkdocs.structure.files import File

    for name, make in PAGES.items():
        files.append(File.generated(config, name, content=make()))
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        # Links of files at the top of the repository start there; pages start in docs.
        content = text.replace("](docs/", "](")
        files.append(File.generated(config, name.lower(), content=content))
    return files


if __name__ == "__main__":
    README.write_text(readme(README.read_text(encoding="utf-8")), encoding="utf-8")
