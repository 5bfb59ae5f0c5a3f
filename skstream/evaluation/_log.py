"""Predictions that were made elsewhere: a log of them, scored as the answers of an evaluation."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from os import PathLike
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skstream.engine.tape import Tape
from skstream.evaluation._results._rescore import fold_columns, measures_of
from skstream.evaluation._results._result import EvaluationResult, ResultDetails
from skstream.evaluation._runs._input import checked_weights
from skstream.evaluation._runs._monitor import watched
from skstream.evaluation._runs._tape_writer import BYTES_OF_LARGE_TAPE, KeptTape
from skstream.evaluation._runs._watch import Watch
from skstream.forgetting import as_forgetting
from skstream.metrics._measure import Measure
from skstream.metrics._resolve import resolve_metrics, task_of
from skstream.metrics._rows import NOTHING, UNANSWERED, ScoredRows
from skstream.metrics._user import check_take_weights, warn_of_calls
from skstream.streams._arrays import ArrayStream, as_stream, begins_again
from skstream.streams._chunk import Chunk, Meta, as_meta
from skstream.streams._open import open_files
from skstream.streams._stream import Stream, refuse_endless
from skstream.streams._table_parameters import shown
from skstream.utils._choices import did_you_mean
from skstream.utils._label_space import LabelSpace, is_given, listed
from skstream.utils._labels import as_labels, distinct_labels, find_classes, is_missing
from skstream.utils._masked import unmasked
from skstream.utils._rows import is_frame
from skstream.utils._times import as_numbers, kind_of, shown_time
from skstream.utils._warnings import warn

Floats = NDArray[np.float64]
View = Literal["hindsight", "as_known"]
Unanswered = Literal["error", "skip", "wrong"]

#: How far the probabilities of a row may be from a sum of 1.
_ROUNDING = 1e-4


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
    monitors: Mapping[str, Any] | None = None,
    record_every: int | None = None,
) -> EvaluationResult:
    """Score predictions that were made elsewhere, row by row, as an evaluator scores answers.

    No model is run. The result is one of an evaluation: it prints, plots, compares, is scored again
    with other measures, and saved.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        True labels or targets in the order of the stream. Missing ones (None, NaN) have not come:
        their rows are counted and not scored.
    predictions : array-like of shape (n_rows,) or dict of str to array-like, default=None
        Predictions of a model, or of several by name, each made before the label of its row was
        known. None: the most probable class of `probabilities`; of equal ones the first.
    probabilities : array-like, or dict of str to array-like, default=None
        Probabilities of a model, or of some models by name. Of two classes, an array of shape
        (n_rows,) holds those of the second in the order of the classes. Else an array of shape
        (n_rows, n_classes) has a column for each class in their order, and a frame or a dict has
        a column for each class under its label; of two classes one is enough.
    metrics : str, callable, list or dict, default=None
        As for the evaluators; None: the standard measures.
    forgetting : str, Forgetting or dict, default="cumulative"
        As for the evaluators.
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur, of a classification. None: those that occur in `y_true`.
    arrival : array-like of shape (n_rows,), default=None
        When each row came and was predicted: numbers or datetimes that never go back.
    label_time : array-like of shape (n_rows,), default=None
        When each label became known, of the same kind; needs `arrival`. The persistent baseline
        then repeats the newest label that was known when the row came.
    view : {"hindsight", "as_known"}, default="hindsight"
        Order in which rows are scored. "hindsight": in that of their arrival, as if labels had come
        at once. "as_known": in that of their labels, so that the score after n labels is what could
        be known then; needs `label_time`.
    sample_weight : array-like of shape (n_rows,), default=None
        Scoring weights.
    unanswered : {"error", "skip", "wrong"}, default="error"
        What to do where a prediction is missing (None, NaN): "skip" leaves the row out of the
        scores of that model, with a warning if models are then scored over different rows; "wrong"
        counts a wrong answer, of classifications.
    monitors : dict of str to DriftMonitor, default=None
        Drift detectors that watch each model, as of the evaluators.
    record_every : int, default=None
        Rows between checkpoints; None: about 1,000 checkpoints.

    Returns
    -------
    result : EvaluationResult
        Scores, and a tape of the predictions. ``result.n_unanswered`` counts missing predictions,
        ``result.n_unlabelled`` missing labels.

    Raises
    ------
    ValueError
        If lengths differ, times go back or are missing, a prediction is missing or is none of the
        classes, or a probability is outside [0, 1] or those of a row do not sum to 1.
    TypeError
        If labels cannot be sorted.

    See Also
    --------
    PredictionLog : The same from the columns of a file, a frame or a stream.

    Examples
    --------
    >>> from skstream import score_predictions
    >>> y_true = ["ham", "spam", "ham", "spam", None]
    >>> by_model = {"old": ["ham", "ham", "ham", "spam", "ham"]}
    >>> result = score_predictions(y_true, by_model, metrics=["accuracy", "kappa"])
    >>> result.scores["old"], result.n_unlabelled
    ({'accuracy': 0.75, 'kappa': 0.5}, 1)
    """
    labels, shares = _by_model(predictions, probabilities)
    y = as_labels(y_true, "y_true")
    given = {"sample_weight": sample_weight, "arrival": arrival, "label_time": label_time}
    meta = as_meta({name: one for name, one in given.items() if one is not None}, len(y))
    made = {name: as_labels(one, f"predictions of {name!r}") for name, one in labels.items()}
    tables = {name: _by_class(one) for name, one in shares.items()}
    lengths = {"y_true": len(y)} | {f"predictions of {n!r}": len(one) for n, one in made.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"All columns must have the same number of rows. Got {lengths}.")
    if not len(y):
        raise ValueError("y_true has no rows: there is nothing to score.")
    piece = _Piece(y, made, tables, meta)
    return _scored(
        [piece],
        None if _is_regression(piece, metrics, classes) else _classes(classes, [y]),
        metrics,
        forgetting=forgetting,
        view=view,
        unanswered=unanswered,
        monitors=monitors,
        record_every=record_every,
        keep_tape=True,
        n_rows=len(y),
    )


class PredictionLog:
    """Predictions of models in the columns of files, a frame or a stream, beside the labels.

    The files are read in pieces at each pass, and never whole; no model is run.

    Parameters
    ----------
    source : str, path-like, list of them, frame, or source of frames
        Parquet or CSV files by their paths or URIs, in time order, of which only the columns that
        are needed are read; a pandas or polars frame, Arrow table or dict of columns; a function
        that returns such frames one after the other, or an iterable of them; or a `Stream` whose
        chunks hold frames.
    target : str, default=None
        Column of the labels or targets; missing ones have not come. Required unless `source` is a
        `Stream`, which brings them.
    predictions : str or dict of str to str, default=None
        Column of the predictions of a model, which is called by it, or of several models by name.
        None: the most probable class of `probabilities`.
    probabilities : str, list of str or dict, default=None
        Columns of the probabilities of a model, or of some models by name: one column, of two
        classes that of the second in the order of the classes, or a column whose rows are lists
        with one for each class; a list of columns, one for each class in their order; or a dict
        of the columns by class, such as ``{"gbm": {"fraud": "p_gbm"}}``.
    arrival, label_time, sample_weight : str, default=None
        Columns of the times at which rows came and labels became known, and of scoring weights. A
        `Stream` brings them.
    classes : array-like of shape (n_classes,), default=None
        All labels that can occur. None: those that occur in the column of the target.
    options : dict, default=None
        Parameters of `ParquetStream` or `CSVStream`, for files.

    Raises
    ------
    ValueError
        If a name is missing, or there is no such column.

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
        self.options = dict(options or {})

    def score(
        self,
        metrics: Any = None,
        *,
        forgetting: Any = "cumulative",
        view: View = "hindsight",
        unanswered: Unanswered = "error",
        monitors: Mapping[str, Any] | None = None,
        record_every: int | None = None,
        keep_tape: bool | Literal["auto"] = "auto",
    ) -> EvaluationResult:
        """Score the predictions, row by row, as an evaluator scores answers.

        Parameters
        ----------
        metrics, forgetting, view, unanswered, monitors, record_every
            As for `score_predictions`. ``view="as_known"`` keeps labels and predictions of all rows
            in memory; otherwise memory does not grow with the log, but for the tape.
        keep_tape : bool or "auto", default="auto"
            Whether labels and predictions are kept in memory, so that the result can be compared
            row by row and scored again. "auto": up to a gigabyte.

        Returns
        -------
        result : EvaluationResult
            As of `score_predictions`.

        Raises
        ------
        ValueError
            As by `score_predictions`; the rows are counted from the first of all.
        """
        stream = self._stream(self._label_columns())
        refuse_endless(stream)
        pieces = self._pieces(stream)
        first = next(pieces)
        classes = None
        if not _is_regression(first, metrics, self.classes):
            classes = _classes(self.classes, self._labels(stream))
        n_rows = stream.n_rows if isinstance(stream, ArrayStream) else None
        return _scored(
            chain([first], pieces),
            classes,
            metrics,
            forgetting=forgetting,
            view=view,
            unanswered=unanswered,
            monitors=monitors,
            record_every=record_every,
            keep_tape=keep_tape,
            n_rows=n_rows,
        )

    def column(self, name: str) -> NDArray[Any]:
        """Return another column of the log, such as one that names groups of its rows.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        values : ndarray of shape (n_rows,)
            Its values, in the order of the rows.
        """
        parts = [as_labels(_column(X, name)) for X, _, _ in self._stream([name])]
        return np.concatenate(parts)

    def _label_columns(self) -> list[str]:
        return list(dict.fromkeys(self.predictions.values()))

    def _share_columns(self) -> list[str]:
        named: dict[str, None] = {}
        for one in self.probabilities.values():
            columns = one.values() if isinstance(one, Mapping) else one
            named |= dict.fromkeys([one] if isinstance(one, str) else columns)
        return list(named)

    def _stream(self, labels: list[str]) -> Stream:
        """Open the source; of files, `labels` are read as labels, whatever they look like."""
        source = self.source
        if isinstance(source, Stream):
            return source
        if not _names_files(source):
            roles: dict[str, Any] = self.roles
            return as_stream(source, target=self.target, **roles)
        paths = [str(source)] if isinstance(source, (str, PathLike)) else list(map(str, source))
        shares = self._share_columns() if labels == self._label_columns() else []
        columns = [name for name in [*labels, *shares] if name != self.target]
        given: dict[str, Any] = {
            **self.options,
            "columns": list(dict.fromkeys(columns)),
            "roles": self.roles,
            "as_frame": True,
        }
        probe = open_files(paths, self.target, **given)
        texts = [name for name in labels if getattr(probe, "kinds", {}).get(name) == "category"]
        return open_files(paths, self.target, **given, nominal=texts) if texts else probe

    def _pieces(self, stream: Stream) -> Iterator["_Piece"]:
        for chunk in stream:
            yield _Piece(
                chunk.y,
                {name: _column(chunk.X, one) for name, one in self.predictions.items()},
                {name: self._shares(chunk, one) for name, one in self.probabilities.items()},
                {role: one for role, one in chunk.meta.items() if role != "id"},
            )

    def _shares(self, chunk: Chunk, named: Any) -> Any:
        if isinstance(named, Mapping):
            return {label: _column(chunk.X, one) for label, one in named.items()}
        if isinstance(named, str):
            return _by_class(_column(chunk.X, named))
        return np.column_stack(
            [_numbers(one, _column(chunk.X, one), len(chunk.y)) for one in named]
        )

    def _labels(self, stream: Stream) -> Iterable[NDArray[Any]]:
        if self.classes is not None:
            return ()
        if stream.classes is not None:
            return (stream.classes,)
        if not begins_again(stream):
            raise ValueError(
                "The labels that may come are not known, and the source can be read only once. "
                "Pass classes=[...], or a function that opens the source again."
            )
        return (distinct_labels(labels) for labels in stream.labels())


class _Piece(NamedTuple):
    """Consecutive rows: labels, and predictions and probabilities by model."""

    y: Any
    labels: dict[str, Any]
    shares: dict[str, Any]
    meta: Meta

    @property
    def models(self) -> list[str]:
        """Names of the models."""
        return list(self.labels or self.shares)


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
                f"predictions are those of {listed(list(labels))}: pass probabilities as a dict by "
                "model, too."
            )
    for model in shares:
        if labels and model not in labels:
            raise ValueError(
                f"probabilities has the model {model!r}, and predictions has "
                f"{listed(list(labels))}. Name each model in both, or leave predictions out."
            )
    return (
        {str(name): one for name, one in labels.items()},
        {str(name): one for name, one in shares.items()},
    )


def _is_regression(first: _Piece, metrics: Any, classes: Any) -> bool:
    """Whether these are targets: the measures say so, or some number is fractional."""
    task = task_of(metrics)
    if task is not None:
        return task == "targets"
    if classes is not None or first.shares:
        return False
    return any(_has_fractions(one) for one in (first.y, *first.labels.values()))


def _has_fractions(column: Any) -> bool:
    values = np.asarray(unmasked(column, numbers=True)) if not hasattr(column, "cat") else None
    if values is None or values.dtype.kind != "f":
        return False
    values = values[np.isfinite(values)]
    return bool((values != np.floor(values)).any())


def _classes(given: Any, labels: Iterable[NDArray[Any]]) -> NDArray[Any]:
    if given is not None:
        return find_classes(given, "classes")
    found = [one for one in (distinct_labels(part, "y_true") for part in labels) if len(one)]
    if not found:
        raise ValueError("There is no label at all: there is nothing to score yet.")
    return found[0] if len(found) == 1 else find_classes(np.concatenate(found))


def _names_files(source: Any) -> bool:
    if isinstance(source, (str, PathLike)):
        return True
    is_list = isinstance(source, Sequence) and len(source) > 0
    return is_list and all(isinstance(one, (str, PathLike)) for one in source)


def _column(X: Any, name: str) -> Any:
    if not is_frame(X):
        raise TypeError(
            f"The chunks of the stream hold a {type(X).__name__}, which has no columns by name. "
            "Open it with as_frame=True."
        )
    names = [str(one) for one in X.columns]
    if name not in names:
        raise ValueError(
            f"There is no column {name!r}.{did_you_mean(name, names)} Columns: "
            f"{shown([repr(one) for one in names])}."
        )
    return X[name]


# -- scoring


def _scored(
    pieces: Iterable[_Piece],
    classes: NDArray[Any] | None,
    metrics: Any,
    *,
    forgetting: Any,
    view: View,
    unanswered: Unanswered,
    monitors: Any,
    record_every: int | None,
    keep_tape: bool | Literal["auto"],
    n_rows: int | None,
) -> EvaluationResult:
    """Run the measures over pieces of a log."""
    _check_choice("view", view, ("hindsight", "as_known"))
    _check_choice("unanswered", unanswered, ("error", "skip", "wrong"))
    if unanswered == "wrong" and classes is None:
        raise ValueError("unanswered='wrong' is about classes: a missing number has no error.")
    measures = resolve_metrics(metrics, classes=classes)
    mechanisms = as_forgetting(forgetting)
    warn_of_calls(measures, n_rows, record_every)
    pieces = iter(pieces)
    first = next(pieces)
    _check_names(first, classes)
    models, coder = first.models, _Coder(classes, unanswered)
    rows: Iterable[ScoredRows] = map(coder.rows, chain([first], pieces))
    methods = _methods(first, measures)
    if view == "as_known":
        rows = [_in_order_of_labels(list(rows), coder)]
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
    )
    places = [(name, 0) for name in models]
    watch = Watch(watched(monitors, classes, None), classes, places, seed=0)
    n_scores = [coder.n_columns if name in first.shares else 0 for name in models]
    tape: KeptTape | None = None
    if keep_tape:
        tape = KeptTape(classes, len(models), 1, on_disk=False, n_scores=n_scores)
    size_of_row = 8 * sum(n_scores) + (len(models) + 1) * LabelSpace(classes).dtype.itemsize
    n_read, why_no_tape = 0, "" if keep_tape else "keep_tape=False was passed."
    for part in rows:
        if part.weight is not None:
            check_take_weights(measures)
        running.read(part)
        watch.read(part)
        n_read += len(part)
        if tape is not None and keep_tape == "auto" and n_read * size_of_row > BYTES_OF_LARGE_TAPE:
            tape, why_no_tape = None, _too_large(n_read * size_of_row)
            warn(why_no_tape)
        if tape is not None:
            tape.keep(part)
    running.finish()
    coder.check_end(models)
    curves = running.curves()
    found = watch.detections()
    return EvaluationResult(
        protocol="prediction log",
        checkpoints=curves.checkpoints,
        values=fold_columns({name: [curves.of_models(k)] for k, name in enumerate(models)}),
        measures={name: Measure(**measure.facts) for name, measure in measures.items()},
        classes=classes,
        tape=None if tape is None else _tape(tape, classes, models, n_scores),
        n_unlabelled=coder.n_unlabelled,
        n_unanswered=dict(zip(models, coder.n_unanswered.tolist(), strict=True)),
        parameters={"view": view, "unanswered": unanswered},
        detections={
            name: {model: found[k][name] for k, model in enumerate(models)} for name in found[0]
        },
        details=ResultDetails(
            mechanisms={name: one.name for name, one in mechanisms.items()},
            why_no_tape=why_no_tape,
        ),
    )


def _check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    if value not in known:
        words = " or ".join(map(repr, known))
        raise ValueError(f"{name} must be {words}. Got {value!r} instead.")


def _check_names(first: _Piece, classes: NDArray[Any] | None) -> None:
    """Refuse probabilities by class where models are named."""
    if classes is None or first.labels or len(first.shares) == 1:
        return
    labels = {str(label) for label in classes.tolist()}
    if labels >= set(first.shares):
        raise ValueError(
            f"probabilities is a dict of models, and its keys {listed(list(first.shares))} are "
            "classes. Name the model of these columns, too: {'model': {...}}."
        )


def _too_large(n_bytes: int) -> str:
    return (
        f"The labels and predictions of the log take more than {n_bytes / 1e9:.1f} GB, and are not "
        "kept under keep_tape='auto': the result cannot be scored again, nor compared row by row. "
        "Score the log again with other measures, or pass keep_tape=True."
    )


def _methods(first: _Piece, measures: Mapping[str, Measure]) -> list[str | None] | None:
    needing = [name for name, one in measures.items() if one.needs in ("probabilities", "scores")]
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


def _tape(
    kept: KeptTape, classes: NDArray[Any] | None, models: list[str], n_scores: list[int]
) -> Tape:
    scores = {name: kept.scores(k)[np.newaxis] for k, name in enumerate(models) if n_scores[k]}  # type: ignore[index]
    return Tape(
        classes=classes,
        answers={name: kept.answers(k)[np.newaxis] for k, name in enumerate(models)},  # type: ignore[index]
        scores=scores,
        methods=dict.fromkeys(scores, "predict_proba"),
        **kept.labels(),
    )


class _Coder:
    """Makes scored rows of the pieces of a log, in order, and counts what is missing."""

    def __init__(self, classes: NDArray[Any] | None, unanswered: Unanswered) -> None:
        self.classes = classes
        self.n_columns = 0 if classes is None else 1 if len(classes) <= 2 else len(classes)
        self.n_rows = self.n_unlabelled = 0
        self.n_unanswered = np.zeros(0, dtype=np.int64)
        self.known: list[Floats] = []  # label times of all rows, for the view "as_known"
        self._space = LabelSpace(classes)
        self._unanswered = unanswered
        self._differ = False  # whether models have predictions of different rows
        self._newest = _NewestKnown(self._space)
        self._last_arrival: NDArray[Any] | None = None

    def rows(self, piece: _Piece) -> ScoredRows:
        """Return the rows of the next piece."""
        n, first, models = len(piece.y), self.n_rows, piece.models
        space, dtype = self._space, self._space.dtype
        y = space.encode(piece.y, first)
        tables = {
            name: _share_table(name, one, self.classes, n, first)
            for name, one in piece.shares.items()
            if self.classes is not None
        }
        answers = np.empty((len(models), n), dtype=np.int64 if dtype.kind != "f" else dtype)
        for k, name in enumerate(models):
            there = np.ones(n, dtype=bool)
            if name in tables:
                there = np.asarray(np.isfinite(tables[name]).all(axis=1))
            if name in piece.labels:
                answers[k] = self._codes(name, piece.labels[name], first)
                np.logical_and(there, is_given(answers[k]), out=there)
            else:
                answers[k] = np.where(there, tables[name].argmax(axis=1), NOTHING)
            self._note_missing(k, name, answers[k], there, models)
        scores = None
        if tables:
            scores = np.full((len(models), n, self.n_columns), np.nan)
            for name, table in tables.items():
                scores[models.index(name)] = table[:, 1:] if len(self.classes) == 2 else table  # type: ignore[arg-type]
        weight = piece.meta.get("sample_weight")
        if weight is not None:
            weight = checked_weights(weight, lambda at: f"sample_weight of row {first + at}")
        labelled = is_given(y)
        y = y.astype(dtype)
        previous = self._take_times(piece.meta, y, labelled)
        self.n_rows += n
        self.n_unlabelled += n - int(np.count_nonzero(labelled))
        given = is_given(answers) & (answers != UNANSWERED)
        self._differ |= bool((given != given[0]).any())
        return ScoredRows(y, answers.astype(dtype), weight, previous, scores=scores)

    def _codes(self, name: str, labels: Any, first: int) -> NDArray[Any]:
        if self.classes is None:
            return _numbers(f"predictions of {name!r}", labels, len(labels), first)
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
                + (", or 'wrong' to count wrong answers." if self.classes is not None else ".")
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
                raise ValueError("label_time needs arrival, the times at which the rows came.")
            return None
        given = meta["arrival"]
        came = as_numbers(given, "arrival", self.n_rows)
        missing = np.flatnonzero(~np.isfinite(came))
        if len(missing):
            at = self.n_rows + int(missing[0])
            raise ValueError(f"arrival[{at}] is missing: every row came at some time.")
        if self._last_arrival is not None and kind_of(self._last_arrival) != kind_of(given):
            raise ValueError(
                f"arrival holds {kind_of(self._last_arrival)} up to row {self.n_rows - 1}, and "
                f"{kind_of(given)} after it: use one kind."
            )
        all_times = came
        if self._last_arrival is not None:
            all_times = np.append(as_numbers(self._last_arrival, "arrival"), came)
        back = np.flatnonzero(np.diff(all_times) < 0)
        if len(back):
            offset = len(all_times) - len(came)
            at = int(back[0]) + 1 - offset
            before = given[at - 1 : at] if at else self._last_arrival
            raise ValueError(
                f"arrival goes back at row {self.n_rows + at}, from {shown_time(before)} to "  # type: ignore[arg-type]
                f"{shown_time(given[at : at + 1])}. Sort the rows by their arrival first."
            )
        self._last_arrival = given[-1:]
        if "label_time" not in meta:
            return None
        known = self._label_times(meta["label_time"], given, came, labelled)
        self.known.append(np.where(labelled, known, np.inf))
        return self._newest.at(came, self.known[-1], y)

    def _label_times(
        self, later: Any, given: Any, came: Floats, labelled: NDArray[np.bool_]
    ) -> Floats:
        known = as_numbers(later, "label_time", self.n_rows)
        if np.isfinite(known).any() and kind_of(given) != kind_of(later):
            raise ValueError(
                f"arrival holds {kind_of(given)}, and label_time {kind_of(later)}: use one kind."
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
                f"Row {self.n_rows + int(timeless[0])} has a label and no label_time. A label that "
                "is not known yet is None (NaN)."
            )
        return known

    def check_end(self, models: list[str]) -> None:
        """Raise an error, or warn, about what is missing in all rows."""
        if self.n_unlabelled == self.n_rows:
            raise ValueError(f"None of the {self.n_rows:,} rows has a label: nothing to score yet.")
        none = np.flatnonzero(self.n_unanswered == self.n_rows)
        if len(none):
            raise ValueError(f"There is no prediction of {models[none[0]]!r} at all.")
        if self._differ and self._unanswered == "skip":
            counts = {
                name: f"{self.n_rows - n:,} rows"
                for name, n in zip(models, self.n_unanswered.tolist(), strict=True)
            }
            words = ", ".join(f"{name!r} of {count}" for name, count in counts.items())
            warn(
                f"The models have predictions of different rows ({words}): their scores are about "
                "different rows, and do not say which is better."
            )


def _in_order_of_labels(parts: list[ScoredRows], coder: _Coder) -> ScoredRows:
    """All labelled rows in the order in which their labels became known."""
    if not coder.known:
        raise ValueError(
            "view='as_known' orders rows by their labels: pass arrival and label_time."
        )
    rows = parts[0]
    for part in parts[1:]:
        rows = part.following(rows)
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


# -- numbers


def _by_class(given: Any) -> Any:
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
        table = _table_of_columns(name, shares, classes, n_rows, first_row)
    elif shares.ndim == 1 and shares.dtype != object:
        if n_classes != 2:
            raise ValueError(
                f"probabilities of {name!r} is one column, which is enough for two classes, and "
                f"there are {n_classes}: {listed(classes.tolist())}. Pass a column for each class, "
                "or a dict by class."
            )
        second = _numbers(f"probabilities of {name!r}", shares, n_rows, first_row)
        table = np.column_stack([1.0 - second, second])
    else:
        if shares.ndim == 1:  # a list in each row
            shares = _stacked(name, shares, n_classes, first_row)
        if shares.shape != (n_rows, n_classes):
            raise ValueError(
                f"probabilities of {name!r} has shape {shares.shape}; for {n_rows:,} rows and "
                f"{n_classes} classes it must be ({n_rows}, {n_classes})."
            )
        table = shares.astype(np.float64)
    there = np.isfinite(table).all(axis=1)
    wrong = np.flatnonzero(((table < 0) | (table > 1)).any(axis=1))
    if len(wrong):
        raise ValueError(
            f"probabilities of {name!r} has {table[wrong[0]].tolist()} in row "
            f"{first_row + int(wrong[0])}: a probability is in [0, 1]."
        )
    off = np.flatnonzero(there & (np.abs(table.sum(axis=1) - 1.0) > _ROUNDING))
    if len(off):
        raise ValueError(
            f"probabilities of {name!r} in row {first_row + int(off[0])} sum to "
            f"{table[off[0]].sum():.6g}, not to 1."
        )
    return table


def _table_of_columns(
    name: str, columns: dict[Any, Any], classes: NDArray[Any], n_rows: int, first_row: int
) -> Floats:
    # The name of a column is a text, also where the label is a number.
    places = {str(label): place for place, label in enumerate(classes.tolist())}
    table = np.full((n_rows, len(classes)), np.nan)
    for label, column in columns.items():
        if str(label) not in places:
            raise ValueError(
                f"probabilities of {name!r} has a column of {label!r}, which is none of the "
                f"classes: {listed(classes.tolist())}."
            )
        of_label = _numbers(f"probabilities of {name!r}, {label!r}", column, n_rows, first_row)
        table[:, places[str(label)]] = of_label
    lacking = [label for label in places if label not in {str(one) for one in columns}]
    if lacking and len(classes) == 2 and len(columns) == 1:
        place = places[lacking[0]]
        table[:, place] = 1.0 - table[:, 1 - place]
    elif lacking:
        raise ValueError(f"probabilities of {name!r} has no column of the class {lacking[0]!r}.")
    return table


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


def _numbers(what: str, given: Any, n_rows: int, first_row: int = 0) -> Floats:
    column = np.asarray(unmasked(given, numbers=True))
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
