"""A number for each category, as they come."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from skstream.preprocessing._categories import MISSING, UNKNOWN, CategoryEncoder, Numbering
from skstream.utils._sklearn import Interval


class StreamOrdinalEncoder(OneToOneFeatureMixin, CategoryEncoder):
    """Numbers for categories that are learnt as they come.

    The category of a column that is learnt first is 0, the next new one 1, and so on. A category
    that has not been learnt is shown as `unknown_value`.

    Parameters
    ----------
    max_categories : int, default=None
        Number of codes for each column, at least 2. The last one is for all categories that come
        when the others are taken; from then on it also stands for those that have not been learnt.
        None: every category gets a code of its own.
    unknown_value : float, default=-1
        What stands for a category that has not been learnt; may be NaN.
    encoded_missing_value : float, default=None
        What stands for a missing value (NaN, None, NaT, pandas' NA); may be NaN. None: a missing
        value is a category like any other.

    Attributes
    ----------
    codes_ : list of dict
        For each column the categories learnt so far, and their codes. A missing value is None.
    categories_ : list of ndarray
        For each column its categories, in the order of their codes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came in a data frame with string names.

    See Also
    --------
    StreamOneHotEncoder : A column for each category, which linear models need.
    sklearn.preprocessing.OrdinalEncoder : For categories that are known beforehand.

    Notes
    -----
    In a `StreamPipeline` a row that is learnt shows its category as known, and a row that is asked
    shows it as unknown if it is new.

    `fit_transform` learns all rows before it transforms the first one, and so does a pipeline that
    learns several rows in one call. Where that would look ahead, pass the rows one by one.

    Memory does not grow with the stream where `max_categories` is given; otherwise it takes one
    number for each category. For `CategoricalNB`, which takes no negative numbers, give
    ``unknown_value=max_categories`` and ``min_categories=max_categories + 1`` to the model.

    Examples
    --------
    >>> from skstream.preprocessing import StreamOrdinalEncoder
    >>> encoder = StreamOrdinalEncoder().partial_fit([["red"], ["blue"], ["red"]])
    >>> encoder.transform([["blue"], ["red"], ["green"]])
    array([[ 1.],
           [ 0.],
           [-1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_categories": [Interval(Integral, 2, None, closed="left"), None],
        "unknown_value": [Real],
        "encoded_missing_value": [Real, None],
    }

    def __init__(
        self,
        max_categories: int | None = None,
        *,
        unknown_value: float = -1,
        encoded_missing_value: float | None = None,
    ):
        self.max_categories = max_categories
        self.unknown_value = unknown_value
        self.encoded_missing_value = encoded_missing_value

    @property
    def _numbering(self) -> Numbering:
        limit = None if self.max_categories is None else int(self.max_categories)
        return Numbering(limit, self.encoded_missing_value is None)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Encode rows, with the categories known now.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_features), dtype float64
            The codes.
        """
        return numbered(self, self._codes(X))


def numbered(encoder: StreamOrdinalEncoder, codes: NDArray[np.int64]) -> NDArray[np.float64]:
    """Codes as they come out."""
    numbers = codes.astype(np.float64)
    numbers[codes == UNKNOWN] = encoder.unknown_value
    if encoder.encoded_missing_value is not None:
        numbers[codes == MISSING] = encoder.encoded_missing_value
    return numbers
