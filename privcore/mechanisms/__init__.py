"""Mechanisms: noise sources and the private decisions built on them."""

from privcore.mechanisms.noise import NoiseSource, SimulatedNoise
from privcore.mechanisms.secure import SecureNoise
from privcore.mechanisms.sieve_examine import SieveAndExamine, SieveScales
from privcore.mechanisms.smooth_median import SmoothMedian
from privcore.mechanisms.sparse_vector import SparseVector, SparseVectorScales

__all__ = [
    "NoiseSource",
    "SecureNoise",
    "SieveAndExamine",
    "SieveScales",
    "SimulatedNoise",
    "SmoothMedian",
    "SparseVector",
    "SparseVectorScales",
]
