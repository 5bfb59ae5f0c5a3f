"""What is passed to a live run: rows by their ids, and their labels."""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from skstream.core.evaluators.delayed_times import Clock, Times
from skstream.core.rows.arrays import holds_columns, split_columns
from skstream.core.run.input import EncodedRows, checked_weights, encoded_labels
from skstream.utils._labels import LabelSpace, refuse_single
from skstream.utils._masked import unmasked
from skstream.utils._rows import as_rows
from skstream.utils._times import shown_time

#: Number of labelled ids kept, to distinguish a second label from one of an unknown row.
REMEMBERED_IDS = 1 << 17


@dataclass(frozen=True, slots=True)
class KnownIds:
    """The waiting rows of some ids.

    Attributes
    ----------
    rows : ndarray of shape (n_known,), dtype int64
        Their numbers, ascending.
    positions : ndarray of shape (n_known,), dtype intp
        Where their ids are among those given.
    ids : list
        These ids.
    n_again : int
        Rows, not among these, that have their label already.
    """

    rows: np.ndarray
    positions: np.ndarray
    ids: list[Hashable]
    n_again: int


class LiveIds:
    """Ids of the waiting rows of a live run, and of rows that wait no longer."""

    def __init__(self) -> None:
        self._row_of: OrderedDict[Hashable, int] = OrderedDict()  # rows ascend
        # The newest that wait no longer, and whether they have their label; else they were refused.
        self._gone: OrderedDict[Hashable, bool] = OrderedDict()

    def check_new(self, ids: Sequence[Hashable]) -> None:
        """Raise an error if an id waits already, comes twice, or is missing."""
        check_ids(ids)
        seen = set()
        for key in ids:
            if key in seen:
                raise ValueError(
                    f"id {key!r} occurs twice in this call; give every waiting row its own id."
                )
            if key in self._row_of:
                raise ValueError(
                    f"id {key!r} is already waiting for its label; give every waiting row its own "
                    "id."
                )
            seen.add(key)

    def add(self, ids: Sequence[Hashable], first_row: int) -> None:
        """Store the ids of rows that arrived."""
        for row, key in enumerate(ids, first_row):
            self._row_of[key] = row
            self._gone.pop(key, None)

    def labelled(self, ids: Sequence[Hashable]) -> None:
        """Note that waiting rows have their labels."""
        for key in ids:
            del self._row_of[key]
        self._let_go(ids, labelled=True)

    def _let_go(self, ids: Sequence[Hashable], *, labelled: bool) -> None:
        for key in ids:
            self._gone[key] = labelled
        while len(self._gone) > REMEMBERED_IDS:
            self._gone.popitem(last=False)

    def rows_of(self, ids: Sequence[Hashable], on_unknown: str) -> KnownIds:
        """Find the waiting rows of ids; an error leaves everything unchanged."""
        check_ids(ids)
        positions: dict[int, int] = {}
        n_again = 0
        for position, key in enumerate(ids):
            row = self._row_of.get(key)
            if row is not None:
                if row not in positions:
                    positions[row] = position
                elif on_unknown == "error":
                    raise ValueError(
                        f"id {key!r} occurs twice among the labels; no label of this call was "
                        "used. Pass on_unknown='ignore' to take the first one, and count the rest."
                    )
                else:
                    n_again += 1
            elif self._gone.get(key):
                if on_unknown == "error":
                    raise KeyError(
                        f"id {key!r} already has its label; no label of this call was used. Pass "
                        "on_unknown='ignore' to leave corrected labels out, and count them."
                    )
                n_again += 1
            elif key not in self._gone and on_unknown == "error":
                raise KeyError(self._why_unknown(key, ids))
        rows = sorted(positions)
        at = [positions[row] for row in rows]
        return KnownIds(
            np.array(rows, dtype=np.int64),
            np.array(at, dtype=np.intp),
            [ids[position] for position in at],
            n_again,
        )

    def _why_unknown(self, key: Hashable, ids: Sequence[Hashable]) -> str:
        n = sum(other not in self._row_of and not self._gone.get(other) for other in ids)
        others = f" ({n:,} ids of this call are like this)" if n > 1 else ""
        return (
            f"No row of id {key!r} waits for a label: it was never predicted, was dropped, or got "
            f"its label more than {REMEMBERED_IDS:,} labels ago{others}. No label of this call was "
            "used; pass on_unknown='ignore' to skip such ids."
        )

    def drop(self, last_row: int) -> None:
        """Forget the ids of waiting rows up to this one."""
        while self._row_of and next(iter(self._row_of.values())) <= last_row:
            self._row_of.popitem(last=False)


def as_ids(ids: Any) -> list[Any]:
    """Return ids as a list; raise an error for one alone."""
    if ids is None:
        raise TypeError(
            "ids is missing: label() finds the waiting rows by their ids. Pass one id per row, as "
            "in ids=range(100, 200), each for one waiting row only."
        )
    alone = isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable)
    if alone or getattr(ids, "ndim", 1) == 0:
        raise ValueError(
            f"ids is {ids!r}, which is one id, not a list of ids. Pass one id per row: [{ids!r}]."
        )
    return list(ids)


def check_ids(ids: Sequence[Any]) -> None:
    """Raise an error for ids that are missing or cannot be looked up."""
    for at, key in enumerate(ids):
        try:
            hash(key)
        except TypeError as error:
            raise ValueError(
                f"ids[{at}] is {key!r}, which cannot be looked up ({error}). Use numbers, texts or "
                "tuples."
            ) from error
        missing = key is None or type(key).__name__ in ("NAType", "NaTType")
        if missing or bool(key != key):
            raise ValueError(f"ids[{at}] is {key!r}: a row without an id cannot be found again.")


def label_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Check weights of `n` labels; 1 where none are given."""
    if sample_weight is None:
        return np.ones(n)
    refuse_single(sample_weight, "sample_weight")
    weights = np.asarray(unmasked(sample_weight, numbers=True))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, but there are {n} labels.")
    return checked_weights(weights, lambda at: f"sample_weight[{at}]")


@dataclass(frozen=True, kw_only=True)
class DatedRows(EncodedRows):
    """Rows that arrive at some times, with the times of their labels as far as these are known.

    Attributes
    ----------
    arrival : ndarray of shape (n_rows,), dtype float64
        When they arrive; does not decrease.
    given : ndarray of shape (n_rows,)
        The same as the user gave it, for messages.
    label_time : ndarray of shape (n_rows,), dtype float64
        When their labels come; infinite where that is never, or not known yet.
    ids : ndarray of shape (n_rows,), dtype object, or None
        Of rows of a live run, which wait where the time of their label is not known.
    """

    arrival: np.ndarray
    given: np.ndarray
    label_time: np.ndarray
    ids: np.ndarray | None = None

    @classmethod
    def waiting(cls, X: Any, ids: Sequence[Hashable], arrival: Times, space: LabelSpace) -> Self:
        """Return rows asked live, whose labels are not known yet."""
        n = len(ids)
        return cls(
            X=X,
            y=np.full(n, space.nothing),
            arrival=np.broadcast_to(arrival.values, n),
            given=np.broadcast_to(arrival.given, n, subok=True),
            label_time=np.full(n, np.inf),
            ids=np.fromiter(ids, dtype=object, count=n),
        )


@dataclass(frozen=True)
class Batch:
    """Rows and labels of several times, which a live run takes in one call.

    Attributes
    ----------
    rows : DatedRows
        Rows that arrive, in the order of time.
    order : ndarray of shape (n_rows,)
        Where each of them stands in the frame.
    known : KnownIds
        Rows that wait already, whose labels come.
    known_y, known_times, known_weight : ndarray, or None
        These labels, their times, and their weights if there are any.
    clock : Clock
        The clock of the run, with the kind of the times.
    last : Clock
        The same at the last event.
    """

    rows: DatedRows
    order: np.ndarray
    known: KnownIds
    known_y: np.ndarray
    known_times: np.ndarray
    known_weight: np.ndarray | None
    clock: Clock
    last: Clock


def read_batch(
    rows: Any,
    labels: Any,
    names: Mapping[str, str | None],
    known_ids: LiveIds,
    on_unknown: str,
    clock: Clock,
    space: LabelSpace,
    first_row: int,
) -> Batch:
    """Read two frames, of rows and of labels; an error leaves everything unchanged.

    `names` are the columns that are no features.
    """
    X, ids = np.empty((0, 0)), []
    arrival = times = Times(np.empty(0), np.empty(0), "", "time")
    if rows is not None:
        X, held = _split(rows, "rows", {key: names[key] for key in ("id", "time")}, features=True)
        _check_no_feature(X, names)
        ids = as_ids(held["id"])
        known_ids.check_new(ids)
        clock, arrival = clock.unordered(held["time"], "time of rows")
        X = as_rows(X, first_row=first_row)
    arriving = DatedRows.waiting(X, ids, arrival, space)
    order = np.argsort(arrival.values, kind="stable")
    arriving = arriving.take(order)
    weight, label_ids, codes = None, [], arriving.y[:0]
    if labels is not None:
        taken = {key: name for key, name in names.items() if name is not None}
        _, held = _split(labels, "labels", taken, features=False)
        label_ids = as_ids(held["id"])
        codes = encoded_labels(held["label"], space)
        clock, times = clock.unordered(held["time"], "time of labels")
        if "sample_weight" in held:
            weight = label_weights(held["sample_weight"], len(codes))
            arriving = replace(arriving, weight=np.ones(len(ids)))
    position_of = {ids[at]: position for position, at in enumerate(order)}
    check_ids(label_ids)
    before = []  # labels of rows that wait already
    for at, key in enumerate(label_ids):
        if key not in position_of:
            before.append(at)
            continue
        position = position_of[key]
        if arriving.label_time[position] < np.inf:
            raise ValueError(f"id {key!r} occurs twice among the labels.")
        if times.values[at] < arriving.arrival[position]:
            raise ValueError(
                f"The label of id {key!r} comes at {times.shown(at)}, before its row, which "
                f"arrives at {shown_time(arriving.given[position:][:1])}. Labels cannot precede "
                "their rows."
            )
        arriving.label_time[position], arriving.y[position] = times.values[at], codes[at]
        if weight is not None and arriving.weight is not None:
            arriving.weight[position] = weight[at]
    known = known_ids.rows_of([label_ids[at] for at in before], on_unknown)
    at_known = np.array(before, dtype=np.intp)[known.positions]
    last = clock
    for some in (arrival, times):
        if len(some.values) and some.values.max() >= last.now:
            newest = int(some.values.argmax())
            last = last.at(float(some.values[newest]), some.shown(newest))
    return Batch(
        arriving,
        order,
        known,
        codes[at_known],
        times.values[at_known],
        None if weight is None else weight[at_known],
        clock,
        last,
    )


def _check_no_feature(X: Any, names: Mapping[str, str | None]) -> None:
    """Raise an error if labels or their weights are among the features."""
    for key in ("label", "sample_weight"):
        if names[key] in list(X.columns):
            raise ValueError(
                f"rows has the column {names[key]!r}, which is the {key} and would be used as a "
                f"feature. Leave it out of rows; if it is a feature, name another column by {key}=."
            )


def _split(
    frame: Any, what: str, taken: Mapping[str, str | None], *, features: bool
) -> tuple[Any, dict[str, Any]]:
    if not holds_columns(frame):
        raise TypeError(
            f"{what} is a {type(frame).__name__}. Pass a pandas or polars frame, an Arrow table, "
            "or a dict of columns; arrays go to ask(X, ids, t) and label(ids, y, t)."
        )
    wrong = {key: name for key, name in taken.items() if not isinstance(name, str)}
    for key, name in wrong.items():
        raise TypeError(f"{key} must be the name of a column. Got {type(name).__name__} instead.")
    return split_columns(frame, {k: str(v) for k, v in taken.items()}, what, features=features)
