"""The parts that constraint-based algorithms share, and the interface of every algorithm."""
