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
        "batch_size": [Interval(numbers.Integral, 1, None, closed="left")],
    }

    batch_size: int = 1

    def _timelines(self, seed: int) -> list[Timeline]:
        return [PrequentialTimeline(n_warmup=self.n_warmup, batch_size=self.batch_size)]
