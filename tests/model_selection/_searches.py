"""Searches for tests, from the parameters of the search and of its evaluator together."""

from inspect import signature
from typing import Any

from skstream import PrequentialEvaluator, PrequentialSearch


def search_of(estimator: Any, grid: Any, **parameters: Any) -> PrequentialSearch:
    """Return a search that passes to its evaluator what is none of its own parameters."""
    own = signature(PrequentialSearch).parameters
    inner = {name: value for name, value in parameters.items() if name not in own}
    return PrequentialSearch(
        estimator,
        grid,
        evaluator=PrequentialEvaluator(**{"random_state": 0, "keep_tape": True, **inner}),
        **{name: value for name, value in parameters.items() if name in own},
    )
