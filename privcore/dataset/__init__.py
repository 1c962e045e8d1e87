"""Data sets: tables with public levels and bounds, and built-in Bayesian networks."""

from privcore.dataset.model import Column, Dataset, Kind, constant_columns
from privcore.dataset.network import NETWORKS, BayesianNetwork, load_network
from privcore.dataset.reading import RawTable, read_table
from privcore.dataset.schema import ColumnSchema, build_dataset, declare, infer_schema
from privcore.dataset.truth import read_true_graph

__all__ = [
    "NETWORKS",
    "BayesianNetwork",
    "Column",
    "ColumnSchema",
    "Dataset",
    "Kind",
    "RawTable",
    "build_dataset",
    "constant_columns",
    "declare",
    "infer_schema",
    "load_network",
    "read_table",
    "read_true_graph",
]
