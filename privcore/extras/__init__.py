"""Parts that use the core; no core module imports from here.

`pairs` tells which of two variables causes the other; `audits` puts claims of privacy to the test;
`lab` runs sweeps and advises before anything is spent; `teaching` holds lessons and panels.
"""
