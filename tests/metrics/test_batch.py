import inspect
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.exceptions import UndefinedMetricWarning

import skstream.metrics as ours
from skstream.core.measures.registry import CLASSIFICATION, REGRESSION
from skstream.metrics import (
    _functions,
    arithmetic_accuracy_score,
    geometric_accuracy_score,
    harmonic_accuracy_score,
    kappa_m_score,
    kappa_plus_score,
    kappa_score,
    kappa_temporal_score,
    kappa_test,
)
from tests._examples import examples
from tests.metrics._reference import Reference
from tests.metrics._streams import MECHANISMS, make_stream, running, score

# Bifet et al. (2015), Table 5: rows are the true classes + and -.
TABLE = {("+", "+"): 40, ("+", "-"): 30, ("-", "+"): 5, ("-", "-"): 25}
Y = np.array([true for (true, _), n in TABLE.items() for _ in range(n)])
P = np.array([answer for (_, answer), n in TABLE.items() for _ in range(n)])


def test_worked_example():
    assert 100 * kappa_score(Y, P) == pytest.approx(32.69, abs=0.005)
    assert 100 * arithmetic_accuracy_score(Y, P) == pytest.approx(70.24, abs=0.005)
    assert 100 * geometric_accuracy_score(Y, P) == pytest.approx(69.01, abs=0.005)
    assert 100 * harmonic_accuracy_score(Y, P) == pytest.approx(67.80, abs=0.005)
    assert 100 * kappa_m_score(Y, P, majority="hindsight") == pytest.approx(-16.67, abs=0.005)
    result = kappa_test(Y, P, variance="cohen")
    assert result.kappa == kappa_score(Y, P)
    assert result.standard_error == pytest.approx(0.0917, abs=5e-5)
    assert result.statistic == pytest.approx(3.40, abs=0.005)
    assert result.pvalue == pytest.approx(0.000337, abs=5e-6)
    # By hand: p = .48 and p**2 = .2304, less .7 * .45 * 1.15 + .3 * .55 * .85 = .5025.
    assert kappa_test(Y, P).statistic == pytest.approx(0.17 / np.sqrt(0.2079 / 100))
    named = ["accuracy", "mcc", "f1:+", "recall:+", "recall:-", "chance_accuracy", "cmd"]
    measures = running(named, "cumulative", np.array(["+", "-"]))
    measures.update((Y == "-").astype(int), (P == "-").astype(int))
    values = [100 * value for value in measures.final()["cumulative"].values()]
    np.testing.assert_allclose(values, [65, 37.28, 69.57, 57.14, 83.33, 48, 85_000], atol=0.005)


BATCH_TWINS = {
    "accuracy": sk.accuracy_score,
    "error": sk.zero_one_loss,
    "kappa": sk.cohen_kappa_score,
    "mcc": sk.matthews_corrcoef,
    "arithmetic_accuracy": sk.balanced_accuracy_score,
    "f1_macro": partial(sk.f1_score, average="macro", zero_division=0),
    "precision_macro": partial(sk.precision_score, average="macro", zero_division=0),
    "recall_macro": partial(sk.recall_score, average="macro", zero_division=0),
    "f1:1": partial(sk.f1_score, average="macro", labels=[1], zero_division=np.nan),
    "precision:1": partial(sk.precision_score, average="macro", labels=[1], zero_division=np.nan),
    "recall:1": partial(sk.recall_score, average="macro", labels=[1], zero_division=np.nan),
}


@examples(8)
@given(st.integers(0, 10**6), st.integers(2, 25), st.booleans(), st.data())
def test_twins_in_scikit_learn_on_every_prefix(seed, n_classes, weighted, data):
    stream = make_stream(seed, 200, n_classes, weighted=weighted)
    curves = score(stream, list(BATCH_TWINS), MECHANISMS).curves()
    ends = data.draw(st.lists(st.integers(2, 200), min_size=1, max_size=2))
    for mechanism, forgetting in MECHANISMS.items():
        reference = Reference(
            stream.y, stream.p, stream.weight, forgetting=forgetting, n_classes=n_classes
        )
        for n in ends:
            rows, kept = reference.at(n)
            rows, kept = rows[kept > 0], kept[kept > 0]
            y, p = reference.y[rows], reference.p[rows]
            for name, twin in BATCH_TWINS.items() if len(rows) else ():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # scikit-learn on what is undefined
                    expected = twin(y, p, sample_weight=kept)
                found = curves.values[mechanism][name][n - 1]
                if not (name == "kappa" and np.isnan(found)):
                    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10, err_msg=name)
                else:
                    assert len({*y, *p}) == 1


def test_every_measure_of_scikit_learn_has_its_twin():
    own = {"kappa_se", "kappa_z", "geometric_accuracy", "harmonic_accuracy", "cmd"}
    own |= {"gmean", "chance_accuracy", "kappa_m", "kappa_temporal", "kappa_plus"}
    assert set(CLASSIFICATION) - own == {name for name in BATCH_TWINS if ":" not in name}


SCORES = {
    name: value
    for name in ours.__all__
    if name.endswith("_score") and (value := getattr(ours, name))
}


def test_every_score_is_recognised_as_a_measure():
    functions = [one for one in vars(_functions).values() if hasattr(one, "running_measure")]
    assert {one.__name__ for one in functions} >= set(SCORES)
    running = {one.running_measure for one in functions}
    assert running <= CLASSIFICATION.keys() | REGRESSION.keys()


@pytest.mark.parametrize("name", SCORES)
def test_scores_are_what_the_running_measures_end_with(name):
    function = SCORES[name]
    measure = function.running_measure
    if measure in REGRESSION:
        rng = np.random.default_rng(0)
        y, p = rng.normal(size=(2, 80))
        measures = running(measure, "cumulative", None)
    else:
        stream = make_stream(3, 80, 2, n_warmup=0)
        y, p = stream.y, stream.p
        measures = running(measure, "cumulative", np.arange(2))
    weight = np.random.default_rng(1).random(80)
    measures.update(y, p, weight)
    found = function(y, p, sample_weight=weight)
    assert isinstance(found, float)
    assert found == measures.final()["cumulative"][measure]


@pytest.mark.parametrize("name", SCORES)
def test_scores_have_the_signature_of_scikit_learn(name):
    parameters = list(inspect.signature(SCORES[name]).parameters.values())
    assert [p.name for p in parameters[:3]] == ["y_true", "y_pred", "sample_weight"]
    assert all(p.kind is p.KEYWORD_ONLY and p.default is not p.empty for p in parameters[2:])


def test_kappa_m_by_hand():
    y, p = [0, 0, 1, 1, 1, 0], [1, 0, 1, 0, 1, 1]
    # Majority before each row: none, 0, 0, 0, 0 (2:2), 1. Wrong at rows 3, 4, 5 and 6; the
    # model at 4 and 6 (and at 1, which is left out).
    assert kappa_m_score(y, p) == 1 - 2 / 4
    # With a past of one 1: 1, 0 (1:1), 0, 0 (2:2), 1 (2:3)... wrong at rows 1, 3, 4.
    assert kappa_m_score(y, p, past=[1]) == pytest.approx(1 - 3 / majority_errors([1], y))
    assert kappa_m_score(y, p, majority="hindsight") == 1 - 3 / 3
    # Counting its own row: 0, 0, 0, 0 (2:2), 1, 0 (3:3): wrong at 3 and 4.
    assert kappa_m_score(y, p, majority="inclusive") == 1 - 3 / 2


def majority_errors(past, y):
    known = list(past)
    wrong = 0
    for label in y:
        wrong += int(np.bincount(known).argmax()) != label
        known.append(label)
    return wrong


def test_kappa_temporal_by_hand():
    y, p = list("aabba"), list("babbb")
    # Persistence is wrong at rows 3 and 5, the model at 5 (and at 1, which is left out).
    assert kappa_temporal_score(y, p) == 0.5
    assert kappa_temporal_score(y, p, previous_label="a") == 0.0
    assert kappa_temporal_score(y, p, previous_label="b") == 1 - 2 / 3


def test_kappa_plus_is_not_kappa_without_temporal_dependence(rng):
    # The paper says it is. Imbalanced independent labels, the answers right four times in five.
    y = (rng.random(200_000) < 0.1).astype(int)
    p = np.where(rng.random(200_000) < 0.805, y, 1 - y)
    assert kappa_score(y, p) > 0.3
    assert kappa_temporal_score(y, p) < 0
    assert kappa_plus_score(y, p) == 0.0
    better = np.where(rng.random(200_000) < 0.9, y, 1 - y)
    expected = np.sqrt(kappa_score(y, better) * kappa_temporal_score(y, better))
    assert kappa_plus_score(y, better) == expected > 0


def test_persistent_skill_by_hand():
    y, p = [1.0, 3.0, 3.0, 4.0], [0.0, 2.0, 3.0, 2.0]
    for weight, expected in ((None, 1 - 5 / 5), ([1, 1, 1, 0], 1 - 1 / 4)):
        measures = running("persistent_skill", "cumulative", None)
        measures.update(np.array(y), np.array(p), weight and np.array(weight))
        assert measures.final()["cumulative"]["persistent_skill"] == expected


@pytest.mark.parametrize(
    "call",
    [
        lambda: kappa_score([1, 1], [1, 1]),
        lambda: kappa_m_score(["a", "a"], ["b", "b"]),
        lambda: kappa_m_score([0], [0]),
        lambda: kappa_temporal_score([1, 1], [1, 0]),
        lambda: kappa_temporal_score([1], [1]),
        lambda: kappa_plus_score([1, 1], [1, 1]),
        lambda: arithmetic_accuracy_score([1, 0], [1, 1], sample_weight=[0, 0]),
        lambda: geometric_accuracy_score([1, 0], [1, 1], sample_weight=[0, 0]),
        lambda: harmonic_accuracy_score([1, 0], [1, 1], sample_weight=[0, 0]),
        lambda: kappa_test([1, 1], [1, 1]).kappa,
    ],
)
def test_undefined_is_nan_and_says_so(call):
    with pytest.warns(UndefinedMetricWarning, match="undefined on these rows") as caught:
        assert np.isnan(call())
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_some_undefined_classes_do_not_matter():
    assert arithmetic_accuracy_score([0, 0], [0, 1]) == 0.5
    assert harmonic_accuracy_score([0, 0, 1], [0, 0, 0]) == 0.0
    assert geometric_accuracy_score([0, 0, 1], [0, 0, 0]) == 0.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kappa_score([0, 1], [0]), "inconsistent numbers of samples"),
        (lambda: kappa_score([0, 1], [0, 1], sample_weight=[1]), "inconsistent numbers"),
        (lambda: kappa_score([], []), "there is nothing to score"),
        (lambda: kappa_score(["a", "b"], [0, 1]), "y_true contains strings and y_pred numbers"),
        (lambda: kappa_score([0, 1], ["a", "b"]), "y_pred contains strings and y_true numbers"),
        (lambda: kappa_score([0.0, np.nan], [0.0, 1.0]), r"y_true\[1\] is .*nan.*missing"),
        (lambda: kappa_score(["a", None], ["a", "a"]), r"y_true\[1\] is None"),
        (lambda: kappa_score([0.5, 1.0], [0.0, 1.0]), "not a class label"),
        (lambda: kappa_score([0, 1], [0, 1], sample_weight=[1, -1]), "not negative"),
        (lambda: kappa_score([[0, 1]], [[0, 1]]), "one-dimensional"),
        (lambda: kappa_m_score([0, 1], [0, 1], majority="present"), "Got 'present' instead"),
        (lambda: kappa_test([0, 1], [0, 1], variance="scott"), "'variance' .* Got 'scott'"),
        (lambda: kappa_m_score([0, 1], [0, 1], past=["a"]), "past contains strings"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_labels_of_any_type(pd):
    y, p = np.array([0, 1, 1, 0, 2]), np.array([0, 1, 0, 0, 1])
    names = np.array(["x", "y", "z"])
    expected = kappa_score(y, p)
    for first, second in [
        (names[y], names[p]),
        (names[y].tolist(), names[p].tolist()),
        (names[y].astype(object), names[p]),
        (pd.Series(names[y]), pd.Series(names[p], dtype="category")),
        (y.astype(float), p),
        (y, p.astype(np.int8)),
    ]:
        assert kappa_score(first, second) == expected
    assert kappa_score(y > 0, p > 0) == kappa_score((y > 0).astype(int), (p > 0).astype(int))
