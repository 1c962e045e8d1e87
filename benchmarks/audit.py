"""Results of audits: planted bugs, then all proven claims, then false alarms.

    python -m benchmarks.audit [--runs 100000] [--seed 1] [--processes 2] [--alarms 2000]
    python -m benchmarks.audit --releases

The second makes only the table of released numbers. Claims are the audits' own, at 95 % confidence;
runs are on each of two data sets.  A planted bug is audited with 250 runs, then with twice as many
each time, until it is caught; the confidence is that of all its audits together.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from benchmarks import parsed
from privcore.extras.audits import (
    AUDITS,
    MECHANISMS,
    PAIRWISE,
    PLANTED,
    RELEASES,
    UNITS,
    AuditCase,
    audit,
    runs_to_catch,
)
from privcore.extras.audits.engine import PROCESSES, RUNS, SEED
from privcore.extras.audits.statistics import clopper_pearson_high

# Some event of theirs is exactly e^ε times likelier on one data set.
_ALL_OF_EPSILON = ("laplace", "randomised-response")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", help="on each data set (of each audit)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--processes", default="2")
    parser.add_argument("--alarms", type=int, default=2000, help="audits of each correct mechanism")
    parser.add_argument("--releases", action="store_true", help="the released numbers alone")
    options = parsed(parser, runs="40", alarms=1)
    runs = None if options.runs is None else RUNS.parse(options.runs)
    seed, processes = SEED.parse(options.seed), PROCESSES.parse(options.processes)

    if options.releases:
        _table("release of numbers", RELEASES.values(), runs, seed, processes)
        return
    most = {"most": 250} if options.smallest else {}
    print("| planted bug | caught | audits | runs in the last | shown ε ≥ |\n|---|---|---|---|---|")
    for case in PLANTED.values():
        result = runs_to_catch(case, seed=seed, processes=processes, **most)
        caught = "yes" if result.verdict == "violated" else "no"
        print(
            f"| {case.title} | {caught} | {result.seed - seed + 1} | {result.runs:,} "
            f"| {result.epsilon_lower:.2f} |",
            flush=True,
        )
    tables = {
        "release of numbers": RELEASES,
        "algorithm": AUDITS,
        "person with 5 rows": UNITS,
        "mechanism": MECHANISMS,
        "release of a direction": PAIRWISE,
    }
    for title, cases in tables.items():
        _table(title, cases.values(), runs, seed, processes)
    if options.alarms > 0:
        _count_alarms(options.alarms, seed)


def _table(
    title: str, cases: Iterable[AuditCase], runs: int | None, seed: int, processes: int
) -> None:
    print(f"\n| {title} | claim | shown ε ≥ | of the claim | runs | s |")
    print("|---|---|---|---|---|---|")
    for case in cases:
        result = audit(case, runs=runs, seed=seed, processes=processes)
        flag = "" if result.verdict == "not violated" else ", violated"
        print(
            f"| {case.name} | ({result.epsilon:g}, {result.delta:g}) | {result.epsilon_lower:.3f} "
            f"| {100 * result.ratio:.0f} %{flag} | {result.runs:,} | {result.seconds:.1f} |",
            flush=True,
        )


def _count_alarms(audits: int, seed: int) -> None:
    """How often mechanisms that use all of their ε are called a violation."""
    runs = 1000
    print(f"\n| audits of {runs:,} runs | called a violation | share | at most in theory |")
    print("|---|---|---|---|")
    for name in _ALL_OF_EPSILON:
        results = (audit(MECHANISMS[name], runs=runs, seed=seed + k) for k in range(audits))
        flagged = sum(result.verdict == "violated" for result in results)
        high = clopper_pearson_high(flagged, audits, 0.05)
        print(
            f"| {audits:,} of {name} | {flagged} | {100 * flagged / audits:.2f} % (below "
            f"{100 * high:.2f} % at 95 % confidence) | 5 % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
