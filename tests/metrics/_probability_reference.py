"""The definitions of the measures of probabilities, row by row: the oracle of the running ones."""

import warnings
from fractions import Fraction
from math import ceil

import numpy as np
from sklearn.metrics import brier_score_loss, log_loss, top_k_accuracy_score


def of_scikit_learn(metric, y, scores, weight):
    """Value of scikit-learn's function."""
    k = scores.shape[1]
    codes = np.arange(k)
    if metric == "log_loss":
        return log_loss(y, scores, sample_weight=weight, labels=codes)
    if metric == "brier" and k == 2:
        return brier_score_loss(y, scores[:, 1], sample_weight=weight, pos_label=1)
    if metric == "brier":
        return brier_score_loss(y, scores, sample_weight=weight, labels=codes)
    best = int(metric.partition(":")[2] or 2)
    given = scores[:, 1] if k == 2 else scores
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return top_k_accuracy_score(y, given, k=best, sample_weight=weight, labels=codes)


def bins_of(probabilities, came, weight, n_bins):
    """Weight, mean probability and mean of what came in every bin that has rows."""
    which = np.minimum((probabilities * n_bins).astype(int), n_bins - 1)
    for one in np.unique(which):
        here = which == one
        n = weight[here].sum()
        yield (n, (weight * probabilities)[here].sum() / n, (weight * came)[here].sum() / n)


def calibration_errors(y, scores, weight, n_bins):
    """Expected and maximum error over bins of equal width."""
    if scores.shape[1] == 2:
        probabilities, came = scores[:, 1], y == 1
    else:
        probabilities, came = scores.max(axis=1), y == scores.argmax(axis=1)
    bins = [(n, abs(said - true)) for n, said, true in bins_of(probabilities, came, weight, n_bins)]
    return sum(n * gap for n, gap in bins) / weight.sum(), max(gap for _, gap in bins)


def brier_parts(y, scores, weight, n_bins):
    """Reliability, Murphy's resolution, and uncertainty."""
    k, total = scores.shape[1], weight.sum()
    parts = np.zeros(3)
    for code in [1] if k == 2 else range(k):
        came = y == code
        share = (weight * came).sum() / total
        for n, said, true in bins_of(scores[:, code], came, weight, n_bins):
            parts += n / total * np.array([(said - true) ** 2, (true - share) ** 2, 0.0])
        parts[2] += share * (1 - share)
    return parts


def baseline_scores(y, weight, k, previous=None):
    """Smoothed frequencies before each row; of the rows after the same label, if it is known."""
    scores = np.empty((len(y), k))
    for row in range(len(y)):
        counts = np.zeros(k)
        for before in range(row):
            follows = previous is None or previous[row] < 0
            if follows or (before > 0 and y[before - 1] == previous[row]):
                counts[y[before]] += weight[before]
        scores[row] = (counts + 1) / (counts.sum() + k)
    return scores


def losses(metric, y, scores):
    """Loss of every row."""
    if metric == "log":
        return -np.log(np.clip(scores[np.arange(len(y)), y], 2.0**-52, 1 - 2.0**-52))
    squares = ((scores - np.eye(scores.shape[1])[y]) ** 2).sum(axis=1)
    return squares / 2 if scores.shape[1] == 2 else squares


def best_answers(y, p, weight, gain, middle):
    """Decisions at the best of 102 thresholds so far; among equals that nearest to the middle."""
    thresholds = [Fraction(step, 100) for step in range(102)]
    exact = [Fraction(value).limit_denominator(10**9) for value in p]
    answers = []
    for row in range(len(y)):
        gains = []
        for threshold in thresholds:
            decided = np.array([one >= threshold for one in exact[:row]], dtype=int)
            gains.append(gain(y[:row], decided, weight[:row]))
        near = [-abs(float(threshold) - middle) for threshold in thresholds]
        best = max(range(102), key=lambda g: (gains[g], near[g], -g))
        answers.append(int(exact[row] >= thresholds[best]))
    return np.array(answers)


def conformal(y, scores, alpha, gamma):
    """Coverage and size of every row's set, by the definition."""
    exact = [Fraction(1 - score).limit_denominator(10**9) for score in scores.ravel()]
    cells = np.clip([int(1000 * one) for one in exact], 0, 999).reshape(scores.shape)
    alpha, gamma = Fraction(str(alpha)), Fraction(str(gamma))
    level, seen, covered, sizes = alpha, [], [], []
    for row, label in enumerate(y):
        rank = ceil((len(seen) + 1) * (1 - level))
        limit = 1000 if rank > len(seen) else -1 if rank <= 0 else sorted(seen)[rank - 1]
        inside = cells[row] <= limit
        covered.append(inside[label])
        sizes.append(inside.sum())
        level += gamma * (alpha - int(not inside[label]))
        seen.append(cells[row, label])
    return np.array(covered), np.array(sizes)
