"""The definitions of the measures, word for word and slow: the oracle of the running ones."""

import numpy as np

from skstream.drift import ADWIN
from skstream.forgetting import (
    AdaptiveWindow,
    Cumulative,
    FadingFactor,
    SlidingWindow,
    TumblingWindow,
)


def memory(forgetting, n, start):
    """Weight of each of n rows in a mean taken after the last of them."""
    age = np.arange(n - 1, -1, -1)
    if isinstance(forgetting, Cumulative):
        return np.ones(n)
    if isinstance(forgetting, SlidingWindow):
        return (age < forgetting.window_size).astype(float)
    if isinstance(forgetting, TumblingWindow):
        stop = n - n % forgetting.window_size if n >= forgetting.window_size else n
        rows = np.arange(n)
        return ((rows >= stop - forgetting.window_size) & (rows < stop)).astype(float)
    if isinstance(forgetting, FadingFactor):
        return forgetting.fading_factor ** age.astype(float)
    if isinstance(forgetting, AdaptiveWindow):
        return (np.arange(n) >= start).astype(float)
    raise TypeError(f"Say here what {type(forgetting).__name__} remembers of n rows.")


class Reference:
    """All rows of a stream, and what every measure is after each of them."""

    def __init__(self, y, p, weight=None, previous=None, *, forgetting, n_classes):
        self.forgetting, self.k = forgetting, n_classes
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=float)
        self.labelled = np.flatnonzero((np.asarray(y) >= 0) & (weight > 0))
        self.y, self.p, self.w = (np.asarray(a)[self.labelled] for a in (y, p, weight))
        last = np.concatenate(([-1], self.y[:-1])) if len(self.y) else self.y
        self.previous = last if previous is None else np.asarray(previous)[self.labelled]
        self.scored = np.flatnonzero(self.p >= 0)
        self.starts = self._starts()
        self.past = [self._majority(i, i) for i in range(len(self.y))]
        self.inclusive = [self._majority(i, i + 1) for i in range(len(self.y))]

    def _starts(self):
        """First scored row of the window after each number of scored rows."""
        starts = np.zeros(len(self.scored) + 1, dtype=int)
        if isinstance(self.forgetting, AdaptiveWindow):
            detector = ADWIN(delta=self.forgetting.delta)
            for n, i in enumerate(self.scored, start=1):
                detector.update(float(self.y[i] != self.p[i]))
                starts[n] = n - detector.width
        return starts

    def _majority(self, row, stop):
        """Most frequent label among the labelled rows before `stop`, asked at `row`."""
        if stop == 0:
            return -1
        start = self.starts[np.searchsorted(self.scored, stop)]
        first = 0 if start == 0 else self.scored[start]
        kept = memory(self.forgetting, stop, first) * self.w[:stop]
        return int(np.bincount(self.y[:stop], kept, minlength=self.k).argmax())

    def at(self, n_rows):
        """Scored rows before a place in the stream, with their weights in the mean."""
        n = int(np.sum(self.labelled[self.scored] < n_rows))
        rows = self.scored[:n]
        kept = memory(self.forgetting, n, self.starts[n]) * self.w[rows]
        return rows, kept

    def _kappa(self, kept, wrong, baseline_wrong, known):
        """(p0 - p) / (1 - p) over the rows where the baseline has an answer, from the errors."""
        base = (kept * known * baseline_wrong).sum()
        if base <= 1e-16 * kept.sum():
            return np.nan
        return 1 - (kept * known * wrong).sum() / base

    def _apart(self, first, second):
        """Probability that independent draws differ."""
        pairs = np.outer(first, second)
        np.fill_diagonal(pairs, 0.0)
        return pairs.sum()

    def _surprise(self, row, column):
        """Agreement of each pair of classes, less what either class alone leads to expect."""
        return np.eye(self.k) - column[:, None] - row + (row * column).sum()

    def value(self, metric, n_rows):
        rows, kept = self.at(n_rows)
        if not len(rows) or kept.sum() == 0:
            return np.nan
        y, p, n = self.y[rows], self.p[rows], kept.sum()
        effective = n * n / (kept * kept).sum()
        wrong = y != p
        p0, error = (kept * ~wrong).sum() / n, (kept * wrong).sum() / n
        row = np.bincount(y, kept, minlength=self.k) / n
        column = np.bincount(p, kept, minlength=self.k) / n
        hit = np.bincount(y[~wrong], kept[~wrong], minlength=self.k) / n
        doubt = self._apart(row, column)
        kappa = 1 - error / doubt if doubt > 1e-16 else np.nan
        previous = self.previous[rows]
        temporal = self._kappa(kept, wrong, y != previous, previous >= 0)
        seen = row > 1e-16
        accuracies = hit[seen] / row[seen]
        either = row + column > 1e-16
        with np.errstate(divide="ignore", invalid="ignore"):
            if metric == "accuracy":
                return p0
            if metric == "error":
                return error
            if metric == "kappa":
                return kappa
            if metric == "kappa_se":
                return np.sqrt(p0 * error / effective) / doubt if doubt > 1e-16 else np.nan
            if metric == "kappa_z":
                spread = (row[:, None] * column * self._surprise(row, column) ** 2).sum()
                if min(np.delete(s, s.argmax()).sum() for s in (row, column)) <= 1e-16:
                    return 0.0 * kappa
                return kappa * doubt * np.sqrt(effective / spread)
            if metric == "kappa_m":
                majority = np.array(self.past)[rows]
                return self._kappa(kept, wrong, y != majority, majority >= 0)
            if metric == "kappa_m_inclusive":
                return self._kappa(kept, wrong, y != np.array(self.inclusive)[rows], True)
            if metric == "kappa_m_hindsight":
                return self._kappa(kept, wrong, y != row.argmax(), True)
            if metric == "kappa_temporal":
                return temporal
            if metric == "kappa_plus":
                return np.sqrt(np.maximum(0, kappa) * np.maximum(0, temporal))
            if metric == "arithmetic_accuracy":
                return accuracies.mean()
            if metric == "chance_accuracy":
                return (row * column).sum()
            if metric in ("geometric_accuracy", "gmean"):
                return accuracies.prod() ** (1 / len(accuracies))
            if metric == "harmonic_accuracy":
                return len(accuracies) / (1 / accuracies).sum()
            if metric == "f1_macro":
                return (2 * hit[either] / (row + column)[either]).mean()
            if metric == "precision_macro":
                return np.where(column > 1e-16, hit / column, 0)[either].mean()
            if metric == "recall_macro":
                return np.where(row > 1e-16, hit / row, 0)[either].mean()
            if metric == "mcc":
                spread = np.sqrt(self._apart(row, row)) * np.sqrt(self._apart(column, column))
                return (doubt - error) / spread if spread > 1e-16 else 0.0
            if metric == "cmd":
                return n * n * (hit[0] * hit[1] - (row[0] - hit[0]) * (row[1] - hit[1]))
        raise KeyError(metric)
