"""A classifier that learns anew where its errors say that the stream has changed."""

from copy import deepcopy
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skstream._meta import InnerMethods, MetaClassifier, check_divisible_rows
from skstream.core.detector import DRIFT, NORMAL, WARNING, fresh_detector
from skstream.drift import DDM, DriftDetector
from skstream.utils._labels import LabelSpace, array_of
from skstream.utils._rows import own_rows
from skstream.utils._sklearn import HasMethods, Interval, rows_of
from skstream.utils._validation import unfitted_copy

__all__ = ["DriftReset"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


class DriftReset(InnerMethods, MetaClassifier):
    """Replace a classifier with a fresh one when a drift detector raises an alarm.

    Right before the inner model is trained on a row, it predicts that row, and the detector reads
    whether the prediction was wrong (1) or right (0). On an alarm a fresh model takes its place,
    trained only on the rows since the detector's warning began, including the row of the alarm.
    Without a warning, it is trained on the row of the alarm alone.

    With naive Bayes and `DDM` this is the "DDM" of the papers, with naive Bayes and `RandomAlarm`
    their "DDM-random".

    Parameters
    ----------
    estimator : classifier
        Model with ``partial_fit``; every fresh model is a copy.
    detector : DriftDetector or None, default=None
        Detector that reads the losses; a fresh copy is used. None: ``DDM()``.
    warm_up : int, default=30
        Number of training rows, at least 0, after the start and after every reset before the
        detector reads losses.

    Attributes
    ----------
    estimator_ : classifier
        The fitted inner model.
    background_estimator_ : classifier or None
        While the detector warns, the model trained on the rows since the warning began; it takes
        the place of `estimator_` on an alarm. None if there is no warning.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    detector_ : DriftDetector
        The detector in use.
    n_resets_ : int
        How often the model was replaced.
    n_rows_since_reset_ : int
        Training rows after the last row of an alarm, or since the start; rows of weight 0 do not
        count.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    See Also
    --------
    skstream.drift : The detectors.
    skstream.ensemble.OnlineBagging : An ensemble with a detector for each member.

    Notes
    -----
    Rows are not stored: while the detector warns, a second model is trained alongside the first, so
    memory is that of two models however long a warning lasts. If the warning ends without an alarm,
    the second model is dropped.

    A fresh model is always trained on at least one row, so that it can predict. In MOA's
    implementation, too, it is trained on the row of the alarm.

    Rows of weight 0 are skipped, also by the detector; other weights are passed to the model, but
    the detector counts every row once. The detector restarts by itself after an alarm; it is never
    reset from outside, so that random alarms do not repeat themselves.

    In one call of ``partial_fit``, all rows are predicted first (except in the first call, before
    any training), then the model is trained on all of them at once; an alarm divides the call, and
    the rows after it are treated as another call. An evaluator makes one call per row.

    A new `detector` is used from the next ``fit`` on, a new `estimator` from the next reset or
    ``fit`` on.

    References
    ----------
    Gama, J., Medas, P., Castillo, G., & Rodrigues, P. (2004). Learning with drift detection.
    Brazilian Symposium on Artificial Intelligence. Section 3.

    Žliobaitė, I., Bifet, A., Read, J., Pfahringer, B., & Holmes, G. (2015). Evaluation methods and
    decision theory for classification of streaming data with temporal dependence. Machine Learning
    98. Section 6.

    Examples
    --------
    >>> import numpy as np
    >>> from skstream.adaptive import DriftReset
    >>> from skstream.evaluation import PrequentialEvaluator
    >>> from skstream.naive_bayes import IncrementalGaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 4000)
    >>> side = np.where(np.arange(4000) < 2000, y, 1 - y)  # the classes change places
    >>> X = rng.normal(size=(4000, 2)) + side[:, np.newaxis]
    >>> model = IncrementalGaussianNB()
    >>> evaluator = PrequentialEvaluator("accuracy", random_state=0)
    >>> models = {"alone": model, "reset": DriftReset(model)}
    >>> result = evaluator.evaluate(models, X, y, return_models=True)
    >>> {name: round(scores["accuracy"], 2) for name, scores in result.scores.items()}
    {'alone': 0.52, 'reset': 0.73}
    >>> result.models["reset"].n_resets_
    1
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "estimator": "no_validation",
        "detector": [HasMethods("update"), None],
        "warm_up": [Interval(Integral, 0, None, closed="left")],
    }
    # Answers to the rows of one call do not depend on each other.
    _asks_row_by_row = False
    _makes_fresh_models = True

    background_estimator_: Any
    detector_: DriftDetector
    n_resets_: int
    n_rows_since_reset_: int

    def __init__(self, estimator: Any, *, detector: DriftDetector | None = None, warm_up: int = 30):
        self.estimator = estimator
        self.detector = detector
        self.warm_up = warm_up

    def set_params(self, **params: Any) -> "DriftReset":
        """Set parameters; those of the inner model also apply to its fitted copy.

        Parameters
        ----------
        **params : dict
            Parameters; those of the inner model as ``estimator__parameter``, those of a given
            detector as ``detector__parameter``.

        Returns
        -------
        self : object
            The estimator itself.

        Raises
        ------
        ValueError
            If there is no such parameter, or a parameter of the detector is set but no detector was
            given.
        """
        inner = [name for name in params if name.startswith("detector__")]
        if inner and params.get("detector", self.detector) is None:
            raise ValueError(
                f"{inner[0]} cannot be set: this DriftReset has detector=None, which means a "
                "default DDM(). To set or search the parameters of a detector, pass one: "
                "DriftReset(..., detector=DDM())."
            )
        super().set_params(**params)
        return self

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        return check_divisible_rows(self, X, reset=reset)

    def _fitted_models(self) -> list[Any]:
        models = [self.estimator_, self.background_estimator_]
        return [model for model in models if model is not None]

    def _learn(self, X: Any, y: Any, codes: Codes, weight: Floats | None, *, first: bool) -> None:
        if first:
            model, detector = unfitted_copy(self.estimator), new_detector(self)
            weight = self._route_weight(model, weight)
            self._teach(model, X, y, weight, np.arange(len(codes)), first=True)
            self.estimator_, self.background_estimator_ = model, None
            self.detector_, self.n_resets_ = detector, 0
            self.n_rows_since_reset_ = len(codes)
            return
        weight = self._route_weight(self.estimator_, weight)
        begin = 0
        while begin < len(codes):
            begin = self._learn_until_alarm(X, y, codes, weight, begin)

    def _learn_until_alarm(
        self, X: Any, y: Any, codes: Codes, weight: Floats | None, begin: int
    ) -> int:
        """Learn the rows of a call from one on, until an alarm; return the row that is the next."""
        tested = np.arange(begin + rows_untested(self, self.n_rows_since_reset_), len(codes))
        wrong = np.empty(0, dtype=bool)
        if len(tested):
            answers = self.estimator_.predict(own_rows(rows_of(X, tested)))
            wrong = LabelSpace(self.classes_).encode(answers) != codes[tested]
        found = read_until_alarm(self.detector_, wrong, len(codes))
        self.detector_, alarm, end, n_in_zone = found
        if n_in_zone:
            goes_on = n_in_zone == end - begin and self.background_estimator_ is not None
            model = self.background_estimator_ if goes_on else unfitted_copy(self.estimator)
            rows = np.arange(end - n_in_zone, end)
            own = None if weight is None else weight[rows]
            self._teach(model, X, y, own, rows, first=not goes_on)
            self.background_estimator_ = model
        else:
            self.background_estimator_ = None
        if alarm:
            self.estimator_, self.background_estimator_ = self.background_estimator_, None
            self.n_resets_ += 1
            self.n_rows_since_reset_ = 0
        else:
            rows = np.arange(begin, end)
            own = None if weight is None else weight[rows]
            self._teach(self.estimator_, X, y, own, rows, first=False)
            self.n_rows_since_reset_ += len(rows)
        return end

    def _ask(self, method: str, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        if method != "predict":
            self._check_columns(self.estimator_)
        return array_of(getattr(self.estimator_, method)(X))


def new_detector(model: DriftReset) -> DriftDetector:
    """Detector that has read nothing."""
    return fresh_detector(DDM() if model.detector is None else model.detector)


def rows_untested(model: DriftReset, n_rows_since_reset: int) -> int:
    """Number of the next rows whose losses the detector does not read."""
    return int(max(model.warm_up - n_rows_since_reset, 0))


def read_until_alarm(
    detector: DriftDetector, losses: NDArray[Any], n_rows: int
) -> tuple[DriftDetector, bool, int, int]:
    """Let a copy of a detector read the losses of the last of some rows until the first alarm.

    Returns
    -------
    detector : DriftDetector
        The copy; of a single loss, which may be one of many calls, the detector itself.
    alarm : bool
        Whether there is an alarm.
    end : int
        Number of the rows up to that of the alarm; without one, of all rows.
    n_in_zone : int
        Number of the rows before `end` that are one warning, and the alarm after it; 0 if all is
        well.
    """
    if not len(losses):
        return detector, False, n_rows, 0
    if len(losses) == 1:
        detector.update(losses[0].item())
        level = WARNING if detector.warning_detected else NORMAL
        levels = np.array([DRIFT if detector.drift_detected else level], dtype=np.int8)
        ahead = detector
    else:
        ahead = deepcopy(detector)
        levels = ahead.update_levels(losses)
        alarms = np.flatnonzero(levels == DRIFT)
        if len(alarms) and alarms[0] < len(losses) - 1:
            ahead = deepcopy(detector)
            levels = ahead.update_levels(losses[: int(alarms[0]) + 1])
    alarm = bool(levels[-1] == DRIFT)
    calm = np.flatnonzero(levels[: len(levels) - alarm] != WARNING)
    n_in_zone = len(levels) - (int(calm[-1]) + 1 if len(calm) else 0)
    return ahead, alarm, n_rows - len(losses) + len(levels), n_in_zone
