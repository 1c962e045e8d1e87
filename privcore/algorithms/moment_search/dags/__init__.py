"""Search over DAGs and orders, and how sure its edges are."""
