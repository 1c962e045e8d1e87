"""Array types for function signatures. Each function's docstring gives the shapes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# One and two axes of real numbers.  NumPy's types do not record the number of axes; the names do.
Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]
# Counts, codes of levels and indices of columns.
Integers = NDArray[np.int64]
# Positions of columns in their table, such as a conditioning set.
Columns = tuple[int, ...]
