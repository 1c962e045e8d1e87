"""The version, in one place: the wheel, certificates and saved results take it from here."""

__version__ = "1.0.0"
