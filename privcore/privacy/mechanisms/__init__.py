"""Mechanisms: noise sources and the private decisions built on them."""

from privcore.privacy.mechanisms.no_noise import NoNoise
from privcore.privacy.mechanisms.noise import NoiseSource, SimulatedNoise
from privcore.privacy.mechanisms.secure import SecureNoise
from privcore.privacy.mechanisms.selection import SmoothMedian
from privcore.privacy.mechanisms.sparse_vector import (
    SieveAndExamine,
    SieveScales,
    SparseVector,
    SparseVectorScales,
)

__all__ = [
    "NoNoise",
    "NoiseSource",
    "SecureNoise",
    "SieveAndExamine",
    "SieveScales",
    "SimulatedNoise",
    "SmoothMedian",
    "SparseVector",
    "SparseVectorScales",
]
