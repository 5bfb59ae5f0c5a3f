"""What the tests refuse: in words, and by the name of the argument."""

from functools import partial

import numpy as np
import pytest

from skstream.forgetting import AdaptiveWindow
from skstream.stats import (
    anytime_comparison,
    friedman_nemenyi,
    mcnemar,
    q_statistic,
    sign_test,
    wilcoxon,
)
from skstream.stats._anytime import RunningAnytimeComparison
from skstream.stats._mcnemar import RunningMcNemar
from skstream.stats._q_statistic import RunningQStatistic

NUMBERS = {
    "texts": (["0.5", "1"], "must contain numbers. Got values of dtype <U3"),
    "texts as objects": (np.array(["1", 2], dtype=object), "Got '1' of type str"),
    "imaginary": (np.array([1j, 2]), "Got values of dtype complex128"),
    "dates": (np.array(["2020-01-01"] * 2, dtype="M8[D]"), "Got values of dtype datetime64"),
    "missing": ([None, 1.0], r"\[0\] is nan"),
    "ragged": ([[1.0], [1.0, 2.0]], "must contain numbers, in rows of the same length"),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_losses_and_weights_are_numbers(kind: str) -> None:
    values, message = NUMBERS[kind]
    for name, call in {
        "loss_a": lambda: q_statistic(values, [1, 0]),
        "loss_b": lambda: anytime_comparison([1, 0], values),
        "a": lambda: sign_test(values, [1, 0]),
        "b": lambda: wilcoxon([1, 0], values),
        "sample_weight": lambda: q_statistic([1, 0], [1, 0], sample_weight=values),
    }.items():
        with pytest.raises(ValueError, match=f"^{name}.*{message}"):
            call()


def test_names_are_one_per_model() -> None:
    for call in (
        lambda names: mcnemar([0, 1], [0, 0], [1, 1], names=names),
        lambda names: sign_test([0, 1], [1, 2], names=names),
        lambda names: wilcoxon([0, 1], [1, 2], names=names),
        lambda names: anytime_comparison([0, 1], [1, 0], names=names),
        lambda names: friedman_nemenyi([[1, 2], [2, 1]], names),
    ):
        with pytest.raises(ValueError, match=r"names must be a sequence of names.* Got 'AB'"):
            call("AB")
        with pytest.raises(ValueError, match="2 models, got 1 names"):
            call(["sgd"])


@pytest.mark.parametrize("direction", ["no", None, 2, np.nan])
def test_the_direction_is_true_or_false(direction) -> None:
    for call in (
        lambda: sign_test([1, 2], [2, 3], higher_is_better=direction),
        lambda: wilcoxon([1, 2], [2, 3], higher_is_better=direction),
        lambda: friedman_nemenyi([[1, 2], [2, 3]], higher_is_better=direction),
    ):
        with pytest.raises(ValueError, match="higher_is_better must be True or False"):
            call()


PAIRED = [
    (([1, 2, 3], [1, 2]), r"Got shapes \(3,\) and \(2,\)"),
    (([1, 2], [1, np.nan]), r"b\[1\] is nan; every value must be finite"),
    ((np.ones((2, 2)), np.ones((2, 2))), r"a must be one-dimensional. Got shape \(2, 2\)"),
    (([], []), "a and b are empty"),
    ((0.7, 0.8), r"a is one number, 0.7; give one value per fold. .* result.compare"),
]
BOUNDS = [3, (0, 1, 2), "01", (0, np.nan), (0, np.inf), (1, 0), (None, 1), ("0", "1")]
REFUSED = [
    (lambda: wilcoxon([1], [2], zero_method="zsplit"), "'wilcox' or 'pratt'. Got 'zsplit'"),
    (lambda: mcnemar([1, 2, 3], [1, 2], [1, 2, 3]), r"equal length. Got shapes .*\(2,\).*\(3,\)"),
    (lambda: mcnemar([1, np.nan], [1, 2], [1, 2]), r"y_true\[1\] is nan: a label is missing"),
    (lambda: mcnemar(["x"], np.array([np.nan], object), ["x"]), r"a\[0\] is nan: a label is miss"),
    (lambda: mcnemar([1], [1], [1], method="fisher"), r"'chi2' or 'exact'. Got 'fisher'"),
    (lambda: mcnemar([0, 1], [1, 0], [0, 0], sample_weight=[0, 0]), "weight 0"),
    (lambda: RunningMcNemar().update([0, 1], [1, 0.5]), r"loss_b\[1\] is 0.5; McNemar's .* 0/1"),
    (lambda: RunningMcNemar().update([], []).result(), "No rows were compared yet"),
    (lambda: RunningMcNemar().update([0, 1], [1]), r"Got shapes \(2,\) and \(1,\)"),
    (lambda: q_statistic([0, -1], [0, 1]), r"loss_a\[1\] is -1; the Q statistic needs nonnegative"),
    (lambda: q_statistic([0, 1], [np.inf, 1]), r"loss_b\[0\] is inf; every value must be finite"),
    (lambda: q_statistic([0, 1], [1, 0], sample_weight=[0, 0]), "No rows were compared"),
    (RunningQStatistic().result, "No rows were compared yet"),
    (lambda: RunningQStatistic("weekly"), "Unknown forgetting"),
    (lambda: anytime_comparison([0, 1.5], [0, 1]), r"loss_a\[1\] is 1.5, outside bounds=\(0, 1\)"),
    (lambda: anytime_comparison([0], [np.nan]), r"loss_b\[0\] is nan"),
    (lambda: anytime_comparison([0], [0], boundary="normal"), r"'mixture' or 'stitched'. Got 'nor"),
    (lambda: anytime_comparison([1], [0], boundary=["mixture"]), "boundary must be "),
    (lambda: anytime_comparison([0], [0], alpha=1.0), "alpha"),
    (lambda: anytime_comparison([], []), "No rows were compared yet"),
    (lambda: anytime_comparison([0, 1], [1, 0], sample_weight=[0, 0]), "No rows were compared"),
    (
        lambda: friedman_nemenyi([["1", "2"], ["2", "1"]]),
        "scores must contain numbers. .* dtype <U1",
    ),
    (lambda: friedman_nemenyi([[1, 2], [None, 1]]), r"scores\[1, 0\] is nan"),
    (lambda: friedman_nemenyi([[1, 2], [1, 2]], ["a", "a"]), "names must be distinct"),
    (lambda: friedman_nemenyi([[1, 2], [1, 2]], alpha=0), "alpha"),
    *((partial(test, *pair), words) for test in (sign_test, wilcoxon) for pair, words in PAIRED),
    *(
        (partial(friedman_nemenyi, scores), r"must have shape \(n_blocks, n_models\)")
        for scores in ([1, 2, 3], [[1, 2, 3]], [[1], [2]], np.ones((2, 2, 2)))
    ),
    *(
        (partial(sign_test, [1, 2], [2, 3], alpha=alpha), r"alpha must be in \(0, 1\)")
        for alpha in ("0.05", None, 0, 1, np.nan, True, [0.05])
    ),
    *(
        (partial(RunningAnytimeComparison, bounds=bounds), "two finite, increasing numbers")
        for bounds in BOUNDS
    ),
    *(
        (
            partial(RunningAnytimeComparison, largest_weight=weight),
            "largest_weight must be positive",
        )
        for weight in (0, -1, np.nan, "1", None)
    ),
    *(
        (partial(q_statistic, [1], [1], record_every=every), "record_every must be an integer >= 1")
        for every in (0, -1, 1.5, np.nan, "10")
    ),
    *(
        (partial(make, forgetting), words)
        for make in (RunningMcNemar, RunningQStatistic)
        for forgetting, words in (
            ("adwin", "not defined with AdaptiveWindow"),
            (AdaptiveWindow(), "not defined with AdaptiveWindow"),
            (["cumulative", "window:10"], r"one forgetting mechanism at a time. Got 2"),
        )
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_is_refused(call, message) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_numbers_may_come_as_objects() -> None:
    ranked = friedman_nemenyi(np.array([[1, 2], [2, 3]], dtype=object))
    assert ranked.average_ranks.tolist() == [2, 1]
