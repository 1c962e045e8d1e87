"""Tests and scores on counts with known Gaussian noise.

The released counts are the output of a Gaussian mechanism, so the variance that noise adds to any
statistic is known; the tests here add this variance to the sampling variance under the null
hypothesis.
"""
