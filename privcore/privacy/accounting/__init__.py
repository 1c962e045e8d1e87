"""Accounting: the privacy guarantee of a run, and filters that enforce this guarantee."""

from privcore.privacy.accounting.guarantee import Guarantee
from privcore.privacy.accounting.plan import Plan, PrivacyFilter, plan_rounds

__all__ = ["Guarantee", "Plan", "PrivacyFilter", "plan_rounds"]
