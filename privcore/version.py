"""The version, in one place: the wheel, certificates and saved results take it from here."""

__version__ = "0.2.0"
