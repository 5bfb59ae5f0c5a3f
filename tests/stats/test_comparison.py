"""All results of comparisons say the same things by the same names."""

import inspect
import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from skstream import stats
from skstream.stats import Comparison
from skstream.stats._report import Report

RNG = np.random.default_rng(0)
LOSS_A = (RNG.random(3000) < 0.4).astype(int)
LOSS_B = (RNG.random(3000) < 0.1).astype(int)
TRUTH = np.zeros(3000, dtype=int)
NONE = np.broadcast_to(0, 1).flags
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


def all_results() -> set[type]:
    """Every result that a function of the package makes."""
    waiting, found = [Report], set()
    while waiting:
        new = waiting.pop()
        waiting += new.__subclasses__()
        if not new.__subclasses__() and new.__module__.startswith("skstream.stats."):
            found.add(new)
    return found


def test_every_function_and_every_result_is_tried() -> None:
    assert set(ARGUMENTS) == set(FUNCTIONS)
    assert {type(FUNCTIONS[name](*given)) for name, given in ARGUMENTS.items()} == (all_results())


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_results_say_who_is_better_and_how_sure(name: str) -> None:
    result = FUNCTIONS[name](*ARGUMENTS[name])
    assert isinstance(result, Comparison)
    assert result.names == ("A", "B")
    assert result.subject == ""
    assert "B" in str(result)
    assert repr(result).startswith(f"{type(result).__name__}(")
    assert str(pickle.loads(pickle.dumps(result))) == str(result)
    with pytest.raises(FrozenInstanceError):
        result.names = ("B", "A")
    assert not any(getattr(part, "flags", NONE).writeable for part in vars(result).values())
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


NAMES = ("sgd", "bayes")
WINS = np.r_[np.full(9, 0.9), 0.1]
SCORES = np.random.default_rng(1).random((10, 3)) + np.array([0, 0.1, 1])
ONES, ZEROS = np.ones(100, dtype=int), np.zeros(100, dtype=int)
#: A result, and what its statement says, the verdict in ``repr`` first.
STATEMENTS = [
    (
        stats.sign_test(WINS, np.full(10, 0.5), names=NAMES),
        ["sgd is better than bayes", "10 folds", "alpha = 0.05", "dropped", "not independent"],
    ),
    (
        stats.wilcoxon(FOLDS, FOLDS + 0.1, names=NAMES),
        ["bayes is better than sgd", "12 folds", "alpha = 0.05", "dropped", "not independent"],
    ),
    (
        stats.mcnemar(ZEROS, ONES, ZEROS, names=NAMES),
        ["bayes errs less than sgd", "signed M", "100 rows", "alpha = 0.05", "do not exist"],
    ),
    (
        stats.mcnemar_curve(ZEROS, ONES, ZEROS, forgetting="window:10", names=NAMES),
        [
            "bayes errs less than sgd",
            "signed M",
            "100 rows",
            "over the last 10 rows",
            "do not exist",
        ],
    ),
    (
        stats.q_statistic([1, 1, 0], [0, 1, 0], forgetting="window:2", names=NAMES),
        [
            *("either model is ahead", "3 rows", "loss of sgd", "over the last 2 rows"),
            *("no p-value", "chance"),
        ],
    ),
    (
        stats.anytime_comparison(ONES, ZEROS, alpha=0.1, names=NAMES),
        [
            "bayes has a smaller mean loss than sgd after 100 rows",
            *("90 % confidence sequence", "below alpha = 0.1", "mixture boundary"),
            *("first certain after", "with bayes ahead.", "shows neither"),
        ],
    ),
    (
        stats.friedman_nemenyi(SCORES, ["a", "b", "c"]),
        ["c", "chi2(2)", "F(2, 18)", "alpha = 0.05", "critical difference", "{a, b}", "Ties"],
    ),
]


@pytest.mark.parametrize(("result", "parts"), STATEMENTS, ids=lambda one: type(one).__name__)
def test_statements_say_what_was_done(result, parts) -> None:
    statement = str(result).replace("\n", " ")
    for part in parts:
        assert part in statement
    assert parts[0] in repr(result)
    assert "print() it" in repr(result)


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("mcnemar_curve", ["only_a_wrong", "only_b_wrong", "statistic", "uncorrected", "pvalue"]),
        ("q_statistic", ["loss_a", "loss_b", "q"]),
        ("anytime_comparison", ["difference", "lower", "upper", "pvalue"]),
    ],
)
def test_curves_are_frames(name, columns, pd):
    result = FUNCTIONS[name](*ARGUMENTS[name])
    frame = result.to_frame()
    assert list(frame.columns) == ["row", *columns]
    assert frame["row"].tolist() == result.checkpoints.tolist()
    assert frame.iloc[-1, 1:].notna().all()
