"""The version number, which the wheel, certificates and saved results also contain."""

__version__ = "1.0.0"
