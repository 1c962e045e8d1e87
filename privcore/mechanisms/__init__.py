"""Mechanisms: noise sources and the private decisions built on them."""

from privcore.mechanisms.noise import NoiseSource, SecureNoise, SimulatedNoise
from privcore.mechanisms.sieve_examine import SieveAndExamine, SieveScales
from privcore.mechanisms.sparse_vector import SparseVector, SparseVectorScales

__all__ = [
    "NoiseSource",
    "SecureNoise",
    "SieveAndExamine",
    "SieveScales",
    "SimulatedNoise",
    "SparseVector",
    "SparseVectorScales",
]
