"""Levels, bounds and cut points released from the rows with noise, for a share of ε and δ.

Proof: docs/proofs/bought_domain.md.
"""

from privcore.intake.private_domain.buying import buy_domain
from privcore.intake.private_domain.plan import DomainPlan, plan_domain

__all__ = ["DomainPlan", "buy_domain", "plan_domain"]
