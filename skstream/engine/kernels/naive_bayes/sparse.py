"""Naive Bayes on sparse rows: the work follows the stored values, not the columns.

Terms are formed and added as scikit-learn forms and adds those of a row, so that classes tie where
they tie for ``predict``, if the sums of the counts are exact: those of whole numbers are.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from skstream.engine.kernels.cuts import Events, Floats, Integers
from skstream.utils._numba import jit
from skstream.utils._running_sums import Groups, running_sums


def counts_before(events: Events, rows: Integers, counts: Floats) -> Iterator[Floats]:
    """Count of each stored value's column before its event, class by class.

    Parameters
    ----------
    events : Events
    rows : ndarray of shape (n_values,)
        Event of each stored value.
    counts : ndarray of shape (n_classes, n_columns)
        Brought forward over the learns of `events`.

    Yields
    ------
    before : ndarray of shape (n_values,)
    """
    groups = Groups(events.at)
    y = events.y[rows]
    weighted = events.values * events.weight[rows]
    for k in range(len(counts)):
        steps = np.where(y == k, weighted, 0.0)
        before, after = groups.running(counts[k, groups.columns], steps)
        counts[k, groups.columns] = after
        yield before


def class_states(start: Floats, events: Events, steps: Floats) -> Floats:
    """Sums per class before each event, and after the last; `steps` is what each may add."""
    learnt = np.flatnonzero(events.learnt)
    by_class = np.zeros((events.number, len(start)))
    by_class[learnt, events.y[learnt]] = steps[learnt]
    return running_sums(start, by_class)


def complement_scores(
    events: Events, counts: Floats, totals: Floats, alpha: Floats, alpha_total: float
) -> NDArray[np.float64]:
    """Scores under ComplementNB at every event, of shape (n_events, n_classes).

    Parameters
    ----------
    events : Events
    counts : ndarray of shape (n_classes, n_columns)
    totals : ndarray of shape (n_classes,)
        Sums of the counts; like them brought forward.
    alpha : ndarray of shape (n_columns,) or (1,)
    alpha_total : float
        Sum of the smoothing over all columns.
    """
    rows = events.rows_of_values()
    row_totals = _sums_at(rows, events.values, events.number)
    states = class_states(totals, events, row_totals * events.weight)
    totals[:] = states[-1]
    of_class = list(counts_before(events, rows, counts))
    # Added class by class and then reduced, as scikit-learn does, to round as it does.
    smoothed = sum(of_class[1:], start=of_class[0]) + (
        alpha[events.at] if len(alpha) > 1 else alpha
    )
    others = states[:-1].sum(axis=1, keepdims=True) + alpha_total - states[:-1]
    scores = np.empty((events.number, len(counts)))
    for k, before in enumerate(of_class):
        logs = smoothed - before
        logs /= others[:, k][rows]
        np.log(logs, out=logs)
        scores[:, k] = _sums_at(rows, logs * events.values, events.number)
    return np.negative(scores, out=scores)


def categorical_scores(
    events: Events, counts: Floats, classes: Floats, alpha: float, n_categories: Integers
) -> NDArray[np.float64]:
    """Log likelihoods under CategoricalNB at every event, of shape (n_events, n_classes).

    Parameters
    ----------
    events : Events
        One stored value of 1 per feature.
    counts : ndarray of shape (n_classes, n_columns)
        Brought forward.
    classes : ndarray of shape (n_events + 1, n_classes)
        Weights of the classes before each event, and after the last.
    alpha : float
    n_categories : ndarray of shape (n_features,)
    """
    rows = events.rows_of_values()
    numbers, of_feature = np.unique(n_categories, return_inverse=True)
    scores = np.empty((events.number, len(counts)))
    for k, before in enumerate(counts_before(events, rows, counts)):
        before += alpha
        logs = np.log(before, out=before).reshape(events.number, -1)
        log_totals = np.log(classes[:-1, k, np.newaxis] + alpha * numbers)
        logs -= log_totals if len(numbers) == 1 else log_totals[:, of_feature]
        scores[:, k] = _sums_at(rows, logs.ravel(), events.number)
    return scores


Histogram = tuple[Floats, Floats]


def bernoulli_scores(
    events: Events, counts: Floats, histograms: list[Histogram], classes: Floats, alpha: float
) -> NDArray[np.float64]:
    """Log likelihoods under BernoulliNB at every event, of shape (n_events, n_classes).

    What is absent counts, too, but only how many features have which count.

    Parameters
    ----------
    events : Events
        Their stored values are all 1, their weights whole numbers.
    counts : ndarray of shape (n_classes, n_columns)
        Whole numbers; brought forward.
    histograms : list of (values, numbers)
        For each class its distinct counts, ascending, and their frequencies; brought forward.
    classes : ndarray of shape (n_events + 1, n_classes)
        Weights of the classes before each event, and after the last.
    alpha : float
    """
    rows = events.rows_of_values()
    scores = np.empty((events.number, len(counts)))
    for k, before in enumerate(counts_before(events, rows, counts)):
        present, absent = _bernoulli_logs(before, classes[rows, k], alpha)
        of_values = _sums_at(rows, present - absent, events.number)
        learns = np.flatnonzero(events.y == k)
        position = np.searchsorted(learns, np.arange(events.number))
        weights = classes[np.append(learns, events.number), k]
        mine = events.y[rows] == k
        values, numbers = _histograms_over_time(
            histograms[k],
            before[mine],
            events.weight[rows[mine]],
            position[rows[mine]],
            len(learns),
        )
        scores[:, k] = of_values + _absent_sums(values, numbers, weights, alpha)[position]
        left = np.flatnonzero(numbers[-1])
        histograms[k] = values[left], numbers[-1, left]
    return scores


def _bernoulli_logs(counts: Floats, weights: Floats, alpha: float) -> tuple[Floats, Floats]:
    """Log probabilities that features are present and absent, rounded as in scikit-learn."""
    present = np.log(counts + alpha) - np.log(weights + alpha * 2)
    with np.errstate(divide="ignore"):
        return present, np.log(1 - np.exp(present))


def _histograms_over_time(
    start: Histogram, before: Floats, steps: Floats, position: Integers, n_learns: int
) -> tuple[Floats, Floats]:
    """How many features have each count after 0, 1, ... learns of a class.

    Parameters
    ----------
    start : (values, numbers)
    before, steps, position : ndarray of shape (n_steps,)
        Count of a feature before a step, what is added, and after how many learns.
    n_learns : int

    Returns
    -------
    values : ndarray of shape (n_values,)
        The distinct counts, ascending.
    numbers : ndarray of shape (n_learns + 1, n_values)
    """
    after = before + steps
    known, how_many = start
    values = np.unique(np.concatenate([known, before, after]))
    n_values = len(values)
    changes = np.concatenate(
        [
            np.searchsorted(values, known),
            (position + 1) * n_values + np.searchsorted(values, before),
            (position + 1) * n_values + np.searchsorted(values, after),
        ]
    )
    by = np.concatenate([how_many, np.full(len(before), -1.0), np.ones(len(before))])
    numbers = _sums_at(changes, by, (n_learns + 1) * n_values)
    numbers = numbers.reshape(n_learns + 1, n_values)
    return values, np.cumsum(numbers, axis=0, out=numbers)


def _absent_sums(values: Floats, numbers: Floats, weights: Floats, alpha: float) -> Floats:
    """Sum over all features of the log probability that it is absent, after each learn."""
    states, which = np.nonzero(numbers)
    _, absent = _bernoulli_logs(values[which], weights[states], alpha)
    # In ascending order of the counts, whatever else is in the table.
    return _sums_at(states, absent * numbers[states, which], len(numbers))


def _sums_at(positions: Integers, values: Floats, number: int) -> Floats:
    """Sum the values at each position, one after the other: the same in any cutting."""
    return np.bincount(positions, weights=values, minlength=number).astype(np.float64, copy=False)


@jit
def fill_table(counts, alpha, table):  # type: ignore[no-untyped-def]
    """Counts, and logarithms of the smoothed counts, of shape (n_columns, n_classes, 2)."""
    for j in range(counts.shape[1]):
        smoothing = alpha[j] if len(alpha) > 1 else alpha[0]
        for k in range(counts.shape[0]):
            table[j, k, 0] = counts[k, j]
            table[j, k, 1] = np.log(counts[k, j] + smoothing)


@jit
def multinomial_rows(  # type: ignore[no-untyped-def]
    values, at, bounds, y, weight, learnt, asked, table, totals, alpha, alpha_total, scores
):
    """Log likelihoods under MultinomialNB at every asked event, learning as it goes.

    What `table` holds of one feature lies side by side: a feature costs one look into memory.
    """
    for i in range(len(y)):
        first, last = bounds[i], bounds[i + 1]
        if asked[i]:
            for k in range(len(totals)):
                log_total = np.log(totals[k] + alpha_total)
                score = 0.0
                for q in range(first, last):
                    score += values[q] * (table[at[q], k, 1] - log_total)
                scores[i, k] = score
        if learnt[i]:
            k = y[i]
            total = 0.0
            for q in range(first, last):
                j = at[q]
                step = values[q] * weight[i]
                count = table[j, k, 0] + step
                table[j, k, 0] = count
                table[j, k, 1] = np.log(count + (alpha[j] if len(alpha) > 1 else alpha[0]))
                total += step
            totals[k] += total
