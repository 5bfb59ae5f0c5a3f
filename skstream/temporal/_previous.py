"""What classifiers that use the previous labels share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream._meta import MetaClassifier
from skstream.utils._label_space import LabelSpace


class TemporalClassifier(MetaClassifier):
    """A classifier that wraps another one and keeps the labels learnt last."""

    previous_label: str
    previous_labels_: NDArray[Any]

    @property
    def _asks_row_by_row(self) -> bool:
        return self.previous_label == "predicted"

    def _previous_codes(self) -> NDArray[np.int64]:
        """Codes of the labels learnt last, newest first."""
        return LabelSpace(self.classes_).encode(getattr(self, "previous_labels_", []))
