"""From any file to a data set: cells read, columns proposed, levels coded or bought with noise."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
