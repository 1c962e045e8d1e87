"""CausalVeil's engine: differentially private causal graph discovery.

>>> import privcore
>>> data = privcore.load_network("asia").sample(20_000, seed=1)
>>> result = privcore.discover(data, epsilon=1, seed=7)
>>> result.guarantee.calibration
'proven'

`dir(privcore)` lists the public interface, whose docstrings have examples; in a notebook, try
`privcore.discover?`.  All other names are internal and may change.
"""

import lazy_loader

from privcore.version import __version__ as __version__

# Names are listed once, in `__init__.pyi`, and loaded when they are first used: a command that
# needs few of them starts at once.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
