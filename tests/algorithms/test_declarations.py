"""A declaration that contradicts itself is refused when it is made."""

from dataclasses import make_dataclass, replace

import pytest

from privcore.algorithms import ALGORITHMS
from privcore.algorithms.gradients.parameters import WeightParameters
from privcore.algorithms.search import parameters
from privcore.algorithms.search.model import _no_plan
from privcore.errors import ParameterError
from privcore.parameter import Parameters
from tests.messages import raises_code, says

LAPMECH, PC = ALGORITHMS["lapmech"], ALGORITHMS["pc"]


def taking(*declared):
    """Parameters with a field for each of those declared."""
    fields = [(p.name, object, p.field()) for p in declared]
    return make_dataclass("Taken", fields, bases=(Parameters,), frozen=True, kw_only=True)


WITHOUT_EPSILON = tuple(p for p in LAPMECH.parameters if p.name != "epsilon")


@pytest.mark.parametrize(
    ("algorithm", "changed", "message"),
    [
        # The shared parameter offers "published" too, which was answered with "proven".
        (LAPMECH, {"calibrations": ("proven",)}, says("calibrations-differ")),
        (LAPMECH, {"calibrations": ("published", "proven")}, says("calibration-by-default")),
        (
            ALGORITHMS["moment-search"],
            {"calibrations": ("proven", "published")},
            says("calibrations-differ"),
        ),
        (LAPMECH, {"calibrations": ()}, says("calibrations-once")),
        (LAPMECH, {"calibrations": ("proven", "proven")}, says("calibrations-once")),
        (LAPMECH, {"calibrations": ("proved",)}, says("calibrations-once")),
        (LAPMECH, {"calibrations": ("proven", "none")}, says("calibrations-of-both-kinds")),
        (LAPMECH, {"title": ""}, says("no-description")),
        (LAPMECH, {"takes": taking(*WITHOUT_EPSILON)}, says("no-such-parameter", name="epsilon")),
        (
            LAPMECH,
            {"takes": taking(*LAPMECH.parameters, parameters.CORRECTION)},
            says("depends-on-what-never-is"),
        ),
        (LAPMECH, {"takes": taking(*LAPMECH.parameters[1:])}, says("calibrations-differ")),
        (LAPMECH, {"published_flaw": ""}, says("no-flaw-stated")),
        (LAPMECH, {"planned": _no_plan}, says("proven-without-plan")),
        (LAPMECH, {"reference": dict}, says("no-reference")),
        (PC, {"takes": taking(*PC.parameters, parameters.EPSILON)}, says("public-with-budget")),
        (PC, {"takes": taking(*PC.parameters, parameters.PROVEN_ONLY)}, says("public-with-budget")),
    ],
)
def test_an_algorithm_checks_itself(algorithm, changed, message):
    with pytest.raises(ParameterError, match=message) as refused:
        replace(algorithm, **changed)
    assert algorithm.name in str(refused.value)


@pytest.mark.parametrize(
    ("parameter", "changed", "message"),
    [
        (parameters.EPSILON, {"name": "epsilon-total"}, says("no-program-name")),
        (parameters.EPSILON, {"kind": "double"}, says("unknown-kind")),
        (parameters.EPSILON, {"choices": ("1", "2")}, says("choices-without-choice")),
        (parameters.SPACE, {"choices": ()}, says("choices-without-choice")),
        (parameters.SPACE, {"choices": ("z", "z")}, says("choice-twice")),
        (parameters.SPACE, {"default": "q"}, says("default-not-taken")),
        (parameters.EPSILON, {"range": "[2, 1]"}, says("empty-range")),
        (parameters.EPSILON, {"default": 0.0}, says("default-not-taken")),
        (parameters.EPSILON, {"default": None}, says("default-not-taken")),
        (parameters.MAX_ORDER, {"default": 2.5}, says("default-not-taken")),
        (parameters.MAX_ORDER, {"auto_help": ""}, says("auto-unexplained")),
        (parameters.EPSILON, {"auto_help": "some"}, says("auto-unexplained")),
        (parameters.EPSILON, {"slider": (0.0, 1.0)}, says("slider-out-of-range")),
        (parameters.EPSILON, {"slider": (1.0, 1.0)}, says("slider-out-of-range")),
        (parameters.EPSILON, {"calibrations": ()}, says("matters-in-no-calibration")),
        (parameters.EPSILON, {"calibrations": ("proved",)}, says("matters-in-no-calibration")),
        (parameters.SCORE, {"limited": (("none", ("q",)),)}, says("choices-it-does-not-have")),
        (
            parameters.SCORE,
            {"limited": (("proven", ("z-star", "q")),)},
            says("choices-it-does-not-have"),
        ),
        (parameters.SPACE, {"labels": (("q", "No choice"),)}, says("labels-of-no-choice")),
        (parameters.SPACE, {"only_with": ("space", ("z",))}, says("depends-on-itself")),
    ],
)
def test_a_parameter_checks_itself(parameter, changed, message):
    with pytest.raises(ParameterError, match=message):
        replace(parameter, **changed)


def test_fields_have_the_types_of_their_parameters():
    """The type checker believes the annotation of a field; the parameter says what may be in it."""
    kinds = {"float": "float", "int": "int", "bool": "bool"}
    for algorithm in ALGORITHMS.values():
        for klass in algorithm.takes.__mro__:
            for name, annotation in vars(klass).get("__annotations__", {}).items():
                parameter = klass.__dataclass_fields__[name].metadata["declared"]
                wanted = kinds.get(parameter.kind)
                assert wanted is None or annotation.split(" | ")[0] == wanted, (klass, name)
                # Where None stands for what the kind of the columns decides, `settled` fills it in.
                filled = issubclass(klass, WeightParameters) and name != "score"
                optional = annotation.endswith(" | None")
                assert optional == parameter.optional or filled, (klass, name)


def test_a_field_that_is_no_parameter_is_refused():
    plain = make_dataclass("Plain", [("epsilon", float, 1.0)], bases=(Parameters,), frozen=True)
    renamed = [("budget", float, parameters.EPSILON.field())]
    other = make_dataclass("Renamed", renamed, bases=(Parameters,), frozen=True)
    for wrong in (plain, other):
        with raises_code(ParameterError, "field-of-another-name"):
            wrong.declared()
