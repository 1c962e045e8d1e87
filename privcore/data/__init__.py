"""Data sets: tables with public levels and bounds, built-in networks, and structural examples."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
