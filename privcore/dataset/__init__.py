"""Data sets: tables with public levels and bounds, built-in networks, structural examples."""

from privcore.dataset.building import Missing, build_dataset
from privcore.dataset.discretise import discretise, intervals
from privcore.dataset.model import Column, Dataset, Kind, constant_columns
from privcore.dataset.network import NETWORKS, BayesianNetwork, load_network
from privcore.dataset.reading import RawTable, read_table
from privcore.dataset.schema import ColumnSchema, declare, infer_schema, table_warnings
from privcore.dataset.structural import StructuralExample
from privcore.dataset.structural_parameters import EXAMPLES, NUMERIC_EXAMPLES, example_parameters
from privcore.dataset.truth import read_true_graph

__all__ = [
    "EXAMPLES",
    "NETWORKS",
    "NUMERIC_EXAMPLES",
    "BayesianNetwork",
    "Column",
    "ColumnSchema",
    "Dataset",
    "Kind",
    "Missing",
    "RawTable",
    "StructuralExample",
    "build_dataset",
    "constant_columns",
    "declare",
    "discretise",
    "example_parameters",
    "infer_schema",
    "intervals",
    "load_network",
    "read_table",
    "read_true_graph",
    "table_warnings",
]
