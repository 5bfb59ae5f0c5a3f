"""Chunks of no row, rows without their second dimension, and texts where lists belong."""

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier, SGDRegressor

from skstream import DelayedEvaluator, PrequentialEvaluator
from skstream.streams import as_stream

EVALUATOR = PrequentialEvaluator("accuracy")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 3)), np.array(["down", "up"] * 10)


def live(evaluator=PrequentialEvaluator, model=None, classes=("down", "up")):
    model = SGDClassifier(random_state=0) if model is None else model
    return evaluator("accuracy" if classes else "mae").start(model, classes=classes)


def test_an_empty_chunk_changes_nothing():
    plain = live().update(X[:10], y[:10]).update(X[10:], y[10:])
    gaps = live().update(X[:0], y[:0]).update(X[:10], y[:10])
    gaps.update(X[:0], [], sample_weight=[]).update(X[10:], y[10:]).update(X[:0], y[:0])
    assert gaps.n_rows == 20
    found, expected = (run.result().values["SGDClassifier"]["cumulative"] for run in (gaps, plain))
    assert np.array_equal(found["accuracy"], expected["accuracy"], equal_nan=True)


def test_an_empty_chunk_must_fit_the_rows_before_it_and_says_nothing_of_those_to_come():
    run = live().update(np.empty((0, 7)), [])
    run.update(X, y)
    with pytest.raises(ValueError, match="Row 20 has 2 features, but the rows before it have"):
        run.update(np.empty((0, 2)), [])
    with pytest.raises(ValueError, match="X has 0 rows, but y has 1 labels"):
        run.update(X[:0], y[:1])


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


def test_arrays_after_frames_are_refused_in_the_words_of_evaluate():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abc"))
    message = "X is a dense array in the chunk that starts at row 20, and a pandas frame in the"
    with pytest.raises(ValueError, match=message):
        live().update(frame, y).update(X, y)
    with pytest.raises(ValueError, match=message):
        EVALUATOR.evaluate(SGDClassifier(), iter([(frame, y), (X, y)]), classes=["down", "up"])
    message = "X is a pandas frame in the chunk that starts at row 20, and a dense array in the"
    with pytest.raises(ValueError, match=message):
        live().update(X, y).update(frame, y)


def test_a_weight_that_is_no_number_is_named():
    message = "sample_weight of row 3 is 'a', which is no number"
    with pytest.raises(ValueError, match=message):
        EVALUATOR.evaluate(SGDClassifier(), X, y, sample_weight=[1, 2, 3, "a"] * 5)
    with pytest.raises(ValueError, match=r"sample_weight of row 1 is \[\], which is no number"):
        live().update(X[:2], y[:2], sample_weight=np.array([1, []], dtype=object))
