"""The errors that a user may see.

Every message is one sentence that says what is wrong and what to do about it.  The pages and the
command line show messages unchanged, so no message contains rows of data.
"""

from __future__ import annotations

from typing import Literal


class PrivcoreError(ValueError):
    """Base class of all errors caused by a user's request."""


class DataError(PrivcoreError):
    """The data set cannot be used as it is."""


class ParameterError(PrivcoreError):
    """A parameter is unknown, or its value is not allowed."""


class BudgetError(PrivcoreError):
    """The privacy budget is too small for a charge or a useful result, or a work limit is reached.

    reason: "budget" if a charge would exceed the budget; "noise" if the remaining budget is too
    small for a useful result; "work" if the work would exceed its limit.
    """

    def __init__(self, message: str, reason: Literal["budget", "noise", "work"] = "budget") -> None:
        super().__init__(message)
        self.reason = reason


class LedgerError(PrivcoreError):
    """The ledger, or the key stored with it, cannot be read or written."""


class ReleaseError(PrivcoreError):
    """A release failed after its cost was charged; the charge stays."""


class CertificateError(PrivcoreError):
    """A certificate is invalid or does not support its claims."""


class SweepError(PrivcoreError):
    """The worker processes of a sweep cannot be reached, or repeatedly stop."""


class KernelError(PrivcoreError):
    """The engine's loops cannot be compiled on this machine."""


class Cancelled(Exception):
    """The user stopped a run; this is not an error and is never shown as an error."""
