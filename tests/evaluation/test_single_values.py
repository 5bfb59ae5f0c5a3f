"""Chunks of no row, rows without their second dimension, and texts where lists belong."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor

from skstream import DelayedEvaluator, PrequentialEvaluator
from skstream.streams import as_stream

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 3)), np.array(["down", "up"] * 10)


def live(evaluator=PrequentialEvaluator, model=None, classes=("down", "up")):
    model = SGDClassifier(random_state=0) if model is None else model
    return evaluator("accuracy" if classes else "mae").start(model, classes=classes)


def test_a_row_without_its_second_dimension_gets_advice_for_both_meanings():
    message = r"reshape\(1, -1\) if these are .* one row \(3 features\).*reshape\(-1, 1\)"
    with pytest.raises(ValueError, match=message):
        live().update(X[0], y[:1])
    with pytest.raises(ValueError, match=message):
        as_stream(X[0], y[:3])


def test_a_text_is_never_read_letter_by_letter():
    with pytest.raises(TypeError, match=r"y is the text 'up'.*pass \['up'\]"):
        live().update(X[:1], "up")
    with pytest.raises(TypeError, match="y is the text 'ab'"):
        live(classes=["a", "b"]).update(X[:2], "ab")
    with pytest.raises(TypeError, match="y is the text b'ab'"):
        as_stream(X[:2], b"ab")
    with pytest.raises(TypeError, match="id is the text 'ab'"):
        as_stream(X[:2], y[:2], id="ab")
    with pytest.raises(TypeError, match="classes is the text 'ab'"):
        live(classes="ab")


def test_a_text_is_no_list_of_ids_or_labels_in_delayed_runs():
    run = live(DelayedEvaluator, classes=["a", "b"])
    with pytest.raises(ValueError, match="ids is 'pq', which is one id"):
        run.ask(X[:2], "pq")
    run.ask(X[:2], ["p", "q"])
    with pytest.raises(ValueError, match="ids is 'pq', which is one id"):
        run.label("pq", ["a", "b"])
    with pytest.raises(TypeError, match="y is the text 'ab'"):
        run.label(["p", "q"], "ab")
    with pytest.raises(ValueError, match=r"sample_weight\[1\] is 'heavy', which is no number"):
        run.label(["p", "q"], ["a", "b"], sample_weight=[1, "heavy"])
    assert run.label(["p", "q"], ["a", "b"]).n_rows == 2


@pytest.mark.parametrize("wrong", [None, 5])
def test_one_value_is_no_list_of_labels(wrong):
    with pytest.raises(TypeError, match=f"y is {wrong}.*one value per row"):
        live().update(X[:1], wrong)
    run = live(DelayedEvaluator, SGDRegressor(), classes=None)
    run.ask(X[:1], ["p"])
    with pytest.raises(TypeError, match=f"y is {wrong}.*one value per row"):
        run.label(["p"], wrong)
