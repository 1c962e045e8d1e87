"""Planning: the results to expect from a budget before the budget is spent."""
