"""What models are asked for besides labels, from what the measures need."""

from collections.abc import Mapping
from typing import Any

from skstream.metrics._measure import Measure


def scores_asked(
    models: Mapping[str, Any], metrics: Mapping[str, Measure], on_missing: str
) -> dict[str, str | None]:
    """Return by which method each model is asked for scores: the richest that a measure needs.

    Parameters
    ----------
    models : dict of str to estimator
        Classifiers.
    metrics : dict of str to Measure
        What is measured.
    on_missing : {"error", "nan"}
        Whether a model without what a measure needs is an error, or has NaN there.

    Returns
    -------
    scores : dict of str to {"predict_proba", "decision_function"} or None
        Empty where no measure needs scores.
    """
    of_shares = [name for name, one in metrics.items() if one.needs == "probabilities"]
    of_ranks = [name for name, one in metrics.items() if one.needs == "scores"]
    if not of_shares and not of_ranks:
        return {}
    scores: dict[str, str | None] = {}
    for name, model in models.items():
        has_shares, has_values = (
            hasattr(model, method) for method in ("predict_proba", "decision_function")
        )
        ranks = "decision_function" if has_values and of_ranks else None
        scores[name] = "predict_proba" if has_shares else ranks
        lacking = [] if has_shares else [*of_shares, *([] if has_values else of_ranks)]
        if lacking and on_missing == "error":
            raise ValueError(_lacks(name, model, lacking, metrics, has_values=has_values))
    return scores


def _lacks(
    name: str, model: Any, lacking: list[str], metrics: Mapping[str, Measure], *, has_values: bool
) -> str:
    """Say what a model lacks, for which measures, and by which it can be scored."""
    what = "no predict_proba" if has_values else "neither predict_proba nor decision_function"
    others = [one for one in metrics if one not in lacking] or ["measures of labels alone"]
    ranked = not has_values or any(metrics[one].needs == "scores" for one in metrics)
    ranks = "" if ranked else " and rankings such as auc"
    one_of_many = len(lacking) == 1
    return (
        f"Model '{name}' ({type(model).__name__}) has {what}, which {' and '.join(lacking)} "
        f"need{'s' if one_of_many else ''}. It can be scored by {', '.join(others)}{ranks}. Leave "
        f"{'this measure' if one_of_many else 'these measures'} out, or pass "
        'an evaluator on_missing_proba="nan" to have NaN in the place of what it lacks.'
    )
