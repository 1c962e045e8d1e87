"""Accounting: what a run may claim, and filters that keep it to that."""

from privcore.accounting.filter import PrivacyFilter
from privcore.accounting.guarantee import Guarantee
from privcore.accounting.plan import Plan, plan_rounds

__all__ = ["Guarantee", "Plan", "PrivacyFilter", "plan_rounds"]
