"""Demonstrations of single mechanisms, each with controls, a formula and code that runs."""

from privcore.demonstrations.panel import Panel
from privcore.demonstrations.registry import PANELS, get_panel

__all__ = ["PANELS", "Panel", "get_panel"]
