"""Streams of rules of the literature: Agrawal, LED, SEA, Sine, STAGGER, Waveform."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import sindg

from skstream.streams._generators._base import (
    ConceptStream,
    check_concepts,
    normal_rows,
    order_of,
    parameter,
    uniform_rows,
)
from skstream.utils._choices import check_count, check_numbers, check_share
from skstream.utils._seeds import uniform

_SMALL = _RED = _CIRCULAR = 0
_GREEN = 1


@dataclass(kw_only=True, eq=False, repr=False)
class STAGGER(ConceptStream):
    """Label 1 for objects of a certain size, colour and shape; the rule changes abruptly.

    Three features with three values each, all equally likely, as codes: `size` (0 small, 1 medium,
    2 large), `colour` (0 red, 1 green, 2 blue) and `shape` (0 circular, 1 square, 2 triangular).

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    functions : sequence of int, default=(1, 2, 3)
        Rule of each concept, in their order; 1: small and red; 2: green or circular; 3: medium or
        large.

    Notes
    -----
    River (0.26) numbers the colours otherwise (0 red, 1 blue, 2 green) and its rules from 0.

    References
    ----------
    Schlimmer, J. C. and Granger, R. H. (1986). Incremental learning from noisy data. Machine
    Learning 1(3), 317-354.

    Examples
    --------
    >>> from skstream.streams import STAGGER
    >>> stream = STAGGER(300)
    >>> X, y = stream.rows(0, 3)
    >>> X
    array([[2., 0., 2.],
           [2., 0., 1.],
           [0., 1., 0.]])
    >>> y
    array([0, 0, 0])
    """

    functions: Sequence[int] = parameter((1, 2, 3), check_concepts, range(1, 4))
    _of_concepts = "functions"

    @property
    def feature_names(self) -> list[str]:
        """Names of the three features."""
        return ["size", "colour", "shape"]

    @property
    def nominal_features(self) -> list[int]:
        """Numbers of the columns that hold codes of nominal values: all three."""
        return [0, 1, 2]

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 3)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        X = np.floor(3 * uniform_rows(self.random_state, "STAGGER", start, stop, 3))
        return X, self._labels(X, start)

    def _label(self, concept: int, X: NDArray[np.float64]) -> Any:
        size, colour, shape = X.T
        if concept == 1:
            return (size == _SMALL) & (colour == _RED)
        if concept == 2:
            return (colour == _GREEN) | (shape == _CIRCULAR)
        return size != _SMALL


@dataclass(kw_only=True, eq=False, repr=False)
class SEA(ConceptStream):
    """Label 1 where the sum of two features is above a threshold, which changes abruptly.

    Three features are uniform in [0, 10); the third one does not matter.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    thresholds : sequence of float, default=(8.0, 9.0, 7.0, 9.5)
        Threshold of each concept, in their order.
    noise : float, default=0.1
        Share of the rows whose label is the wrong one, from 0 to 1.

    References
    ----------
    Street, W. N. and Kim, Y. (2001). A streaming ensemble algorithm (SEA) for large-scale
    classification. KDD.

    Examples
    --------
    >>> from skstream.streams import SEA
    >>> stream = SEA(40_000)
    >>> stream.drifts[0]
    Drift(start=10000, end=10000)
    >>> stream.bayes_error()
    0.1
    """

    _n_features = 3

    thresholds: Sequence[float] = parameter((8.0, 9.0, 7.0, 9.5), check_numbers)
    noise: float = parameter(0.1, check_share)
    _of_concepts = "thresholds"

    def bayes_error(self) -> float:
        """Return the error of the best possible answers.

        Returns
        -------
        error : float
            The share of wrong labels, or of right ones where these are fewer.
        """
        return min(self.noise, 1 - self.noise)

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 3)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        X = 10 * uniform_rows(self.random_state, "SEA features", start, stop, 3)
        concept = np.searchsorted(self._begins[1:], np.arange(start, stop), side="right")
        is_above = X[:, 0] + X[:, 1] > np.array(self.thresholds)[concept]
        is_wrong = uniform(self.random_state, "SEA noise", start, stop) < self.noise
        return X, (is_above != is_wrong).astype(np.int64)


_DEGREES = 57.29577951308232


@dataclass(kw_only=True, eq=False, repr=False)
class Sine(ConceptStream):
    """Label 1 below the curve of a sine, and then above it.

    All features are uniform in [0, 1). The first two, x and y, decide the label.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    functions : sequence of int, default=(1, 2)
        Rule of each concept, in their order. 1: the label is 1 where ``y < sin(x)``; 2: the
        contrary; 3: the label is 1 where ``y < 0.5 + 0.3 sin(3 pi x)``; 4: the contrary of that.
    n_irrelevant : int, default=0
        Number of further features, which do not matter; 2 in the source.

    Notes
    -----
    River (0.26) has the axes the other way round: its label is 1 where its first feature is below
    the sine of its second one. Its rules are numbered from 0.

    References
    ----------
    Gama, J., Medas, P., Castillo, G. and Rodrigues, P. (2004). Learning with drift detection.
    SBIA. (SINE1 is ``functions=(1, 2)``, SINE2 is ``functions=(3, 4)``.)

    Examples
    --------
    >>> from skstream.streams import Sine
    >>> stream = Sine(2000, functions=(3, 4), n_irrelevant=2)
    >>> stream.feature_names
    ['x1', 'x2', 'x3', 'x4']
    >>> stream.drifts
    (Drift(start=1000, end=1000),)
    """

    functions: Sequence[int] = parameter((1, 2), check_concepts, range(1, 5))
    n_irrelevant: int = parameter(0, check_count, 0)
    _of_concepts = "functions"

    def _prepare(self) -> None:
        super()._prepare()
        self._n_features = 2 + self.n_irrelevant

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 2 + n_irrelevant)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        X = uniform_rows(self.random_state, "Sine", start, stop, self._n_features)
        return X, self._labels(X, start)

    def _label(self, concept: int, X: NDArray[np.float64]) -> Any:
        is_below = X[:, 1] < _curve(concept, X[:, 0])
        return is_below if concept in (1, 3) else ~is_below


def _curve(function: int, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Height of the curve above each x."""
    # The sine of SciPy is a polynomial of its own, the same on every processor.
    heights: NDArray[np.float64]
    if function <= 2:
        heights = sindg(x * _DEGREES)
    else:
        heights = 0.5 + 0.3 * sindg(x * 540)
    return heights


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
    """Loan applications of nine features, and one of ten rules that puts them into two groups.

    Numeric features are `salary` (20,000 to 150,000), `commission` (0 for salaries from 75,000 on,
    else 10,000 to 75,000), `age` (20 to 80), `hvalue` (value of the house, between .5 and 1.5 times
    ``100_000 * (9 - zipcode)``), `hyears` (years of owning it, 1 to 30) and `loan` (0 to 500,000).
    `elevel` (education, 0 to 4) is ordinal, `car` (1 to 20) and `zipcode` (0 to 8) are nominal;
    they come as codes.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    functions : sequence of int, default=(1,)
        Rule of each concept, in their order, with the numbers of the source, 1 to 10.
    perturbation : float, default=0.0
        Numeric values, after the label is known, are moved by up to half this share of the range of
        their feature, up or down; a commission of 0 stays.

    Notes
    -----
    Label 0 is group A of the source, label 1 is group B. MOA and River perturb twice as far, round
    years, and put values that leave their range back on its edge.

    River (0.26) numbers the rules from 0. In the first six it has the classes the other way round;
    the fifth reads the salary in three places where the source reads the loan (22 % of the labels
    differ otherwise); and of salary and commission it takes two thirds, where the source takes .67
    (.05 to .35 % of the labels of rules 7 to 9).

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
        """Numbers of the columns that hold codes: `elevel`, `car` and `zipcode`."""
        return [_ELEVEL, _CAR, _ZIPCODE]

    def bayes_error(self) -> float | None:
        """Return the error of the best possible answers.

        Returns
        -------
        error : float or None
            0 without perturbation, as the rule knows the label; None, not known, with it.
        """
        return None if self.perturbation else 0.0

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

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
    income: _Column = 0.67 * (X[_SALARY] + X[_COMMISSION])
    return income


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


# Segments of the digits 0 to 9: top, upper left, upper right, middle, lower left, lower right,
# bottom.
_WORDS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"
_DIGITS = np.array([[sign == "1" for sign in word] for word in _WORDS.split()])
_SEGMENTS = 7
# Irrelevant features that one random number gives.
_BITS = 32


@dataclass(kw_only=True, eq=False, repr=False)
class LED(ConceptStream):
    """Digits, from seven segments that may be wrong and from features that do not matter.

    All digits are equally likely. All features are 0 or 1. Drift is features that change places:
    segments with irrelevant features.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    noise : float, default=0.1
        Probability that a segment is the wrong way round, for each row and segment.
    n_irrelevant : int, default=17
        Number of features, after the segments, that are 0 or 1 with equal probability.
    n_drifting : sequence of int, default=(0,)
        Number of segments that have changed places with irrelevant features, for each concept in
        their order; from 0 to 7, and at most `n_irrelevant`. Which ones is drawn by the seed; fewer
        are always part of more.

    References
    ----------
    Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and Regression
    Trees. Wadsworth.

    Examples
    --------
    >>> from skstream.streams import LED
    >>> stream = LED(20_000, n_drifting=(0, 3, 7), change_rows=(5000, 12_000))
    >>> stream.drifts
    (Drift(start=5000, end=5000), Drift(start=12000, end=12000))
    >>> round(stream.bayes_error(), 4)
    0.26
    """

    _n_classes = 10

    noise: float = parameter(0.1, check_share)
    n_irrelevant: int = parameter(17, check_count, 0)
    n_drifting: Sequence[int] = (0,)
    _of_concepts = "n_drifting"

    def _prepare(self) -> None:
        self._n_features = _SEGMENTS + self.n_irrelevant
        most = min(_SEGMENTS, self.n_irrelevant)
        self.n_drifting = check_concepts(self.n_drifting, "n_drifting", range(most + 1))
        super()._prepare()

    @property
    def nominal_features(self) -> list[int]:
        """Numbers of the columns that hold codes of nominal values: all."""
        return list(range(self._n_features))

    def bayes_error(self) -> float:
        """Return the error of the best possible answers, which know how features have moved.

        Returns
        -------
        error : float
            Exact, as a sum over the 128 states of the display.
        """
        states = np.array(list(product([False, True], repeat=_SEGMENTS)))
        is_wrong = states[:, np.newaxis, :] != _DIGITS
        probability = np.where(is_wrong, self.noise, 1 - self.noise).prod(axis=2)
        return float(1 - probability.max(axis=1).sum() / len(_DIGITS))

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 7 + n_irrelevant)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        seed, n_irrelevant = self.random_state, self.n_irrelevant
        y = (10 * uniform(seed, "LED digit", start, stop)).astype(np.int64)
        is_wrong = uniform_rows(seed, "LED noise", start, stop, _SEGMENTS) < self.noise
        X = np.empty((stop - start, self._n_features))
        X[:, :_SEGMENTS] = _DIGITS[y] != is_wrong
        n_words = -(-n_irrelevant // _BITS)
        words = uniform_rows(seed, "LED irrelevant", start, stop, n_words) * 2.0**_BITS
        bits = words.astype(np.int64)
        for number in range(n_irrelevant):
            X[:, _SEGMENTS + number] = bits[:, number // _BITS] >> (number % _BITS) & 1
        for n_drifting, part in self._parts(start, stop):
            segments = order_of(seed, "LED segments", _SEGMENTS)[:n_drifting]
            others = _SEGMENTS + order_of(seed, "LED others", n_irrelevant)[:n_drifting]
            there, here = np.append(segments, others), np.append(others, segments)
            X[part, there] = X[part, here]
        return X, y


_POINTS = 21
# Triangles of height 6 with their tops at points 11, 15 and 7, counted from 1.
_WAVES = np.maximum(6.0 - np.abs(np.arange(1, _POINTS + 1) - np.array([[11], [15], [7]])), 0)
# By integration over the plane of the waves, which the tests repeat.
_BAYES_ERROR = 0.13293319667888648
# The two waves of each class.
_PAIRS = np.array([[0, 1], [0, 2], [1, 2]])


@dataclass(kw_only=True, eq=False, repr=False)
class Waveform(ConceptStream):
    """Three classes, each a mixture of two of three waves in random proportion, with noise.

    The classes are equally likely. The 21 features are the points of the mixture, each with
    standard normal noise. Drift is features that change places.

    Parameters
    ----------
    n_rows : int or None, default=10_000
        Number of rows; None for an endless stream.
    random_state : int, default=0
        Seed. The same seed gives the same rows.
    chunk_size : int, default=65536
        Rows per chunk.
    change_rows : sequence of int, default=None
        First row of each concept but the first. By default all concepts are equally long; an
        endless stream of more than one concept must say it.
    n_irrelevant : int, default=0
        Number of further features that are noise alone; 19 in the source's second version.
    n_drifting : sequence of int, default=(0,)
        Number of features that have changed places among each other, for each concept in their
        order; not 1. Which ones is drawn by the seed; fewer are always part of more.

    Notes
    -----
    The error of the best possible answers is 13.29 %; the literature says about 14 %.

    References
    ----------
    Breiman, L., Friedman, J., Olshen, R. and Stone, C. (1984). Classification and Regression
    Trees. Wadsworth.

    Examples
    --------
    >>> from skstream.streams import Waveform
    >>> stream = Waveform(20_000, n_drifting=(0, 10))
    >>> stream.drifts
    (Drift(start=10000, end=10000),)
    >>> round(stream.bayes_error(), 4)
    0.1329
    """

    _n_classes = 3

    n_irrelevant: int = parameter(0, check_count, 0)
    n_drifting: Sequence[int] = (0,)
    _of_concepts = "n_drifting"

    def _prepare(self) -> None:
        self._n_features = _POINTS + self.n_irrelevant
        allowed = range(self._n_features + 1)
        self.n_drifting = check_concepts(self.n_drifting, "n_drifting", allowed)
        if 1 in self.n_drifting:
            raise ValueError(
                f"n_drifting must not be 1: one feature alone has none to change places with. Got "
                f"{self.n_drifting!r}."
            )
        super()._prepare()

    def bayes_error(self) -> float:
        """Return the error of the best possible answers, which know how features have moved.

        Returns
        -------
        error : float
            By integration, with an error below 1e-7.
        """
        return _BAYES_ERROR

    def block(self, start: int, stop: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Make the rows from `start` up to `stop`.

        Parameters
        ----------
        start, stop : int
            Row numbers.

        Returns
        -------
        X : ndarray of shape (stop - start, 21 + n_irrelevant)
            Features.
        y : ndarray of shape (stop - start,)
            Labels.
        """
        seed, n_features = self.random_state, self._n_features
        y = (3 * uniform(seed, "waveform class", start, stop)).astype(np.int64)
        share = uniform(seed, "waveform share", start, stop)[:, np.newaxis]
        one, other = _PAIRS[y].T
        X = normal_rows(seed, "waveform noise", start, stop, n_features)
        X[:, :_POINTS] += share * _WAVES[one] + (1 - share) * _WAVES[other]
        for n_drifting, part in self._parts(start, stop):
            places = order_of(seed, "waveform places", n_features)[:n_drifting]
            X[part, places] = X[part, np.roll(places, 1)]
        return X, y
