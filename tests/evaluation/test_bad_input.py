"""Rows that no model can compute with: one sentence each, and nothing lost."""

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from skstream import DelayedEvaluator, ModelError, PrequentialEvaluator, RunOptions
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import StreamImputer, StreamOneHotEncoder
from skstream.streams import as_stream

pandas = pytest.importorskip("pandas")

rng = np.random.default_rng(0)
y = rng.integers(0, 2, 20)
NUMBERS = pandas.DataFrame({"x": rng.normal(size=20), "z": rng.normal(size=20)})
FRAME = NUMBERS.assign(c=rng.choice(list("abc"), 20))
SGD = SGDClassifier(random_state=0)
PARTS = [("n", StandardScaler(), ["x", "z"]), ("c", StreamOneHotEncoder(max_categories=5), ["c"])]
MIXED = make_stream_pipeline(ColumnTransformer(PARTS), SGD)


def with_cell(frame, row, name, value):
    changed = frame.astype(object)
    changed.loc[row, name] = value
    return changed


CONTAINERS = {
    "frame": lambda X: X,
    "polars": lambda X: pytest.importorskip("polars").DataFrame(
        {name: X[name].tolist() for name in X}, strict=False
    ),
    "array": lambda X: X.to_numpy(),
    "list": lambda X: X.to_numpy().tolist(),
}


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("container", ["frame", "array", "list"])
@pytest.mark.parametrize("value", ["bad", "", "'", np.str_("1,5")])
def test_a_text_among_numbers_is_named(container, value, engine):
    X = CONTAINERS[container](with_cell(NUMBERS, 13, "z", value))
    with pytest.raises(
        ModelError, match=r"answering row 13: ValueError: .*could not conv"
    ) as error:
        PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto")).evaluate(
            SGD, X, y
        )
    assert error.value.row == 13
    assert error.value.result.checkpoints[-1] == 13  # nothing is lost


@pytest.mark.parametrize("evaluator", [PrequentialEvaluator, DelayedEvaluator])
def test_a_text_among_numbers_of_mixed_columns_is_named(evaluator):
    delay = {"delay": 2} if evaluator is DelayedEvaluator else {}
    with pytest.raises(ModelError, match=r"row 13: .*'bad'"):
        evaluator("accuracy", **delay).evaluate(MIXED, with_cell(FRAME, 13, "z", "bad"), y)


def test_the_row_of_a_batch_is_named():
    X = with_cell(NUMBERS, 13, "z", "bad")
    with pytest.raises(ModelError, match=r"rows 11 to 15: .*'bad'"):
        PrequentialEvaluator("accuracy", batch_size=5).evaluate(SGD, X, y)


@pytest.mark.parametrize("value", [np.nan, None, np.inf, -np.inf])
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_row_of_a_number_that_is_not_finite_is_named(container, value):
    X = CONTAINERS[container](with_cell(NUMBERS, 13, "z", value).astype(float))
    kind = "infinity" if np.isinf(value or 0.0) else "NaN"
    with pytest.raises(ModelError, match=f"row 13: ValueError: Input X contains {kind}"):
        PrequentialEvaluator("accuracy").evaluate(SGD, X, y)


def test_the_row_of_dates_is_named():
    X = NUMBERS.assign(z=pandas.date_range("2020", periods=20))
    with pytest.raises(ModelError, match="learning row 0: "):
        PrequentialEvaluator("accuracy").evaluate(SGD, X, y)


def test_an_all_missing_column():
    gaps = NUMBERS.assign(z=np.nan)
    evaluator = PrequentialEvaluator("accuracy", random_state=0)
    with pytest.raises(ModelError, match=r"learning row 0: .*NaN"):
        evaluator.evaluate(SGD, gaps, y)
    evaluator.evaluate(make_stream_pipeline(StreamImputer(), SGD), gaps, y)
    evaluator.evaluate(MIXED, FRAME.assign(c=None), y)


def test_columns_in_another_order():
    message = r"column 0 is 'z', but it was 'x'.*same order, as X\[\['x', 'z'\]\] has them"
    parts = [(NUMBERS[:10], y[:10]), (NUMBERS[10:][["z", "x"]], y[10:])]
    with pytest.raises(ValueError, match=message) as error:
        PrequentialEvaluator("accuracy").evaluate(SGD, parts, classes=[0, 1])
    assert error.value.result.checkpoints[-1] == 10
    run = PrequentialEvaluator("accuracy").start(SGD, classes=[0, 1]).update(*parts[0])
    with pytest.raises(ValueError, match=message):
        run.update(*parts[1])
    assert run.update(NUMBERS[10:], y[10:]).n_rows == 20
    with pytest.raises(ValueError, match=r"in the same order\.$"):
        run.update(NUMBERS.set_axis(["x", "w"], axis=1), y)


def test_two_columns_of_one_name():
    message = "Columns 0 and 1 of X have the same name, 'x'"
    with pytest.raises(ValueError, match=message):
        as_stream(FRAME.set_axis(["x", "x", "c"], axis=1), y)
    run = PrequentialEvaluator("accuracy").start(SGD, classes=[0, 1])
    with pytest.raises(ValueError, match=message):
        run.update(NUMBERS.set_axis(["x", "x"], axis=1), y)


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_a_category_that_turns_number(engine):
    evaluator = PrequentialEvaluator(
        "accuracy", random_state=0, run=RunOptions(kernels=engine == "auto")
    )
    later = FRAME[10:].assign(c=np.arange(10))
    with pytest.raises(
        ModelError, match=r"row 10: .*Column 'c' holds 0, a number, and in the rows"
    ):
        evaluator.evaluate(MIXED, [(FRAME[:10], y[:10]), (later, y[10:])], classes=[0, 1])
    whole = [(FRAME[:10].astype({"c": "category"}), y[:10]), (FRAME[10:], y[10:])]
    expected = evaluator.evaluate(MIXED, FRAME, y).scores
    assert evaluator.evaluate(MIXED, whole, classes=[0, 1]).scores == expected
