"""The errors that a user may see.

Every message is one sentence that says what is wrong and what to do about it.  The pages and the
command line show messages unchanged, so no message contains rows of data.  An error carries a code
and the values that its message names; `privcore/errors.toml` has the message of each code.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal


@cache
def catalogue() -> dict[str, str]:
    """The message of each code, with a field such as `{name!r}` for each value."""
    rooms = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return {code: message for room in rooms.values() for code, message in room.items()}


class PrivcoreError(ValueError):
    """Base class of all errors caused by a user's request.

    code: which error it is; a text that is no code is the message itself.  values: what the message
    names.
    """

    def __init__(self, code: str, **values: object) -> None:
        super().__init__(code)
        self.code, self.values = code, values

    def __str__(self) -> str:
        message = catalogue().get(self.code)
        return self.code if message is None else message.format(**self.values)


class DataError(PrivcoreError):
    """The data set cannot be used as it is."""


class ParameterError(PrivcoreError):
    """A parameter is unknown, or its value is not allowed."""


class BudgetError(PrivcoreError):
    """The privacy budget is too small for a charge or a useful result, or a work limit is reached.

    reason: "budget" if a charge would exceed the budget; "noise" if the remaining budget is too
    small for a useful result; "work" if the work would exceed its limit.
    """

    def __init__(
        self,
        code: str,
        reason: Literal["budget", "noise", "work"] = "budget",
        **values: object,
    ) -> None:
        super().__init__(code, **values)
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
