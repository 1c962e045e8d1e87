"""Planning: the results to expect from a budget, before it is spent."""
