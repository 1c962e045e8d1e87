"""Tests and scores on counts that carry known Gaussian noise.

What is released is a Gaussian mechanism's output, so the variance that the noise adds to any
statistic is known; the tests here put it into the null beside the sampling variance.
"""
