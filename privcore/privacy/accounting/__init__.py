"""Accounting: the privacy guarantee of a run, and filters that enforce this guarantee."""

from privcore.privacy.accounting.guarantee import Guarantee
from privcore.privacy.accounting.plan import PrivacyFilter, RoundsPlan, plan_rounds

__all__ = ["Guarantee", "PrivacyFilter", "RoundsPlan", "plan_rounds"]
