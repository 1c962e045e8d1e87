"""Reproductions of the papers' tables and figures: the printed values next to ours."""
