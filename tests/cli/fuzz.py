"""Command lines that nobody should write, and files that nobody should give, from a seed.

    python -m tests.cli.fuzz --calls 10000 --seed 1

runs so many in a folder of its own and prints what it found.  Every call must end with exit code 0,
or with 2 and exactly one sentence.  What takes long by design is left out: the whole audit, the
reproductions, a Dask cluster that does not answer, and samples of millions of rows.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import signal
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from privcore.algorithms import ALGORITHMS
from privcore.data import EXAMPLES, load_network
from privcore.exchange.formats import to_dot, to_edge_csv, to_graphml
from privcore.extras.pairs import GENERATORS
from privcore.extras.pairs import PARAMETERS as PAIRWISE
from privcore.faces.cli import build_parser, main
from privcore.graphs.pdag import PDAG, to_json_dict
from privcore.releases.certificate import certificate_json
from privcore.releases.release_file import file_text
from tests.releases.steps_of import kept_release, ledger_in

# Far more than any of these calls takes; one that takes longer hangs.
PATIENCE_SECONDS = 120
NETWORK = load_network("cancer")
VALUES = [
    *("", " ", "0", "1", "2", "3", "-1", "-0", "+1", "1.5", "1e3", "1_0", "0x10", "01", "½", "٣"),
    *("nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e-400", "5e-324", "1e308"),
    *("9" * 30, "9" * 5_000, f"{2**31}", f"{2**63 - 1}", f"{2**63}", f"{2**64}", "0.1", "0.999"),
    *("auto", "none", "None", "true", "false", "yes", "all", "null"),
    *("a", "é", "名", "🙂", "\u202e", "\x1b[31m", "\n", "a\nb", "\t", "\udcff", "x" * 3_000),
    *(".", "..", "/", "../../x", "/dev/null", "/dev/full", "/nowhere/x", "folder", "~", "-", "--"),
    *("*", "%s", "{}", "$x^2$", "<b>", "=1+1", "'", '"', "\\", ",", ",,", "1,2", "1,,2", "a=b"),
    *("=", "=1", "a\udc80b", "epsilon=inf", "max-order=1e400", "nothing=1", "pc.alpha=nan"),
    *("laplace:1:1", "laplace:1e400:1", "gaussian:0:1", "laplace:1:1e400", "laplace:nan", "::"),
    *("laplace:1:" + "9" * 400, "gaussian:5e-324:9223372036854775807", "laplace:1e308:1"),
    *("proven", "published", "kendall", "refuse", "drop", "level", "asia,cancer", "rows.json"),
    *ALGORITHMS,
    *EXAMPLES,
    *GENERATORS,
]
PARAMETERS = sorted(
    {p.option for a in ALGORITHMS.values() for p in a.parameters} | {p.option for p in PAIRWISE}
)
# What a command needs to do something, and something short.
USUAL = {
    "networks": [],
    "examples": [],
    "samples": [],
    "algorithms": [],
    "discover": ["--network=cancer", "--rows=200"],
    "effect": ["--network=cancer", "--rows=200", "--cause=Smoker", "--outcome=Cancer"],
    "check": ["--network=cancer", "--rows=200", "--graph=Smoker -> Cancer; Pollution -> Cancer"],
    "direction": ["--generator=polynomial", "--rows=100"],
    "sweep": [
        "--network=cancer",
        "--rows=100",
        "--algorithms=pc,laplace-pc",
        "--seeds=1",
        "--epsilons=1",
        "--workers=1",
        "--out=rows.csv",
    ],
    "advise": ["--rows=100", "--columns=3", "--runs=1", "--algorithms=moment-search"],
    "accounts": ["--event=laplace:0.1:3"],
    "ledger": [],
    "ledger list": [],
    "ledger export": [],
    "ledger certificates": [],
    "ledger total": ["b", "--epsilon=1", "--delta=1e-6"],
    "release": [
        "--network=cancer",
        "--rows=100",
        "--algorithm=moment-search",
        "--epsilon=0.01",
        "--budget-name=b",
        "--out=folder",
    ],
    "verify": ["certificate.json"],
    "search-again": ["release.json"],
    "audit": ["--mechanism=laplace", "--runs=100"],
    "reproduce": [],
    "schema": ["--csv=table.csv"],
}
# How often each is called beside the others.
OFTEN = {
    "discover": 8,
    "effect": 4,
    "check": 4,
    "direction": 4,
    "sweep": 4,
    "schema": 4,
    "release": 3,
    "advise": 2,
    "accounts": 3,
    "verify": 2,
    "search-again": 2,
    "audit": 2,
    "reproduce": 2,
    "ledger total": 2,
}
# A cluster that does not answer is waited for, by design; and all audits take hours.
LEFT_OUT = {"--scheduler", "--all", "-h", "--help"}
FILES = {
    "--csv": "table",
    "--table": "parquet",
    "--schema": "schema",
    "--truth": "truth",
    "--confirm": "schema",
    "--ledger": "ledger",
    "--like": "release",
    "--from-release": "release",
    "--graph": "graph",
    "file": "certificate",
}


class Found(NamedTuple):
    """A call that did not end as it should."""

    words: list[str]
    problem: str


def options_of(parser: argparse.ArgumentParser, name: str = "") -> dict[str, list[str]]:
    """Every command with its options; those that take no value end in "!"."""
    found: dict[str, list[str]] = {}
    own = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for word, below in action.choices.items():
                found |= options_of(below, f"{name} {word}".strip())
        elif action.option_strings and action.option_strings[-1] not in LEFT_OUT:
            own.append(action.option_strings[-1] + "!" * (action.nargs == 0))
    return found | ({name: own} if name else {})


def good_files() -> dict[str, dict[str, bytes]]:
    """Files that commands take, by what they are."""
    frame = pd.DataFrame(
        {
            c.name: pd.Series(v).map(dict(enumerate(c.levels)))
            for c, v in zip(*_sample(), strict=True)
        }
    )
    parquet = io.BytesIO()
    frame.to_parquet(parquet)
    graph = PDAG.from_names(NETWORK.names, directed=NETWORK.edges)
    levels = [{"name": c.name, "levels": list(c.levels)} for c in _sample()[0]]
    numbers = [{"name": "x", "bounds": [0, 1e6], "bins": 3}, {"name": "y", "cut_points": [1, 2]}]
    bif = "".join(f"probability ( {b} | {a} ) {{}}\n" for a, b in NETWORK.edges)
    return {
        "table": {
            "table.csv": frame.to_csv(index=False).encode(),
            "t.tsv": frame.to_csv(index=False, sep="\t").encode("utf-16"),
            "numbers.csv": b"x,y\n" + b"".join(b"%d,%d.5\n" % (i, i % 7) for i in range(60)),
            "t.parquet": parquet.getvalue(),
        },
        "parquet": {"table.parquet": parquet.getvalue()},
        "schema": {
            "schema.json": json.dumps({"columns": levels}).encode(),
            "numbers.json": json.dumps(numbers).encode(),
        },
        "truth": {
            "g.csv": to_edge_csv(graph).encode(),
            "g.dot": to_dot(graph).encode(),
            "g.graphml": to_graphml(graph).encode(),
            "g.bif": bif.encode(),
        },
        "graph": {
            "own.txt": b"dag { Smoker [exposure]; Cancer [outcome]; Smoker -> Cancer; U [latent] }",
            "own.dot": to_dot(graph).encode(),
            "own.json": json.dumps(to_json_dict(graph)).encode(),
        },
        "certificate": {
            "certificate.json": certificate_json(
                {"format": "x", "id": "1", "release": {"epsilon": 1.0}}
            ).encode()
        },
        "release": {"release.json": _release_file()},
        "ledger": {"ledger.sqlite": b"SQLite format 3\0" + bytes(200)},
    }


def _release_file() -> bytes:
    """A true one, by a ledger that is gone."""
    with tempfile.TemporaryDirectory() as folder:
        made, _ = kept_release(ledger_in(Path(folder)), NETWORK.sample(100, 1))
        return file_text(made.numbers).encode()


def _sample():
    dataset = NETWORK.sample(60, 1)
    return dataset.columns, dataset.values


HOSTILE = [
    b"",
    b" ",
    b"\n" * 50,
    b"\0" * 100,
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"PAR1",
    b"PAR1" * 20,
    b"{",
    b"[",
    b"[" * 5_000,
    b"null",
    b"[]",
    b"{}",
    b"1e999",
    b'{"columns": 1}',
    b'{"columns": [1]}',
    b'{"columns": [{"name": "x", "bounds": [1e999, 2]}]}',
    b'{"columns": [{"name": 1}]}',
    b'{"columns": [{"name": "x", "cut_points": [' + b"9" * 400 + b"]}]}",
    b'{"columns": [{"name": "\\ud800", "levels": ["\\udfff", "b"]}, {}]}',
    b'{"columns": [{"name": "x", "bounds": [0, 1], "bins": 99999999999999999999}]}',
    b'{"columns": [{"name": ["x"], "kind": {}}]}',
    b'{"columns": [{"name": "x", "kind": []}]}',
    b'{"columns": [{"name": "x", "levels": [null, true, 1e999]}]}',
    b"a,b\n1,2\n",
    b"a,b\n1,2\n1,2\n",
    b"a,b\n1\n2\n",
    b"a,a\n1,2\n2,1\n",
    b",\n1,2\n2,1\n",
    b"a,b\n" + b'"' * 1_001,
    b"a,b\n1," + b"9" * 500 + b"\n2,1\n",
    b"a,b\ninf,1\nnan,2\n9,3\n" * 9,
    b"\xff,b\n1,2\n2,1\n" * 3,
    b"a;b\r1;2\r2;1\r",
    b"a,b\n" + b"1,2\n2,1\n" * 9 + b"\0",
    b"probability (" + b" " * 5_000,
    b"digraph {",
    b"digraph { " + b"{" * 5_000,
    b"graph { a--b }",
    b"digraph { Smoker -> Cancer -> Smoker }",
    b"<?xml version='1.0'?><!DOCTYPE x><graphml/>",
    b"<graphml",
    b"<a>" * 5_000,
    b"<graphml xmlns='http://graphml.graphdrawing.org/xmlns'/>",
    b"Smoker,Smoker\n",
    b"Smoker -> Cancer -> Smoker\n",
    b"SQLite format 3\0",
    b'{"id": NaN}',
]


def mutated(content: bytes, random_: random.Random) -> bytes:
    """The file, or one that is nearly it, or another altogether."""
    kind = random_.randrange(6)
    if kind == 0:
        return random_.choice(HOSTILE)
    changed = bytearray(content)
    if kind == 1:
        return bytes(changed[: random_.randrange(len(changed) + 1)])
    if kind == 2:
        for _ in range(random_.choice([1, 3, 30])):
            changed[random_.randrange(len(changed))] = random_.randrange(256)
    elif kind == 3:
        at = random_.randrange(len(changed))
        changed[at:at] = random_.choice(VALUES).encode("utf-8", "replace") * random_.choice([1, 50])
    elif kind == 4:
        ends = sorted(random_.randrange(len(changed)) for _ in range(2))
        changed[slice(*ends)] = changed[slice(*ends)] * 2
    return bytes(changed)


class Fuzzer:
    """Calls in the current folder, which should be empty and several folders deep."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._files = good_files()
        self._options = options_of(build_parser())
        del self._options["app"]  # It becomes a server, which does not end.
        self.codes: Counter[int] = Counter()
        Path("folder").mkdir(exist_ok=True)
        for named in self._files.values():
            for name, content in named.items():
                Path(name).write_bytes(content)

    def words(self) -> list[str]:
        """A command line."""
        choice = self._random.choice
        commands = list(self._options)
        (command,) = self._random.choices(commands, [OFTEN.get(name, 1) for name in commands])
        given = list(USUAL[command])
        for _ in range(self._random.choice([0, 1, 1, 1, 2, 3])):
            option = choice(self._options[command] or [choice(VALUES)])
            if option.endswith("!"):
                given.append(option[:-1])
                continue
            if option in ("--csv", "--table", "--example", "--network", "--generator"):
                # The source that it names is to be the only one.
                given = [w for w in given if not w.startswith(("--network", "--generator"))]
            value = self._file(FILES[option]) if option in FILES else choice(VALUES)
            if option == "--algorithm" and self._random.random() < 0.7:
                value = choice(list(ALGORITHMS))
            if option in ("--set", "--grid"):
                value = f"{choice(PARAMETERS)}={value}"
            value = choice(VALUES) if self._random.random() < 0.1 else value
            given = [w for w in given if not w.startswith(f"{option}=")] + [f"{option}={value}"]
        if command == "verify" and self._random.random() < 0.9:
            given[0] = self._file("certificate")
        if command == "search-again" and self._random.random() < 0.5:
            given[0] = self._file("release")
        if command == "reproduce" and self._random.random() < 0.5:
            given.append(choice(VALUES))
        if self._random.random() < 0.05:
            given.insert(self._random.randrange(len(given) + 1), choice(VALUES))
        return [*command.split(), *given]

    def _file(self, kind: str) -> str:
        name, content = self._random.choice(list(self._files[kind].items()))
        if self._random.random() < 0.3:
            return name
        stem, _, ending = name.rpartition(".")
        odd = self._random.choice(["", " ", "é", "\udcff"])
        other = f"{stem}{odd}-bad.{ending}"
        Path(other).write_bytes(mutated(content, self._random))
        return other

    def call(self) -> Found | None:
        """One call; what is wrong with how it ended, None if nothing is."""
        words = self.words()
        if os.environ.get("FUZZ_SHOW"):
            print(words, file=sys.__stderr__, flush=True)
        out, err = io.StringIO(), io.StringIO()
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), limited():
                code = main(words)
        except SystemExit as stop:
            code = stop.code
        except BaseException:
            return Found(words, traceback.format_exc())
        self.codes[code] += 1
        said = err.getvalue()
        if code not in (0, 2):
            return Found(words, f"exit code {code}: {said}")
        if code == 2 and not re.fullmatch(r"[^\n]+(\.|see --help\.)\n", said):
            # A sweep says on its way what it leaves out.
            return Found(words, f"not one sentence: {said!r}")
        if "Traceback" in said or max(map(len, said.split("\n"))) > 1_200:
            return Found(words, f"long: {said!r}")
        return None


class Hangs(BaseException):
    """A call takes too long; no handler of errors catches it."""


@contextlib.contextmanager
def limited():
    def stop(*_):
        raise Hangs

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def sandbox():
    """A deep folder to be in, with a ledger of its own."""
    before, data = Path.cwd(), os.environ.get("CAUSALVEIL_DATA_DIR")
    with tempfile.TemporaryDirectory() as top:
        inside = Path(top) / "a" / "b" / "c"
        inside.mkdir(parents=True)
        os.chdir(inside)
        os.environ["CAUSALVEIL_DATA_DIR"] = str(Path(top) / "data")
        try:
            yield
        finally:
            os.chdir(before)
            os.environ.pop("CAUSALVEIL_DATA_DIR")
            if data is not None:
                os.environ["CAUSALVEIL_DATA_DIR"] = data


def run(calls: int, seed: int) -> tuple[Counter[int], list[Found]]:
    """How calls ended, by exit code; and those that did not end as they should."""
    with sandbox():
        fuzzer = Fuzzer(seed)
        found = [problem for _ in range(calls) if (problem := fuzzer.call())]
    return fuzzer.codes, found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="many hostile calls of the command line")
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    ended, problems = run(asked.calls, asked.seed)
    for problem in problems:
        print(problem.words, problem.problem, sep="\n", end="\n\n")
    print(f"{asked.calls:,} calls, by exit code {dict(ended)}; {len(problems):,} problems")
    sys.exit(bool(problems))
