"""Releases: checked from public facts, charged to a ledger, run once, and certified."""
