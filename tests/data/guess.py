"""A schema of whatever a table holds, for tests of what is built from one."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from privcore.data.model import MAX_LEVELS
from privcore.intake.schema import ColumnSchema, parse_numbers


def guessed_schema(raw):
    """Text is nominal; at most 20 numbers are ordinal; others are cut into 4 of equal width."""
    return [_guessed(str(name), raw.frame[name]) for name in raw.frame.columns]


def _guessed(name, column):
    values = sorted(column.dropna().unique())
    numbers = parse_numbers(pd.Series(values, dtype=object))
    if not values or np.isnan(numbers).any():
        return ColumnSchema(name, "nominal", tuple(values[: MAX_LEVELS + 1]))
    if len(values) <= 20 and np.isfinite(numbers).all():
        order = np.argsort(numbers, kind="stable")
        return ColumnSchema(name, "ordinal", tuple(values[i] for i in order))
    finite = [float(v) for v in numbers if math.isfinite(v)] or [0.0]
    if len(finite) == len(values) and min(finite) == max(finite):
        return ColumnSchema(name, "nominal", tuple(values[: MAX_LEVELS + 1]))
    return ColumnSchema(name, "continuous", bounds=(min(finite), max(finite)), bins=4)


def declare(schema):
    """The schema with every level and bound declared public."""
    return [replace(column, declared=True) for column in schema]
