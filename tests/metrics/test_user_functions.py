import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skstream import Persistent, PrequentialEvaluator
from skstream.core.measures import running as running_module
from skstream.metrics import Measure
from skstream.streams import make_demo_stream
from tests._examples import examples
from tests.metrics._streams import (
    MECHANISMS,
    assert_same_curves,
    make_stream,
    running,
    score,
    streams,
)


def share_right(y_true, y_pred, sample_weight=None):
    return np.average(y_true == y_pred, weights=sample_weight)


@pytest.mark.parametrize("block", [16, 16_384])
@examples(10)
@given(stream=streams(50), record_every=st.sampled_from([5, None]), data=st.data())
def test_functions_see_what_the_named_measures_see(block, stream, record_every, data):
    cuts = data.draw(st.lists(st.integers(0, len(stream)), max_size=4))
    metrics = {"mine": share_right, "named": "accuracy"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running_module, "_BUFFER_SIZE", block)
        measures = score(stream, metrics, MECHANISMS, record_every, cuts)
    curves = measures.curves()
    for by_metric in curves.values.values():
        np.testing.assert_allclose(by_metric["mine"], by_metric["named"], rtol=1e-9, atol=1e-12)
    assert_same_curves(curves, pickle.loads(pickle.dumps(measures)).curves())


def test_functions_follow_the_adaptive_window_over_many_blocks(monkeypatch):
    monkeypatch.setattr(running_module, "_BUFFER_SIZE", 64)
    stream = make_stream(1, 900)
    metrics = {"mine": share_right, "named": "accuracy"}
    values = score(stream, metrics, "adwin", 7).curves().values["adwin"]
    np.testing.assert_allclose(values["mine"], values["named"], rtol=1e-12)
    everything = score(stream, "accuracy", "cumulative").final()["cumulative"]["accuracy"]
    assert values["mine"][-1] < everything - 0.05  # the window was cut


def test_functions_get_labels():
    seen = []

    def spy(y_true, y_pred):
        seen.append((y_true.tolist(), y_pred.tolist()))
        return 0.5

    measures = running({"spy": spy}, "window:2", np.array(["DOWN", "UP"]), 2)
    measures.update([0, 1, 1, 0], [-1, 1, 0, 0])
    assert measures.curves().values["window:2"]["spy"].tolist() == [0.5, 0.5]
    assert seen == [(["UP"], ["UP"]), (["UP", "DOWN"], ["DOWN", "DOWN"])]


def no_weights(y_true, y_pred):
    return float(np.mean(y_true == y_pred))


def test_a_function_without_weights_cannot_fade():
    with pytest.raises(ValueError, match=r"'no_weights' has no sample_weight .* fading factors"):
        running(no_weights, "fading:0.9", np.arange(2))
    running(no_weights, "fading:1.0", np.arange(2))


def test_a_function_without_weights_refuses_weighted_rows():
    measures = running(no_weights, "cumulative", np.arange(2))
    measures.update([0, 1], [0, 1])
    assert measures.final() == {"cumulative": {"no_weights": 1.0}}
    measures.update([1], [0], [2.0])
    with pytest.raises(ValueError, match="'no_weights' has no sample_weight parameter"):
        measures.final()


@pytest.mark.parametrize("forgetting", ["cumulative", "fading:1.0", "adwin"])
def test_an_endless_stream_keeps_no_rows_for_functions(forgetting):
    with pytest.raises(ValueError, match=r"needs rows of the whole stream.*Keep the tape"):
        running(share_right, forgetting, np.arange(2), bounded=False)
    running("accuracy", forgetting, np.arange(2), bounded=False)


def test_functions_of_an_endless_stream_keep_what_is_remembered():
    mechanisms = ["window:100", "fading:0.9"]
    measures = running(share_right, mechanisms, np.arange(2), 100_000, bounded=False)
    y = np.zeros(16_384, dtype=int)
    sizes = []
    for _ in range(6):
        measures.update(y, y)
        sizes.append(len(pickle.dumps(measures)))
    assert max(sizes[1:]) - min(sizes[1:]) < 100  # digits of the counters
    assert measures.final() == {name: {"share_right": 1.0} for name in mechanisms}


def test_an_error_names_the_function_and_the_place():
    def fussy(y_true, y_pred):
        if len(y_true) > 3:
            raise KeyError("too many")
        return 1.0

    measures = running(fussy, "cumulative", np.arange(2), 2)
    measures.update([0, 1, 0, 1], [-1, 1, 1, 1])
    measures.final()
    measures.update([0], [0])
    message = "'fussy' failed after 5 rows of the stream, on the last 4 scored rows: KeyError"
    with pytest.raises(RuntimeError, match=message) as caught:
        measures.final()
    assert isinstance(caught.value.__cause__, KeyError)


def test_a_function_must_return_a_number():
    measures = running(lambda y, p: [1, 2], "cumulative", np.arange(2))
    measures.update([0], [0])
    with pytest.raises(RuntimeError, match="'<lambda>' failed after 1 rows"):
        measures.final()


def test_regression_functions_get_targets():
    measures = running({"bias": lambda y, p: float(np.mean(p - y))}, "window:2", None, 1)
    measures.update([1.0, 2.0, 4.0], [1.5, 2.0, 5.0])
    assert measures.curves().values["window:2"]["bias"].tolist() == [0.5, 0.25, 0.5]


def divides(sums):
    return np.array([1 / 0 for _ in sums["rows"]])


def takes_hits(sums):
    return sums.table("hit").sum(axis=0)


def averages(sums):
    return float(sums["wrong"].mean())


@pytest.mark.parametrize(
    ("formula", "kind", "words"),
    [
        (divides, RuntimeError, "'divides' failed at .* after 2 rows .*: ZeroDivisionError: div"),
        (
            takes_hits,
            ValueError,
            "'takes_hits' uses sums of 'hit', which are missing in its 'series' param",
        ),
        (averages, ValueError, r"'averages' must return .* shape \(1,\)\. Got float of shape \(\)"),
        (lambda sums: sums.table("label"), ValueError, r"'mine' .* Got ndarray of shape \(2, 1\)"),
        (lambda sums: None, ValueError, r"'mine' must return one number .* Got NoneType"),
        (
            lambda sums: sums["odd"],
            RuntimeError,
            r"KeyError: 'odd'. The kinds of series are \['abs",
        ),
        (lambda sums: ["a"], ValueError, r"'mine' must return one number .* Got list instead"),
    ],
)
def test_an_error_of_a_formula_names_the_measure(formula, kind, words):
    name = "mine" if formula.__name__ == "<lambda>" else ""
    measure = Measure(name=name, formula=formula, series={"wrong", "label"})
    measures = running(measure, "cumulative", np.arange(2))
    measures.update([0, 1], [0, 0])
    with pytest.raises(kind, match=words):
        measures.final()


def test_a_formula_may_return_a_list():
    measure = Measure(formula=lambda sums: sums["wrong"].tolist(), name="n", series={"wrong"})
    measures = running(measure, "cumulative", np.arange(2))
    measures.update([0, 1], [0, 0])
    (values,) = measures.final().values()
    assert values == {"n": 1.0}


def test_a_formula_names_its_measure():
    assert Measure(formula=averages).name == "averages"
    assert Measure(formula=partial(averages)).name == "averages"
    with pytest.raises(ValueError, match="is a lambda, which has no name: pass name="):
        Measure(formula=lambda sums: sums["rows"])
    with pytest.raises(TypeError, match="must be a function of sums"):
        Measure(formula="wrong")


def share_wrong(sums):
    return sums["wrong"] / sums["rows"]


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"function": share_right, "formula": share_wrong}, ValueError, "pass one of the two"),
        ({"function": share_right, "series": {"wrong"}}, ValueError, "series of a formula.* leave"),
        ({"formula": share_wrong, "series": "wrong"}, TypeError, r"as \['wrong'\]. Got 'wrong' of"),
        ({"formula": share_wrong, "series": None}, TypeError, "must be a set of str.* Got None"),
        ({"formula": share_wrong, "series": {"x"}}, ValueError, r"names 'x'. The kinds"),
        ({"formula": share_wrong, "name": 3}, TypeError, "'name' .* instance of 'str'. Got 3"),
    ],
)
def test_what_a_measure_cannot_be_made_of(parameters, kind, words):
    with pytest.raises(kind, match=words):
        Measure(**parameters)


def test_a_value_beyond_its_bounds_is_warned_of_once():
    def too_large(sums):
        return np.full_like(sums["rows"], 50.0)

    X, y, _ = next(iter(make_demo_stream(60)))
    models = {"a": Persistent(), "b": Persistent()}
    measure = Measure(formula=too_large, bounds=(0, 1))
    with pytest.warns(
        UserWarning, match=r"'too_large' of 'a' is 50, outside its bounds \[0, 1\]"
    ) as warned:
        PrequentialEvaluator([measure, "accuracy"]).evaluate(models, X, y)
    assert len(warned) == 1
    with pytest.warns(UserWarning, match="'too_large' of 'a' is 50") as warned:
        PrequentialEvaluator("accuracy").evaluate(models, X, y).rescore(metrics=measure)
    assert len(warned) == 1
