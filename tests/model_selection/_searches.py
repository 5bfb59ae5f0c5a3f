"""Searches for tests, from the parameters of the search and of its evaluator together."""

from inspect import signature
from typing import Any

from skstream import PrequentialEvaluator, PrequentialSearch, RunOptions


def search_of(estimator: Any, grid: Any, **parameters: Any) -> PrequentialSearch:
    """Return a search that passes to its evaluator what is none of its own parameters."""
    own = signature(PrequentialSearch).parameters
    inner = {name: value for name, value in parameters.items() if name not in own}
    run = RunOptions(
        kernels=inner.pop("kernels", True),
        keep_tape=inner.pop("keep_tape", True),
        checkpoint=inner.pop("run__checkpoint", None),
    )
    return PrequentialSearch(
        estimator,
        grid,
        evaluator=PrequentialEvaluator(**{"random_state": 0, "run": run, **inner}),
        **{name: value for name, value in parameters.items() if name in own},
    )
