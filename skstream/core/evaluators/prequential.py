"""Prequential evaluation, test then train: in one pass, in k folds, or predictions alone."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, get_args

import numpy as np

from skstream.core.engine.run import Answered, Unanswered
from skstream.core.evaluators.evaluator import COMMON_CONSTRAINTS, StreamEvaluator, evaluator
from skstream.core.evaluators.execution import carrying, progress_bar
from skstream.core.evaluators.settings import COUNT, RunOptions, Settings, named_models
from skstream.core.rows.arrays import as_stream
from skstream.core.run.input import EncodedRows, why_no_weight
from skstream.core.run.run import EvaluationRun
from skstream.core.run.run_outcome import Place
from skstream.core.timelines.timeline import (
    FoldTimeline,
    PrequentialTimeline,
    Strategy,
    TestOn,
    Timeline,
)
from skstream.utils._choices import check_choice
from skstream.utils._sklearn import StrOptions
from skstream.utils._warnings import warn


@evaluator
class PrequentialEvaluator(StreamEvaluator):
    """Evaluate models prequentially: every row is predicted, scored, then used for training.

    Parameters
    ----------
    batch_size : int, default=1
        Rows that are all predicted, then all used for training in one ``partial_fit``. More than 1
        is a different protocol from row by row, with different predictions.

    See Also
    --------
    prequential_predict : Returns only the predictions.

    References
    ----------
    Gama, J., Sebastião, R., & Rodrigues, P. P. (2013). On evaluating stream learning
    algorithms. Machine Learning, 90, 317-346. Sections 2 and 3.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import Persistent, PrequentialEvaluator
    >>> from skstream.streams import make_demo_stream
    >>> stream = make_demo_stream(2000)
    >>> evaluator = PrequentialEvaluator(["accuracy", "kappa_temporal"])
    >>> result = evaluator.evaluate({"sgd": SGDClassifier(), "persistent": Persistent()}, stream)
    >>> result.scores["persistent"]["kappa_temporal"]
    0.0
    """

    protocol = "prequential"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "batch_size": [COUNT],
    }

    batch_size: int = 1

    def _timelines(self, seed: int) -> list[Timeline]:
        return [PrequentialTimeline(n_warmup=self.n_warmup, batch_size=self.batch_size)]


#: How rows are learnt, and which folds are asked about them, by how both are written.
_STRATEGIES: dict[str, tuple[Strategy, TestOn]] = {
    f"{strategy}{'' if test_on == 'all' else f':{test_on}'}": (strategy, test_on)
    for strategy in get_args(Strategy)
    for test_on in get_args(TestOn)
}


@evaluator
class KFoldEvaluator(StreamEvaluator):
    """Evaluate k copies of every model in parallel folds, for significance tests.

    One prequential run does not show whether a difference is due to chance. Here there are k copies
    of each model. One of three strategies decides which copies are trained on a row and which are
    tested on it. There is one curve of scores per fold, and models are compared fold by fold. All
    models have the same folds and weights.

    Parameters
    ----------
    n_folds : int, default=10
        Number of folds.
    strategy : str, default="bootstrap"
        Which folds are trained on a row: each with a Poisson(1) weight ("bootstrap"), all but one
        ("cross"), or only one ("split"). All folds predict it; with "cross:held_out" only those not
        trained on it, with "cross:trained" only those trained on it (just before training). The
        other strategies have both, too.
    random_state : int, default=None
        Seed of the folds and of the models' random_state parameters that are None (different in
        each fold). None: drawn, and recorded in the result.

    See Also
    --------
    PrequentialEvaluator : One copy of every model.

    References
    ----------
    Bifet, A., De Francisci Morales, G., Read, J., Holmes, G., & Pfahringer, B. (2015).
    Efficient online evaluation of big data stream classifiers. KDD. Section 3.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import KFoldEvaluator
    >>> from skstream.streams import make_demo_stream
    >>> stream = make_demo_stream(2000)
    >>> evaluator = KFoldEvaluator("accuracy", n_folds=3, random_state=0)
    >>> result = evaluator.evaluate({"sgd": SGDClassifier()}, stream)
    >>> result.curve("sgd", "accuracy")[-1].shape
    (3,)
    """

    protocol = "k-fold"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        "n_folds": [COUNT],
        "strategy": [StrOptions(set(_STRATEGIES))],
    }
    # Folds weight and assign single rows, so rows are learnt one by one.
    batch_size = 1

    n_folds: int = 10
    strategy: str = "bootstrap"

    def _validate(self, **called: Any) -> None:
        super()._validate(**called)
        strategy, _ = _STRATEGIES[self.strategy]
        if self.n_folds == 1 and strategy == "cross":
            raise ValueError(
                'n_folds=1 with strategy="cross" would train on nothing: every row is left out of '
                "one fold, and there is no other. Use n_folds=2 or more."
            )
        if self.n_folds == 1 and self.strategy == "split:held_out":
            raise ValueError(
                'n_folds=1 with strategy="split:held_out" would predict nothing: the only fold '
                'trains on every row. Use n_folds=2 or more, or strategy="split".'
            )

    def _timelines(self, seed: int) -> list[Timeline]:
        strategy, test_on = _STRATEGIES[self.strategy]
        return [
            FoldTimeline(
                fold=fold,
                n_folds=self.n_folds,
                strategy=strategy,
                test_on=test_on,
                seed=seed,
                n_warmup=self.n_warmup,
            )
            for fold in range(self.n_folds)
        ]


def prequential_predict(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    method: str = "predict",
    classes: Any = None,
    sample_weight: Any = None,
    batch_size: int = 1,
    n_warmup: int = 1,
    missing_labels: str = "error",
    unanswered: Unanswered = "error",
    kernels: bool = True,
    warm_start: bool = False,
    random_state: int | None = 0,
    return_rows: bool = False,
    progress: bool = False,
) -> Any:
    """Predict every row of a stream with a model trained on the rows before it.

    The streaming counterpart of `sklearn.model_selection.cross_val_predict`.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        The model; it is cloned.
    X : {array-like, sparse matrix, dataframe} of shape (n_rows, n_features), or stream
        Features in time order, or (without `y`) an iterable of chunks.
    y : array-like of shape (n_rows,), default=None
        Labels or targets.
    method : {"predict", "predict_proba", "decision_function"}, default="predict"
        Method of the model to call.
    classes : array-like, default=None
        All labels that can occur; found in `y` if it is an array.
    sample_weight : array-like of shape (n_rows,), default=None
        Training weights; 0: predicted, but not used for training.
    batch_size : int, default=1
        Rows that are all predicted, then all used for training in one ``partial_fit``.
    n_warmup : int, default=1
        Initial rows, used only for training; in one call if the model cannot be trained on one row
        alone. 0: as for evaluators.
    missing_labels : {"error", "skip"}, default="error"
        Rows without a label are an error, or are predicted but not used for training.
    unanswered : {"error", "wrong"}, default="error"
        A missing prediction (None or NaN) is a failure of the model, or stays None among the
        predictions of a classifier (NaN among probabilities).
    kernels : bool, default=True
        Use an exact kernel where one exists. False: call the model row by row.
    warm_start : bool, default=False
        Start from a copy of the fitted model instead of an unfitted clone.
    random_state : int, default=0
        Seed of the estimator's random_state parameters that are None: predictions equal those of an
        evaluator with this seed. None: drawn.
    return_rows : bool, default=False
        Also return the numbers of the predicted rows.
    progress : bool, default=False
        Show a progress bar (needs tqdm).

    Returns
    -------
    y_pred : ndarray of shape (n_asked,) or (n_asked, n_classes)
        Predictions, in row order. If every row has a label, these are for all rows but the first
        `n_warmup`: compare with ``y[n_warmup:]``. Empty, with a warning, if no row was predicted.
    rows : ndarray of shape (n_asked,)
        Their row numbers, if `return_rows`.

    Raises
    ------
    ModelError
        If the model fails; the message names the row. Its attribute `result` is what would have
        been returned for the rows before.
    EvaluationInterrupted
        On Ctrl-C; its attribute `result` is what would have been returned for the rows so far, or
        None.

    Examples
    --------
    >>> from sklearn.metrics import accuracy_score
    >>> from sklearn.naive_bayes import MultinomialNB
    >>> from skstream import prequential_predict
    >>> X, y = [[1, 0], [0, 1], [1, 0], [0, 1]], ["a", "b", "a", "b"]
    >>> y_pred = prequential_predict(MultinomialNB(), X, y)
    >>> accuracy_score(y[1:], y_pred)
    0.666...
    """
    check_choice(method, "method", ("predict", "predict_proba", "decision_function"))
    evaluator = PrequentialEvaluator(
        batch_size=batch_size,
        n_warmup=n_warmup,
        missing_labels=missing_labels,  # type: ignore[arg-type]
        unanswered=unanswered,
        random_state=random_state,
        run=RunOptions(kernels=kernels, keep_tape=False),
    )
    ((name, model),) = named_models(estimator).items()
    stream = as_stream(X, y, sample_weight=sample_weight)
    settings, prepared = evaluator._prepare({name: model}, classes, stream, warm_start=warm_start)
    run = _PredictingRun(replace(settings, method=method), prepared)
    with (
        progress_bar(stream.n_rows, "prequential_predict", wanted=progress) as bar,
        carrying(lambda _: run.so_far(return_rows), stream),
    ):
        run.follow(stream, [bar.update])
    y_pred, rows = run.predictions()
    if not len(rows):
        came = why_no_weight(run.n_rows)
        if run.has_weight:
            came = (
                f"the first {n_warmup:,} rows with a label and a weight above 0 are used only for "
                f"training (n_warmup), but only {run.n_learnable:,} came."
            )
        warn(f"No row was predicted: {came}")
    return (y_pred, rows) if return_rows else y_pred


class _PredictingRun(EvaluationRun):
    """Run of one model that keeps its answers, and scores none.

    Attributes
    ----------
    n_learnable : int
        Rows with a label and a weight above 0.
    has_weight : bool
        Whether any row had a weight above 0.
    """

    def __init__(self, settings: Settings, models: Mapping[Place, Any]) -> None:
        super().__init__(settings, models)
        self._measured_at = 1 << 62  # sizes say nothing here
        self._answered: list[Answered] = []
        self.n_learnable = 0
        self.has_weight = False

    def _note_arrived(self, rows: EncodedRows, answered: list[Answered]) -> None:
        labelled = self._note_rows(rows)
        positive = np.ones(rows.n_rows, bool) if rows.weight is None else rows.weight > 0
        self.has_weight = self.has_weight or bool(positive.any())
        self.n_learnable += int(np.count_nonzero(positive & labelled))
        self._note(answered)

    def _note(self, answered: list[Answered]) -> None:
        self._answered += answered

    def _score(self, *, all_of_it: bool = True) -> None:
        """Nothing is scored."""

    def predictions(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the answers, up to a failure, and the numbers of the rows asked."""
        answers = np.concatenate([answered.answers for answered in self._answered])
        rows = np.concatenate([answered.operations.ask_rows for answered in self._answered])
        failure = self._engine.models[0].failure
        if failure is not None:
            before = rows < failure.row
            answers, rows = answers[before], rows[before]
        if self._settings.method == "predict":
            answers = self._space.decode(answers)
        return answers, rows

    def so_far(self, return_rows: bool) -> Any:
        """Return what is returned of the rows before what ended the call; None if of none."""
        if not self._answered:
            return None
        y_pred, rows = self.predictions()
        if not len(rows):
            return None
        return (y_pred, rows) if return_rows else y_pred
