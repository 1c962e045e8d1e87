"""Private causal effects: how setting one column changes another, with valid intervals."""

from privcore.effects.adjusting import Estimate
from privcore.effects.asking import effects, effects_of, without_privacy
from privcore.effects.model import (
    ALGORITHM,
    SHARE,
    Effect,
    EffectPlan,
    Effects,
    expected_precision,
    expected_width,
)
from privcore.effects.question import IndexedQuestion, Question, true_effect

__all__ = [
    "ALGORITHM",
    "SHARE",
    "Effect",
    "EffectPlan",
    "Effects",
    "Estimate",
    "IndexedQuestion",
    "Question",
    "effects",
    "effects_of",
    "expected_precision",
    "expected_width",
    "true_effect",
    "without_privacy",
]
