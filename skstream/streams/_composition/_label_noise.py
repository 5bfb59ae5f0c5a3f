"""Streams some of whose labels are wrong."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skstream.core.rows.chunk import Chunk
from skstream.core.rows.stream import Stream
from skstream.streams._composition._base import ChangedRows
from skstream.utils._choices import check_count, check_share
from skstream.utils._labels import LabelSpace, find_classes
from skstream.utils._seeds import uniform


def with_label_noise(
    stream: Any, share: float, *, classes: Any = None, random_state: int = 0
) -> Stream:
    """Replace some labels with wrong ones.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    share : float
        Probability, from 0 to 1, that a label is replaced by another class; each of the others is
        equally likely.
    classes : array-like of shape (n_classes,), default=None
        All possible labels; None: those that the stream states.
    random_state : int, default=0
        Seed. Whether a label is replaced depends only on the seed and the row number.

    Returns
    -------
    stream : Stream
        The same rows; missing labels stay missing.

    Raises
    ------
    ValueError
        If the classes are not known, or there is only one; if `share` is not from 0 to 1.

    See Also
    --------
    skstream.noise.LabelNoise : Makes predictions of a model wrong, not labels of a stream.

    Examples
    --------
    >>> from skstream.streams import make_demo_stream, with_label_noise
    >>> stream = make_demo_stream(1000)
    >>> noisy = with_label_noise(stream, 0.1)
    >>> sum(int((y != true).sum()) for y, true in zip(noisy.labels(), stream.labels()))
    103
    """
    return NoisyLabels(stream, check_share(share, "share"), classes, random_state)


class NoisyLabels(ChangedRows):
    """Another stream with wrong labels; see `with_label_noise`.

    Parameters
    ----------
    stream : Stream or iterable of chunks
        The stream.
    share : float
        Probability that a label is wrong.
    classes : array-like or None
        All labels that may come.
    random_state : int
        Seed.
    """

    _own_options = ("share", "random_state")

    def __init__(self, stream: Any, share: float, classes: Any, random_state: int) -> None:
        super().__init__(stream)
        known = self.parts[0].classes if classes is None else find_classes(classes, "classes")
        if known is None:
            raise ValueError(
                "The possible labels are not known: the stream does not state its classes. Pass "
                "classes=[...]. Regression targets have no classes."
            )
        if len(known) < 2:
            raise ValueError(f"Label noise needs at least two classes. Got {known.tolist()}.")
        self._space = LabelSpace(known)
        self._classes = known
        self.share = share
        self.random_state = check_count(random_state, "random_state", 0)

    @property
    def classes(self) -> NDArray[Any]:
        """Sorted class labels."""
        return self._classes

    def _changed(self, chunk: Chunk, start: int) -> Chunk:
        codes = self._space.encode(chunk.y, start)
        name = f"label noise {self.depth}"
        numbers = uniform(self.random_state, name, start, start + len(chunk.y))
        wrong = np.flatnonzero((numbers < self.share) & (codes >= 0))
        n_others = len(self._classes) - 1
        # The same number says which label replaces a label.
        step = np.minimum((numbers[wrong] / (self.share or 1) * n_others).astype(int), n_others - 1)
        noisy = chunk.y.astype(
            np.result_type(chunk.y, self._classes)
        )  # a copy, in which every class fits
        noisy[wrong] = self._classes[(codes[wrong] + 1 + step) % (n_others + 1)]
        return chunk._replace(y=noisy)
