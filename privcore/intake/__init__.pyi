# What other rooms use of this one; each name is loaded when it is first used.

from .building import build_dataset as build_dataset
from .coding import Missing as Missing
from .reading import RawTable as RawTable
from .reading import read_table as read_table
from .schema import ColumnSchema as ColumnSchema
