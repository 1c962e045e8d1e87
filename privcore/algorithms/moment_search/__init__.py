"""Moment search: noise-aware tests and scores on released counts and moments.

The distribution of the noise is public, so the variance that the noise adds to any statistic is
known. The tests add this variance to the sampling variance under the null hypothesis.
"""
