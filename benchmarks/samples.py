"""Make the sample tables and their true graphs again: `python -m benchmarks.samples`.

A column is a function.  Its arguments after the generator and the number of rows are columns before
it, its parents in the true graph: a function uses nothing else.  No row is a person or a machine.

`--out DIR` writes elsewhere; by default the files of the package are written.
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator

from benchmarks import parsed
from privcore.intake.samples import SAMPLES

_SEED = 2024


def _chosen(rng: Generator, levels: list[str], weights: Any) -> Any:
    """A level for each row; weights: of the levels, shape (levels, rows), not normalised."""
    bounds = np.cumsum(weights, axis=0)
    return np.array(levels)[(rng.random(bounds.shape[1]) * bounds[-1] > bounds[:-1]).sum(0)]


def _answer(rng: Generator, middle: Any) -> Any:
    """An answer from 1 to 5 around a middle; shape (rows,)."""
    return np.clip(np.round(middle + rng.normal(0, 0.9, len(middle))), 1, 5).astype(int)


# --- clinic


def age(rng: Generator, n: int) -> Any:
    return np.clip(rng.normal(58, 19, n), 18, 97).round().astype(int)


def sex(rng: Generator, n: int) -> Any:
    return rng.choice(["F", "M"], n, p=[0.52, 0.48])


def admission_date(rng: Generator, n: int) -> Any:
    days = np.sort(rng.integers(0, 731, n))
    return (np.datetime64("2023-01-01") + days).astype(str)


def smoker(rng: Generator, n: int, age: Any, sex: Any) -> Any:
    man = sex == "M"
    former = np.where(age < 50, 0.08, 0.32) * np.where(man, 1.6, 0.7)
    now = np.where(age < 50, 0.32, 0.16) * np.where(man, 1.5, 0.7)
    return _chosen(rng, ["no", "former", "yes"], [1 - former - now, former, now])


def bmi(rng: Generator, n: int, age: Any) -> Any:
    return (21 + 3 * np.clip((age - 30) / 35, 0, 1) + rng.gamma(4, 1.0, n)).round(1)


def systolic_bp(rng: Generator, n: int, age: Any, bmi: Any) -> Any:
    pressure = 92 + 0.35 * age + 1.3 * (bmi - 21) + rng.normal(0, 11, n)
    # The nurse had no time, whoever the patient was.
    return pd.array(np.where(rng.random(n) < 0.015, np.nan, pressure.round()), dtype="Int64")


def admission_type(rng: Generator, n: int, age: Any, admission_date: Any) -> Any:
    month = pd.to_datetime(pd.Series(admission_date)).dt.month.to_numpy()
    winter = np.isin(month, [12, 1, 2])
    emergency = np.where(age < 65, 0.25, 0.5) + 0.25 * winter
    urgent = np.full(n, 0.2)
    return _chosen(
        rng, ["planned", "urgent", "emergency"], [1 - emergency - urgent, urgent, emergency]
    )


def length_of_stay(rng: Generator, n: int, age: Any, admission_type: Any) -> Any:
    usual = np.select([admission_type == "planned", admission_type == "urgent"], [2.2, 4.0], 6.5)
    days = usual * np.where(age < 65, 1.0, 1.5) * rng.lognormal(0, 0.65, n)
    return np.maximum(1, days.round()).astype(int)


def readmitted_30d(rng: Generator, n: int, smoker: Any, length_of_stay: Any) -> Any:
    risk = 0.06 + 0.28 * (length_of_stay >= 6) + 0.16 * (smoker == "yes")
    return np.where(rng.random(n) < risk, "yes", "no")


def _notes(rng: Generator, n: int) -> Any:
    """Free text: nearly every row has one of its own."""
    doctors = ["Weber", "Okafor", "Lindqvist", "Moreau", "Haddad", "Novak", "Silva", "Tanaka"]
    states = [
        "feels better",
        "slept badly",
        "in some pain",
        "eats well",
        "anxious",
        "no complaints",
    ]
    plans = ["bloods tomorrow", "walk the corridor", "family informed", "X-ray repeated", "rest"]
    return [
        f"Dr {doctor} at {minute // 60:02}:{minute % 60:02}: {state}, {plan}."
        for doctor, minute, state, plan in zip(
            rng.choice(doctors, n),
            rng.integers(0, 1440, n),
            rng.choice(states, n),
            rng.choice(plans, n),
            strict=True,
        )
    ]


def _clinic(rng: Generator, n: int, columns: dict[str, Any]) -> str:
    frame = pd.DataFrame(
        {"patient_id": rng.permutation(90_000)[:n] + 10_000, **columns, "notes": _notes(rng, n)}
    )
    return str(frame.to_csv(lineterminator="\n"))


# --- survey


def region(rng: Generator, n: int) -> Any:
    towns = [f"{place} {name}" for place in _PLACES for name in _NAMES]
    weights = 1 / (np.arange(len(towns)) + 1.5)
    return rng.choice(towns, n, p=weights / weights.sum())


_PLACES = ["Upper", "Lower", "East", "West", "New", "Old"]
_NAMES = [
    "Ashford",
    "Birkdale",
    "Corwen",
    "Dunmore",
    "Elling",
    "Farrow",
    "Glenby",
    "Hartlow",
    "Ivers",
    "Kelso",
]


def age_group(rng: Generator, n: int) -> Any:
    groups = ["18 to 29", "30 to 44", "45 to 64", "65 and over"]
    return rng.choice(groups, n, p=[0.2, 0.27, 0.31, 0.22])


def education(rng: Generator, n: int, age_group: Any) -> Any:
    old = np.select([age_group == "65 and over", age_group == "45 to 64"], [1.0, 0.5], 0.0)
    levels = ["primary", "secondary", "vocational", "university"]
    return _chosen(rng, levels, [0.08 + 0.3 * old, 0.3 + 0 * old, 0.25 + 0 * old, 0.4 - 0.25 * old])


def internet_use(rng: Generator, n: int, age_group: Any, education: Any) -> Any:
    old = np.select([age_group == "65 and over", age_group == "45 to 64"], [1.8, 0.7], 0.0)
    return _answer(rng, 3.8 - old + 0.7 * (education == "university"))


def trust(rng: Generator, n: int, education: Any) -> Any:
    return _answer(rng, 2.5 + 1.1 * (education == "university") - 0.5 * (education == "primary"))


def income(rng: Generator, n: int, region: Any, education: Any, trust: Any) -> Any:
    usual = np.select(
        [education == "primary", education == "secondary", education == "vocational"],
        [1500, 1900, 2300],
        3100,
    )
    city = np.char.startswith(region.astype(str), "Upper")
    earned = usual * np.where(city, 1.35, 1.0) * rng.lognormal(0, 0.35, n)
    # Who does not trust those who ask does not say.
    silent = rng.random(n) < np.where(trust <= 2, 0.22, 0.04)
    return pd.array(np.where(silent, np.nan, 10 * (earned / 10).round()), dtype="Int64")


def health(rng: Generator, n: int, age_group: Any) -> Any:
    older = np.select(
        [age_group == "65 and over", age_group == "45 to 64", age_group == "30 to 44"],
        [1.8, 1.0, 0.4],
        0.0,
    )
    return _answer(rng, 4.4 - older)


def satisfaction(rng: Generator, n: int, income: Any, health: Any) -> Any:
    stated_income = pd.Series(income).astype("float64").fillna(2200).to_numpy()
    return _answer(rng, 1.3 + 0.5 * health + 1.0 * np.clip((stated_income - 1500) / 1500, 0, 1))


def voted(rng: Generator, n: int, age_group: Any, trust: Any) -> Any:
    chance = 0.35 + 0.08 * trust + np.where(age_group == "18 to 29", -0.25, 0.0)
    return np.where(rng.random(n) < chance, "yes", "no")


def _survey(rng: Generator, n: int, columns: dict[str, Any]) -> str:
    numbers = rng.permutation(n) + 1
    ids = [f"R-{number:05}" for number in numbers]
    frame = pd.DataFrame({"respondent": ids, "wave": 3, **columns})
    return str(frame.to_csv(index=False, lineterminator="\n"))


# --- sensors


def timestamp(rng: Generator, n: int) -> Any:
    """A reading every half hour of a year."""
    times = np.datetime64("2023-01-01T00:00") + 30 * np.arange(n)
    return np.char.replace(times.astype(str), "T", " ")


def ambient_temp(rng: Generator, n: int, timestamp: Any) -> Any:
    month = pd.to_datetime(pd.Series(timestamp)).dt.month.to_numpy()
    return (12 - 11 * np.cos(2 * np.pi * (month - 1) / 12) + rng.normal(0, 5, n)).round(1)


def load(rng: Generator, n: int) -> Any:
    return (100 * rng.beta(1.6, 1.6, n)).round(1)


def speed(rng: Generator, n: int, load: Any) -> Any:
    """It saturates: beyond some load the pump turns no faster."""
    return (900 + 2100 * (1 - np.exp(-load / 25)) + rng.normal(0, 300, n)).round()


def oil_temp(rng: Generator, n: int, load: Any, ambient_temp: Any) -> Any:
    return (30 + 0.16 * load + 0.45 * ambient_temp + rng.normal(0, 6, n)).round(1)


def viscosity(rng: Generator, n: int, oil_temp: Any) -> Any:
    return (220 * np.exp(-oil_temp / 28) * rng.lognormal(0, 0.35, n)).round(1)


def vibration(rng: Generator, n: int, speed: Any) -> Any:
    """It is U-shaped: least at the speed that the pump was built for."""
    return ((0.6 + 3 * ((speed - 2400) / 600) ** 2) * rng.lognormal(0, 0.6, n)).round(2)


def pressure(rng: Generator, n: int, speed: Any, viscosity: Any) -> Any:
    bar = 2 + 2.2 * (speed / 2400) ** 2 + 0.02 * viscosity + rng.normal(0, 0.9, n)
    # The logger writes a word where the sensor did not answer.
    return np.where(rng.random(n) < 0.004, "fault", np.char.mod("%.2f", bar))


def particles(rng: Generator, n: int, vibration: Any) -> Any:
    return (40 * vibration**0.8 * rng.lognormal(0, 0.7, n)).round().astype(int)


def _sensors(rng: Generator, n: int, columns: dict[str, Any]) -> str:
    return str(pd.DataFrame(columns).to_csv(index=False, lineterminator="\n"))


# --- treatment


def age_class(rng: Generator, n: int) -> Any:
    return rng.choice(["under 40", "40 to 64", "65 and over"], n, p=[0.3, 0.4, 0.3])


def ward(rng: Generator, n: int) -> Any:
    return rng.choice(["north", "south", "west"], n, p=[0.4, 0.35, 0.25])


def severity(rng: Generator, n: int, age_class: Any) -> Any:
    severe = np.select([age_class == "under 40", age_class == "40 to 64"], [0.25, 0.45], 0.7)
    return np.where(rng.random(n) < severe, "severe", "mild")


def treatment(rng: Generator, n: int, ward: Any, severity: Any) -> Any:
    # Doctors of some wards like the new one better; severe cases get it more often everywhere.
    new = np.select([ward == "north", ward == "south"], [0.1, 0.25], 0.4)
    return np.where(rng.random(n) < new + 0.5 * (severity == "severe"), "new", "old")


def recovered(rng: Generator, n: int, severity: Any, treatment: Any) -> Any:
    well = np.where(severity == "severe", 0.4, 0.8) + 0.1 * (treatment == "new")
    return np.where(rng.random(n) < well, "yes", "no")


def _treatment(rng: Generator, n: int, columns: dict[str, Any]) -> str:
    patients = rng.permutation(np.arange(20_000, 20_000 + n))
    frame = pd.DataFrame({"patient_id": patients, **columns})
    return str(frame.to_csv(index=False, lineterminator="\n"))


Column = Callable[..., Any]
# By sample: its columns in their order, and what writes them with those beside them.
_TABLES: Mapping[str, tuple[tuple[Column, ...], Callable[..., str]]] = {
    "clinic": (
        (
            admission_date,
            age,
            sex,
            smoker,
            bmi,
            systolic_bp,
            admission_type,
            length_of_stay,
            readmitted_30d,
        ),
        _clinic,
    ),
    "survey": (
        (
            region,
            age_group,
            education,
            internet_use,
            trust,
            income,
            health,
            satisfaction,
            voted,
        ),
        _survey,
    ),
    "sensors": (
        (
            timestamp,
            ambient_temp,
            load,
            speed,
            oil_temp,
            viscosity,
            vibration,
            pressure,
            particles,
        ),
        _sensors,
    ),
    "treatment": ((age_class, ward, severity, treatment, recovered), _treatment),
}


def parents_of(column: Column) -> list[str]:
    """The columns that a column is drawn from."""
    return list(inspect.signature(column).parameters)[2:]


def table_of(name: str) -> str:
    """A sample's table as CSV text."""
    columns, write = _TABLES[name]
    rows, rng = SAMPLES[name].rows, np.random.default_rng(_SEED)
    drawn: dict[str, Any] = {}
    for column in columns:
        drawn[column.__name__] = column(rng, rows, *(drawn[name] for name in parents_of(column)))
    return write(rng, rows, drawn)


def graph_of(name: str) -> str:
    """A sample's true graph, a line "cause,effect" for each edge."""
    columns, _ = _TABLES[name]
    edges = [(parent, child.__name__) for child in columns for parent in parents_of(child)]
    return "".join(f"{cause},{effect}\n" for cause, effect in edges)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="a directory (where the samples are)")
    options = parsed(parser)
    for name, sample in SAMPLES.items():
        for path, text in ((sample.path, table_of(name)), (sample.graph, graph_of(name))):
            target = path if options.out is None else options.out / path.name
            if not options.smallest:
                target.write_bytes(text.encode())
            print(target)


if __name__ == "__main__":
    main()
