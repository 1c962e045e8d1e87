"""The record of what has been spent on a data set, chained and signed."""
