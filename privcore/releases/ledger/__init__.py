"""The ledger: a chained and signed record of the budget spent on each data set."""
