"""Infer the causal direction between two numeric variables from privately released scores."""

from privcore.extras.pairs.generators import GENERATORS, PairGenerator, generator_parameters
from privcore.extras.pairs.inference import (
    Prepared,
    baseline,
    decide_many,
    infer,
    prepare,
    split,
)
from privcore.extras.pairs.pair import (
    LEAST_ROWS,
    Curves,
    Direction,
    Inference,
    LogRanges,
    Pair,
    ScoreRelease,
    Split,
    Tested,
    is_numeric,
)
from privcore.extras.pairs.parameters import PARAMETERS, check_parameters, scores_of

__all__ = [
    "GENERATORS",
    "LEAST_ROWS",
    "PARAMETERS",
    "Curves",
    "Direction",
    "Inference",
    "LogRanges",
    "Pair",
    "PairGenerator",
    "Prepared",
    "ScoreRelease",
    "Split",
    "Tested",
    "baseline",
    "check_parameters",
    "decide_many",
    "generator_parameters",
    "infer",
    "is_numeric",
    "prepare",
    "scores_of",
    "split",
]
