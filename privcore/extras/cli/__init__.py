"""Commands of the extras; `privcore.faces.cli` finds them by name."""
