"""Small models that show what the engine does with them."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from skstream.baselines import MajorityClass


class Diary(ClassifierMixin, BaseEstimator):
    """Predicts the newest label and writes down every call."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if not hasattr(self, "calls_"):
            self.calls_ = []
            self.classes_ = np.unique(classes)
        weight = None if sample_weight is None else list(sample_weight)
        self.calls_.append(("learn", [row_number(x) for x in X], list(y), weight))
        self.newest_ = y[-1]
        return self

    def predict(self, X):
        self.calls_.append(("ask", [row_number(x) for x in X], None, None))
        return np.full(len(X), self.newest_)


class Unweighted(Diary):
    """The same without sample_weight."""

    def partial_fit(self, X, y, classes=None):
        return super().partial_fit(X, y, classes)


class Breaks(ClassifierMixin, BaseEstimator):
    """Raises an error when it learns a certain row."""

    def __init__(self, at=3):
        self.at = at

    def partial_fit(self, X, y, classes=None):
        self.classes_ = np.unique(classes) if classes is not None else self.classes_
        if row_number(X[0]) == self.at:
            raise RuntimeError("out of paper")
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


class FailsLater(MajorityClass):
    """Learns so many rows, and fails at the next call."""

    def __init__(self, n_rows=50, error=RuntimeError):
        self.n_rows = n_rows
        self.error = error

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.n_learnt_ = getattr(self, "n_learnt_", 0) + len(y)
        if self.n_learnt_ > self.n_rows:
            raise self.error("no more")
        return super().partial_fit(X, y, classes, sample_weight)


class KilledWorker(Exception):
    """Like Dask's."""


def row_number(x):
    """Number of a row of `numbered_rows`."""
    return int(np.ravel(x)[0])


def numbered_rows(n, n_features=2):
    """Rows whose first feature is their number."""
    X = np.zeros((n, n_features))
    X[:, 0] = np.arange(n)
    return X


class Scripted(ClassifierMixin, BaseEstimator):
    """Answers with the first class, except at rows (of `numbered_rows`) for which it has a script.

    A script is an answer to give, or an exception to raise.
    """

    def __init__(self, answers=None, learning=None):
        self.answers = answers
        self.learning = learning

    def _play(self, X, script):
        for x in X:
            line = (script or {}).get(row_number(x))
            if isinstance(line, Exception):
                raise line
            if line is not None:
                return line
        return None

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self.classes_ = np.unique(classes) if classes is not None else self.classes_
        self._play(X, self.learning)
        return self

    def predict(self, X):
        line = self._play(X, self.answers)
        usual = np.full(len(X), self.classes_[0])
        if line is None or len(X) == 1:
            return usual if line is None else line
        usual = usual.astype(object)
        where = [row_number(x) in self.answers for x in X]
        usual[where] = line
        return usual
