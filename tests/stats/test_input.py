"""What the tests refuse: in words, and by the name of the argument."""

import numpy as np
import pytest

from skstream.stats import (
    anytime_comparison,
    friedman_nemenyi,
    mcnemar,
    q_statistic,
    sign_test,
    wilcoxon,
)
from skstream.stats._anytime import RunningAnytimeComparison

NUMBERS = {
    "texts": (["0.5", "1"], "must hold numbers. Got values of dtype <U3"),
    "texts as objects": (np.array(["1", 2], dtype=object), "Got '1' of type str"),
    "imaginary": (np.array([1j, 2]), "Got values of dtype complex128"),
    "dates": (np.array(["2020-01-01"] * 2, dtype="M8[D]"), "Got values of dtype datetime64"),
    "missing": ([None, 1.0], r"\[0\] is nan"),
    "ragged": ([[1.0], [1.0, 2.0]], "must hold numbers, all in rows of one length"),
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


def test_scores_are_numbers() -> None:
    with pytest.raises(ValueError, match=r"scores must hold numbers. Got values of dtype <U1"):
        friedman_nemenyi([["1", "2"], ["2", "1"]])
    with pytest.raises(ValueError, match=r"scores\[1, 0\] is nan"):
        friedman_nemenyi([[1, 2], [None, 1]])
    assert friedman_nemenyi(np.array([[1, 2], [2, 3]], dtype=object)).average_ranks.tolist() == [
        2,
        1,
    ]


def test_names_are_one_per_model() -> None:
    for call in (
        lambda names: mcnemar([0, 1], [0, 0], [1, 1], names=names),
        lambda names: wilcoxon([0, 1], [1, 2], names=names),
        lambda names: anytime_comparison([0, 1], [1, 0], names=names),
        lambda names: friedman_nemenyi([[1, 2], [2, 1]], names),
    ):
        with pytest.raises(ValueError, match=r"names must be a sequence of names.* Got 'AB'"):
            call("AB")
        with pytest.raises(ValueError, match="2 models, got 1 names"):
            call(["sgd"])


@pytest.mark.parametrize("alpha", ["0.05", None, 0, 1, np.nan, True, [0.05]])
def test_alpha_is_a_number_between_0_and_1(alpha) -> None:
    with pytest.raises(ValueError, match=r"alpha must be in \(0, 1\)"):
        sign_test([1, 2], [2, 3], alpha=alpha)


@pytest.mark.parametrize("direction", ["no", None, 2, np.nan])
def test_the_direction_is_true_or_false(direction) -> None:
    for call in (
        lambda: sign_test([1, 2], [2, 3], higher_is_better=direction),
        lambda: wilcoxon([1, 2], [2, 3], higher_is_better=direction),
        lambda: friedman_nemenyi([[1, 2], [2, 3]], higher_is_better=direction),
    ):
        with pytest.raises(ValueError, match="higher_is_better must be True or False"):
            call()


@pytest.mark.parametrize("bounds", [3, (0, 1, 2), "01", (0, np.nan), (1, 0), (None, 1), ("0", "1")])
def test_bounds_are_two_numbers(bounds) -> None:
    with pytest.raises(ValueError, match="bounds must be two finite, increasing numbers"):
        RunningAnytimeComparison(bounds=bounds)


def test_other_parameters() -> None:
    for record_every in (0, -1, 1.5, np.nan, "10"):
        with pytest.raises(ValueError, match="record_every must be an integer >= 1"):
            q_statistic([1], [1], record_every=record_every)
    for weight in (0, -1, np.nan, "1", None):
        with pytest.raises(ValueError, match="largest_weight must be positive"):
            RunningAnytimeComparison(largest_weight=weight)
    with pytest.raises(ValueError, match="boundary must be "):
        anytime_comparison([1], [0], boundary=["mixture"])
