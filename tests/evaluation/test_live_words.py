"""What live runs and functions of the user say where something is wrong."""

import numpy as np
import pytest

import skstream as sk

X = np.arange(20.0).reshape(-1, 2)
Y = np.tile(["a", "b"], 5)


def live(**options):
    evaluator = sk.DelayedEvaluator("accuracy", polling=sk.Polling(n_bins=2), **options)
    return evaluator.start({"m": sk.MajorityClass()}, classes=["a", "b"])


def test_ids_that_come_twice_in_a_call_are_told_from_waiting_ones():
    run = live()
    with pytest.raises(ValueError, match="id 'd' occurs twice in this call"):
        run.ask(X[:2], ["d", "d"])
    run.ask(X[:1], ["d"])
    with pytest.raises(ValueError, match="id 'd' is already waiting for its label"):
        run.ask(X[:1], ["d"])


def test_results_before_the_first_label_are_nan_by_bin():
    run = live()
    run.ask(X[:1], [0])
    result = run.result()
    np.testing.assert_array_equal(result.by_bin("m", "accuracy"), np.full(4, np.nan))
    assert np.isnan(result.summary("accuracy")["m"])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda rows: None, "returned NoneType"),
        (lambda rows: X[rows, :1], "returned 1 columns instead of 2"),
        (lambda rows: X[rows, 0], "returned ndarray of shape"),
    ],
)
def test_features_of_the_wrong_kind_are_named(answer, message):
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        delay=3,
        polling=sk.Polling(n_bins=2, poll_every=1, features=lambda rows, times: answer(rows)),
    )
    with pytest.raises(ValueError, match=rf"features\(rows, times\) got .* rows .*{message}"):
        evaluator.evaluate({"m": sk.MajorityClass()}, X, Y)


@pytest.mark.parametrize("name", ["delay", "features", "reduce"])
def test_functions_that_fail_are_named(name):
    def fail(*arguments):
        raise ZeroDivisionError("by nothing")

    own = {} if name == "delay" else {name: fail}
    evaluator = sk.DelayedEvaluator(
        "accuracy",
        delay=fail if name == "delay" else 3,
        polling=sk.Polling(n_bins=2, poll_every=1, **own),
    )
    with pytest.raises(ZeroDivisionError) as caught:
        evaluator.evaluate({"m": sk.MajorityClass()}, X, Y)
    assert any(f"Raised by {name}(" in note for note in caught.value.__notes__)


def test_interruptions_say_whether_there_is_a_result():
    assert "nothing was finished" in str(sk.EvaluationInterrupted(None))

    def chunks(error, n):
        yield from [(X, Y, {})] * n
        raise error

    evaluator = sk.PrequentialEvaluator("accuracy")
    with pytest.raises(sk.EvaluationInterrupted, match="nothing was finished"):
        evaluator.evaluate(sk.MajorityClass(), chunks(KeyboardInterrupt(), 0), classes=["a", "b"])
    with pytest.raises(SystemExit) as caught:
        evaluator.evaluate(sk.MajorityClass(), chunks(SystemExit(3), 1), classes=["a", "b"])
    assert caught.value.code == 3
    assert caught.value.result.n_rows == 10
