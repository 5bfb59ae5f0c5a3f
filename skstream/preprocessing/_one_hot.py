"""A column for each category, as they come."""

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from skstream.preprocessing._categories import CategoryEncoder, Numbering
from skstream.utils._sklearn import Interval, feature_names_in


class StreamOneHotEncoder(CategoryEncoder):
    """One-hot encoding of categories that are learnt as they come.

    Every column of categories becomes `max_categories` columns of 0 and 1, from the first row on.
    Each new category takes the next of them when it is learnt; the last one, "infrequent", is for
    all categories that come when the others are taken. A category that has not been learnt is
    unknown: all its columns are 0, as long as columns are free. When none is, it is shown as
    infrequent, as it will be when it is learnt.

    A missing value (NaN, None, NaT, pandas' NA) is a category like any other.

    Parameters
    ----------
    max_categories : int, default=20
        Number of columns that come out for each column, at least 2, the one for infrequent
        categories included.
    sparse_output : bool, default=True
        Whether a CSR matrix comes out; otherwise an array.

    Attributes
    ----------
    codes_ : list of dict
        For each column the categories learnt so far, and the number of the column that each has
        among those of its own. A missing value is None.
    categories_ : list of ndarray
        For each column its categories, in the order of the columns that come out.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Their names, where the rows came in a data frame with string names.

    See Also
    --------
    StreamOrdinalEncoder : One number for each category.
    sklearn.preprocessing.OneHotEncoder : For categories that are known beforehand.

    Notes
    -----
    In a `StreamPipeline` a row that is learnt shows its category as known, and a row that is asked
    shows it as unknown if it is new.

    `fit_transform` learns all rows before it transforms the first one, and so does a pipeline that
    learns several rows in one call. Where that would look ahead, pass the rows one by one.

    The columns that come out are named by number (``colour_0``, ``colour_1``, ...,
    ``colour_infrequent``), since names must not change while a model learns from them.
    `categories_` says which category each one is.

    Memory does not grow with the stream: infrequent categories are not kept.

    Examples
    --------
    >>> from skstream.preprocessing import StreamOneHotEncoder
    >>> encoder = StreamOneHotEncoder(max_categories=3, sparse_output=False)
    >>> encoder.partial_fit([["red"]]).transform([["red"], ["blue"]])
    array([[1., 0., 0.],
           [0., 0., 0.]])
    >>> encoder.partial_fit([["blue"], ["green"]]).transform([["red"], ["blue"], ["green"]])
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "max_categories": [Interval(Integral, 2, None, closed="left")],
        "sparse_output": ["boolean"],
    }

    def __init__(self, max_categories: int = 20, *, sparse_output: bool = True):
        self.max_categories = max_categories
        self.sparse_output = sparse_output

    @property
    def _numbering(self) -> Numbering:
        return Numbering(int(self.max_categories))

    def transform(self, X: Any) -> Any:
        """Encode rows, with the categories known now.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        {csr_matrix, ndarray} of shape (n_rows, n_features * max_categories)
            One 1 for each category that is known, else 0.
        """
        return shown(self, self._codes(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns that come out.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features,), default=None
            Names of the columns that go in, where they have none of their own.

        Returns
        -------
        ndarray of shape (n_features * max_categories,), dtype object
            Name of the column with a number or "infrequent".
        """
        check_is_fitted(self)
        endings = [*map(str, range(self.max_categories - 1)), "infrequent"]
        names = feature_names_in(self, input_features)
        return np.array([f"{name}_{ending}" for name in names for ending in endings], dtype=object)


def shown(encoder: StreamOneHotEncoder, codes: NDArray[np.int64]) -> Any:
    """Rows of 0 and 1 of codes of shape (n_rows, n_features); negative ones are all 0."""
    n_rows, n_columns = codes.shape
    width = int(encoder.max_categories)
    known = codes >= 0
    bounds = np.zeros(n_rows + 1, dtype=np.int32)
    known.sum(axis=1).cumsum(out=bounds[1:])
    at = (codes + width * np.arange(n_columns))[known].astype(np.int32)
    shape = (n_rows, width * n_columns)
    rows = sparse.csr_matrix((np.ones(len(at)), at, bounds), shape=shape)
    return rows if encoder.sparse_output else rows.toarray()
