"""What audits show: planted bugs, algorithms and mechanisms beside their claims, false alarms.

    python -m benchmarks.audit [--runs 100000] [--seed 1] [--processes 2] [--alarms 400]

ε = 1 throughout, with the δ of each audit, at 95 % confidence.  Runs are on each of two data sets.
A planted bug is audited with 250 runs, then with twice as many each time, until it is caught; the
confidence is that of all its audits together.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from scipy.stats import binom

from privcore.evaluation.audit import AUDITS, MECHANISMS, PLANTED, AuditCase, audit, runs_to_catch
from privcore.evaluation.audit.settings import PROCESSES, RUNS, SEED


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", help="on each data set (of each audit)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--processes", default="2")
    parser.add_argument("--alarms", type=int, default=400, help="audits of a correct mechanism")
    options = parser.parse_args()
    runs = None if options.runs is None else RUNS.parse(options.runs)
    seed, processes = SEED.parse(options.seed), PROCESSES.parse(options.processes)

    print("| planted bug | caught | audits | runs in the last | shown ε ≥ |\n|---|---|---|---|---|")
    for case in PLANTED.values():
        result = runs_to_catch(case, seed=seed, processes=processes)
        caught = "yes" if result.verdict == "violated" else "no"
        print(
            f"| {case.title} | {caught} | {result.seed - seed + 1} | {result.runs:,} "
            f"| {result.epsilon_lower:.2f} |",
            flush=True,
        )
    for title, cases in (("algorithm", AUDITS), ("mechanism", MECHANISMS)):
        print(f"\n| {title} | claim | shown ε ≥ | of the claim | runs | s |")
        print("|---|---|---|---|---|---|")
        _compare(cases.values(), runs, seed, processes)
    if options.alarms > 0:
        _count_alarms(options.alarms, seed)


def _compare(cases: Iterable[AuditCase], runs: int | None, seed: int, processes: int) -> None:
    for case in cases:
        result = audit(case, runs=runs, seed=seed, processes=processes)
        flag = "" if result.verdict == "not violated" else ", violated"
        print(
            f"| {case.name} | ({result.epsilon:g}, {result.delta:g}) | {result.epsilon_lower:.3f} "
            f"| {100 * result.ratio:.0f} %{flag} | {result.runs:,} | {result.seconds:.1f} |",
            flush=True,
        )


def _count_alarms(audits: int, seed: int) -> None:
    """How often a mechanism that uses all of its ε is called a violation."""
    results = [audit(MECHANISMS["laplace"], runs=4000, seed=seed + k) for k in range(audits)]
    flagged = sum(result.verdict == "violated" for result in results)
    usual = binom.ppf(0.999, audits, 0.05)
    print(
        f"\n{flagged} of {audits} audits of Laplace noise, with 4,000 runs each, call it a "
        f"violation; 5 % would be {0.05 * audits:g}, and hardly ever more than {usual:.0f}."
    )


if __name__ == "__main__":
    main()
