"""The ledger: a chained and signed record of what data sets have spent."""
