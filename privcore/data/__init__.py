"""Data sets: tables with public levels and bounds, built-in networks, structural examples."""

from privcore.data.building import Missing, build_dataset
from privcore.data.discretise import discretise, intervals
from privcore.data.model import Column, Dataset, Kind, constant_columns
from privcore.data.network import NETWORKS, BayesianNetwork, load_network
from privcore.data.reading import RawTable, read_table
from privcore.data.schema import ColumnSchema, declare, infer_schema, table_warnings
from privcore.data.structural import StructuralExample
from privcore.data.structural_parameters import EXAMPLES, NUMERIC_EXAMPLES, example_parameters
from privcore.data.truth import read_true_graph

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
