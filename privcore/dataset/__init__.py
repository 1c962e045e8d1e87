"""Data sets: tables with public levels and bounds, and built-in Bayesian networks."""

from privcore.dataset.building import Missing, build_dataset
from privcore.dataset.discretise import discretise
from privcore.dataset.model import Column, Dataset, Kind, constant_columns
from privcore.dataset.network import NETWORKS, BayesianNetwork, load_network
from privcore.dataset.reading import RawTable, read_table
from privcore.dataset.schema import ColumnSchema, declare, infer_schema, table_warnings
from privcore.dataset.truth import read_true_graph

__all__ = [
    "NETWORKS",
    "BayesianNetwork",
    "Column",
    "ColumnSchema",
    "Dataset",
    "Kind",
    "Missing",
    "RawTable",
    "build_dataset",
    "constant_columns",
    "declare",
    "discretise",
    "infer_schema",
    "load_network",
    "read_table",
    "read_true_graph",
    "table_warnings",
]
