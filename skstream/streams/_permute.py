"""Permutations of a stream for experiments on temporal dependence."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from skstream.core.rows.chunk import Chunk
from skstream.utils._labels import LabelSpace, find_classes
from skstream.utils._rows import copy_rows


def shuffle_rows(X: Any, y: Any, *, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
    """Shuffle rows: features and labels stay together, temporal dependence is removed.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
        Features.
    y : array-like of shape (n_rows,)
        Labels.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutation.

    Returns
    -------
    X : {ndarray, csr_matrix, dataframe} of shape (n_rows, n_features)
        The same rows in random order.
    y : ndarray of shape (n_rows,)
        Their labels.

    See Also
    --------
    shuffle_within_class : Keeps the sequence of labels.

    Notes
    -----
    Makes the rows independent and identically distributed over time, as in the experiments of
    Žliobaitė et al. (2015, section 6.5).

    Examples
    --------
    >>> from skstream.streams import shuffle_rows
    >>> X, y = shuffle_rows([[1], [2], [3]], ["a", "b", "c"], random_state=0)
    >>> X.ravel().tolist(), y.tolist()
    ([3, 2, 1], ['c', 'b', 'a'])
    """
    rows, labels, _ = Chunk.of(X, y)
    order = check_random_state(random_state).permutation(len(labels))
    return copy_rows(rows, order), labels[order]


def shuffle_within_class(X: Any, y: Any, *, random_state: Any = None) -> tuple[Any, NDArray[Any]]:
    """Permute features among rows of the same class, keeping the sequence of labels.

    Parameters
    ----------
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
        Features.
    y : array-like of shape (n_rows,)
        Labels. Rows without a label are permuted among themselves.
    random_state : int, RandomState instance or None, default=None
        Seed of the permutation.

    Returns
    -------
    X : {ndarray, csr_matrix, dataframe} of shape (n_rows, n_features)
        In each row, the features of a random row of the same class.
    y : ndarray of shape (n_rows,)
        The labels, in their order.

    See Also
    --------
    shuffle_rows : Shuffles features and labels together.

    Notes
    -----
    Removes drift of the classes' distributions and keeps the temporal dependence of the labels, as
    in the experiments of Žliobaitė et al. (2015, section 6.9).

    Examples
    --------
    >>> from skstream.streams import shuffle_within_class
    >>> X, y = shuffle_within_class([[1], [2], [3], [4]], ["a", "b", "a", "a"], random_state=0)
    >>> X.ravel().tolist(), y.tolist()
    ([4, 2, 3, 1], ['a', 'b', 'a', 'a'])
    """
    rows, labels, _ = Chunk.of(X, y)
    codes = LabelSpace(find_classes(labels)).encode(labels)
    rng = check_random_state(random_state)
    order = np.empty(len(labels), dtype=np.intp)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        order[members] = rng.permutation(members)
    return copy_rows(rows, order), labels
