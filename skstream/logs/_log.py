"""Predictions that were made elsewhere: a log of them, scored as the answers of an evaluation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.core.engine.answers import TOLERANCE
from skstream.core.forgetting import as_forgetting
from skstream.core.measures.measure import OF_SCORES, Measure, check_take_weights, warn_of_calls
from skstream.core.measures.registry import resolve_metrics, task_of
from skstream.core.measures.rows import ScoredRows
from skstream.core.result.result import EvaluationResult, ResultDetails
from skstream.core.rows.arrays import ArrayStream, as_stream, begins_again
from skstream.core.rows.chunk import Chunk, as_meta
from skstream.core.rows.stream import Stream, refuse_endless
from skstream.core.run.tape import BYTES_OF_LARGE_TAPE, KeptTape, Tape, fold_columns, measures_of
from skstream.logs._log_rows import (
    Coder,
    LogChunk,
    Unanswered,
    as_floats,
    by_class,
    in_order_of_labels,
)
from skstream.streams._files import FileStream
from skstream.streams._open import open_files
from skstream.utils._choices import check_choice, did_you_mean, names_as_text
from skstream.utils._labels import (
    NO_LABEL,
    LabelSpace,
    as_labels,
    classes_of_all,
    distinct_labels,
    find_classes,
    is_missing,
    joined_classes,
    listed,
)
from skstream.utils._masked import unmasked
from skstream.utils._rows import check_same_order, is_frame
from skstream.utils._tables import shown
from skstream.utils._times import LARGEST_EXACT
from skstream.utils._warnings import warn

if TYPE_CHECKING:
    from skstream.logs._estimates import LabelEstimates

Floats = NDArray[np.float64]
View = Literal["hindsight", "as_known"]


def score_predictions(
    y_true: ArrayLike,
    predictions: ArrayLike | Mapping[str, ArrayLike] | None = None,
    *,
    probabilities: Any = None,
    metrics: Any = None,
    forgetting: Any = "cumulative",
    classes: ArrayLike | None = None,
    arrival: ArrayLike | None = None,
    label_time: ArrayLike | None = None,
    view: View = "hindsight",
    sample_weight: ArrayLike | None = None,
    unanswered: Unanswered = "error",
    record_every: Any = None,
    tolerance: float = TOLERANCE,
) -> EvaluationResult:
    """Score predictions that were made elsewhere, row by row, as an evaluator would.

    No model is run. The result is that of an evaluation: print, plot, compare, rescore or save it.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels or targets in stream order. Missing ones (None, NaN) have not come yet: their
        rows are counted but not scored.
    predictions : array-like of shape (n_rows,), frame or dict of str to array-like, default=None
        Predictions of a model, or of several by name (a frame has a column for each), each made
        before the label of its row was known. None: the most probable class of `probabilities`;
        ties go to the first.
    probabilities : array-like, or dict of str to array-like, default=None
        Probabilities of a model, or of some models by name. For two classes, an array of shape
        (n_rows,) contains those of the second class. Otherwise an array of shape (n_rows,
        n_classes) has a column for each class in order, and a frame or a dict has a column named
        after each class; for two classes one is enough.
    metrics : str, callable, list or dict, default=None
        As for the evaluators; None: the standard measures.
    forgetting : str, Forgetting, list or dict, default="cumulative"
        As for the evaluators. With `arrival` as datetimes it can count time: "window:7D",
        "half-life:30D".
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur in a classification, in the order of the columns of probabilities.
        None: those in `y_true`, in `predictions` and among the names of `probabilities`, sorted.
    arrival : array-like of shape (n_rows,), default=None
        When each row arrived and was predicted: numbers or datetimes that never go back.
    label_time : array-like of shape (n_rows,), default=None
        When each label became known, of the same kind; needs `arrival`. The persistent baseline
        then repeats the newest label known when the row arrived.
    view : {"hindsight", "as_known"}, default="hindsight"
        Order in which rows are scored. "hindsight": order of arrival, as if labels came
        immediately. "as_known": order of label arrival, so that the score after n labels is what
        could be known then; needs `label_time`.
    sample_weight : array-like of shape (n_rows,), default=None
        Scoring weights.
    unanswered : {"error", "skip", "wrong"}, default="error"
        How to handle missing predictions (None, NaN): "skip" leaves the row out of the scores of
        that model, with a warning if models are then scored on different rows; "wrong" counts an
        error (classification only).
    record_every : int, str or timedelta, default=None
        Rows between checkpoints; or a duration, such as "1D" for a checkpoint at the end of every
        day. None: about 1,000 checkpoints.
    tolerance : float, default=0.01
        How far probabilities may be outside [0, 1], or their sum from 1, because they are rounded.
        There is one warning, and these rows are normalised. If no measure needs probabilities, only
        those used as predictions are checked: whether they are in [0, 1].

    Returns
    -------
    result : EvaluationResult
        Scores, and a tape of the predictions. ``result.n_unanswered`` counts missing predictions,
        ``result.n_unlabelled`` missing labels.

    Raises
    ------
    ValueError
        If lengths differ, times go back or are missing, a prediction is missing or not among
        `classes`, or the probabilities of a row are off by more than `tolerance`.
    TypeError
        If labels cannot be sorted.

    Warns
    -----
    UserWarning
        If predictions (without them, far more labels) agree with the most probable class only for a
        different order of the columns of probabilities.

    See Also
    --------
    PredictionLog : The same, for columns of a file, a frame or a stream.

    Examples
    --------
    >>> from skstream import score_predictions
    >>> y_true = ["ham", "spam", "ham", "spam", None]
    >>> by_model = {"old": ["ham", "ham", "ham", "spam", "ham"]}
    >>> result = score_predictions(y_true, by_model, metrics=["accuracy", "kappa"])
    >>> result.scores["old"], result.n_unlabelled
    ({'accuracy': 0.75, 'kappa': 0.5}, 1)
    """
    given = {"sample_weight": sample_weight, "arrival": arrival, "label_time": label_time}
    chunk = chunk_of(y_true, predictions, probabilities, given)
    known = None if _is_regression(chunk, metrics, classes) else classes_in(chunk, classes)
    how = (metrics, forgetting, record_every, len(chunk.y), view, unanswered)
    return scored([chunk], known, *how, tolerance=tolerance)


class PredictionLog:
    """Predictions and labels in columns of files, a frame or a stream.

    Files are read in chunks in each pass, never as a whole; no model is run.

    Parameters
    ----------
    source : str, path-like, list of them, frame, or source of frames
        Parquet or CSV files by their paths or URIs, in time order (only the necessary columns are
        read); a pandas or polars frame, Arrow table or dict of columns; a function that returns
        such frames one after the other, or an iterable of them; or a `Stream` whose chunks contain
        frames.
    target : str, default=None
        Column of the labels or targets; missing ones have not come yet. Required unless `source` is
        a `Stream`, which contains them.
    predictions : str or dict of str to str, default=None
        Column of the predictions of a model, which also names the model, or of several models by
        name. None: the most probable class of `probabilities`.
    probabilities : str, list of str or dict, default=None
        Columns of the probabilities of a model, or of some models by name: one column, for two
        classes that of the second class, or a column of lists with one entry per class; a list of
        columns, one for each class in their order; or a dict of the columns by class, such as
        ``{"gbm": {"fraud": "p_gbm"}}``.
    arrival, label_time, sample_weight : str, default=None
        Columns of arrival times, label times and scoring weights. A `Stream` contains them.
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur, in the order of the columns of probabilities; texts are converted
        to numbers if the labels are numbers. None: those in the columns of the target and of the
        predictions, and those that `probabilities` names, sorted.
    tolerance : float, default=0.01
        Tolerance for rounded probabilities, as for `score_predictions`.
    time_format : str or dict of str to str, default=None
        Format of times in files, if it is not 2020-01-31 13:30; see `CSVStream`.
    options : dict, default=None
        Parameters of `ParquetStream` or `CSVStream`, and keys of their `options`, for files.

    Raises
    ------
    ValueError
        If a name is missing, or a column does not exist.

    See Also
    --------
    score_predictions : The same for arrays.

    Examples
    --------
    >>> from skstream import PredictionLog
    >>> frame = {
    ...     "fraud": ["no", "yes", "no", None],
    ...     "said": ["no", "no", "no", "yes"],
    ...     "p": [0.1, 0.4, 0.3, 0.8],
    ... }
    >>> log = PredictionLog(
    ...     frame, target="fraud", predictions={"gbm": "said"}, probabilities={"gbm": "p"}
    ... )
    >>> log.score(["accuracy", "auc"]).scores
    {'gbm': {'accuracy': 0.66..., 'auc': 1.0}}
    >>> log.column("said")
    array(['no', 'no', 'no', 'yes'], dtype=object)
    """

    def __init__(
        self,
        source: Any,
        *,
        target: str | None = None,
        predictions: str | Mapping[str, str] | None = None,
        probabilities: Any = None,
        arrival: str | None = None,
        label_time: str | None = None,
        sample_weight: str | None = None,
        classes: ArrayLike | None = None,
        tolerance: float = TOLERANCE,
        time_format: str | Mapping[str, str] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        if target is None and not isinstance(source, Stream):
            raise ValueError("target is missing: name the column of the labels or targets.")
        self.source = source
        self.target = target
        name = predictions if isinstance(predictions, str) else None
        self.predictions, self.probabilities = _by_model(predictions, probabilities, name)
        roles = {"arrival": arrival, "label_time": label_time, "sample_weight": sample_weight}
        self.roles = {role: column for role, column in roles.items() if column is not None}
        self.classes = classes
        self.tolerance = tolerance
        self.options = {"time_format": time_format, **(options or {})}

    def score(
        self,
        metrics: Any = None,
        *,
        forgetting: Any = "cumulative",
        view: View = "hindsight",
        unanswered: Unanswered = "error",
        record_every: Any = None,
        keep_tape: bool | Literal["auto"] = "auto",
    ) -> EvaluationResult:
        """Score the predictions, row by row, as an evaluator would.

        Parameters
        ----------
        metrics : str, callable, list or dict, default=None
            As for the evaluators; None: the standard measures.
        forgetting : str, Forgetting, list or dict, default="cumulative"
            As for the evaluators; it can count time.
        view : {"hindsight", "as_known"}, default="hindsight"
            Order in which rows are scored, as for `score_predictions`. "as_known" keeps labels and
            predictions of all rows in memory; otherwise memory does not grow with the log, except
            for the tape.
        unanswered : {"error", "skip", "wrong"}, default="error"
            How to handle missing predictions, as for `score_predictions`.
        record_every : int, str or timedelta, default=None
            Distance of the checkpoints, as for `score_predictions`.
        keep_tape : bool or "auto", default="auto"
            Whether labels and predictions are kept in memory, so that the result can be compared
            row by row and scored again. "auto": up to a gigabyte.

        Returns
        -------
        result : EvaluationResult
            As returned by `score_predictions`.

        Raises
        ------
        ValueError
            As for `score_predictions`; rows are counted from the very first one.
        """
        stream, chunks, classes = self._opened(metrics)
        n_rows = stream.n_rows if isinstance(stream, ArrayStream) else None
        how = (metrics, forgetting, record_every, n_rows, view, unanswered, keep_tape)
        return scored(chunks, classes, *how, self.tolerance)

    def estimate(
        self,
        metrics: Any = ("accuracy", "log_loss", "brier"),
        *,
        every: Any = None,
        window: int | None = None,
        calibrate: str | None = "isotonic",
        max_wait: Any = None,
        unanswered: Literal["error", "skip"] = "error",
    ) -> "LabelEstimates":
        """Estimate the scores of unlabelled rows, and check such estimates in the past.

        Parameters
        ----------
        metrics, every, window, calibrate, max_wait, unanswered : object
            As for `estimate_unlabelled`. Labels and probabilities of all rows are kept in memory.

        Returns
        -------
        estimates : LabelEstimates
            As returned by `estimate_unlabelled`.

        Raises
        ------
        ValueError
            As for `estimate_unlabelled`; rows are counted from the very first one.
        """
        # It reads logs, so that it cannot be imported at the top.
        from skstream.logs._estimates import check_is_classification, estimates_of

        check_is_classification(metrics, self.probabilities)
        _, chunks, classes = self._opened("accuracy")  # which is about classes
        how = (metrics, every, window, calibrate, max_wait, unanswered, self.tolerance)
        return estimates_of(chunks, classes, *how)

    def column(self, name: str) -> NDArray[Any]:
        """Return another column of the log, such as one with groups of rows.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        values : ndarray of shape (n_rows,)
            Its values, in row order; for the target, the labels.
        """
        is_target = name == self.target
        stream = self._stream([] if is_target else [name], said="asked for is")
        return np.concatenate(
            [as_labels(y if is_target else _column(X, name)) for X, y, _ in stream]
        )

    def _opened(self, metrics: Any) -> tuple[Stream, Iterator[LogChunk], NDArray[Any] | None]:
        """Open the source: its chunks, and the classes, None of a regression."""
        shares: list[str] = []
        for one in self.probabilities.values():
            named = one.values() if isinstance(one, Mapping) else one
            shares += [one] if isinstance(one, str) else named
        stream = self._stream(list(dict.fromkeys(self.predictions.values())), shares)
        refuse_endless(stream)
        chunks = self._log_chunks(stream)
        first = next(chunks)
        classes = None
        is_regression = _is_regression(first, metrics, self.classes)
        if not is_regression and task_of(metrics) is None and isinstance(stream, FileStream):
            # A later row of the files may hold the first fraction.
            is_regression = self.classes is None and stream.classes is None
        if not is_regression:
            given = None if self.classes is None else like_labels(self.classes, first.y)
            classes = classes_of(given, self._labels(stream), first.named)
        return stream, chain([first], chunks), classes

    def _stream(
        self,
        labels: list[str],
        shares: Sequence[str] = (),
        said: str = "predictions or probabilities name",
    ) -> Stream:
        """Open the source; of files, `labels` are read as labels, whatever they look like."""
        source = self.source
        if isinstance(source, Stream):
            return source
        some = [source] if isinstance(source, (str, PathLike)) else source
        is_list = isinstance(some, Sequence) and len(some) > 0
        if not (is_list and all(isinstance(one, (str, PathLike)) for one in some)):
            if self.options.get("time_format") is not None:
                raise ValueError(
                    "time_format= is for files; for frames use pandas.to_datetime(..., format=...)."
                )
            roles: dict[str, Any] = self.roles
            return as_stream(source, target=self.target, **roles)
        paths = list(map(str, some))
        if self.target in (*labels, *shares):
            raise ValueError(
                f"predictions or probabilities name the column {self.target!r}, which is the "
                "target: the labels themselves."
            )
        given: dict[str, Any] = {
            "columns": list(dict.fromkeys([*labels, *shares])),
            "roles": self.roles,
            "as_frame": True,
        }
        try:
            stream: Any = open_files(paths, self.target, **given, **self.options)
        except ValueError as error:
            words = str(error).replace("columns names the column ", f"{said} the column ")
            raise ValueError(words) from error
        stream.keep_values(labels)
        return stream

    def _log_chunks(self, stream: Stream) -> Iterator["LogChunk"]:
        for chunk in stream:
            yield LogChunk(
                chunk.y,
                {name: _column(chunk.X, one) for name, one in self.predictions.items()},
                {name: self._shares(chunk, one) for name, one in self.probabilities.items()},
                {role: one for role, one in chunk.meta.items() if role != "id"},
            )

    def _shares(self, chunk: Chunk, named: Any) -> Any:
        if isinstance(named, Mapping):
            return {label: _column(chunk.X, one) for label, one in named.items()}
        if isinstance(named, str):
            return by_class(_column(chunk.X, named))
        return np.column_stack(
            [as_floats(one, _column(chunk.X, one), len(chunk.y)) for one in named]
        )

    def _labels(self, stream: Stream) -> Iterator[tuple[str, Any]]:
        """All columns that hold labels, in parts, and what they are called."""
        again = begins_again(stream)
        if stream.classes is not None:
            yield "y_true", stream.classes
        elif not again:
            raise ValueError(
                "The possible labels are not known, and the source can be read only once. Pass "
                "classes=[...], or a function that opens the source again."
            )
        else:
            yield from (("y_true", labels) for labels in stream.labels())
        columns = list(dict.fromkeys(self.predictions.values()))
        if columns and again:
            for X, _, _ in self._stream(columns):
                yield from ((f"predictions {one!r}", _column(X, one)) for one in columns)


def chunk_of(
    y_true: ArrayLike, predictions: Any, probabilities: Any, given: Mapping[str, Any]
) -> LogChunk:
    """Arrays that a user passed, checked, as one chunk; `given` are the times and weights."""
    if hasattr(predictions, "columns"):  # a frame has a column for each model
        predictions = {name: predictions[name] for name in predictions.columns}
    labels, shares = _by_model(predictions, probabilities)
    check_same_order({"y_true": y_true, **shares, **labels, **given})
    y = as_labels(y_true, "y_true")
    meta = as_meta({name: one for name, one in given.items() if one is not None}, len(y))
    made = {name: as_labels(one, f"predictions of {name!r}") for name, one in labels.items()}
    tables = {name: by_class(one) for name, one in shares.items()}
    lengths = {"y_true": len(y)} | {f"predictions of {n!r}": len(one) for n, one in made.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"All columns must have the same number of rows. Got {lengths}.")
    if not len(y):
        raise ValueError("y_true has no rows: there is nothing to score.")
    return LogChunk(y, made, tables, meta)


def _by_model(
    predictions: Any, probabilities: Any, name: str | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Predictions and probabilities by model; `name` is that of a single one."""
    if predictions is None and probabilities is None:
        raise ValueError("There is nothing to score: pass predictions=, probabilities=, or both.")
    one = name or "model"
    shares = {} if probabilities is None else probabilities
    if predictions is None:
        labels: Any = {}
        shares = shares if isinstance(shares, Mapping) else {one: shares}
    elif not isinstance(predictions, Mapping):
        labels = {one: predictions}
        if probabilities is not None and not (isinstance(shares, Mapping) and one in shares):
            shares = {one: probabilities}  # of which a dict is by class
    else:
        labels = predictions
        if not labels:
            raise ValueError("predictions is an empty dict: there is nothing to score.")
        if not isinstance(shares, Mapping):
            raise ValueError(
                f"predictions are given for {listed(list(labels))}: pass probabilities as a dict "
                "by model, too."
            )
    for model in shares:
        if labels and model not in labels:
            raise ValueError(
                f"probabilities has the model {model!r}, and predictions has "
                f"{listed(list(labels))}. Name each model in both, or leave predictions out."
            )
    return names_as_text(labels, "models"), names_as_text(shares, "models")


def _is_regression(first: LogChunk, metrics: Any, classes: Any) -> bool:
    """Whether these are targets: the measures say so, or some number is fractional."""
    task = task_of(metrics)
    if task is not None:
        return task == "targets"
    if classes is not None or first.shares:
        return False
    y = _as_numbers(first.y)
    if y is None:
        return False
    predicted = {name: _as_numbers(one) for name, one in first.labels.items()}
    fractional = [name for name, one in predicted.items() if _has_fractions(one)]
    if fractional and len(y) and set(np.unique(y)) <= {0.0, 1.0}:
        shown = predicted[fractional[0]]
        if shown is not None and ((shown >= 0) & (shown <= 1)).all():
            raise ValueError(
                f"predictions of {fractional[0]!r} lie between 0 and 1, but the labels are 0 and "
                "1: pass them as probabilities=. If they are predictions of a regressor, use a "
                "regression measure, such as metrics='mae'."
            )
    return bool(fractional) or _has_fractions(y)


def _as_numbers(column: Any) -> Floats | None:
    """Finite numbers of a column; None where it holds something else."""
    if hasattr(column, "cat"):
        return None
    values = np.asarray(unmasked(column, numbers=True))
    if values.dtype == object:
        values = np.array([one for one in values.tolist() if not is_missing(one)])
    if values.dtype.kind not in "fiu":
        return None
    return values[np.isfinite(values)].astype(np.float64)


def _has_fractions(values: Floats | None) -> bool:
    return values is not None and bool((values != np.floor(values)).any())


def classes_in(chunk: LogChunk, given: Any) -> NDArray[Any]:
    """Classes of a log that is one chunk, see `classes_of`."""
    parts = {f"predictions of {name!r}": one for name, one in chunk.labels.items()}
    return classes_of(given, [("y_true", chunk.y), *parts.items()], chunk.named)


def classes_of(given: Any, parts: Iterable[tuple[str, Any]], named: Iterable[Any]) -> NDArray[Any]:
    """Classes in the order given; else, sorted, all in columns of labels and in other names."""
    if given is not None:
        classes = find_classes(given, "classes")
        codes = dict.fromkeys(LabelSpace(classes).encode(given).tolist())
        return classes[[code for code in codes if code != NO_LABEL]]
    found: dict[str, NDArray[Any]] = {}
    for what, column in parts:
        distinct = distinct_labels(as_labels(column, what), what)
        known = found.get(what, distinct[:0])
        found[what] = joined_classes([known, distinct], what)
    if not len(found["y_true"]):
        raise ValueError("There is no label at all: there is nothing to score yet.")
    classes = classes_of_all(found)
    if found["y_true"].dtype.kind == "b" and set(classes) <= {0, 1}:
        classes = classes.astype(bool)  # predictions in a file are numbers
    names = set(map(str, classes.tolist()))
    others = like_labels([one for one in named if str(one) not in names], classes)
    alike = [one for one in others if isinstance(one, str) == isinstance(classes[0], str)]
    classes = find_classes([*classes.tolist(), *alike]) if alike else classes
    labels = set(found["y_true"].tolist())
    folded = {str(one).strip().casefold(): one for one in labels}
    for one in set(classes.tolist()) - labels:
        label = folded.get(str(one).strip().casefold())
        if label is not None:
            raise ValueError(
                f"{one!r} is predicted, but {label!r} is a label: use the same spelling. If they "
                "are two classes, pass all labels that can occur as classes=."
            )
    # Whole numbers are often floats only because some are missing.
    exact = classes.dtype.kind == "f" and np.abs(classes).max() < LARGEST_EXACT
    return classes.astype(np.int64) if exact else classes


def like_labels(names: Any, labels: Any) -> list[Any]:
    """Names of classes in the type of the labels, which may be numbers where names are texts."""
    found: list[Any] = as_labels(names, "classes").tolist()
    kind = distinct_labels(as_labels(labels)).dtype.kind
    with suppress(ValueError, KeyError):
        if kind in "iufb":
            read = {"False": False, "True": True}.__getitem__ if kind == "b" else int
            return [read(one) if isinstance(one, str) else one for one in found]
    return found


def _column(X: Any, name: str) -> Any:
    if not is_frame(X):
        raise TypeError(
            f"The chunks of the stream hold a {type(X).__name__}, which has no named columns. Open "
            "it with as_frame=True."
        )
    names = [str(one) for one in X.columns]
    if name not in names:
        raise ValueError(
            f"There is no column {name!r}.{did_you_mean(name, names)} Columns: "
            f"{shown([repr(one) for one in names])}."
        )
    return X[name]


# -- scoring


def scored(
    chunks: Iterable[LogChunk],
    classes: NDArray[Any] | None,
    metrics: Any,
    forgetting: Any,
    record_every: Any,
    n_rows: int | None,
    view: View = "hindsight",
    unanswered: Unanswered = "error",
    keep_tape: bool | Literal["auto"] = True,
    tolerance: float = TOLERANCE,
) -> EvaluationResult:
    """Run the measures over chunks of a log."""
    check_choice(view, "view", ("hindsight", "as_known"))
    check_choice(unanswered, "unanswered", ("error", "skip", "wrong"))
    if unanswered == "wrong" and classes is None:
        raise ValueError("unanswered='wrong' is for classification: a missing number has no error.")
    coder = Coder(classes, unanswered, tolerance, as_known=view == "as_known")
    classes = coder.classes
    measures = resolve_metrics(metrics, classes=classes)
    mechanisms = as_forgetting(forgetting)
    warn_of_calls(measures, n_rows, record_every)
    chunks = iter(chunks)
    first = next(chunks)
    check_names(first, classes)
    models = first.models
    coder.needs_scores = any(one.needs in OF_SCORES for one in measures.values())
    rows: Iterable[ScoredRows] = map(coder.rows, chain([first], chunks))
    methods = _methods(first, measures)
    if view == "as_known":
        rows = [in_order_of_labels(list(rows), coder)]
    running = measures_of(
        measures,
        mechanisms,
        classes,
        len(models),
        1,
        in_sets=False,
        record_every=record_every,
        bounded=bool(keep_tape),
        expected_rows=n_rows or 0,
        methods=methods,
        timed="arrival" in first.meta,
    )
    n_scores = [coder.n_columns if name in first.shares else 0 for name in models]
    tape: KeptTape | None = None
    if keep_tape:
        tape = KeptTape(classes, len(models), 1, n_scores=n_scores)
    size_of_row = 8 * sum(n_scores) + (len(models) + 1) * LabelSpace(classes).dtype.itemsize
    n_read, why_no_tape = 0, "" if keep_tape else "keep_tape=False was passed."
    for part in rows:
        if part.weight is not None:
            check_take_weights(measures)
        running.read(part)
        n_read += len(part)
        if tape is not None and keep_tape == "auto" and n_read * size_of_row > BYTES_OF_LARGE_TAPE:
            size = f"{n_read * size_of_row / 1e9:.1f} GB"
            tape = None
            why_no_tape = (
                f"The labels and predictions of the log take more than {size}, and are not kept "
                "with keep_tape='auto': the result cannot be rescored or compared row by row. "
                "Score the log again with other measures, or pass keep_tape=True."
            )
            warn(why_no_tape)
        if tape is not None:
            tape.keep(part)
    running.finish()
    coder.check_end(models)
    curves = running.curves()
    return EvaluationResult(
        protocol="prediction log",
        checkpoints=curves.checkpoints,
        times=curves.times,
        values=fold_columns({name: [curves.of_models(k)] for k, name in enumerate(models)}),
        measures={name: Measure(**measure.facts) for name, measure in measures.items()},
        classes=classes,
        tape=None if tape is None else _tape(tape, classes, models),
        n_unlabelled=coder.n_unlabelled,
        n_unanswered=dict(zip(models, coder.n_unanswered.tolist(), strict=True)),
        parameters={"view": view, "unanswered": unanswered},
        details=ResultDetails(
            mechanisms={name: one.name for name, one in mechanisms.items()},
            why_no_tape=why_no_tape,
        ),
    )


def check_names(first: LogChunk, classes: NDArray[Any] | None) -> None:
    """Refuse probabilities by class where models are named."""
    if classes is None or first.labels or first.named:
        return
    labels = {str(label) for label in classes.tolist()}
    if labels >= set(first.shares):
        raise ValueError(
            f"probabilities must be a dict of models, but its keys {listed(list(first.shares))} "
            "are classes. Also name the model of these columns: {'model': {...}}."
        )


def _methods(first: LogChunk, measures: Mapping[str, Measure]) -> list[str | None] | None:
    needing = [name for name, one in measures.items() if one.needs in OF_SCORES]
    lacking = [name for name in first.models if name not in first.shares]
    if needing and not first.shares:
        raise ValueError(f"Measure {needing[0]!r} needs probabilities: pass probabilities=.")
    if needing and lacking:
        warn(
            f"There are no probabilities of {listed(lacking)}: {' and '.join(needing)} of "
            f"{'it' if len(lacking) == 1 else 'them'} is NaN."
        )
    if not first.shares:
        return None
    return ["predict_proba" if name in first.shares else None for name in first.models]


def _tape(kept: KeptTape, classes: NDArray[Any] | None, models: list[str]) -> Tape:
    lanes = {name: kept.lane(k) for k, name in enumerate(models)}
    scores = {name: its[np.newaxis] for name, (_, its) in lanes.items() if its is not None}
    return Tape(
        classes=classes,
        answers={name: answers[np.newaxis] for name, (answers, _) in lanes.items()},
        scores=scores,
        methods=dict.fromkeys(scores, "predict_proba"),
        **kept.labels(),
    )
