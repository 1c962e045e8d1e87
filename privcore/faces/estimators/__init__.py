"""A scikit-learn-style class for each algorithm in the registry.

A class is named after its algorithm, with the spelling of the algorithm's title: moment-search is
`MomentSearch`, priv-pc is `PrivPC`.

>>> import pandas as pd
>>> from privcore import MomentSearch
>>> frame = pd.DataFrame({"rain": ["no", "yes"] * 500, "wet": ["no", "yes"] * 500})
>>> search = MomentSearch(epsilon=0.5, random_state=7).fit(frame)
>>> search.edges_[["from", "to", "kind"]].to_dict("records")
[{'from': 'rain', 'to': 'wet', 'kind': 'undirected'}]
>>> search.guarantee_.epsilon, search.guarantee_.calibration
(0.5, 'proven')
>>> search
MomentSearch(epsilon=0.5, random_state=7)

With `random_state=None` the noise is secure.  With an integer the run is a simulation, which can
be repeated but is not a release.
"""

from privcore.algorithms import ALGORITHMS
from privcore.faces.estimators.base import Estimator as Estimator
from privcore.faces.estimators.base import estimator_of

# By algorithm.  `python -m privcore.faces.estimators.stub` writes their types, in `__init__.pyi`.
ESTIMATORS = {a.name: estimator_of(a, __name__) for a in ALGORITHMS.values()}
globals().update({made.__name__: made for made in ESTIMATORS.values()})
__all__ = ["ESTIMATORS", "Estimator", *(made.__name__ for made in ESTIMATORS.values())]
