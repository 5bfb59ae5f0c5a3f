"""All results of comparisons say the same things by the same names."""

import inspect

import numpy as np
import pytest

from skstream import stats
from skstream.stats import Comparison
from skstream.stats._report import Report

RNG = np.random.default_rng(0)
LOSS_A = (RNG.random(3000) < 0.4).astype(int)
LOSS_B = (RNG.random(3000) < 0.1).astype(int)
TRUTH = np.zeros(3000, dtype=int)
FOLDS = np.linspace(0.5, 0.6, 12)
FUNCTIONS = {
    name: function
    for name, function in vars(stats).items()
    if name in stats.__all__ and inspect.isfunction(function)
}
#: How each is called so that the second model is better.
ARGUMENTS = {
    "anytime_comparison": (LOSS_A, LOSS_B),
    "compare_with_best": (np.column_stack([FOLDS, FOLDS + 0.1]), ["A", "B"]),
    "friedman_nemenyi": (np.column_stack([FOLDS, FOLDS + 0.1]), ["A", "B"]),
    "mcnemar": (TRUTH, LOSS_A, LOSS_B),
    "mcnemar_curve": (TRUTH, LOSS_A, LOSS_B),
    "q_statistic": (LOSS_A, LOSS_B),
    "sign_test": (FOLDS, FOLDS + 0.1),
    "wilcoxon": (FOLDS, FOLDS + 0.1),
}


def exported_results() -> set[type]:
    """Every result that users can find."""
    return {
        one
        for one in (getattr(stats, name) for name in stats.__all__)
        if inspect.isclass(one) and issubclass(one, Report)
    }


def test_every_function_and_every_result_is_tried() -> None:
    assert set(ARGUMENTS) == set(FUNCTIONS)
    assert {type(FUNCTIONS[name](*given)) for name, given in ARGUMENTS.items()} == (
        exported_results()
    )


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_results_say_who_is_better_and_how_sure(name: str) -> None:
    result = FUNCTIONS[name](*ARGUMENTS[name])
    assert isinstance(result, Comparison)
    assert result.names == ("A", "B")
    assert result.subject == ""
    assert "B" in str(result)
    assert repr(result).startswith(f"{type(result).__name__}(")
    if name == "q_statistic":
        assert (result.pvalue, result.significant, result.better) == (None, False, None)
        return
    assert isinstance(result.pvalue, float)
    assert result.pvalue < result.alpha
    assert result.significant is True
    assert result.better == "B"


def test_what_lacks_a_part_is_no_comparison() -> None:
    class Nameless:
        subject, pvalue, significant, better = "", None, False, None

    assert not isinstance(Nameless(), Comparison)


def test_the_best_of_several_must_beat_all_others() -> None:
    scores = np.column_stack([FOLDS, FOLDS + 0.1, FOLDS + 0.1 + 1e-3 * (-1.0) ** np.arange(12)])
    ranked = stats.friedman_nemenyi(scores, ["worst", "one", "other"])
    assert ranked.significant
    assert ranked.better is None  # "one" and "other" are not told apart
    assert stats.friedman_nemenyi(scores[:, :2]).better == "model 2"
