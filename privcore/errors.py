"""The errors that a user may see.

Every message is one sentence that says what is wrong and what to do about it;
pages and the command line show it as it is, so it never carries rows of data.
"""


class PrivcoreError(ValueError):
    """Base of all errors caused by what the user asked for."""


class DataError(PrivcoreError):
    """The data set cannot be used as it is."""


class ParameterError(PrivcoreError):
    """A parameter is outside its range, or unknown."""


class BudgetError(PrivcoreError):
    """A charge would exceed the privacy budget."""


class Cancelled(Exception):
    """The user stopped a run; not an error, and never shown as one."""
