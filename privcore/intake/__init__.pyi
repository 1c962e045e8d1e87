# What other rooms use of this one; each name is loaded when it is first used.

from .coding import Missing as Missing
from .coding import build_dataset as build_dataset
from .reading import RawTable as RawTable
from .reading import read_table as read_table
from .schema import ColumnSchema as ColumnSchema
