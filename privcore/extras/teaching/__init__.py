"""Demonstrations of single mechanisms, each with controls, a formula and runnable code."""

from privcore.extras.teaching.panel import Panel
from privcore.extras.teaching.registry import PANELS, get_panel

__all__ = ["PANELS", "Panel", "get_panel"]
