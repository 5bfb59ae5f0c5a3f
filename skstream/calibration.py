"""A classifier whose probabilities are calibrated along the stream."""

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream._meta import MetaClassifier, check_divisible_rows
from skstream.core.forgetting import as_forgetting
from skstream.forgetting import Forgetting
from skstream.utils._calibration_maps import (
    METHODS,
    Calibration,
    calibrated,
    fit_calibration,
    scores_of,
)
from skstream.utils._labels import array_of
from skstream.utils._rows import best_columns, own_rows
from skstream.utils._sklearn import Interval, StrOptions, rows_of
from skstream.utils._validation import unfitted_copy

__all__ = ["PrequentialCalibrator"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

# Under a fading factor a row is forgotten when it weighs less.
_LEAST_WEIGHT = 1e-3


class Memory(NamedTuple):
    """What a model said of the rows learnt last, right before it learnt each."""

    scores: Floats
    codes: Codes
    weight: Floats

    def after(self, later: "Memory") -> "Memory":
        """Return both, the older rows first."""
        return Memory(
            np.concatenate([self.scores, later.scores]),
            np.concatenate([self.codes, later.codes]),
            np.concatenate([self.weight, later.weight]),
        )

    def part(self, rows: slice) -> "Memory":
        """Return some consecutive rows."""
        return Memory(self.scores[rows], self.codes[rows], self.weight[rows])

    def copy(self) -> "Memory":
        """Return a copy of all rows, which holds no others."""
        return Memory(self.scores.copy(), self.codes.copy(), self.weight.copy())

    def last(self, n_rows: int | None) -> "Memory":
        """Return the newest rows, at most so many; None: all."""
        n = len(self.codes)
        return self if n_rows is None or n <= n_rows else self.part(slice(n - n_rows, n))


class PrequentialCalibrator(MetaClassifier):
    """Classifier whose probabilities are corrected by how well its earlier ones were.

    Right before the model inside learns a row, it is asked about it. From these answers and the
    labels that the rows turned out to have, a map from the model's scores to probabilities is
    fitted anew every `every` rows. No row has a part in the map that its own probability comes
    from, and none is kept back from the model, as is needed where a model is calibrated once.

    Parameters
    ----------
    estimator : classifier
        Model with ``partial_fit`` and ``predict_proba``, or else ``decision_function``.
    method : {"sigmoid", "isotonic", "beta", "temperature"}, default="sigmoid"
        Kind of map. With z the log-odds of a class (or its decision value) and p their logistic
        function, ``logit^-1`` below: "sigmoid", ``logit^-1(a z + b)`` (Platt); "beta",
        ``logit^-1(a log(p) - b log(1 - p) + c)`` with a and b not negative (Kull); "isotonic", any
        map that does not decrease. With more than two classes each of them is fitted for every
        class against the rest, and the probabilities are normalised. "temperature": the logarithms
        of all probabilities (or the decision values) are divided by one number (Guo), which
        changes no label.
    forgetting : Forgetting or str, default="window:1000"
        Which answers a map is fitted to, and with which weights: ``SlidingWindow``,
        ``FadingFactor`` (rows that weigh less than 0.001 are dropped) or ``Cumulative``, under
        which all scores are kept.
    every : int, default=100
        Number of rows learnt between two fits of the map.

    Attributes
    ----------
    estimator_ : classifier
        The fitted model inside.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    calibration_ : tuple (method, maps) or None
        The map in use: its method, and the parameters of every map, None for a class whose scores
        are taken as they are. None before the first fit.
    memory_ : tuple (scores, codes, weight)
        The answers that the next map is fitted to: scores of shape (n_kept, 1) for two classes,
        else (n_kept, n_classes); positions of the labels in `classes_`, and weights.
    n_rows_learnt_ : int
        Rows learnt; those of weight 0 do not count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where they have any.

    See Also
    --------
    sklearn.calibration.CalibratedClassifierCV : Calibrates once, by cross-validation.
    skstream.metrics.calibration_error : Measures what is corrected here.

    Notes
    -----
    Labels are those of the highest calibrated probability, as in scikit-learn's
    CalibratedClassifierCV, and may differ from those of the model inside. Until the map has been
    fitted, and for a class that the answers kept hold no row of, or nothing else, the model's own
    probabilities are used (of decision values, their logistic function).

    No label counts as certain: the targets of the fits are Platt's ``(n + 1) / (n + 2)`` and
    ``1 / (n + 2)`` for n rows of a class and n others, so that no map answers 0 or 1, whose
    log loss may be infinite. For a temperature, a row of weight one is spread over the classes.

    The rows of a call of ``partial_fit`` are learnt in pieces that end where the map is fitted;
    all rows of a piece are asked about, then learnt. About the rows of the very first piece a model
    cannot be asked. An evaluator makes a call for each row. Where labels are delayed, the answer
    kept is that right before the row is learnt, not that at its arrival.

    A row of weight 0 is not learnt, and not kept; other weights reach the model and the fit of the
    map, but a window counts every row once.

    A new `method`, `forgetting` or `every` is used from the next fit of the map on, a new
    `estimator` from the next ``fit`` on.

    References
    ----------
    Platt, J. (1999). Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. Advances in Large Margin Classifiers.

    Kull, M., Silva Filho, T., & Flach, P. (2017). Beta calibration: a well-founded and easily
    implemented improvement on logistic calibration for binary classifiers. AISTATS.

    Guo, C., Pleiss, G., Sun, Y., & Weinberger, K. (2017). On calibration of modern neural networks.
    ICML.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.calibration import PrequentialCalibrator
    >>> from skstream.evaluation import PrequentialEvaluator
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 2000)
    >>> column = rng.normal(size=2000) + y
    >>> X = np.column_stack([column] * 5)  # naive Bayes takes them for five independent ones
    >>> model = IncrementalGaussianNB()
    >>> evaluator = PrequentialEvaluator("log_loss", random_state=0)
    >>> models = {"as is": model, "mended": PrequentialCalibrator(model)}
    >>> result = evaluator.evaluate(models, X, y)
    >>> {name: round(scores["log_loss"], 2) for name, scores in result.scores.items()}
    {'as is': 1.13, 'mended': 0.65}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "method": [StrOptions(set(METHODS))],
        "forgetting": [Forgetting, str],
        "every": [Interval(Integral, 1, None, closed="left")],
    }
    # Answers to the rows of one call do not depend on each other.
    _asks_row_by_row = False

    calibration_: Calibration | None
    memory_: Memory
    n_rows_learnt_: int

    def __init__(
        self,
        estimator: Any,
        *,
        method: str = "sigmoid",
        forgetting: Forgetting | str = "window:1000",
        every: int = 100,
    ):
        self.estimator = estimator
        self.method = method
        self.forgetting = forgetting
        self.every = every

    def _check_estimator(self) -> None:
        super()._check_estimator()
        remembered(self)
        if response_of(self.estimator) is None:
            raise TypeError(
                "PrequentialCalibrator calibrates the scores of a model, and "
                f"{type(self.estimator).__name__} as it is has neither predict_proba nor "
                "decision_function. Use a model with one of them."
            )

    def _check_inner_classes(self, model: Any) -> None:
        self._check_columns(model)  # the scores must have the order of the classes

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_divisible_rows(self, X, reset=reset)

    def _learn(self, X: Any, y: Any, codes: Codes, weight: Floats | None, *, first: bool) -> None:
        model = unfitted_copy(self.estimator) if first else self.estimator_
        n_learnt = 0 if first else self.n_rows_learnt_
        routed = self._route_weight(model, weight)
        begin = 0
        while begin < len(codes):
            end = min(begin + self.every - n_learnt % self.every, len(codes))
            rows = np.arange(begin, end)
            scores = None if first else self._scores(rows_of(X, rows))
            own = None if routed is None else routed[rows]
            self._teach(model, X, y, own, rows, first=first)
            n_learnt += len(rows)
            if first:
                self.memory_ = no_memory(len(self.classes_))
                self.calibration_ = None
            else:
                assert scores is not None
                asked = Memory(scores, codes[rows], _weights(weight, rows))
                self.memory_ = self.memory_.after(asked).last(remembered(self)[0])
            self.estimator_, self.n_rows_learnt_ = model, n_learnt
            if n_learnt % self.every == 0:
                self.calibration_ = fitted(self, self.memory_, response_of(model))
            begin, first = end, False

    def _scores(self, X: Any) -> Floats:
        values = self._values(own_rows(X))
        return scores_of(values, response_of(self.estimator_) or "", len(self.classes_))

    def _values(self, X: Any) -> Floats:
        """Copy of the answers of the model inside, which may write its next ones into its array."""
        return array_of(getattr(self.estimator_, response_of(self.estimator_) or "")(X)).copy()

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of the highest calibrated probability, of equal ones the lowest.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels.
        """
        best = best_columns(self.predict_proba(X))
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:
        """Predict calibrated probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Probabilities, in the order of `classes_`.
        """
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        self._check_columns(self.estimator_)
        response = response_of(self.estimator_) or ""
        return calibrated(self.calibration_, self._values(X), response, len(self.classes_))


def response_of(model: Any) -> str | None:
    """Method that tells a model's scores; None: it has none."""
    methods = ("predict_proba", "decision_function")
    return next((method for method in methods if hasattr(model, method)), None)


def remembered(model: PrequentialCalibrator) -> tuple[int | None, float]:
    """Most rows that a calibrator remembers (None: all), and its fading factor."""
    (mechanism,) = as_forgetting(model.forgetting).values()
    if mechanism.counts_time:
        raise ValueError(
            "The 'forgetting' parameter of PrequentialCalibrator counts rows, because models are "
            f"not told the time. Got {model.forgetting!r} instead."
        )
    if mechanism.follows_loss or mechanism.begins_again:
        raise ValueError(
            "The 'forgetting' parameter of PrequentialCalibrator must be a window, a fading factor "
            f"or cumulative. Got {model.forgetting!r} instead."
        )
    return mechanism.memory(_LEAST_WEIGHT), mechanism.factor


def no_memory(n_classes: int) -> Memory:
    """Memory of no rows."""
    width = 1 if n_classes == 2 else n_classes
    return Memory(np.empty((0, width)), np.empty(0, dtype=np.int64), np.empty(0))


def fitted(model: PrequentialCalibrator, memory: Memory, response: str | None) -> Calibration:
    """Fit the map of a calibrator to what it remembers; its parameters may be new."""
    n_rows, factor = remembered(model)
    scores, codes, weight = memory.last(n_rows)
    if factor != 1.0:
        weight = weight * factor ** np.arange(len(weight) - 1, -1, -1)
    n_classes = 2 if scores.shape[1] == 1 else scores.shape[1]
    return fit_calibration(model.method, response or "", scores, codes, weight, n_classes)


def _weights(weight: Floats | None, rows: NDArray[np.intp]) -> Floats:
    return np.ones(len(rows)) if weight is None else np.asarray(weight[rows], dtype=np.float64)
