"""Damaged files of every kind: a table with a proposal for each column, or one sentence."""

import random

import pytest

from benchmarks.file_kinds import KINDS
from privcore.errors import DataError
from privcore.intake import read_table
from privcore.intake.triage import triage

FILES, QUICK = 2_000, 80
DELIMITERS = [b",", b";", b"\t", b"|", b" "]
BYTES = [*DELIMITERS, b'"', b"\n", b"\r", b"\0", b"\xff", b"'", b"#"]
# A process of its own looks at some, and some have more cells than a quick test has time for.
BROKEN = [kind for kind in KINDS if not kind.child and len(kind.names) < 100]


def mutated(whole: bytes, dice: random.Random) -> bytes:
    """A file with up to three faults."""
    data = bytearray(whole)
    for _ in range(dice.randint(1, 3)):
        if not data:
            break
        at = dice.randrange(len(data))
        upto = at + dice.choice([1, 20, 400])
        fault = dice.randrange(7)
        if fault == 0:
            data[at] = dice.randrange(256)
        elif fault == 1:
            del data[at:]
        elif fault == 2:
            data[at:at] = data[at:upto]
        elif fault == 3:
            del data[at:upto]
        elif fault == 4:
            data = data.replace(*dice.sample(DELIMITERS, 2))
        elif fault == 5:
            lines = data.splitlines(keepends=True)
            del lines[dice.randrange(len(lines))]
            data = bytearray(b"".join(lines))
        else:
            data[at : at + 1] = dice.choice(BYTES)
    return bytes(data)


@pytest.mark.parametrize(
    ("first", "count"), [(0, QUICK), pytest.param(QUICK, FILES - QUICK, marks=pytest.mark.long)]
)
def test_a_damaged_file_is_a_table_or_a_sentence(first, count):
    tables = 0
    for number in range(first, first + count):
        kind = BROKEN[number % len(BROKEN)]
        broken = mutated(kind.content(), random.Random(number))
        try:
            raw = read_table(broken, kind.filename)
            assert [proposal.name for proposal in triage(raw)] == raw.names, number
            tables += 1
        except DataError as error:
            sentence = str(error)
            assert sentence.endswith("."), number
            assert "\n" not in sentence, number
            assert len(sentence) < 400, number
    # Both happen, so that neither is tested in vain.
    assert count / 5 < tables < count
