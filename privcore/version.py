"""The version number, from which the wheel, certificates and saved results take theirs."""

__version__ = "1.0.0"
