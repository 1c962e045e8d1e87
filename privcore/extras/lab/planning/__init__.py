"""Planning: the expected results of a budget before it is spent."""
