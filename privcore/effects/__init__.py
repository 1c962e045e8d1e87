"""Private causal effects: how setting one column changes another, with valid intervals."""

from privcore.effects.asking import effects, effects_of, without_privacy
from privcore.effects.model import Effect, Effects
from privcore.effects.plan import ALGORITHM, SHARE, EffectPlan, expected_width
from privcore.effects.question import IndexedQuestion, Question
from privcore.effects.standardisation import Estimate
from privcore.effects.truth import true_effect
from privcore.effects.words import effect_line, estimate_text, headline, width_sentence

__all__ = [
    "ALGORITHM",
    "SHARE",
    "Effect",
    "EffectPlan",
    "Effects",
    "Estimate",
    "IndexedQuestion",
    "Question",
    "effect_line",
    "effects",
    "effects_of",
    "estimate_text",
    "expected_width",
    "headline",
    "true_effect",
    "width_sentence",
    "without_privacy",
]
