"""The order of levels, and round cut points.

Finds the order of levels: words (never … always), ranges (18-25) and numbers (stage 2).

Round cut points for a column of numbers, with about equally many rows in each interval.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from privcore.arrays import Vector

# Each from the least to the most; "|" separates spellings of one step.
_SCALES = (
    "never/almost never|hardly ever|very rarely/rarely|seldom/occasionally|once in a while/"
    "sometimes|now and then/frequently|often|regularly/usually|mostly|very often|almost always/"
    "always",
    "none|no|absent/minimal|trace/very low|very small|negligible/low|small|minor|slight|weak|light/"
    "mild/lower medium/medium|moderate|middle|average|normal|intermediate|mid/upper medium/high|"
    "large|major|big|strong|heavy|severe/very high|very large|very severe|very strong/extreme|"
    "extremely high|huge|critical",
    "strongly disagree|disagree strongly|completely disagree|totally disagree/disagree|"
    "moderately disagree/somewhat disagree|slightly disagree|rather disagree|tend to disagree|"
    "disagree somewhat|disagree a little/neutral|neither agree nor disagree|undecided|"
    "neither agree or disagree|neither/somewhat agree|slightly agree|rather agree|tend to agree|"
    "agree somewhat|agree a little/agree|moderately agree/strongly agree|agree strongly|"
    "completely agree|totally agree",
    "very dissatisfied|completely dissatisfied/dissatisfied/somewhat dissatisfied|"
    "rather dissatisfied/neutral|neither|neither satisfied nor dissatisfied/somewhat satisfied|"
    "rather satisfied/satisfied/very satisfied|completely satisfied",
    "very unlikely|extremely unlikely/unlikely/somewhat unlikely/neutral|neither/somewhat likely/"
    "likely/very likely|extremely likely",
    "very unimportant|not important at all|not important|unimportant/slightly important|"
    "somewhat important/moderately important/important/very important/extremely important",
    "terrible|awful|very poor|very bad|po/poor|bad|weak|insufficient/below average|fa/fair|"
    "sufficient|passable|ta|acceptable|okay|ok|average|regular|neutral|"
    "neither|neither good nor bad/above average/good|gd/very good|great/"
    "excellent|outstanding|ex/ideal|perfect",
    "fail|failed/pass|passed/merit|credit/distinction",
    "worse|much worse/slightly worse/same|unchanged|about the same|no change/slightly better/"
    "better|improved/much better",
    "not at all/a little|slightly|a little bit/somewhat|moderately/quite a bit|quite/very|a lot|"
    "very much/extremely",
    "smallest|tiny|xxs/xs|extra small/s|small/m|medium/l|large/xl|extra large/xxl|2xl/xxxl|3xl",
    "first|1st/second|2nd/third|3rd/fourth|4th/fifth|5th/sixth|6th/seventh|7th/eighth|8th/"
    "ninth|9th/tenth|10th",
    "freshman/sophomore/junior/senior/graduate",
    "infant|baby/toddler/child|children/adolescent|teenager|teen|youth|young/young adult/"
    "adult|middle-aged|middle age/elderly|senior|old|older adult",
    "no education|no schooling|none/preschool|kindergarten/1st 4th/primary|primary school|"
    "elementary|elementary school|primary education|basic|5th 6th/7th 8th/middle school|"
    "lower secondary|junior high|9th/10th/11th/12th/some high school/secondary|"
    "secondary school|high school|upper secondary|hs-grad|"
    "high school graduate|secondary education/vocational/some college|post-secondary/"
    "assoc voc|associate|associates|associate's degree|associate degree|college/assoc acdm/"
    "tertiary|bachelor|bachelors|"
    "bachelor's|bachelor's degree|undergraduate|university|graduate|graduation|higher/"
    "master|masters|master's|master's degree|postgraduate/professional|prof-school/"
    "doctorate|phd|doctoral",
    "january|jan/february|feb/march|mar/april|apr/may/june|jun/july|jul/august|aug/"
    "september|sep|sept/october|oct/november|nov/december|dec",
    "monday|mon/tuesday|tue|tues/wednesday|wed/thursday|thu|thur|thurs/friday|fri/saturday|sat/"
    "sunday|sun",
    "winter/spring/summer/autumn|fall",
    "morning/noon|midday/afternoon/evening/night",
    "i/ii/iii/iv/v/vi/vii/viii/ix/x/xi/xii",
    "one/two/three/four/five/six/seven/eight/nine/ten",
    "nie|niemals/sehr selten/selten/gelegentlich/manchmal/häufig|oft/meistens/sehr oft|"
    "fast immer/immer",
    "keine|kein/sehr niedrig|sehr gering|sehr klein/niedrig|gering|klein|leicht/mittel|mäßig|"
    "mittelmäßig/hoch|groß|stark|schwer/sehr hoch|sehr groß|sehr stark|sehr schwer",
    "trifft gar nicht zu|trifft überhaupt nicht zu|stimme gar nicht zu|stimme überhaupt nicht zu/"
    "trifft nicht zu|stimme nicht zu/trifft eher nicht zu|stimme eher nicht zu/teils teils|"
    "teils-teils|weder noch|neutral/trifft eher zu|stimme eher zu/trifft zu|stimme zu/"
    "trifft voll zu|trifft voll und ganz zu|stimme voll zu|stimme voll und ganz zu",
    "ungenügend/mangelhaft/ausreichend/befriedigend/gut/sehr gut",
    "jamais/rarement/parfois|quelquefois/souvent/toujours",
    "très faible|très bas/faible|bas|petit|léger/moyen|modéré/élevé|haut|fort|grand/"
    "très élevé|très haut|très fort",
    "pas du tout d'accord/pas d'accord|plutôt pas d'accord/neutre|ni d'accord ni pas d'accord/"
    "plutôt d'accord/d'accord/tout à fait d'accord",
    "nunca/casi nunca/rara vez|raramente/a veces|algunas veces/a menudo|frecuentemente/"
    "casi siempre/siempre",
    "muy bajo|muy baja/bajo|baja|leve/medio|media|moderado|moderada/alto|alta|grave/muy alto|"
    "muy alta",
    "muy en desacuerdo|totalmente en desacuerdo/en desacuerdo/neutral|ni de acuerdo ni en "
    "desacuerdo/de acuerdo/muy de acuerdo|totalmente de acuerdo",
)
_STEPS = [
    {word: step for step, words in enumerate(scale.split("/")) for word in words.split("|")}
    for scale in (text.replace("-", " ") for text in _SCALES)
]
# From the worst to the best.
_GRADES = ("f", "e-", "e", "e+", "d-", "d", "d+", "c-", "c", "c+", "b-", "b", "b+", "a-", "a", "a+")
# Two levels have no order that a test could use.
_LEAST = 3
_DIGITS = r"\d+(?:[.,]\d+)*"
_RANGE = re.compile(
    rf"(?P<open><|<=|≤|under|below|less than|up to|bis|unter|über|over|above|more than|>|>=|≥)?\s*"
    rf"[$£€]?\s*(?P<low>{_DIGITS})\s*(?P<k>k)?\s*"
    rf"(?:(?:-|–|—|to|bis|\.\.|,|and)\s*[<$£€]?\s*(?P<high>{_DIGITS})\s*k?)?"
    r"\s*(?P<more>\+|plus|and over|and older|or more|or older|and above|und mehr|and up)?"
    r"\s*(?P<unit>[^\W\d]{1,12}|%)?[)\]]?"
)
_BELOW = ("<", "<=", "≤", "under", "below", "less than", "up to", "unter")
_NUMBERED = re.compile(r"(?P<name>\D*?)[\s_.:#-]*(?P<number>\d+)(?:\s*[-–:=.)]\s*\D+)?")


def in_order(levels: Sequence[str], name: str = "") -> tuple[str, ...] | None:
    """The levels in order, if their words imply an order; None otherwise.

    name: the column's name, which may show that letters are grades.

    >>> in_order(["often", "Never", "sometimes"])
    ('Never', 'sometimes', 'often')
    >>> in_order(["65+", "18-25", "26-64"])
    ('18-25', '26-64', '65+')
    >>> in_order(["red", "green", "blue"])
    """
    if len(levels) < _LEAST:
        return None
    words = [_words(level) for level in levels]
    for places in (_scale(words), _grades(words, name), _ranges(words), _numbered(words)):
        if places is not None and len(set(places)) == len(places):
            return tuple(level for _, level in sorted(zip(places, levels, strict=True)))
    return None


def _words(level: str) -> str:
    return " ".join(re.sub(r"[_]+", " ", level.casefold()).split()).strip(" .")


def _scale(words: Sequence[str]) -> list[tuple[float, ...]] | None:
    words = [word.replace("-", " ") for word in words]
    for steps in _STEPS:
        if all(word in steps for word in words):
            return [(steps[word],) for word in words]
    return None


def _grades(words: Sequence[str], name: str) -> list[tuple[float, ...]] | None:
    """Rank of each grade, if the levels are letters that are grades; otherwise None.

    Letters are grades if there is an F and no E, or a sign, or if the column's name suggests it.
    """
    if not all(word in _GRADES for word in words):
        return None
    signs = any(len(word) > 1 for word in words)
    called = re.search(r"grade|mark|rating|score", name, re.IGNORECASE)
    if not (called or signs or ("f" in words and "e" not in words)):
        return None
    return [(_GRADES.index(word),) for word in words]


def _ranges(words: Sequence[str]) -> list[tuple[float, ...]] | None:
    """Start of each range, if all levels are ranges and at least one has two ends or is open."""
    matches = [_RANGE.fullmatch(word.lstrip("([")) for word in words]
    whole = [match for match in matches if match is not None]
    ranges = (match["high"] or match["more"] or match["open"] for match in whole)
    if len(whole) < len(words) or not any(ranges):
        return None
    places: list[tuple[float, ...]] = []
    for match in whole:
        low = _number(match["low"]) * (1_000 if match["k"] else 1)
        high = _number(match["high"]) if match["high"] else low
        below = (match["open"] or "") in _BELOW and not match["high"]
        above = bool(match["more"]) or (bool(match["open"]) and not below)
        places.append((low, -1.0 if below and match["open"] else 1.0 if above else 0.0, high))
    return places


def _numbered(words: Sequence[str]) -> list[tuple[float, ...]] | None:
    """The number of each level, if all are numbered alike: stage 1, stage 2; 1 - low, 2 - high."""
    matches = [_NUMBERED.fullmatch(word) for word in words]
    named = [match for match in matches if match is not None]
    if len(named) < len(words) or len({match["name"].strip() for match in named}) > 1:
        return None
    # "ward 7" is a name, "week 12" is a step; other numbered levels count up from 0 or 1.
    numbers = sorted(int(match["number"]) for match in named)
    name = named[0]["name"].strip()
    counted = numbers[0] <= 1 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    if not (name in _STAGES or (counted and not name)):
        return None
    return [(float(match["number"]),) for match in named]


# Words whose number is an amount or a time, not a name.
_STAGES = {
    *("stage", "level", "grade", "class", "tier", "step", "phase", "wave", "round", "quartile"),
    *("quintile", "decile", "tertile", "q", "t", "year", "yr", "week", "month", "day", "visit"),
    *("score", "rank", "gen", "generation", "cycle", "degree", "stufe", "klasse", "note", "jahr"),
}


def _number(text: str) -> float:
    """Reads a number; the last mark is a decimal mark unless three digits follow every mark."""
    groups = re.split(r"[.,]", text)
    if len(groups) > 1 and all(len(group) == 3 for group in groups[1:]):
        return float("".join(groups))
    return float(".".join(("".join(groups[:-1]), groups[-1]))) if len(groups) > 1 else float(text)


def even_cuts(values: Vector, counts: Vector, parts: int) -> tuple[float, ...]:
    """Cut points, at least one, that are round numbers and give intervals of about equal counts.

    values: distinct, increasing, shape (m,), m > 1.  counts: number of rows with each value.
    Unless there are only two intervals, each has at least about half as many rows as with an
    even division.
    """
    below = np.append(0.0, np.cumsum(counts))
    total = float(below[-1])
    share = total / parts
    cuts: list[float] = []
    start = 0.0
    while len(cuts) < parts - 1:
        # The remaining rows are divided again, since one value may have more than its share.
        aim = start + (total - start) / (parts - len(cuts))
        inside = (below > start) & (below - start >= share / 2) & (total - below >= share / 2)
        candidates = np.flatnonzero(inside)
        if not candidates.size:
            break
        best = int(candidates[np.argmin(np.abs(below[candidates] - aim))])
        nearby = candidates[np.abs(below[candidates] - below[best]) <= share / 10]
        cuts.append(round_number(float(values[nearby[0] - 1]), float(values[nearby[-1]])))
        start = float(below[np.searchsorted(values, cuts[-1], side="left")])
    if not cuts:
        most = int(np.argmax(counts))
        at = most + 1 if most + 1 < len(values) else most
        cuts = [round_number(float(values[at - 1]), float(values[at]))]
    return tuple(cuts)


def round_number(low: float, high: float) -> float:
    """A number in (low, high] with as few digits as possible."""
    for power in range(math.ceil(math.log10(max(abs(low), abs(high)))) + 1, -330, -1):
        for step in (5, 2, 1):
            # Dividing by a power of ten is exact where multiplying by its inverse is not.
            unit = float(f"{step}e{power}")
            number = float(f"{(math.floor(low / unit) + 1) * unit:.15g}")
            if low < number <= high:
                return number
        if 10.0**power < (high - low) * 1e-3:
            break
    return high


def outwards(low: float, high: float) -> tuple[float, float]:
    """Bounds that enclose `low` and `high`, each rounded outwards; requires low < high.

    Bounds are rounded at the second significant digit of high − low.
    """
    unit = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    down, up = math.floor(low / unit) * unit, math.ceil(high / unit) * unit
    # Dividing and multiplying may leave rounding errors such as 0.30000000000000004.
    low_text, high_text = float(f"{down:.15g}"), float(f"{up:.15g}")
    return (low_text if low_text <= low else low), (high_text if high_text >= high else high)
