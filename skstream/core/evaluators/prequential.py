"""Prequential evaluation: test, then train, on every row."""

import numbers
from typing import Any, ClassVar

from skstream.core.evaluators.evaluator import COMMON_CONSTRAINTS, StreamEvaluator, evaluator
from skstream.core.timelines.timeline import PrequentialTimeline, Timeline
from skstream.utils._sklearn import Interval


@evaluator
class PrequentialEvaluator(StreamEvaluator):
    """Evaluate models prequentially: every row is predicted, scored, then learnt.

    Parameters
    ----------
    metrics : str, callable, list or dict, default=None
        Measures: names, functions ``f(y_true, y_pred)``, or ``functools.partial`` of the
        functions of `skstream.metrics`. None: accuracy, kappa, kappa_m, kappa_temporal and
        kappa_plus; for regressors mae, rmse and r2.
    batch_size : int, default=1
        Rows that are all predicted, then all learnt in one ``partial_fit``. More than 1 is
        another protocol than row by row, with other answers.
    forgetting : str, Forgetting or dict of str to Forgetting, default="cumulative"
        Which rows count in the running means of the measures: "cumulative", "adwin", or a
        specification such as ``SlidingWindow(1000)``; a dict asks for several at once.
    n_warmup : int, default=1
        Rows learnt first, unasked: a model that has learnt nothing has no answer. They are not
        scored, but every baseline learns their labels. A model that cannot learn the first row
        alone (`IncrementalPCA`, `MiniBatchKMeans` as a step) learns all of them in one call.
        0: there is no warm-up. Models must be able to answer then: fitted models, with
        `warm_start`, and the baselines that repeat, count or average labels, which begin with the
        lowest class, or 0.
    record_every : int, str or timedelta, default=None
        Distance of the checkpoints of the curves, in rows; or a duration, such as "1D", for the
        end of every day, where the stream says when its rows came. None: at most 1,024, the
        distance doubling as the stream grows. The last row is always a checkpoint.
    missing_labels : {"error", "skip"}, default="error"
        Rows without a label are an error, or are asked, and neither learnt nor scored.
    random_state : int, default=None
        Seed of every random_state parameter that is None, nested ones too, and of the random
        choices of the protocol. None: drawn, and recorded in the result.
    n_jobs : int, default=None
        Workers at once, through joblib. Results do not depend on it. Each worker reads the stream
        once, for a group of models of about equal cost. Where workers would not be faster,
        all is done in this process, and the printed result says so.
    unanswered : {"error", "wrong", "first"}, default="error"
        A row that was asked and got no answer (None or NaN) is a failure of the model, or is
        scored as an error, or as the first of the classes, as CapyMOA 0.15.1 counts it (classifiers
        only). Rows asked before a model has learnt anything are none of these.
    error_score : "raise" or float, default="raise"
        Score of a model from the row on at which it fails, while the others go on; its earlier
        scores and answers stay. A measure of probabilities is NaN for a model that has none.
        "raise": a failure ends the evaluation, and a lack of probabilities is an error before it.
    progress : bool, default=False
        Show a progress bar (needs tqdm).
    run : RunOptions, str or path-like, default=None
        How the evaluation is executed: checkpoints, kernels, tape. A path: where it is saved, and
        from where the same call resumes.

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
        "batch_size": [Interval(numbers.Integral, 1, None, closed="left")],
    }

    batch_size: int = 1

    def _timelines(self, seed: int) -> list[Timeline]:
        return [PrequentialTimeline(n_warmup=self.n_warmup, batch_size=self.batch_size)]
