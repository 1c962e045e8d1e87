"""Compiled loops that merge rows to their unique keys; see `kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit("Tuple((int64[:], int64[:]))(int64[::1], int64[::1])", cache=True, nogil=True)
def unique_keys(
    keys: NDArray[np.int64], weights: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Position of the first of each key that occurs, in that order, and its weight; both (u,)."""
    n = keys.size
    size = 1024
    slots = np.full(size, -1, dtype=np.int64)
    first = np.empty(512, dtype=np.int64)
    counts = np.empty(512, dtype=np.int64)
    known = 0
    for row in range(n):
        key = keys[row]
        slot = ((key * 0x9E3779B97F4A7C1 ^ (key >> 29)) >> 11) & (size - 1)
        while slots[slot] >= 0 and keys[first[slots[slot]]] != key:
            slot = (slot + 1) & (size - 1)
        if slots[slot] >= 0:
            counts[slots[slot]] += weights[row]
            continue
        slots[slot] = known
        first[known] = row
        counts[known] = weights[row]
        known += 1
        if 2 * known == size:
            # Half full: four times the room, and every key is put in again.
            size *= 4
            slots = np.full(size, -1, dtype=np.int64)
            longer = np.empty(size // 2, dtype=np.int64)
            longer[:known] = first[:known]
            first = longer
            more = np.empty(size // 2, dtype=np.int64)
            more[:known] = counts[:known]
            counts = more
            for number in range(known):
                key = keys[first[number]]
                slot = ((key * 0x9E3779B97F4A7C1 ^ (key >> 29)) >> 11) & (size - 1)
                while slots[slot] >= 0:
                    slot = (slot + 1) & (size - 1)
                slots[slot] = number
    return first[:known].copy(), counts[:known].copy()


@njit(
    [f"Tuple((int64[:], int64[:]))({kind}[::1], int64)" for kind in ("uint8", "uint16", "int32")],
    cache=True,
    nogil=True,
)
def unique_small_keys(
    keys: NDArray[np.integer[Any]], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Position of the first of each key that occurs, in that order, and how often; keys < size."""
    table = np.zeros(4 * size, dtype=np.int64)
    # Four tables in turn: a key that repeats need not wait for its last sum.
    second, third, fourth = table[size:], table[2 * size :], table[3 * size :]
    done = keys.size // 4 * 4
    for row in range(0, done, 4):
        table[keys[row]] += 1
        second[keys[row + 1]] += 1
        third[keys[row + 2]] += 1
        fourth[keys[row + 3]] += 1
    for row in range(done, keys.size):
        table[keys[row]] += 1
    occurring = 0
    for cell in range(size):
        table[cell] += second[cell] + third[cell] + fourth[cell]
        occurring += table[cell] > 0
    first = np.empty(occurring, dtype=np.int64)
    counts = np.empty(occurring, dtype=np.int64)
    known = row = 0
    while known < occurring:
        count = table[keys[row]]
        if count > 0:
            first[known] = row
            counts[known] = count
            table[keys[row]] = 0
            known += 1
        row += 1
    return first, counts


@njit("Tuple((int64[:], int64[:]))(int32[::1], int64[::1], int64[::1])", cache=True, nogil=True)
def merge_keys(
    keys: NDArray[np.int32], weights: NDArray[np.int64], table: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys that occur with some weight, in that order, and their weights; both (u,).

    table: zeros, one for each key that may occur; left as zeros again, which spares making anew.
    """
    occurring = np.empty(min(keys.size, table.size), dtype=np.int64)
    known = 0
    for row in range(keys.size):
        key = np.uint32(keys[row])
        if table[key] == 0 and weights[row] > 0:
            occurring[known] = key
            known += 1
        table[key] += weights[row]
    occurring = occurring[:known].copy()
    counts = np.empty(known, dtype=np.int64)
    for position in range(known):
        counts[position] = table[occurring[position]]
        table[occurring[position]] = 0
    return occurring, counts
