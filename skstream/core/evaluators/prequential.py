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
    """Evaluate models prequentially: every row is predicted, scored, then learnt.

    Parameters
    ----------
    batch_size : int, default=1
        Rows that are all predicted, then all learnt in one ``partial_fit``. More than 1 is
        another protocol than row by row, with other answers.

    See Also
    --------
    prequential_predict : The answers alone.

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
    """Evaluate k copies of every model in parallel folds, for tests of significance.

    One prequential run does not show whether a difference is due to chance. Here there are k copies
    of each model. One of three strategies decides which copies learn a row and which are tested on
    it. There is one curve of scores per fold, and models are compared fold by fold. All models have
    the same folds and weights.

    Parameters
    ----------
    n_folds : int, default=10
        Number of folds.
    strategy : str, default="bootstrap"
        How a row is learnt: by each fold with a Poisson(1) weight ("bootstrap"), by all folds
        but one ("cross"), by one fold ("split"). All folds are asked about it; with
        "cross:held_out" those alone that do not learn it, with "cross:trained" those that do
        (just before), and so of the others.
    random_state : int, default=None
        Seed of the folds and of the models' random_state parameters that are None (another one
        in each fold). None: drawn, and recorded in the result.

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
    #: Folds weight and assign single rows, so rows are learnt one by one.
    batch_size = 1

    n_folds: int = 10
    strategy: str = "bootstrap"

    def _validate(self, **called: Any) -> None:
        super()._validate(**called)
        strategy, _ = _STRATEGIES[self.strategy]
        if self.n_folds == 1 and strategy == "cross":
            raise ValueError(
                'n_folds=1 with strategy="cross" would learn nothing: every row is left out of one '
                "fold, and there is no other. Use n_folds=2 or more."
            )
        if self.n_folds == 1 and self.strategy == "split:held_out":
            raise ValueError(
                'n_folds=1 with strategy="split:held_out" would ask nothing: the one '
                'fold learns every row. Use n_folds=2 or more, or strategy="split".'
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
    """Predict every row of a stream with a model that has learnt the rows before it.

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
        Method of the model that is called.
    classes : array-like, default=None
        All labels that may come; found in `y` where it is an array.
    sample_weight : array-like of shape (n_rows,), default=None
        Learning weights; 0: asked and not learnt.
    batch_size : int, default=1
        Rows that are all predicted, then all learnt in one ``partial_fit``.
    n_warmup : int, default=1
        Initial rows, used only for training; in one call if the model cannot learn one row alone.
        0: as for evaluators.
    missing_labels : {"error", "skip"}, default="error"
        Rows without a label are an error, or are asked and not learnt.
    unanswered : {"error", "wrong"}, default="error"
        A row that was asked and got no answer (None or NaN) is a failure of the model, or keeps
        None among the predictions of a classifier (NaN among probabilities).
    kernels : bool, default=True
        Use an exact kernel where there is one. False: call the model row by row.
    warm_start : bool, default=False
        Start from a copy of the fitted model instead of an unfitted clone.
    random_state : int, default=0
        Seed of the estimator's random_state parameters that are None: the answers are those that
        an evaluator with this seed gets. None: drawn.
    return_rows : bool, default=False
        Return the numbers of the rows asked, too.
    progress : bool, default=False
        Show a progress bar (needs tqdm).

    Returns
    -------
    y_pred : ndarray of shape (n_asked,) or (n_asked, n_classes)
        Answers to the rows asked, in order. Where every row has a label these are all rows
        but the first `n_warmup`: compare with ``y[n_warmup:]``. Empty, with a warning, where
        no row was asked.
    rows : ndarray of shape (n_asked,)
        Their row numbers, if `return_rows`.

    Raises
    ------
    ModelError
        If the model fails; says at which row. Its attribute `result` is what would have been
        returned of the rows before.
    EvaluationInterrupted
        On Ctrl-C; its attribute `result` is what would have been returned of the rows so far, or
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
                f"the first {n_warmup:,} rows that can be learnt (with a label, and a weight "
                f"above 0) are used only for training (n_warmup), and {run.n_learnable:,} came."
            )
        warn(f"No row was asked, so that there is no prediction: {came}")
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
        answers = np.concatenate([one.answers for one in self._answered])
        rows = np.concatenate([one.operations.ask_rows for one in self._answered])
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
