"""A masked entry is a missing value, wherever an array comes in."""

from functools import partial

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB

import skstream as sk
from skstream import (
    DelayedEvaluator,
    Persistent,
    Polling,
    PrequentialEvaluator,
    TemporalCorrection,
    TemporallyAugmented,
    as_stream,
    prequential_predict,
    stats,
)
from skstream.drift import ADWIN
from skstream.metrics import kappa_score, kappa_temporal_score
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.streams import label_profile, shuffle_rows, shuffle_within_class
from skstream.utils._labels import as_labels, find_classes
from skstream.utils._masked import unmasked

X = np.arange(12.0).reshape(6, 2)
Y = np.array([0, 1, 0, 1, 1, 0])
LOST = np.array([False, False, True, False, False, False])


def masked(values, where=LOST):
    return np.ma.array(values, mask=where)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 3.0], [1.0, None, 3.0]),
        ([1, 2, 3], [1, None, 3]),
        ([True, False, True], [True, None, True]),
        (["a", "b", "c"], ["a", None, "c"]),
        (np.array(["a", 2, "c"], dtype=object), ["a", None, "c"]),
    ],
)
def test_a_masked_label_is_missing(values, expected):
    labels = masked(values, [False, True, False])
    for given in (labels, list(labels)):
        found = as_labels(given)
        assert not isinstance(found, np.ma.MaskedArray)
        assert [None if one != one else one for one in found.tolist()] == expected
        assert find_classes(given).tolist() == sorted({expected[0], expected[2]})


@pytest.mark.parametrize("dtype", ["datetime64[s]", "timedelta64[ms]"])
def test_a_masked_time_is_not_a_time(dtype):
    found = unmasked(masked(np.arange(3).astype(dtype), [True, False, False]), numbers=True)
    assert found.dtype == dtype
    assert np.isnat(found).tolist() == [True, False, False]


def test_nothing_is_copied_where_nothing_is_masked():
    for mask in (False, np.zeros_like(Y, dtype=bool)):
        assert np.shares_memory(unmasked(np.ma.array(Y, mask=mask)), Y)
    assert unmasked(Y) is Y
    assert unmasked("text") == "text"


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_masked_features_are_nan(dtype):
    rows = masked(X.astype(dtype), np.eye(6, 2, dtype=bool))
    for given in (rows, list(rows)):
        ((seen, _, _),) = as_stream(given, Y)
        assert not isinstance(seen, np.ma.MaskedArray)
        np.testing.assert_array_equal(np.isnan(seen), np.eye(6, 2))
        assert seen.dtype == (np.float32 if dtype == np.float32 else np.float64)


def test_masked_features_reach_no_model_as_the_number_beneath():
    rows = masked(X, np.eye(6, 2, dtype=bool))
    with pytest.raises(ValueError, match="NaN"):
        PrequentialEvaluator("accuracy").evaluate(SGDClassifier(), rows, Y)
    with pytest.raises(ValueError, match="NaN"):
        prequential_predict(SGDClassifier(), rows, Y)


def test_masked_labels_are_missing_labels():
    for labels in (masked(Y), masked(Y.astype(float)), masked(Y.astype(str))):
        with pytest.raises(ValueError, match="Row 2 has no label"):
            PrequentialEvaluator("accuracy").evaluate(Persistent(), X, labels)
        result = PrequentialEvaluator("accuracy", missing_labels="skip").evaluate(
            Persistent(), X, labels
        )
        plain = np.array([None if label is np.ma.masked else label for label in labels], object)
        expected = PrequentialEvaluator("accuracy", missing_labels="skip").evaluate(
            Persistent(), X, plain, classes=sorted(set(plain) - {None})
        )
        assert result.scores == expected.scores
        assert label_profile(labels).n_missing == 1
    with pytest.raises(ValueError, match="Row 2 has no label"):
        PrequentialEvaluator("mae").evaluate(SGDRegressor(), X, masked(Y.astype(float)))
    run = PrequentialEvaluator("accuracy").start(Persistent(), classes=[0, 1])
    with pytest.raises(ValueError, match="Row 2 has no label"):
        run.update(X, masked(Y))


def test_masked_weights_are_refused():
    weight = masked(np.arange(6))
    with pytest.raises(ValueError, match=r"sample_weight of row 2 is nan"):
        PrequentialEvaluator("accuracy").evaluate(Persistent(), X, Y, sample_weight=weight)
    for model in (Persistent(), TemporalCorrection(GaussianNB()), IncrementalGaussianNB()):
        with pytest.raises(ValueError, match=r"sample_weight\[2\] is masked"):
            model.partial_fit(X, Y, classes=[0, 1], sample_weight=weight)


def test_a_masked_label_time_is_never():
    times = masked(np.arange(6) + 2)
    evaluator = DelayedEvaluator("accuracy", polling=Polling(n_bins=2))
    seen = evaluator.evaluate(Persistent(), X, Y, arrival=np.arange(6), label_time=times)
    never = evaluator.evaluate(
        Persistent(), X, Y, arrival=np.arange(6), label_time=times.astype(float).filled(np.inf)
    )
    np.testing.assert_array_equal(
        seen.predictions("Persistent", every_row=True),
        never.predictions("Persistent", every_row=True),
    )
    assert seen.scores == never.scores


def test_masked_rows_and_labels_asked_live():
    run = DelayedEvaluator("accuracy", polling=Polling(n_bins=2)).start(
        SGDClassifier(), classes=[0, 1]
    )
    run.ask(X[:2], ["a", "b"], 0)
    run.label(["a", "b"], [0, 1], 1)
    with pytest.raises(ValueError, match="NaN"):
        run.ask(masked(X[:2], np.eye(2, dtype=bool)), ["c", "d"], 2)
    run = DelayedEvaluator("accuracy", polling=Polling(n_bins=2)).start(
        Persistent(), classes=[0, 1]
    )
    run.ask(X[:2], ["a", "b"], 0)
    with pytest.raises(ValueError, match="Label 1 of those given is missing"):
        run.label(["a", "b"], masked([0, 1], [False, True]), 1)
    with pytest.raises(ValueError, match=r"sample_weight\[1\] is nan"):
        weight = masked([1.0, 1.0], [False, True])
        run.label(["a", "b"], [0, 1], 1, sample_weight=weight)


def test_permutations_keep_the_gaps():
    rows, labels = shuffle_rows(masked(X, np.eye(6, 2, dtype=bool)), masked(Y), random_state=0)
    assert np.isnan(rows).sum() == 2
    assert labels.tolist().count(None) == 1
    rows, labels = shuffle_within_class(X, masked(Y), random_state=0)
    assert labels.tolist() == [0, 1, None, 1, 1, 0]


@pytest.mark.parametrize(
    "call",
    [
        lambda: kappa_score(masked(Y), Y),
        lambda: kappa_temporal_score(Y, masked(Y)),
        lambda: kappa_score(Y, Y, sample_weight=masked(Y + 1)),
        lambda: stats.mcnemar(masked(Y), Y, Y),
        lambda: stats.mcnemar(Y.astype(str), Y.astype(str), masked(Y.astype(str))),
        lambda: stats.sign_test(masked(X[:, 0]), X[:, 1]),
        lambda: stats.wilcoxon(X[:, 0], masked(X[:, 1])),
        lambda: stats.friedman_nemenyi(masked(X, np.eye(6, 2)), ["a", "b"]),
        lambda: stats.anytime_comparison(masked(Y), 1 - Y),
        lambda: stats.q_statistic(masked(Y), 1 - Y, forgetting="fading:0.9"),
        lambda: ADWIN().update_many(masked(X[:, 0])),
        lambda: ADWIN().update(masked(X[:, 0])[2]),
    ],
)
def test_functions_refuse_masked_values(call):
    with pytest.raises(ValueError, match=r"masked|missing"):
        call()


@pytest.mark.parametrize(
    "make",
    [
        Persistent,
        partial(TemporalCorrection, GaussianNB()),
        partial(TemporallyAugmented, GaussianNB()),
        IncrementalGaussianNB,
        sk.MeanRegressor,
    ],
)
def test_estimators_refuse_masked_rows_and_labels(make):
    model = make()
    known = {} if make is sk.MeanRegressor else {"classes": [0, 1]}
    with pytest.raises(ValueError, match=r"y\[2\] is masked"):
        model.partial_fit(X, masked(Y), **known)
    with pytest.raises(ValueError, match=r"X\[0, 0\] is masked"):
        model.partial_fit(masked(X, np.eye(6, 2)), Y, **known)
    if make is IncrementalGaussianNB:  # asking is inherited from scikit-learn
        return
    model = make().partial_fit(X, Y, **known)
    with pytest.raises(ValueError, match=r"X\[0, 0\] is masked"):
        model.predict(masked(X, np.eye(6, 2)))
