"""What the loops of SGD are given: rules, targets and rates, rows, and room for ties."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Integers = NDArray[np.int64]


class Rule(NamedTuple):
    """What does not change from row to row.

    Attributes
    ----------
    loss : int
        Position of the gradient in `GRADIENTS`.
    epsilon : float
        The loss's own parameter: threshold of the hinges, epsilon of the others.
    low : float
        Target of a negative example: 0 for the log loss, -1 for the others.
    is_classifier : bool
        Whether targets are classes; passive-aggressive steps depend on it.
    aggressive : int
        `GRADIENT_STEP`, `PA1` or `PA2`.
    eta0 : float
        Bound (PA1) or regularisation (PA2) of passive-aggressive steps.
    fit_intercept : bool
        Whether intercepts are learnt.
    pull : float
        Of a one-class SVM: the multiple of the learning rate by which every row lowers the
        intercept; 0 for all other models. Such a model keeps one minus the intercept, and rounds it
        at every row; its intercept here is what its decision values add, one less.
    """

    loss: int
    epsilon: float
    low: float
    is_classifier: bool
    aggressive: int
    eta0: float
    fit_intercept: bool
    pull: float = 0.0


class Learns(NamedTuple):
    """Targets, weights and rates of the examples, computed before the first is learnt.

    Attributes
    ----------
    code : ndarray of shape (n_learns,)
        Position of the weight vector to which the example belongs; 0 if there is only one.
    target : ndarray of shape (n_learns,)
        Its target there; with the other vectors it is ``Rule.low``.
    own_weight, other_weight : ndarray of shape (n_learns,)
        Class weight times sample weight, there and with the other vectors.
    eta : ndarray of shape (n_learns,)
        Learning rates.
    shrink : ndarray of shape (n_learns,)
        Factors of the l2 penalty; 1 without it.
    cut : ndarray of shape (n_learns,)
        Amounts of the l1 penalty; 0 without it.
    """

    code: Integers
    target: Floats
    own_weight: Floats
    other_weight: Floats
    eta: Floats
    shrink: Floats
    cut: Floats


class SparseRows(NamedTuple):
    """Rows of a CSR matrix: row ``i`` has the values from ``bounds[i]`` to ``bounds[i + 1]``."""

    values: Floats
    at: NDArray[np.integer[Any]]  # their columns
    bounds: Integers


class Ties(NamedTuple):
    """Room to note the rows at which the order of a sum may decide the answer.

    Attributes
    ----------
    unit : float
        By what share of the sizes of its products two sums of them may differ.
    number : ndarray of shape (room,)
        Number of the row learnt; or -1 minus the number of the row asked.
    W : ndarray of shape (room, n_vectors, n_features)
        Weights when it was asked.
    b : ndarray of shape (room, n_vectors)
        Intercepts.
    """

    unit: float
    number: Integers
    W: Floats
    b: Floats
