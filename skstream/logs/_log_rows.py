"""Rows of a log of predictions: labels, predictions and times of a chunk of it, as codes."""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skstream.core.engine.answers import divided
from skstream.core.measures.rows import ScoredRows
from skstream.core.rows.chunk import Meta
from skstream.core.run.input import checked_weights
from skstream.reports._report import of_different_rows
from skstream.utils._choices import check_share
from skstream.utils._labels import NO_LABEL, UNANSWERED, LabelSpace, is_given, is_missing, listed
from skstream.utils._masked import unmasked
from skstream.utils._times import as_numbers, check_arrivals, clock, kind_of, shown_time
from skstream.utils._warnings import warn

Floats = NDArray[np.float64]
Unanswered = Literal["error", "skip", "wrong"]

#: How far the probabilities of a row may be from a sum of 1 without a warning.
_ROUNDING = 1e-4
#: Most classes of which the order of probabilities is compared with predictions.
_MOST_IN_ORDER = 1000


class LogChunk(NamedTuple):
    """Consecutive rows: labels, and predictions and probabilities by model."""

    y: Any
    labels: dict[str, Any]
    shares: dict[str, Any]
    meta: Meta

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.labels or self.shares)

    @property
    def named(self) -> list[Any]:
        """Classes that probabilities name; those by position do not."""
        return [
            one for shares in self.shares.values() if isinstance(shares, dict) for one in shares
        ]


class Coder:
    """Makes scored rows of the chunks of a log, in order, and counts what is missing."""

    def __init__(
        self,
        classes: NDArray[Any] | None,
        unanswered: Unanswered,
        tolerance: float,
        *,
        as_known: bool,
    ) -> None:
        # Columns of probabilities by position are in the order given, all else in that of labels.
        self._order = np.argsort([] if classes is None else classes)
        self.classes = classes = None if classes is None else classes[self._order]
        self.n_columns = 0 if classes is None else 1 if len(classes) <= 2 else len(classes)
        self.n_rows = self.n_unlabelled = 0
        self.n_unanswered = np.zeros(0, dtype=np.int64)
        self.known: list[Floats] = []  # label times of all rows, for the view "as_known"
        self._space = LabelSpace(classes)
        self._unanswered = unanswered
        self.as_known = as_known
        #: Whether a measure needs probabilities, which are checked then.
        self.needs_scores = True
        self._tolerance = check_share(tolerance, "tolerance")
        self._rounded = False  # whether a warning has said so
        #: By model: how often each column was the largest, by prediction or label; and the rows.
        self._largest: dict[str, tuple[Floats, int]] = {}
        self._says_label: dict[str, bool] = {}  # whether a model has no predictions
        self._differ = False  # whether models have predictions of different rows
        self._newest = _NewestKnown(self._space)
        self._last_arrival: NDArray[Any] | None = None

    def rows(self, chunk: LogChunk) -> ScoredRows:
        """Return the rows of the next chunk."""
        n, first, models = len(chunk.y), self.n_rows, chunk.models
        space, dtype = self._space, self._space.dtype
        y = space.encode(chunk.y, first)
        tables = {
            name: _share_table(name, one, self.classes, n, first)[
                :, slice(None) if isinstance(one, dict) else self._order
            ]
            for name, one in chunk.shares.items()
            if self.classes is not None
        }
        answers = np.empty((len(models), n), dtype=np.int64 if dtype.kind != "f" else dtype)
        for k, name in enumerate(models):
            there = np.ones(n, dtype=bool)
            if name in tables:
                there = np.asarray(np.isfinite(tables[name]).all(axis=1))
            if name in chunk.labels:
                answers[k] = self._codes(name, chunk.labels[name], first)
                np.logical_and(there, is_given(answers[k]), out=there)
            else:
                answers[k] = np.where(there, tables[name].argmax(axis=1), NO_LABEL)
            if name in tables and not isinstance(chunk.shares[name], dict):
                self._says_label[name] = name not in chunk.labels
                self._note_order(name, tables[name], y if self._says_label[name] else answers[k])
            self._note_missing(k, name, answers[k], there, models)
        scores = None
        if tables:
            scores = np.full((len(models), n, self.n_columns), np.nan)
            for name, table in tables.items():
                table = self._checked(name, table, first, says_label=name not in chunk.labels)
                scores[models.index(name)] = _scores_of(table)
        weight = chunk.meta.get("sample_weight")
        if weight is not None:
            weight = checked_weights(weight, lambda at: f"sample_weight of row {first + at}")
        labelled = is_given(y)
        y = y.astype(dtype)
        previous = self._take_times(chunk.meta, y, labelled)
        time = self._clock(chunk.meta)
        self.n_rows += n
        self.n_unlabelled += n - int(np.count_nonzero(labelled))
        given = is_given(answers) & (answers != UNANSWERED)
        self._differ |= bool((given != given[0]).any())
        return ScoredRows(y, answers.astype(dtype), weight, previous, scores=scores, time=time)

    def _checked(self, name: str, table: Floats, first: int, *, says_label: bool) -> Floats:
        """Return probabilities that sum to 1: where they are a little off, after a warning."""
        outside = np.maximum(table - 1.0, -table).max(axis=1) - 1e-9  # of the last digits
        off = np.abs(table.sum(axis=1) - 1.0)
        off = np.maximum(outside, np.where(off > _ROUNDING, off, 0.0))
        wrong = np.flatnonzero(off > self._tolerance)
        some = np.flatnonzero((off > 0.0) & (off <= self._tolerance))
        # A sum other than 1 changes no label.
        of_label = wrong[outside[wrong] > self._tolerance] if says_label else wrong[:0]
        refused = wrong if self.needs_scores else of_label
        if len(refused) or (self.needs_scores and len(some) and not self._rounded):
            at = (refused if len(refused) else some)[0]
            said = (
                f"probabilities of {name!r} in row {first + at} are "
                f"{listed(np.round(table[at], 10).tolist())}, not in [0, 1] with the sum 1."
            )
            if len(refused):
                shares = table[:, (table >= 0).all(axis=0)]
                if shares.size and 10 < shares.max() <= 100:
                    raise ValueError(f"{said} Divide percentages by 100.")
                raise ValueError(
                    f"{said} If they are only rounded, pass a larger tolerance=. If they are other "
                    "scores, such as logits, pass predictions= instead, as to score_predictions."
                )
            self._rounded = True
            warn(f"{said} Rows that are off by at most {self._tolerance:g} are normalised.")
        table = divided(table, some)
        table[wrong] = np.nan  # no measure has asked for them
        return table

    def _note_order(self, name: str, table: Floats, codes: NDArray[Any]) -> None:
        """Count which columns were the largest, by what was predicted, or else the label."""
        rows = (codes >= 0) & np.isfinite(table).all(axis=1)
        n_classes = table.shape[1]
        if n_classes <= _MOST_IN_ORDER:
            start = np.zeros((n_classes, n_classes)), 0
            largest, n_rows = self._largest.get(name, start)
            np.add.at(largest, codes[rows], table[rows] == table[rows].max(axis=1, keepdims=True))
            self._largest[name] = largest, n_rows + int(rows.sum())

    def _check_order(self) -> None:
        """Warn where predictions are the most probable class of another order of the classes.

        Of a model without predictions, where the labels are, if the other order is right in half of
        the rows more, has at most half of the errors of the most frequent class, and there are 10
        rows for each class: the model is then wrong in half of the rows or more, and does not
        always say the same.
        """
        for name, (largest, n_rows) in self._largest.items():
            assert self.classes is not None
            classes, agree = self.classes, np.trace(largest)
            _, columns = linear_sum_assignment(-largest - 1e-6 * np.eye(len(classes)))
            other = largest[np.arange(len(classes)), columns].sum()
            what, is_other = "its predictions", agree < 0.9 * n_rows <= other
            if self._says_label[name]:
                what, most_frequent = "the labels", largest.sum(axis=1).max()
                is_other = n_rows >= 10 * len(classes) and other - agree >= 0.5 * n_rows
                is_other = is_other and other >= (n_rows + most_frequent) / 2
            if is_other:
                orders = np.empty((2, len(classes)), dtype=object)
                orders[0, self._order], orders[1, self._order[columns]] = classes, classes
                used, better = (listed(order.tolist()) for order in orders)
                warn(
                    f"The probabilities of {name!r} are read in the order {used}, in which "
                    f"{what} are the most probable class in {agree / n_rows:.0%} of the rows; "
                    f"in the order {better} they are in {other / n_rows:.0%}. If that is the order "
                    f"of the columns, pass classes={better}, or name the columns by class."
                )

    def _codes(self, name: str, labels: Any, first: int) -> NDArray[Any]:
        if self.classes is None:
            return as_floats(f"predictions of {name!r}", labels, len(labels), first)
        return self._space.encode(labels, first, f"prediction of {name!r}")

    def _note_missing(
        self, k: int, name: str, codes: NDArray[Any], there: NDArray[np.bool_], models: list[str]
    ) -> None:
        """Mark what is missing in the codes of a model, or raise an error."""
        if not len(self.n_unanswered):
            self.n_unanswered = np.zeros(len(models), dtype=np.int64)
        if there.all():
            return
        if self._unanswered == "error":
            at = self.n_rows + int(there.argmin())
            raise ValueError(
                f"Row {at} has no prediction of {name!r} (None or NaN). Pass unanswered='skip' to "
                "leave such rows out of the scores of that model"
                + (", or 'wrong' to count errors." if self.classes is not None else ".")
            )
        self.n_unanswered[k] += np.count_nonzero(~there)
        nothing = self._space.nothing if self._unanswered == "skip" else UNANSWERED
        codes[~there] = nothing

    def _take_times(
        self, meta: Meta, y: NDArray[Any], labelled: NDArray[np.bool_]
    ) -> NDArray[Any] | None:
        """Check times; return what the persistent baseline answers, where labels are late."""
        if "arrival" not in meta:
            if "label_time" in meta:
                raise ValueError("label_time= needs arrival=, the arrival times of the rows.")
            return None
        given = meta["arrival"]
        came = as_numbers(given, "arrival", self.n_rows)
        check_arrivals(given, self.n_rows, self._last_arrival)
        self._last_arrival = given[-1:]
        if "label_time" not in meta:
            return None
        known = self._label_times(meta["label_time"], given, came, labelled)
        self.known.append(np.where(labelled, known, np.inf))
        return self._newest.at(came, self.known[-1], y)

    def _clock(self, meta: Meta) -> NDArray[Any] | None:
        """Times by which the rows are in their order: of their labels, in the view "as_known"."""
        given = meta.get("label_time" if self.as_known else "arrival")
        return None if given is None else clock(given)

    def _label_times(
        self, later: Any, given: Any, came: Floats, labelled: NDArray[np.bool_]
    ) -> Floats:
        known = as_numbers(later, "label_time", self.n_rows)
        if np.isfinite(known).any() and kind_of(given) != kind_of(later):
            raise ValueError(
                f"arrival contains {kind_of(given)}, but label_time {kind_of(later)}: use one kind."
            )
        early = np.flatnonzero(known < came)
        if len(early):
            at = int(early[0])
            raise ValueError(
                f"label_time[{self.n_rows + at}] is {shown_time(later[at : at + 1])}, before the "
                f"arrival of its row, {shown_time(given[at : at + 1])}."
            )
        timeless = np.flatnonzero(labelled & ~np.isfinite(known))
        if len(timeless):
            raise ValueError(
                f"Row {self.n_rows + int(timeless[0])} has a label but no label_time. A label that "
                "is not known yet must be None (NaN)."
            )
        return known

    def check_end(self, models: list[str]) -> None:
        """Raise an error, or warn, about what all rows together say."""
        if self.n_unlabelled == self.n_rows:
            raise ValueError(f"None of the {self.n_rows:,} rows has a label: nothing to score yet.")
        none = np.flatnonzero(self.n_unanswered == self.n_rows)
        if len(none):
            raise ValueError(f"There is no prediction of {models[none[0]]!r} at all.")
        self._check_order()
        if self._differ and self._unanswered == "skip":
            n_answered = (self.n_rows - self.n_unanswered).tolist()
            warn(f"{of_different_rows(dict(zip(models, n_answered, strict=True)))}.")


def in_order_of_labels(parts: list[ScoredRows], coder: Coder) -> ScoredRows:
    """All labelled rows in the order in which their labels became known."""
    if not coder.known:
        raise ValueError(
            "view='as_known' orders rows by their labels: pass arrival= and label_time=."
        )
    rows = parts[0]
    for part in parts[1:]:
        rows = part.after(rows)
    known = np.concatenate(coder.known)
    order = np.flatnonzero(np.isfinite(known))
    order = order[np.argsort(known[order], kind="stable")]
    some = rows[order]
    some.row = order.astype(np.int64)
    return some


class _NewestKnown:
    """The newest label that was known when each row came."""

    def __init__(self, space: LabelSpace) -> None:
        self._newest = np.full(1, space.nothing, dtype=space.dtype)
        self._waiting = np.empty(0), np.empty(0, dtype=np.int64), self._newest[:0]
        self._n_rows = 0

    def at(self, came: Floats, known: Floats, y: NDArray[Any]) -> NDArray[Any]:
        """Return it for the next rows; `known` is infinite where a label never comes."""
        rows = self._n_rows + np.arange(len(y))
        has_label = np.isfinite(known)
        times, of, codes = (
            np.concatenate(pair)
            for pair in zip(
                self._waiting, (known[has_label], rows[has_label], y[has_label]), strict=True
            )
        )
        when = np.concatenate([times, came])
        # At one time events go by their rows; of one row the arrival is before the label.
        is_label = np.arange(len(when)) < len(times)
        order = np.lexsort((is_label, np.concatenate([of, rows]), when))
        of_labels = is_label[order]
        last = np.maximum.accumulate(np.where(of_labels, np.arange(len(order)), -1))
        at = last[~of_labels]  # in the order of the rows, as arrivals never go back
        newest = np.repeat(self._newest, len(y))
        found = np.where(at >= 0, np.concatenate([codes, newest])[order[at]], newest)
        late = times > came[-1]
        due = np.flatnonzero(~late)
        if len(due):
            self._newest = codes[due[np.lexsort((of[due], times[due]))[-1:]]]
        self._waiting = times[late], of[late], codes[late]
        self._n_rows += len(y)
        return found


def by_class(given: Any) -> Any:
    """Probabilities as a dict by class, or as an array."""
    if isinstance(given, Mapping):
        return dict(given)
    if hasattr(given, "columns") and not isinstance(given, np.ndarray):
        return {name: given[name] for name in given.columns}
    return np.asarray(unmasked(given, numbers=True))


def _share_table(
    name: str, shares: Any, classes: NDArray[Any], n_rows: int, first_row: int
) -> Floats:
    """Probabilities of all classes, NaN in rows without any."""
    n_classes = len(classes)
    if isinstance(shares, dict):
        return _table_of_columns(name, shares, classes, n_rows, first_row)
    _refuse_times(f"probabilities of {name!r}", shares)
    if shares.ndim == 1 and shares.dtype != object:
        if n_classes != 2:
            raise ValueError(
                f"probabilities of {name!r} is one column, which is enough for two classes, but "
                f"there are {n_classes}: {listed(classes.tolist())}. Pass a column for each class, "
                "or a dict by class; or all labels that can occur as classes=."
            )
        second = as_floats(f"probabilities of {name!r}", shares, n_rows, first_row)
        return np.column_stack([1.0 - second, second])
    if shares.ndim == 1:  # a list in each row
        shares = _stacked(name, shares, n_classes, first_row)
    if shares.shape != (n_rows, n_classes):
        raise ValueError(
            f"probabilities of {name!r} has shape {shares.shape}; for {n_rows:,} rows and "
            f"{n_classes} classes it must be ({n_rows}, {n_classes}). The classes are "
            f"{listed(classes.tolist())}; if others can occur, pass all of them as classes=."
        )
    return np.asarray(shares, dtype=np.float64)


def _table_of_columns(
    name: str, columns: dict[Any, Any], classes: NDArray[Any], n_rows: int, first_row: int
) -> Floats:
    # The name of a column is a text, also where the label is a number.
    places = {str(label): place for place, label in enumerate(classes.tolist())}
    table = np.full((n_rows, len(classes)), np.nan)
    for label, column in columns.items():
        if str(label) not in places:
            raise ValueError(
                f"probabilities of {name!r} has a column of {label!r}, which is not one of the "
                f"classes: {listed(classes.tolist())}."
            )
        of_label = as_floats(f"probabilities of {name!r}, {label!r}", column, n_rows, first_row)
        table[:, places[str(label)]] = of_label
    lacking = [label for label in places if label not in {str(one) for one in columns}]
    if lacking and len(classes) == 2 and len(columns) == 1:
        place = places[lacking[0]]
        table[:, place] = 1.0 - table[:, 1 - place]
    elif lacking:
        said = f"probabilities of {name!r} has no column of the class {lacking[0]!r}."
        raise ValueError(f"{said} The classes are {listed(classes.tolist())}.")
    return table


def _scores_of(table: Floats) -> Floats:
    """Scores as `ScoredRows` holds them: of at most two classes those of the second."""
    n_classes = table.shape[1]
    if n_classes == 1:
        return 1.0 - table
    return table[:, 1:] if n_classes == 2 else table


def _stacked(name: str, rows: NDArray[Any], n_classes: int, first_row: int) -> Floats:
    """Lists of the probabilities of single rows, as a table; None is a row of NaN."""
    table = np.full((len(rows), n_classes), np.nan)
    for at, row in enumerate(rows):
        if is_missing(row):
            continue
        if np.shape(row) != (n_classes,):
            raise ValueError(
                f"probabilities of {name!r} has {row!r} in row {first_row + at}: a list of "
                f"{n_classes} numbers is needed, one for each class."
            )
        table[at] = row
    return table


def _refuse_times(what: str, column: NDArray[Any]) -> None:
    """Refuse times, of which NumPy makes numbers without a word."""
    if column.dtype.kind in "mM":
        raise ValueError(f"{what}: numbers are needed, but these are times ({column.dtype}).")


def as_floats(what: str, given: Any, n_rows: int, first_row: int = 0) -> Floats:
    column = np.asarray(unmasked(given, numbers=True))
    _refuse_times(what, column)
    try:
        values = np.array(
            [np.nan if is_missing(one) else one for one in column.tolist()]
            if column.dtype == object
            else column,
            dtype=np.float64,
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}, from row {first_row} on, are not numbers: {error}") from error
    if values.shape != (n_rows,):
        raise ValueError(f"{what} has shape {values.shape}, and there are {n_rows:,} rows.")
    return values
