"""A cache with a memory limit, safe for the threads that share a data set."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Cache(Generic[Value]):
    """A least-recently-used cache of at most `budget` bytes, as measured by `size`."""

    def __init__(self, budget: int, size: Callable[[Value], int]) -> None:
        self._budget = budget
        self._size = size
        self._used = 0
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = Lock()

    def known(self, key: Hashable) -> Value | None:
        """The value stored under `key`, or None if there is none."""
        with self._lock:
            return self._values.get(key)

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The value stored under `key`, computed first if it is absent."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        value = compute()
        with self._lock:
            if key not in self._values:
                self._values[key] = value
                self._used += self._size(value)
            while self._used > self._budget and len(self._values) > 1:
                _, dropped = self._values.popitem(last=False)
                self._used -= self._size(dropped)
        return value
