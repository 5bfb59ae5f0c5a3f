"""k-fold distributed validation: k copies of every model along one stream."""

import numbers
from typing import Any, ClassVar, get_args

from skstream.core.evaluators.evaluator import COMMON_CONSTRAINTS, StreamEvaluator, evaluator
from skstream.core.timelines.timeline import FoldTimeline, Strategy, TestOn, Timeline
from skstream.utils._sklearn import Interval, StrOptions

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
        "n_folds": [Interval(numbers.Integral, 1, None, closed="left")],
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
