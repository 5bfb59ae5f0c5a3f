"""Input of live runs: ids by which the user identifies rows, rows asked, weights of labels."""

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skstream.evaluation._input import EncodedRows, checked_weights
from skstream.utils._label_space import LabelSpace
from skstream.utils._labels import refuse_single
from skstream.utils._masked import unmasked
from skstream.utils._rows import as_rows

#: Number of labelled ids kept, to distinguish a second label from one of an unknown row.
REMEMBERED_IDS = 1 << 17


@dataclass(frozen=True, slots=True)
class KnownIds:
    """The waiting rows of some ids.

    Attributes
    ----------
    rows : ndarray of shape (n_known,), dtype int64
        Their numbers, ascending.
    places : ndarray of shape (n_known,), dtype intp
        Where their ids are among those given.
    ids : list
        These ids.
    n_again : int
        Rows, not among these, that have their label and are to be counted.
    """

    rows: np.ndarray
    places: np.ndarray
    ids: list[Hashable]
    n_again: int


class LiveIds:
    """Ids of the waiting rows of a live run, and of recently labelled rows."""

    def __init__(self) -> None:
        self._row_of: OrderedDict[Hashable, int] = OrderedDict()  # rows ascend
        self._done: OrderedDict[Hashable, None] = OrderedDict()
        self._refused: OrderedDict[Hashable, None] = OrderedDict()

    def check_new(self, ids: Sequence[Hashable]) -> None:
        """Raise an error if an id waits already, comes twice, or is missing."""
        check_ids(ids)
        seen = set()
        for one in ids:
            if one in seen:
                raise ValueError(
                    f"id {one!r} comes twice in this call; give every waiting row its own id."
                )
            if one in self._row_of:
                raise ValueError(
                    f"id {one!r} waits for its label already; give every waiting row its own id."
                )
            seen.add(one)

    def add(self, ids: Sequence[Hashable], first_row: int) -> None:
        """Store the ids of rows that arrived."""
        for row, one in enumerate(ids, first_row):
            self._row_of[one] = row
            self._done.pop(one, None)
            self._refused.pop(one, None)

    def refuse(self, ids: Sequence[Hashable]) -> None:
        """Note rows that do not wait, whose labels are to be ignored."""
        for one in ids:
            self._refused[one] = None
        _forget_oldest(self._refused)

    def rows_of(self, ids: Sequence[Hashable], on_relabel: str, on_unknown: str) -> KnownIds:
        """Find the waiting rows of ids; an error leaves everything unchanged."""
        check_ids(ids)
        places: dict[int, int] = {}
        n_again = 0
        for place, one in enumerate(ids):
            row = self._row_of.get(one)
            if row is not None:
                if row in places:
                    raise ValueError(f"id {one!r} comes twice among the labels.")
                places[row] = place
            elif one in self._done:
                if on_relabel == "error":
                    raise KeyError(
                        f"id {one!r} has its label already; no label of this call was taken. Pass "
                        "on_relabel='ignore' or 'count' to the evaluator to go on over corrected "
                        "labels."
                    )
                n_again += on_relabel == "count"
            elif one in self._refused:
                continue
            elif on_unknown == "error":
                raise KeyError(self._why_unknown(one, ids))
        rows = sorted(places)
        at = [places[row] for row in rows]
        return KnownIds(
            np.array(rows, dtype=np.int64),
            np.array(at, dtype=np.intp),
            [ids[place] for place in at],
            n_again,
        )

    def _why_unknown(self, one: Hashable, ids: Sequence[Hashable]) -> str:
        n = sum(other not in self._row_of and other not in self._done for other in ids)
        others = f" ({n:,} ids of this call are such)" if n > 1 else ""
        return (
            f"No row of id {one!r} waits for a label: it was never asked, was dropped, or had its "
            f"label more than {REMEMBERED_IDS:,} labels ago{others}. No label of this call was "
            "taken; pass on_unknown='ignore' to leave such ids out."
        )

    def labelled(self, ids: Sequence[Hashable]) -> None:
        """Note that waiting rows have their labels."""
        for one in ids:
            del self._row_of[one]
            self._done[one] = None
        _forget_oldest(self._done)

    def drop(self, last_row: int) -> None:
        """Forget the ids of waiting rows up to this one."""
        while self._row_of and next(iter(self._row_of.values())) <= last_row:
            self._row_of.popitem(last=False)


def _forget_oldest(ids: OrderedDict[Hashable, None]) -> None:
    while len(ids) > REMEMBERED_IDS:
        ids.popitem(last=False)


def as_ids(ids: Any) -> list[Any]:
    """Return ids as a list; raise an error for one alone."""
    if ids is None:
        raise TypeError(
            "ids is missing: label() finds the waiting rows by their ids. Pass one id per row, as "
            "in ids=range(100, 200), each waiting only once."
        )
    alone = isinstance(ids, (str, bytes)) or not isinstance(ids, Iterable)
    if alone or getattr(ids, "ndim", 1) == 0:
        raise ValueError(
            f"ids is {ids!r}, which is one id and no list of ids. Pass one id per row: [{ids!r}]."
        )
    return list(ids)


def check_ids(ids: Sequence[Any]) -> None:
    """Raise an error for ids that are missing or cannot be looked up."""
    for at, one in enumerate(ids):
        try:
            hash(one)
        except TypeError as error:
            raise ValueError(
                f"ids[{at}] is {one!r}, which cannot be looked up ({error}). Use numbers, texts or "
                "tuples."
            ) from error
        missing = one is None or type(one).__name__ in ("NAType", "NaTType")
        if missing or bool(one != one):
            raise ValueError(f"ids[{at}] is {one!r}: a row without an id cannot be found again.")


def asked_rows(X: Any, ids: Sequence[Hashable], space: LabelSpace, first_row: int) -> EncodedRows:
    """Return rows asked live, whose labels are not known yet, ready for the engine."""
    X = as_rows(X, first_row=first_row)
    n = X.shape[0]
    if len(ids) != n:
        raise ValueError(f"There are {n} rows and {len(ids)} ids.")
    return EncodedRows(X, np.full(n, space.nothing), np.zeros(n, dtype=bool), None)


def label_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Check weights of `n` labels; 1 where none are given."""
    if sample_weight is None:
        return np.ones(n)
    refuse_single(sample_weight, "sample_weight")
    weights = np.asarray(unmasked(sample_weight, numbers=True))
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}, but there are {n} labels.")
    return checked_weights(weights, lambda at: f"sample_weight[{at}]")
