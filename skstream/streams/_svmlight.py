"""Stream of SVMlight files."""

import io
from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_svmlight_file

from skstream.core.rows.chunk import Chunk, StreamError
from skstream.streams._files import FileStream, Paths
from skstream.utils._choices import check_count
from skstream.utils._labels import distinct_labels

_ENDINGS = (".svm", ".svmlight", ".libsvm")
_LARGEST_INDEX = 2**31 - 1


class _Found(NamedTuple):
    """What a pass over all files finds.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    n_features : int
        Number of features that the largest index asks for.
    zero_based : bool
        Whether the first feature has the index 0.
    classes : ndarray or None
        Distinct labels; None for fractional targets.
    """

    n_rows: int
    n_features: int
    zero_based: bool
    classes: NDArray[Any] | None


class SVMLightStream(FileStream):
    r"""Stream of one or several SVMlight (libsvm) files.

    A line is ``label index:value index:value ...``; omitted features are 0. Files are read as by
    scikit-learn, but piece by piece at every pass, never as a whole. `X` is a CSR matrix and `y` is
    float64. Files ending in ``.gz`` or ``.bz2`` are decompressed while they are read.

    Parameters
    ----------
    path : str, path-like, or list of them
        Path or URI (as ``"s3://bucket/folder"``) of a file, or of a folder of ``*.svm``,
        ``*.svmlight`` and ``*.libsvm`` files, also compressed; or a list of files in reading order.
        The order of rows is their order in time. A folder is read in the natural order of names
        (part.2 before part.10), which the attribute `files` shows.
    n_features : int, default=None
        Number of features. None finds the largest index in a pass over the files.
    zero_based : bool or "auto", default="auto"
        Whether the first feature has the index 0. "auto": 0 if any line has it, else 1, found in a
        pass over the files.
    chunk_size : int, default=65536
        Largest number of rows per chunk. No result depends on it.
    options : dict, default=None
        ``{"filesystem": ...}``: where the paths are; see `ParquetStream`.

    Attributes
    ----------
    files : list of str
        Absolute paths or URIs of the files, in the order in which they are read.
    path : str or list of str
        Absolute path or URI of the file; the list `files` if there are several.
    chunk_size : int
        Largest number of rows per chunk.

    Raises
    ------
    ValueError
        If a parameter is out of range, or a file is empty or not a text file.
    StreamError
        While iterating: for a line that does not have this form, indices that do not increase, or
        an index beyond `n_features`. The message names file, line and text.

    See Also
    --------
    sklearn.datasets.load_svmlight_file : The same for a file that fits into memory.
    CSVStream : Stream of CSV files.

    Notes
    -----
    Text after a ``#`` is a comment. Empty lines and pure comments are not rows. Pass `n_features`
    and `zero_based` if the files are large: the pass that finds them reads everything once. It also
    finds `n_rows` and `classes`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skstream.streams import SVMLightStream
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = Path(folder.name) / "rows.svm"
    >>> _ = path.write_text("1 1:0.5 3:2 # the first row\n-1 2:1\n")
    >>> for X, y, meta in SVMLightStream(path):
    ...     print(X.toarray().tolist(), y.tolist())
    [[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]] [1.0, -1.0]
    >>> folder.cleanup()
    """

    suffixes = tuple(end + packed for end in _ENDINGS for packed in ("", ".gz", ".bz2"))

    def __init__(
        self,
        path: Paths,
        *,
        n_features: int | None = None,
        zero_based: bool | str = "auto",
        chunk_size: int = 65536,
        options: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(path, options)
        if not isinstance(zero_based, bool | np.bool_) and zero_based != "auto":
            raise ValueError(
                f"zero_based must be True, False or 'auto'. Got {zero_based!r} instead."
            )
        self._n_features = None if n_features is None else check_count(n_features, "n_features", 1)
        self._zero_based = None if zero_based == "auto" else bool(zero_based)
        self.chunk_size = check_count(chunk_size, "chunk_size", 1)

    @property
    def n_rows(self) -> int:
        """Number of rows, counted in a pass over the files."""
        return self._found.n_rows

    @property
    def n_features(self) -> int:
        """Number of features; found in a pass over the files unless given."""
        return self._found.n_features if self._n_features is None else self._n_features

    @property
    def zero_based(self) -> bool:
        """Whether the first feature has the index 0."""
        return self._found.zero_based if self._zero_based is None else self._zero_based

    @property
    def classes(self) -> NDArray[Any] | None:
        """Class labels, sorted, found in a pass over the files; None for fractional targets."""
        return self._found.classes

    def row_options(self) -> dict[str, Any]:
        """Return the reading options that decide which rows come.

        Returns
        -------
        options : dict of str to object
            Values by name.
        """
        return {name: getattr(self, name) for name in ("n_features", "zero_based")}

    def features_in_words(self) -> str:
        """Describe how the features are read."""
        return f"{self.n_features:,} numbers (sparse)"

    def chunks(self) -> Iterator[Chunk]:
        """Yield chunks of rows, read on demand."""
        for X, y in self._read(self.n_features, self.zero_based):
            yield Chunk.of(X, y)

    @cached_property
    def _found(self) -> _Found:
        n_rows, first, last = 0, _LARGEST_INDEX, 0
        classes: NDArray[Any] | None = np.empty(0)
        for X, y in self._read(None, self._zero_based is not False):
            n_rows += len(y)
            first = int(X.indices.min(initial=first))
            last = int(X.indices.max(initial=last))
            try:
                classes = None if classes is None else np.union1d(classes, distinct_labels(y))
            except ValueError:  # fractional targets
                classes = None
        if n_rows == 0:
            raise ValueError(f"The stream is empty: {self._in_words()} has no row.")
        if classes is not None and not len(classes):
            raise ValueError(f"{self._in_words()} has no labels.")
        one_based = self._zero_based is None and 0 < first < _LARGEST_INDEX
        zero_based = not one_based if self._zero_based is None else self._zero_based
        return _Found(n_rows, last + (0 if one_based else 1), zero_based, classes)

    def _read(self, n_features: int | None, zero_based: bool) -> Iterator[tuple[Any, NDArray[Any]]]:
        """Rows and labels of pieces of all files; `n_features` None: of any width."""

        def rows_of(lines: list[bytes]) -> tuple[Any, NDArray[Any]]:
            file = io.BytesIO(b"".join(lines))
            X, y = load_svmlight_file(file, n_features=n_features, zero_based=zero_based)
            return X, y

        row = 0
        for name in self.files:
            self._first_rows[name], line = row, 1
            try:
                with self._storage.binary(name) as file:
                    while lines := list(islice(file, self.chunk_size)):
                        try:
                            piece = rows_of(lines)
                        except (ValueError, OverflowError):
                            for place, one in enumerate(lines, line):
                                try:
                                    rows_of([one])
                                except (ValueError, OverflowError) as error:
                                    text = one.decode(errors="replace").strip()[:60]
                                    raise StreamError(
                                        f"{name}, line {place}: {text!r} is not of the form 'label "
                                        "index:value index:value ...' with indices that increase "
                                        f"up to n_features={n_features} ({error}).",
                                        row,
                                        name,
                                    ) from error
                        yield piece
                        row += len(piece[1])
                        line += len(lines)
            except FileNotFoundError:
                raise
            except (OSError, EOFError) as error:
                raise self._broken(name, row, error) from error
