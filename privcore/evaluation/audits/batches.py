"""Runs of an audit in batches, each with noise of its own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from privcore.evaluation.audits.case import Side, Trial
from privcore.evaluation.audits.outputs import Outputs
from privcore.privacy.mechanisms import SimulatedNoise


class Batch(NamedTuple):
    """So many runs on one side, with the noise of batch `number`."""

    side: Side
    number: int
    runs: int


def batches(runs: int, size: int) -> list[Batch]:
    """Batches of `size` runs, and a smaller last one, on both sides in turn."""
    found = []
    for number, start in enumerate(range(0, runs, size)):
        sides: tuple[Side, Side] = (0, 1)
        found += [Batch(side, number, min(size, runs - start)) for side in sides]
    return found


def perform(trial: Trial, seed: int, batch: Batch) -> Outputs:
    """One batch; its noise follows from the seed, the side and the number alone."""
    noise = SimulatedNoise(np.random.SeedSequence(seed, spawn_key=(batch.side, batch.number)))
    return trial(batch.side, batch.runs, noise)
