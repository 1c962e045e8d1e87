"""Commands of the extras; `privcore.cli` finds them by name."""
