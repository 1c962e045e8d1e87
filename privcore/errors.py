"""The errors that a user may see.

Every message is one sentence that says what is wrong and what to do about it;
pages and the command line show it as it is, so it never carries rows of data.
"""

from __future__ import annotations

from typing import Literal


class PrivcoreError(ValueError):
    """Base of all errors caused by what the user requested."""


class DataError(PrivcoreError):
    """The data set cannot be used as it is."""


class ParameterError(PrivcoreError):
    """A parameter is outside its range, or unknown."""


class BudgetError(PrivcoreError):
    """A charge would exceed the privacy budget or buy only noise, or the work exceeds its limit.

    reason: "budget"; "noise" if the remaining budget is too small for a useful result; or "work".
    """

    def __init__(self, message: str, reason: Literal["budget", "noise", "work"] = "budget") -> None:
        super().__init__(message)
        self.reason = reason


class LedgerError(PrivcoreError):
    """The ledger, or the key stored with it, cannot be read or written."""


class ReleaseError(PrivcoreError):
    """A release failed after it was charged; the charge stays."""


class CertificateError(PrivcoreError):
    """A certificate is invalid or does not support its claims."""


class SweepError(PrivcoreError):
    """The worker processes of a sweep cannot be reached, or keep ending."""


class KernelError(PrivcoreError):
    """Loops cannot be compiled on this machine."""


class Cancelled(Exception):
    """The user stopped a run; not an error, and never shown as one."""
