"""Priors, densities and posterior probabilities of a mixture at any rows."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skstream.streams._generators._components import Component
from skstream.streams._generators._paths import Columns, Path
from skstream.streams._generators._turns import Floats

#: By what vectors whose squares overflow are multiplied, and how often at most: from 1e308 to 1.
_NEARER = 1e-11
_STEPS = 28


class MixtureTruth(NamedTuple):
    """The mixture that a stream is drawn from.

    Parameters
    ----------
    paths : tuple of Path
        The components along the stream.
    codes : ndarray of shape (n_components,), dtype intp
        Position of the label of each in the sorted classes.
    class_weights : ndarray of shape (n_components,)
        Weight of the class of each.
    """

    paths: tuple[Path, ...]
    codes: NDArray[np.intp]
    class_weights: Floats

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.paths[0].n_features

    def weights(self, rows: Floats) -> Floats:
        """Weights of the components, (n_components, n_rows)."""
        return np.array(
            [
                path.weight(rows) * by
                for path, by in zip(self.paths, self.class_weights, strict=True)
            ]
        )

    def priors(self, rows: Floats) -> Floats:
        """Priors of the components, (n_components, n_rows)."""
        weights = self.weights(rows)
        total = _sum(weights)
        empty = np.flatnonzero(total == 0)
        if len(empty):
            raise ValueError(_nothing_at(rows[empty[0]]))
        shares: Floats = weights / total
        return shares

    def drawn(self, rows: Floats, draws: Floats) -> NDArray[np.intp]:
        """Return the component of each row, by a number in [0, 1) for each."""
        weights = self.weights(rows)
        draws = draws * _sum(weights)
        numbers = np.zeros(len(rows), dtype=np.intp)
        bound = np.zeros(len(rows))
        for weight in weights[:-1]:
            bound = bound + weight
            numbers += draws >= bound
        # A product that is rounded up may reach the sum: then it is the last one with a weight.
        while len(wrong := np.flatnonzero(weights[numbers, np.arange(len(rows))] == 0)):
            numbers[wrong] -= 1
        return numbers

    def posterior(self, columns: Columns, rows: Floats) -> tuple[Floats, Floats]:
        """Density of each vector at its row, and (n_rows, n_classes) the share of each class.

        Of a vector so far away that squares overflow, the shares are those of the farthest one in
        its direction for which they do not.
        """
        logs = self._log_densities(columns, rows)
        most = logs.max(axis=0)
        far = np.flatnonzero(~np.isfinite(most))
        if len(far):
            logs[:, far] = self._far_log_densities([column[far] for column in columns], rows[far])
            most = logs.max(axis=0)
        shares = np.zeros((int(self.codes.max()) + 1, len(rows)))
        for code, log in zip(self.codes, logs, strict=True):
            shares[code] += np.exp(log - most)
        total = _sum(shares)
        density = total * np.exp(most)
        density[far] = 0.0
        return density, np.ascontiguousarray((shares / total).T)

    def _log_densities(self, columns: Columns, rows: Floats) -> Floats:
        """Logarithms of priors times densities, (n_components, n_rows)."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            logs: Floats = np.log(self.priors(rows))
            for log, path in zip(logs, self.paths, strict=True):
                log += path.log_density(rows, columns)
        return logs

    def _far_log_densities(self, columns: Columns, rows: Floats) -> Floats:
        """Logarithms of priors times densities of vectors that are brought nearer until finite."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.priors(rows))
        left = np.arange(len(rows))
        for _ in range(_STEPS):
            columns = [column * _NEARER for column in columns]
            nearer = self._log_densities([column[left] for column in columns], rows[left])
            fine = np.isfinite(nearer.max(axis=0))
            logs[:, left[fine]] = nearer[:, fine]
            left = left[~fine]
            if not len(left):
                break
        return logs  # the priors alone where a center itself is too far


def checked_truth(
    components: Sequence[Component],
    classes: Sequence[Any],
    class_weights: Mapping[Any, float],
    n_rows: int | None,
) -> MixtureTruth:
    """Return the truth of a stream, or raise an error where rows or labels would be missing."""
    for label, weight in class_weights.items():
        if label not in classes:
            raise ValueError(f"class_weights names {label!r}, and the classes are {classes}.")
        if not 0 <= weight < np.inf:
            raise ValueError(
                f"class_weights must be finite numbers >= 0. Got {weight!r} for {label!r}."
            )
    truth = MixtureTruth(
        tuple(map(Path, components)),
        np.array([classes.index(one.label) for one in components], dtype=np.intp),
        np.array([float(class_weights.get(one.label, 1.0)) for one in components]),
    )
    # Between these rows all weights are linear: where none is 0 at both ends, none is between.
    rows = np.unique(
        [0, *(row + by for row in _rows_of_changes(components) for by in (-1, 0, 1))]
    ).astype(np.float64)
    rows = rows[(rows >= 0) & (rows < (np.inf if n_rows is None else n_rows))]
    if n_rows is not None:
        rows = np.union1d(rows, [n_rows - 1.0])
    weights = truth.weights(rows)
    empty = np.flatnonzero(weights.sum(axis=0) == 0)
    if len(empty):
        raise ValueError(_nothing_at(rows[empty[0]]))
    for code, label in enumerate(classes):
        if not weights[truth.codes == code].any():
            raise ValueError(
                f"Label {label!r} is never generated: its components have no weight at any row of "
                f"the stream{'' if n_rows is None else f', which has {n_rows:,}'}. Give them one, "
                f"or leave them out."
            )
    return truth


def _rows_of_changes(components: Sequence[Component]) -> set[int]:
    rows = {one.start for one in components}
    for one in components:
        rows |= {row for phase in one.phases for row in (phase.start, phase.end)}
    return rows


def _nothing_at(row: float) -> str:
    return f"No component has a weight at row {row:g}: one must exist there, with a weight above 0."


def _sum(rows: Floats) -> Floats:
    """Sum over the first axis, one after another: NumPy's own order depends on the shape."""
    total: Floats = rows[0].copy()
    for row in rows[1:]:
        total += row
    return total
