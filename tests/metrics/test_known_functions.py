"""scikit-learn's functions and scorers as measures: running forms, directions, refusals."""

import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sk
from sklearn.metrics import get_scorer, make_scorer

from skstream.metrics import Measure, kappa_score, kappa_temporal_score
from skstream.metrics._resolve import resolve_metrics
from tests._examples import examples
from tests.metrics._streams import running

SET_SCORES = (
    sk.f1_score,
    sk.precision_score,
    sk.recall_score,
    sk.jaccard_score,
    partial(sk.fbeta_score, beta=0.5),
    partial(sk.fbeta_score, beta=0),
    partial(sk.fbeta_score, beta=1.0),
)
OF_ALL_CLASSES = [
    sk.accuracy_score,
    sk.zero_one_loss,
    sk.hamming_loss,
    sk.balanced_accuracy_score,
    sk.matthews_corrcoef,
    sk.cohen_kappa_score,
    *(partial(f, average=how) for f in SET_SCORES for how in ("macro", "micro", "weighted")),
    *(
        partial(f, average=how, zero_division=undefined)
        for f in (sk.precision_score, sk.recall_score, sk.f1_score)
        for how in ("macro", "weighted")
        for undefined in (0, 1.0, np.nan)
    ),
    get_scorer("f1_macro"),
    make_scorer(sk.zero_one_loss, greater_is_better=False),
]
OF_ONE_CLASS = [
    *(partial(f, pos_label="UP") for f in SET_SCORES),
    *(
        partial(f, pos_label="DOWN", zero_division=undefined)
        for f in (sk.precision_score, sk.recall_score, sk.f1_score)
        for undefined in (0, 1, np.nan)
    ),
]
OF_TARGETS = [
    sk.mean_absolute_error,
    sk.mean_squared_error,
    sk.root_mean_squared_error,
    sk.r2_score,
    sk.mean_pinball_loss,
    partial(sk.mean_pinball_loss, alpha=0.9),
    get_scorer("neg_root_mean_squared_error"),
]


def called(item):
    """The plain function behind an item, with the sign of a scorer."""
    if not hasattr(item, "_score_func"):
        return item
    return lambda *rows, **options: item._sign * item._score_func(*rows, **options, **item._kwargs)


def in_their_running_form(items, classes):
    measures = [
        measure for item in items for measure in resolve_metrics([item], classes=classes).values()
    ]
    assert all(m.formula is not None and m.function is None for m in measures)
    return {str(k): measure for k, measure in enumerate(measures)}


def assert_as_scikit_learn(items, classes, forgetting, y, p, weight):
    measures = running(in_their_running_form(items, classes), forgetting, classes, 6)
    plain = running(
        {str(k): partial(_call, called(item)) for k, item in enumerate(items)},
        forgetting,
        classes,
        6,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of classes that are not there
        for one in (measures, plain):
            one.update(y, p, weight)
        ours, theirs = (_copied(one.curves().values[forgetting]) for one in (measures, plain))
    for k, item in enumerate(items):
        np.testing.assert_allclose(
            ours[str(k)], theirs[str(k)], rtol=1e-12, atol=1e-12, err_msg=str(item)
        )


def _call(function, y_true, y_pred, sample_weight=None):
    return function(y_true, y_pred, sample_weight=sample_weight)


def _copied(curves):
    return {name: curve.copy() for name, curve in curves.items()}


def codes(n_classes, n):
    return st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n)


@pytest.mark.parametrize("forgetting", ["cumulative", "window:7", "fading:0.9"])
@examples(4)
@given(data=st.data(), n_classes=st.sampled_from([1, 2, 4]), weighted=st.booleans())
def test_running_forms_are_scikit_learns_values(forgetting, data, n_classes, weighted):
    n = data.draw(st.integers(1, 16))
    y, p = data.draw(codes(n_classes, n)), data.draw(codes(n_classes, n))
    classes = np.array(["UP", "DOWN", "LEFT", "RIGHT"][:n_classes])
    weight = np.linspace(1.0, 3.0, n) if weighted else None
    items = OF_ALL_CLASSES + (OF_ONE_CLASS if n_classes == 2 else [])
    assert_as_scikit_learn(items, np.sort(classes), forgetting, y, p, weight)


@pytest.mark.parametrize("forgetting", ["cumulative", "window:7", "fading:0.9"])
@examples(4)
@given(data=st.data(), weighted=st.booleans())
def test_running_forms_of_regression_are_scikit_learns_values(forgetting, data, weighted):
    n = data.draw(st.integers(1, 25))
    numbers = st.lists(st.integers(-3, 3).map(float), min_size=n, max_size=n)
    y, p = data.draw(numbers), data.draw(numbers)
    weight = np.linspace(1.0, 3.0, n) if weighted else None
    items = [item for item in OF_TARGETS if not (weighted and item is sk.r2_score)]
    assert_as_scikit_learn(items, None, forgetting, y, p, weight)


@pytest.mark.parametrize(
    ("item", "classes", "better"),
    [
        (partial(sk.f1_score, labels=[0, 7], average="macro"), [0, 1], True),
        (partial(sk.recall_score, labels=[0], average="micro"), [0, 1], True),
        (partial(sk.accuracy_score, normalize=False), [0, 1], True),
        (partial(sk.zero_one_loss, normalize=False), [0, 1], False),
        (partial(sk.balanced_accuracy_score, adjusted=True), [0, 1], True),
        (partial(sk.cohen_kappa_score, weights="linear"), [0, 1], True),
        (sk.fowlkes_mallows_score, [0, 1], True),
        (sk.mean_absolute_error, [0, 1], False),  # of labels that are numbers
        (partial(sk.r2_score, force_finite=False), None, True),
        (sk.median_absolute_error, None, False),
        (sk.max_error, None, False),
        (sk.mean_poisson_deviance, None, False),
        (sk.explained_variance_score, None, True),
        (make_scorer(sk.max_error, greater_is_better=False), None, True),
        (make_scorer(lambda y, p: 1.0, greater_is_better=False), None, True),
        (lambda y, p: 1.0, None, None),
    ],
    ids=lambda value: str(value)[:40].split(" at ")[0],
)
def test_functions_without_a_running_form_are_called_and_know_their_direction(
    item, classes, better
):
    (measure,) = resolve_metrics([item], classes=classes).values()
    assert measure.formula is None
    assert measure.higher_is_better is better


def test_scorers_keep_sign_name_and_options():
    classes = [0, 1, 2]
    items = [
        get_scorer("accuracy"),
        get_scorer("neg_mean_absolute_error"),
        make_scorer(sk.fbeta_score, beta=2, average="macro"),
    ]
    measures = resolve_metrics(items, classes=classes)
    assert list(measures) == ["accuracy_score", "neg_mean_absolute_error", "fbeta_score"]
    negative = measures["neg_mean_absolute_error"]
    assert (negative.bounds, negative.higher_is_better) == ((-np.inf, 0.0), True)
    assert pickle.loads(pickle.dumps(negative)).function([0.0], [2.0]) == -2.0
    score = running({"n": negative}, "fading:0.5", np.array(classes))  # its weights are passed on
    score.update([0, 1], [2, 1])
    assert score.final()["fading:0.5"]["n"] == pytest.approx(-2 / 3)


@pytest.mark.parametrize(
    ("function", "classes", "options", "message"),
    [
        (sk.zero_one_loss, [0, 1], {}, "calls a higher value of zero_one_loss the better one"),
        (sk.mean_absolute_error, None, {}, r"make_scorer\(mean_absolute_error, greater_is_better="),
        (sk.mean_absolute_error, [0, 1], {}, "a lower value of it is better"),
        (sk.max_error, None, {}, "or pass max_error itself"),
        (partial(sk.zero_one_loss, normalize=False), [0, 1], {}, "a lower value of it is better"),
        (sk.accuracy_score, [0, 1], {"greater_is_better": False}, "a higher value of it is better"),
        (sk.r2_score, None, {"greater_is_better": False}, r"with make_scorer\(r2_score\), or"),
        (kappa_score, [0, 1], {"greater_is_better": False}, "a higher value of it is better"),
        (sk.f1_score, [0, 1, 2], {"greater_is_better": False, "average": "macro"}, "a higher"),
    ],
)
def test_a_scorer_with_the_wrong_sign_is_refused(function, classes, options, message):
    scorer = make_scorer(function, **options)
    for item in (scorer, [scorer], {"mine": scorer}, Measure(scorer)):
        with pytest.raises(ValueError, match=message):
            resolve_metrics(item, classes=classes)


def test_a_scorer_of_an_unknown_function_keeps_what_the_user_says():
    def cost(y_true, y_pred):
        return 1.0

    for sign in (True, False):
        scorer = make_scorer(cost, greater_is_better=sign)
        (measure,) = resolve_metrics(scorer, classes=[0, 1]).values()
        assert measure.higher_is_better is True
        assert measure.function([0], [0]) == (1.0 if sign else -1.0)


def test_a_scorer_of_our_function_is_in_its_running_form():
    (measure,) = resolve_metrics(make_scorer(kappa_temporal_score), classes=[0, 1]).values()
    (same,) = resolve_metrics(kappa_temporal_score, classes=[0, 1]).values()
    assert measure == same


@pytest.mark.parametrize(
    "item",
    [
        make_scorer(sk.roc_auc_score, max_fpr=0.1, response_method="predict_proba"),
        make_scorer(lambda y, p: 1.0, response_method=("predict_proba", "predict")),
        sk.hinge_loss,
        partial(sk.log_loss, normalize=False),
        partial(sk.brier_score_loss, labels=[0, 1, 2]),
        Measure(sk.ndcg_score, higher_is_better=True),
    ],
    ids=lambda item: str(item)[:30].split(" at ")[0],
)
def test_what_needs_probabilities_is_refused_in_words(item):
    with pytest.raises(ValueError, match="labels alone cannot give it"):
        resolve_metrics(item, classes=[0, 1])


@pytest.mark.parametrize(
    "item",
    [
        sk.log_loss,
        partial(sk.log_loss, labels=[0, 1, 2]),
        get_scorer("neg_log_loss"),
        sk.brier_score_loss,
        partial(sk.brier_score_loss, scale_by_half=True),
        partial(sk.brier_score_loss, scale_by_half=False),
        get_scorer("neg_brier_score"),
        sk.top_k_accuracy_score,
        partial(sk.top_k_accuracy_score, k=1),
        get_scorer("top_k_accuracy"),
    ],
    ids=lambda item: str(item)[:40].split(" at ")[0],
)
def test_functions_of_probabilities_are_in_their_running_form(item):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 40), rng.dirichlet(np.ones(3), 40)
    ((name, measure),) = resolve_metrics(item, classes=[0, 1, 2]).items()
    scored = running({name: measure}, "window:30", [0, 1, 2])
    scored.update(y, scores.argmax(axis=1), scores=scores)
    parts = getattr(item, "_score_func", item), getattr(item, "_sign", 1)
    expected = parts[1] * parts[0](y[-30:], scores[-30:])
    assert scored.final()["window:30"][name] == pytest.approx(expected, rel=1e-12)


def test_a_scorer_that_gives_labels_to_a_function_of_probabilities_is_refused():
    scorer = make_scorer(sk.log_loss, greater_is_better=False)
    with pytest.raises(ValueError, match=r'gives it labels.*response_method="predict_proba"'):
        resolve_metrics(scorer, classes=[0, 1])


@pytest.mark.parametrize(
    ("item", "classes", "message"),
    [
        (sk.f1_score, ["a", "b", "c"], 'average="binary" unless.*there are 3 classes'),
        (sk.f1_score, ["a", "b"], r"pos_label=1, and the classes are \['a', 'b'\].*pos_label='b'"),
        (get_scorer("precision"), ["a", "b"], "pos_label='b'"),
        (partial(sk.f1_score, average=None), [0, 1], "a measure is one number"),
    ],
)
def test_options_that_do_not_go_with_the_classes_are_refused(item, classes, message):
    with pytest.raises(ValueError, match=message):
        resolve_metrics(item, classes=classes)


def test_unknown_options_are_refused_before_the_stream():
    with pytest.raises(TypeError, match=r"f1_score cannot be called so.*'averag'"):
        resolve_metrics(partial(sk.f1_score, averag="macro"), classes=[0, 1])


def test_a_measure_of_a_known_function_is_in_its_running_form_and_keeps_what_the_user_says():
    loss = Measure(sk.zero_one_loss, name="mistakes", bounds=(0, 0.5))
    (measure,) = resolve_metrics(loss, classes=[0, 1]).values()
    assert measure.formula is not None
    assert (measure.name, measure.higher_is_better, measure.bounds) == ("mistakes", False, (0, 0.5))
    with pytest.raises(ValueError, match="'zero_one_loss' was given higher_is_better=True"):
        resolve_metrics(Measure(sk.zero_one_loss, higher_is_better=True), classes=[0, 1])
    assert Measure(get_scorer("neg_max_error")).name == "neg_max_error"


def test_a_namesake_is_not_scikit_learns():
    def f1_score(y_true, y_pred):
        return 0.0

    (measure,) = resolve_metrics(f1_score, classes=[0, 1]).values()
    assert measure.function is f1_score
    assert measure.higher_is_better is None


def test_callable_objects_that_cannot_be_hashed_are_measures():
    class Cost:
        __hash__ = None

        def __call__(self, y_true, y_pred):
            return 1.0

    assert list(resolve_metrics(Cost(), classes=[0, 1])) == ["Cost"]
