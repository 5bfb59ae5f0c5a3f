"""Which stream a result is of: what tells that two results are of the same one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from skstream.engine.tape import Tape
from skstream.streams import Stream
from skstream.streams._composition._base import ComposedStream
from skstream.streams._generators._base import GeneratedStream
from skstream.utils._content import NotComparable, content, name_of

if TYPE_CHECKING:
    from skstream.evaluation._results._result import EvaluationResult

#: Options of a generator that give other rows of the same kind.
_OF_A_SAMPLE = ("random_state", "n_rows")


@dataclass(frozen=True)
class LabelSum:
    """Fingerprint of the labels of a stream, row by row; it does not depend on chunking.

    Attributes
    ----------
    checksum, n_rows, n_labelled : int
        Of the rows so far.
    """

    checksum: int = 0
    n_rows: int = 0
    n_labelled: int = 0

    def after(self, y: np.ndarray, labelled: np.ndarray) -> "LabelSum":
        """Return what it is after the next rows, with their codes, or targets."""
        values = np.where(labelled, y, -1.0).astype(np.float64)  # any y stands for no label
        n_labelled = self.n_labelled + int(np.count_nonzero(labelled))
        return LabelSum(crc32(values.data, self.checksum), self.n_rows + len(y), n_labelled)

    @property
    def text(self) -> str:
        """The fingerprint; empty before the first label."""
        return f"{self.n_rows} rows {self.checksum:08x}" if self.n_labelled else ""


def generator_of(stream: Stream | None) -> str:
    """Say which generator a stream is of, whatever its seed; empty for other streams.

    The number of rows does not count either, unless it decides where the truth changes.
    """
    if isinstance(stream, GeneratedStream):
        options = stream.row_options()
        parts = []
    elif isinstance(stream, ComposedStream):
        parts = [generator_of(part) for part in stream.parts]
        if not all(parts):
            return ""
        options = {name: getattr(stream, name) for name in stream._own_options}
    else:
        return ""
    own = [(name, value) for name, value in options.items() if name not in _OF_A_SAMPLE]
    try:
        return f"{name_of(type(stream))} {content([own, parts])[:16]}"
    except NotComparable:  # then only its labels tell it from others
        return ""


def of_each_stream(
    results: Sequence["EvaluationResult"], known: Sequence[int] | None = None
) -> list[list[int]]:
    """Divide results by their streams: places of the results of each, in the order of the first.

    Parameters
    ----------
    results : sequence of EvaluationResult
        Results; two are of one stream if their labels are the same, or their generator is.
    known : sequence of int, default=None
        A number per result, equal for those that are known to be of one stream.

    Returns
    -------
    groups : list of list of int
        Places of the results of every stream.
    """
    groups: list[list[int]] = []
    for j, other in enumerate(results):
        same = [
            group
            for group in groups
            if any(
                (known is not None and known[i] == known[j]) or _is_same(results[i], other)
                for i in group
            )
        ]
        joined = [*sorted(i for group in same for i in group), j]
        groups = sorted([group for group in groups if group not in same] + [joined])
    return groups


def _is_same(one: "EvaluationResult", other: "EvaluationResult") -> bool:
    """Whether two results are of one stream, or of one generator with other seeds."""
    if one.details.generator and one.details.generator == other.details.generator:
        return True
    if one.classes is None or other.classes is None:
        if one.classes is not other.classes:
            return False
    elif not np.array_equal(one.classes, other.classes):
        return False
    if one.details.labels_read and other.details.labels_read:
        return one.details.labels_read == other.details.labels_read
    return _same_labels(one.tape, other.tape)


def _same_labels(one: Tape | None, other: Tape | None) -> bool:
    """Whether tapes have the same labels: of results of earlier versions."""
    if one is None or other is None or not len(one.y):
        return False
    return np.array_equal(one.y, other.y, equal_nan=one.y.dtype.kind == "f")
