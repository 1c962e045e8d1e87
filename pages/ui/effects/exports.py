"""Downloads of an effect: its numbers, and code that reproduces them."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.ui.controls.data import Loaded
from pages.ui.layout import download
from pages.ui.texts import plain
from privcore.algorithms import get_algorithm
from privcore.display.commands import command_line, python_code
from privcore.effects import Effects
from privcore.errors import PrivcoreError
from privcore.exchange.dowhy import to_dowhy


def panel(answer: Effects, loaded: Loaded, values: dict[str, Any], share: float, seed: int) -> None:
    """Draw download buttons, and the Python code and command that repeat the run."""
    with st.container(horizontal=True):
        download("JSON", lambda: as_json(answer), "effect.json", "download-effect-json")
        # DoWhy needs one DAG, and some graphs have none.
        script, refusal = "", None
        try:
            script = to_dowhy(answer)
        except PrivcoreError as error:
            refusal = plain(str(error))
        download(
            "DoWhy",
            script,
            "effect_dowhy.py",
            "download-effect-dowhy",
            disabled=refusal is not None,
            help=refusal,
        )
    st.caption("Both files contain only private results: effects, adjustment sets, and ε.")
    st.code(python(answer, loaded, values, share, seed), language="python")
    st.code(command(answer, loaded, values, share, seed), language="bash", wrap_lines=True)


def as_json(answer: Effects) -> str:
    """The effects and the guarantee as JSON."""
    report = {**answer.as_dict(), "guarantee": answer.guarantee.as_dict()}
    return json.dumps(report, indent=1, ensure_ascii=False)


def changed(answer: Effects, values: dict[str, Any]) -> dict[str, Any]:
    """The parameters that differ from their defaults, by name; ε and δ are always included."""
    return {
        p.name: values[p.name]
        for p in get_algorithm(answer.result.algorithm).parameters
        if p.name in values and (values[p.name] != p.default or p.name in ("epsilon", "delta"))
    }


def python(answer: Effects, loaded: Loaded, values: dict[str, Any], share: float, seed: int) -> str:
    """A Python script that loads the data, computes the effects and prints the answer."""
    of_graph = python_code(
        answer.result, loaded.dataset, network=loaded.is_network, data_seed=loaded.seed, seed=seed
    )
    load = of_graph.split("result = discover(")[0].split("\n", 1)[1]
    question = answer.question
    asked = ", ".join(f"{name}={value!r}" for name, value in vars(question).items() if value)
    return (
        "from privcore.display.effects import headline\n"
        "from privcore.effects import Question, effects\n"
        f"{load}"
        f"question = Question({asked})\n"
        f"answer = effects(dataset, question, {changed(answer, values)!r}, share={share:g}, "
        f"seed={seed})\n"
        "print(headline(answer))\n"
        "print(answer.guarantee)\n"
    )


def command(
    answer: Effects, loaded: Loaded, values: dict[str, Any], share: float, seed: int
) -> str:
    """The shell command that repeats the run; an uploaded file appears by its name."""
    result = replace(answer.result, parameters={**answer.result.parameters, **values})
    words = shlex.split(
        command_line(
            result, loaded.dataset, network=loaded.is_network, data_seed=loaded.seed, seed=seed
        )
    )
    words[words.index("discover")] = "effect"
    at = words.index("--algorithm")
    question = answer.question
    named = {"from" if name == "compared" else name: one for name, one in vars(question).items()}
    options = [(name, one) for name, one in named.items() if one is not None]
    if share:
        options.append(("effect-share", f"{share:g}"))
    words[at : at + 2] = [f"--{name}={value}" for name, value in options]
    return shlex.join(word for word in words if word != "--json")
