"""Mechanisms: noise sources and the private decisions built on them."""

from privcore.privacy.mechanisms.no_noise import NoNoise
from privcore.privacy.mechanisms.noise import NoiseSource, SimulatedNoise
from privcore.privacy.mechanisms.secure import SecureNoise
from privcore.privacy.mechanisms.sieve_examine import SieveAndExamine, SieveScales
from privcore.privacy.mechanisms.smooth_median import SmoothMedian
from privcore.privacy.mechanisms.sparse_vector import SparseVector, SparseVectorScales

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
