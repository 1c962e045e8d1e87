"""Accounting: the guarantee that a run may claim, and filters that enforce it."""

from privcore.privacy.accounting.filter import PrivacyFilter
from privcore.privacy.accounting.guarantee import Guarantee
from privcore.privacy.accounting.plan import Plan, plan_rounds

__all__ = ["Guarantee", "Plan", "PrivacyFilter", "plan_rounds"]
