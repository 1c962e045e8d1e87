"""What constraint-based algorithms share, and what any algorithm is; knows no algorithm."""
