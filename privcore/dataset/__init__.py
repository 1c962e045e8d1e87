"""Data sets: tables with public levels and bounds, and built-in Bayesian networks."""

from privcore.dataset.model import Column, Dataset, Kind, constant_columns
from privcore.dataset.network import NETWORKS, BayesianNetwork, load_network

__all__ = [
    "NETWORKS",
    "BayesianNetwork",
    "Column",
    "Dataset",
    "Kind",
    "constant_columns",
    "load_network",
]
