"""The privacy loss of a run's plan under each accountant."""

from __future__ import annotations

from privcore.algorithms import Discovery
from privcore.errors import ParameterError
from privcore.privacy.accounting.accountants import Account, side_by_side
from privcore.privacy.accounting.composition import KINDS, Event, Kind
from privcore.text import number_of, short, whole_of

PROMISED = "as promised"


def accounts(discovery: Discovery, delta: float | None = None) -> list[Account]:
    """List the promised ε, then the ε of the planned steps under each accountant (`side_by_side`).

    delta: the δ for all accountants; None for the δ of the guarantee.  If an accountant's ε is
    below the promised ε, the note on this accountant states the difference: the plan was made with
    another accountant, and a plan made with this accountant could have used less noise.  The list
    is empty for a run without a plan, that is, a run that is not proven or not private.
    """
    if not discovery.planned:
        return []
    promised = discovery.guarantee
    at_delta = promised.delta if delta is None else delta
    totals = [Account(PROMISED, promised.epsilon, f"{promised.accountant}, δ {promised.delta:g}")]
    for account in side_by_side(discovery.planned, at_delta):
        share = (account.epsilon or promised.epsilon) / promised.epsilon
        if at_delta == promised.delta and share < 1 - 1e-6:
            note = f"{1 - share:.1%} below the promise; {account.note}"
            account = account._replace(note=note)
        totals.append(account)
    return totals


def parse_event(text: str) -> Event:
    """Parse an event, KIND:VALUE or KIND:VALUE:COUNT, such as laplace:0.1:30.

    Raises ParameterError for any other text.
    """
    kind, *numbers = (part.strip() for part in text.split(":"))
    name: Kind | None = next((k for k in KINDS if k == kind.replace("-", " ")), None)
    value = number_of(numbers[0]) if 1 <= len(numbers) <= 2 else None
    count = whole_of(numbers[1]) if len(numbers) == 2 else 1
    if name is None or value is None or count is None:
        raise ParameterError("event-unreadable", text=short(text), choices=", ".join(KINDS))
    return Event(name, value, count)
