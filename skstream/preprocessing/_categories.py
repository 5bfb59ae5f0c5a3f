"""Categories numbered in the order in which the stream shows them, and encoders of them."""

from collections.abc import Sequence
from numbers import Integral, Number, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_is_fitted

from skstream.preprocessing._base import StreamTransformer, checked_values, holds
from skstream.streams._values import Factorized, column_lists, factorized_columns
from skstream.utils._rows import is_frame
from skstream.utils._sklearn import Interval, feature_names_in

Integers = NDArray[np.integer[Any]]
#: Code of a category that is not known yet, and of a missing value that is no category.
UNKNOWN = -1
MISSING = -2


class Numbering(NamedTuple):
    """How categories get their codes.

    Attributes
    ----------
    limit : int or None
        Number of codes. The last one is for every category that finds no other left; None: there is
        a code for each category.
    counts_missing : bool
        Whether a missing value is a category like any other.
    """

    limit: int | None
    counts_missing: bool = True


EVERY_CATEGORY = Numbering(limit=None)


class Encoded(NamedTuple):
    """Codes of rows learnt and of rows asked, and the categories known afterwards."""

    known: dict[Any, int]
    learnt: NDArray[np.int64]
    asked: NDArray[np.int64]


class MixedTypes(ValueError):
    """A column holds values of two types; `column` is its position, where that is known."""

    column: int | None = None

    def of_column(self, X: Any) -> ValueError:
        """Return the error that names the column of these rows."""
        name = X.columns[self.column] if is_frame(X) else self.column
        return ValueError(f"Column {name!r} {self}. Use one type throughout, such as astype(str).")


def encode(
    known: dict[Any, int],
    column: Factorized,
    learnt: Integers,
    asked: Integers,
    stamp: Integers,
    numbering: Numbering,
) -> Encoded:
    """Learn the categories of a column, and encode them as they are known at each moment.

    Parameters
    ----------
    known : dict
        Codes of the categories learnt before; not changed.
    column : Factorized
        Values of the column.
    learnt : ndarray of shape (n_learns,)
        Rows to learn, in their order. Each is encoded when it has been learnt.
    asked : ndarray of shape (n_asks,)
        Rows to encode.
    stamp : ndarray of shape (n_asks,)
        Number of rows learnt before each.
    numbering : Numbering
        How categories get their codes.

    Returns
    -------
    Encoded
        `known` is the same dict if nothing was added.
    """
    values, n_values = column.values, len(column.values)
    learnt, asked = column.positions[learnt], column.positions[asked]
    _check_types(known, column, learnt, asked)
    never = len(learnt) + 1
    first = np.full(n_values, never)
    first[learnt[::-1]] = np.arange(len(learnt), 0, -1)  # of several, the earliest stays
    code_of = np.fromiter((known.get(value, UNKNOWN) for value in values), np.int64, n_values)
    known_from = np.where(code_of >= 0, 0, never)
    new = np.flatnonzero((code_of < 0) & (first < never))
    new = new[np.argsort(first[new])]
    if not numbering.counts_missing:
        new = np.array([place for place in new if values[place] is not None], dtype=np.intp)
    full_from = never
    if numbering.limit is not None:
        n_free = numbering.limit - 1 - len(known)
        new = new[:n_free]
        if n_free == 0:
            full_from = 0
        elif n_free == len(new):
            full_from = int(first[new[-1]])
    code_of[new] = np.arange(len(known), len(known) + len(new))
    known_from[new] = first[new]
    after = (
        {**known, **{values[place]: int(code_of[place]) for place in new}} if len(new) else known
    )
    rest = UNKNOWN if numbering.limit is None else numbering.limit - 1

    def codes(places: Integers, moments: Integers) -> NDArray[np.int64]:
        other = np.where(moments >= full_from, rest, UNKNOWN)
        found: NDArray[np.int64] = np.where(known_from[places] <= moments, code_of[places], other)
        if not numbering.counts_missing and None in values:
            found[places == values.index(None)] = MISSING
        return found

    return Encoded(after, codes(learnt, np.arange(1, len(learnt) + 1)), codes(asked, stamp))


def encode_all(
    known: Sequence[dict[Any, int]],
    columns: Sequence[Factorized],
    learnt: Integers,
    asked: Integers,
    stamp: Integers,
    numbering: Numbering,
) -> list[Encoded]:
    """Learn and encode all columns; an error about one says which."""
    encoded = []
    for place, (codes, column) in enumerate(zip(known, columns, strict=True)):
        try:
            encoded.append(encode(codes, column, learnt, asked, stamp, numbering))
        except MixedTypes as error:
            error.column = place
            raise
    return encoded


def _check_types(
    known: dict[Any, int], column: Factorized, learnt: Integers, asked: Integers
) -> None:
    """Raise an error if a column holds values of two types: 3 and "3" would be two categories."""
    used = np.zeros(len(column.values), dtype=bool)
    used[learnt] = used[asked] = True
    before = next((value for value in known if value is not None), None)
    for place in np.flatnonzero(used).tolist():
        value = column.values[place]
        if value is None:
            continue
        if before is None:
            before = value
        elif type(value) is not type(before) and kind_of(value) != kind_of(before):
            raise MixedTypes(
                f"holds {value!r}, {kind_of(value)}, but earlier rows had {before!r}, "
                f"{kind_of(before)}"
            )


def kind_of(value: Any) -> str:
    """Type of a value in words: numbers of all types are of one kind."""
    if isinstance(value, str):
        return "a text"
    return "a number" if isinstance(value, Number) else f"of type {type(value).__name__}"


class CategoryEncoder(StreamTransformer):
    """What encoders of categories have in common: what they learn."""

    codes_: list[dict[Any, int]]

    @property
    def _numbering(self) -> Numbering:
        """How categories get their codes."""
        return EVERY_CATEGORY

    def partial_fit(self, X: Any, y: Any = None) -> Any:
        """Learn the categories of rows.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows, oldest first.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The transformer itself.
        """
        self._validate_params()
        first = not hasattr(self, "codes_")
        X = checked_values(self, X, reset=first)
        known = [{} for _ in range(X.shape[1])] if first else self.codes_
        rows = np.arange(X.shape[0])
        self.codes_ = [of_column.known for of_column in self._encoded(X, known, rows, rows[:0])]
        return self

    def _codes(self, X: Any) -> NDArray[np.int64]:
        """Codes of rows, as the categories are known now."""
        check_is_fitted(self)
        X = checked_values(self, X, reset=False)
        rows = np.arange(X.shape[0])
        encoded = self._encoded(X, self.codes_, rows[:0], rows)
        return np.column_stack([of_column.asked for of_column in encoded])

    @property
    def _has_room(self) -> bool:
        """Whether all categories learnt so far have codes; `max_categories` may be another now."""
        limit = self._numbering.limit
        most = max(map(len, getattr(self, "codes_", [])), default=0)
        return limit is None or most < limit

    def _encoded(
        self, X: Any, known: Sequence[dict[Any, int]], learnt: Integers, asked: Integers
    ) -> list[Encoded]:
        if not self._has_room:
            raise ValueError(
                f"max_categories={self._numbering.limit} is less than the number of categories "
                "already seen. Call fit, which starts again with it."
            )
        try:
            columns, stamp = self._columns(X), np.zeros(len(asked), dtype=np.intp)
            return encode_all(known, columns, learnt, asked, stamp, self._numbering)
        except MixedTypes as error:
            raise error.of_column(X) from None

    def _columns(self, X: Any) -> list[Factorized]:
        try:
            return factorized_columns(X)
        except TypeError as error:
            for place, column in enumerate(column_lists(X)):
                for row, value in enumerate(column):
                    if getattr(value, "__hash__", None) is None:
                        raise TypeError(
                            f"{holds(X, place, value, row)}, but a {type(value).__name__} cannot "
                            "be a category. Use texts or numbers."
                        ) from error
            raise

    @property
    def categories_(self) -> list[NDArray[Any]]:
        """Categories of each column so far, in the order of their codes."""
        made = []
        for known in self.codes_:
            categories = np.empty(len(known), dtype=object)
            categories[:] = list(known)
            made.append(categories)
        return made


class StreamOneHotEncoder(CategoryEncoder):
    """One-hot encoding that adds categories as they appear.

    Every column of categories becomes `max_categories` columns of 0 and 1, from the first row on.
    In training, each new category takes the next of them; the last one, "infrequent", is for all
    categories that appear when the others are taken. A category not seen in training is unknown:
    all its columns are 0 as long as columns are free. After that it is encoded as infrequent, as it
    will be once it is seen.

    A missing value (NaN, None, NaT, pandas' NA) is a category like any other.

    Parameters
    ----------
    max_categories : int, default=20
        Number of output columns for each input column, at least 2, including the one for infrequent
        categories.
    sparse_output : bool, default=True
        Whether to return a CSR matrix; otherwise an array.

    Attributes
    ----------
    codes_ : list of dict
        For each input column, the categories seen so far and the number of each one's output
        column. A missing value is None.
    categories_ : list of ndarray
        For each input column its categories, in the order of the output columns.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    StreamOrdinalEncoder : One number for each category.
    sklearn.preprocessing.OneHotEncoder : For categories known in advance.

    Notes
    -----
    In a `StreamPipeline`, a new category is already known in the training row that introduces it,
    and unknown in a row that is only predicted.

    `fit_transform` uses all rows before it transforms the first one, and so does a pipeline trained
    on several rows in one call. If that would look ahead, pass the rows one by one.

    The output columns are named by number (``colour_0``, ``colour_1``, ..., ``colour_infrequent``),
    since names must not change while a model is trained on them. `categories_` lists the category
    of each.

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
        """Encode rows with the categories known now.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        {csr_matrix, ndarray} of shape (n_rows, n_features * max_categories)
            1 for each known category, else 0.
        """
        return shown(self, self._codes(X))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features,), default=None
            Names of the input columns, if they have none of their own.

        Returns
        -------
        ndarray of shape (n_features * max_categories,), dtype object
            Name of the input column with a number or "infrequent".
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


class StreamOrdinalEncoder(OneToOneFeatureMixin, CategoryEncoder):
    """Ordinal encoding that adds categories as they appear.

    The first category of a column is 0, the next new one 1, and so on. A category not seen in
    training is encoded as `unknown_value`.

    Parameters
    ----------
    max_categories : int, default=None
        Number of codes for each column, at least 2. The last one is for all categories that appear
        when the others are taken, and from then on also for unknown ones. None: every category gets
        its own code.
    unknown_value : float, default=-1
        Code of a category not seen in training; may be NaN.
    encoded_missing_value : float, default=None
        Code of a missing value (NaN, None, NaT, pandas' NA); may be NaN. None: a missing value is a
        category like any other.

    Attributes
    ----------
    codes_ : list of dict
        For each column, the categories seen so far and their codes. A missing value is None.
    categories_ : list of ndarray
        For each column its categories, in the order of their codes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the rows came in a data frame with string names.

    See Also
    --------
    StreamOneHotEncoder : One column per category, as linear models need.
    sklearn.preprocessing.OrdinalEncoder : For categories known in advance.

    Notes
    -----
    In a `StreamPipeline`, a new category is already known in the training row that introduces it,
    and unknown in a row that is only predicted.

    `fit_transform` uses all rows before it transforms the first one, and so does a pipeline trained
    on several rows in one call. If that would look ahead, pass the rows one by one.

    Memory does not grow with the stream if `max_categories` is given; otherwise it is one number
    per category. For `CategoricalNB`, which accepts no negative numbers, give
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
        """Encode rows with the categories known now.

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
