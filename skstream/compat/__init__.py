"""Models of other libraries as estimators of scikit-learn, and the other way."""

import skstream.compat._river_rows  # noqa: F401 - offers the core data sets of River
from skstream.compat._capymoa import CapyMOAClassifier, from_capymoa
from skstream.compat._river import RiverClassifier, RiverRegressor, from_river
from skstream.compat._to_river import to_river

__all__ = [
    "CapyMOAClassifier",
    "RiverClassifier",
    "RiverRegressor",
    "from_capymoa",
    "from_river",
    "to_river",
]
