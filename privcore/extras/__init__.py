"""Optional packages that use the core; no core module imports them.

`pairs` infers which of two variables causes the other; `audits` tests claims of privacy; `lab` runs
sweeps and gives advice before any budget is spent; `teaching` contains lessons and panels.
"""
