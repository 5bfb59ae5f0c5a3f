"""Loan applications, and ten rules about them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.streams._generators._base import (
    ConceptStream,
    check_concepts,
    parameter,
    uniform_rows,
)
from skstream.utils._choices import check_share

_NAMES = ["salary", "commission", "age", "elevel", "car", "zipcode", "hvalue", "hyears", "loan"]
_SALARY, _COMMISSION, _AGE, _ELEVEL, _CAR, _ZIPCODE, _HVALUE, _HYEARS, _LOAN = range(9)
# Difference of the highest and the lowest value of each numeric feature.
_RANGES = {
    _SALARY: 130_000,
    _COMMISSION: 65_000,
    _AGE: 60,
    _HVALUE: 1_300_000,
    _HYEARS: 29,
    _LOAN: 500_000,
}

_Column = NDArray[np.float64]
# Array of truth values; the types of NumPy lose this in comparisons.
_Is = Any


@dataclass(kw_only=True, eq=False, repr=False)
class Agrawal(ConceptStream):
    """Loan applications with nine features, divided into two groups by one of ten rules.

    Numeric features are `salary` (20,000 to 150,000), `commission` (0 for salaries from 75,000 on,
    else 10,000 to 75,000), `age` (20 to 80), `hvalue` (value of the house, between .5 and 1.5 times
    ``100_000 * (9 - zipcode)``), `hyears` (years of owning it, 1 to 30) and `loan` (0 to 500,000).
    `elevel` (education, 0 to 4) is ordinal, `car` (1 to 20) and `zipcode` (0 to 8) are nominal,
    given as codes.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts have the same length;
        required for an endless stream of more than one concept.
    functions : sequence of int, default=(1,)
        Rule of each concept, in order, with the numbers of the source, 1 to 10.
    perturbation : float, default=0.0
        After the label is determined, numeric values are moved up or down by up to half this share
        of the range of their feature; a commission of 0 is kept.

    Notes
    -----
    Label 0 is group A of the source, label 1 is group B. MOA and River perturb twice as far, round
    years, and clip values to their range.

    River (0.26) numbers the rules from 0. In the first six its classes are swapped; the fifth reads
    the salary in three places where the source reads the loan (22 % of the labels differ then); and
    it uses two thirds of salary and commission, where the source uses .67 (.05 to .35 % of the
    labels of rules 7 to 9).

    References
    ----------
    Agrawal, R., Imielinski, T. and Swami, A. (1993). Database mining: a performance perspective.
    IEEE Transactions on Knowledge and Data Engineering 5(6), 914-925.

    Examples
    --------
    >>> from skstream.streams import Agrawal
    >>> stream = Agrawal(2000, functions=(1, 7), perturbation=0.05)
    >>> stream.drifts
    (Drift(start=1000, end=1000),)
    >>> [stream.feature_names[number] for number in stream.nominal_features]
    ['elevel', 'car', 'zipcode']
    """

    functions: Sequence[int] = parameter((1,), check_concepts, range(1, 11))
    perturbation: float = parameter(0.0, check_share)
    _of_concepts = "functions"

    @property
    def feature_names(self) -> list[str]:
        """Names of the nine features."""
        return list(_NAMES)

    @property
    def nominal_features(self) -> list[int]:
        """Numbers of the columns with codes: `elevel`, `car` and `zipcode`."""
        return [_ELEVEL, _CAR, _ZIPCODE]

    def bayes_error(self) -> float | None:
        """Return the error of the best possible predictions.

        Returns
        -------
        error : float or None
            0 without perturbation, as the rule determines the label; None (unknown) with it.
        """
        return None if self.perturbation else 0.0

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Generate the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 9)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        # One contiguous row for each feature: the rules read columns.
        X = np.array(uniform_rows(self.random_state, "Agrawal", start, stop, 9).T, order="C")
        X[_SALARY] = 20_000 + 130_000 * X[_SALARY]
        has_commission = X[_SALARY] < 75_000
        X[_COMMISSION] = np.where(has_commission, 10_000 + 65_000 * X[_COMMISSION], 0.0)
        X[_AGE] = 20 + np.floor(61 * X[_AGE])
        X[_ELEVEL] = np.floor(5 * X[_ELEVEL])
        X[_CAR] = 1 + np.floor(20 * X[_CAR])
        X[_ZIPCODE] = np.floor(9 * X[_ZIPCODE])
        X[_HVALUE] = (9 - X[_ZIPCODE]) * (100_000 * (0.5 + X[_HVALUE]))
        X[_HYEARS] = 1 + np.floor(30 * X[_HYEARS])
        X[_LOAN] *= 500_000
        y = self._labels(X.T, start)
        if self.perturbation:
            n_moved = len(_RANGES)
            moves = uniform_rows(self.random_state, "Agrawal moves", start, stop, n_moved).T - 0.5
            moves[1, ~has_commission] = 0
            for move, (feature, width) in zip(moves, _RANGES.items(), strict=True):
                X[feature] += move * (self.perturbation * width)
        return np.ascontiguousarray(X.T), y

    def _label(self, concept: int, X: NDArray[np.float64]) -> Any:
        return ~_FUNCTIONS[concept](X.T)


def _between(low: float, values: _Column, high: float) -> _Is:
    return (low <= values) & (values <= high)


def _by_age(X: _Column, young: _Is, middle: _Is, old: _Is) -> _Is:
    """Choose a condition by the age: below 40, below 60, or from 60 on."""
    age = X[_AGE]
    return np.where(age < 40, young, np.where(age < 60, middle, old))


def _by_age_and_money(X: _Column, money: _Column) -> _Is:
    return _by_age(
        X,
        _between(50_000, money, 100_000),
        _between(75_000, money, 125_000),
        _between(25_000, money, 75_000),
    )


def _f1(X: _Column) -> _Is:
    return (X[_AGE] < 40) | (X[_AGE] >= 60)


def _f2(X: _Column) -> _Is:
    return _by_age_and_money(X, X[_SALARY])


def _f3(X: _Column) -> _Is:
    elevel = X[_ELEVEL]
    return _by_age(X, elevel <= 1, _between(1, elevel, 3), elevel >= 2)


def _f4(X: _Column) -> _Is:
    elevel, salary = X[_ELEVEL], X[_SALARY]
    low, medium = _between(25_000, salary, 75_000), _between(50_000, salary, 100_000)
    high = _between(75_000, salary, 125_000)
    return _by_age(
        X,
        np.where(elevel <= 1, low, medium),
        np.where(_between(1, elevel, 3), medium, high),
        np.where(elevel >= 2, medium, low),
    )


def _f5(X: _Column) -> _Is:
    salary, loan = X[_SALARY], X[_LOAN]
    low, medium = _between(100_000, loan, 300_000), _between(200_000, loan, 400_000)
    high = _between(300_000, loan, 500_000)
    return _by_age(
        X,
        np.where(_between(50_000, salary, 100_000), low, medium),
        np.where(_between(75_000, salary, 125_000), medium, high),
        np.where(_between(25_000, salary, 75_000), high, low),
    )


def _f6(X: _Column) -> _Is:
    return _by_age_and_money(X, X[_SALARY] + X[_COMMISSION])


def _income(X: _Column) -> _Column:
    return 0.67 * (X[_SALARY] + X[_COMMISSION])


def _f7(X: _Column) -> _Is:
    return _income(X) - 0.2 * X[_LOAN] - 20_000 > 0


def _f8(X: _Column) -> _Is:
    return _income(X) - 5000 * X[_ELEVEL] - 20_000 > 0


def _f9(X: _Column) -> _Is:
    return _income(X) - 5000 * X[_ELEVEL] - 0.2 * X[_LOAN] - 10_000 > 0


def _f10(X: _Column) -> _Is:
    equity = 0.1 * X[_HVALUE] * np.maximum(X[_HYEARS] - 20, 0)
    return _income(X) - 5000 * X[_ELEVEL] + 0.2 * equity - 10_000 > 0


_FUNCTIONS: dict[int, Callable[[_Column], _Is]] = dict(
    enumerate([_f1, _f2, _f3, _f4, _f5, _f6, _f7, _f8, _f9, _f10], start=1)
)
