# What other rooms use of this one; each name is loaded when it is first used.

from .discretise import discretise as discretise
from .discretise import intervals as intervals
from .model import Column as Column
from .model import Dataset as Dataset
from .model import Kind as Kind
from .model import constant_columns as constant_columns
from .network import NETWORKS as NETWORKS
from .network import BayesianNetwork as BayesianNetwork
from .network import load_network as load_network
from .structural import EXAMPLES as EXAMPLES
from .structural import NUMERIC_EXAMPLES as NUMERIC_EXAMPLES
from .structural import StructuralExample as StructuralExample
from .structural import example_parameters as example_parameters
