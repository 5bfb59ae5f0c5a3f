"""TargetEncoder against its formula, its tasks, and what it refuses."""

from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.linear_model import SGDClassifier, SGDRegressor

from skstream import DelayedEvaluator, KFoldEvaluator, PrequentialEvaluator
from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing import LagFeatures, TargetEncoder
from tests.kernels._reference import both_ways

WORDS = np.array([["a"], ["b"], ["a"], [None], ["a"], ["b"]], dtype=object)
NUMBERS = np.array([3.0, 1.0, 5.0, 2.0, 4.0, 0.5])


def plainly(column: Any, y: Any, smooth: float, start: float, weight: Any) -> list[float]:
    """The value of every row, by the formula over the rows before it."""
    shown = []
    for row, word in enumerate(column):
        before = [i for i in range(row) if weight[i] > 0]
        of_all = sum(weight[i] for i in before)
        mean = sum(weight[i] * y[i] for i in before) / of_all if before else start
        same = [i for i in before if column[i] == word]
        n, total = sum(weight[i] for i in same), sum(weight[i] * y[i] for i in same)
        shown.append((total + smooth * mean) / (n + smooth) if n + smooth else mean)
    return shown


@pytest.mark.parametrize("smooth", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("weight", [None, np.array([1.0, 2.0, 0.0, 0.5, 1.0, 3.0])])
def test_a_row_is_the_smoothed_mean_of_the_rows_before_it(smooth: float, weight: Any) -> None:
    encoder = TargetEncoder(smooth)
    shown = encoder.fit_transform(WORDS, NUMBERS, sample_weight=weight)
    of_rows = np.ones(6) if weight is None else weight
    wanted = plainly(WORDS[:, 0], NUMBERS, smooth, 0.0, of_rows)
    np.testing.assert_allclose(shown[:, 0], wanted, rtol=1e-14)
    asked = encoder.transform([["b"], ["never"]])[:, 0]
    more = np.append(WORDS[:, 0], ["b", "never"]), [*NUMBERS, 0.0, 0.0]
    wanted = plainly(more[0], more[1], smooth, 0.0, [*of_rows, 0.0, 0.0])[-2:]
    np.testing.assert_allclose(asked, wanted, rtol=1e-14)


def test_two_classes_are_the_share_of_the_second() -> None:
    y = np.array(["no", "yes", "yes", "no", "yes", "no"])
    encoder = TargetEncoder(2.0)
    shown = encoder.fit_transform(WORDS, y)
    wanted = plainly(WORDS[:, 0], (y == "yes").astype(float), 2.0, 0.5, np.ones(6))
    np.testing.assert_allclose(shown[:, 0], wanted, rtol=1e-14)
    assert encoder.classes_.tolist() == ["no", "yes"]
    assert encoder.get_feature_names_out(["city"]).tolist() == ["city"]


def test_each_of_several_classes_has_a_column() -> None:
    y = np.array(["x", "z", "y", "x", "z", "z"])
    X = np.hstack([WORDS, WORDS[::-1]])
    encoder = TargetEncoder(1.0)
    shown = encoder.fit_transform(X, y)
    for place, column in enumerate(X.T):
        for code, label in enumerate("xyz"):
            wanted = plainly(column, (y == label).astype(float), 1.0, 1 / 3, np.ones(6))
            np.testing.assert_allclose(shown[:, 3 * place + code], wanted, rtol=1e-14)
    np.testing.assert_allclose(shown[:, :3].sum(axis=1), 1.0)
    names = encoder.get_feature_names_out(["a", "b"]).tolist()
    assert names == ["a_x", "a_y", "a_z", "b_x", "b_y", "b_z"]


def test_its_own_label_is_never_in_its_value() -> None:
    for row in range(6):
        other = NUMBERS.copy()
        other[row] = 100.0
        shown, changed = (TargetEncoder().fit_transform(WORDS, y) for y in (NUMBERS, other))
        np.testing.assert_array_equal(changed[: row + 1], shown[: row + 1])


def rows(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = np.empty((n, 3), dtype=object)
    X[:, 0], X[:, 1] = rng.choice(["a", "b", "c", None], n), rng.choice(["u", "v"], n)
    X[:, 2] = rng.normal(size=n)
    return X, rng.normal(size=n) + (X[:, 0] == "a")


PARTS = [("kinds", TargetEncoder(), [0, 1]), ("past", LagFeatures(1, key=0), [0, 2])]
EVALUATORS = [
    PrequentialEvaluator(n_warmup=3),
    KFoldEvaluator(n_folds=2, random_state=0),
    DelayedEvaluator(delay=5),
]


@pytest.mark.parametrize(("place", "n_classes"), [(0, 3), (1, 2), (2, 0)])
def test_evaluators_give_the_same_by_kernel_and_by_loop(place: int, n_classes: int) -> None:
    X, y = rows(40)
    model = SGDRegressor(random_state=0)
    if n_classes:
        y = np.array(["x", "y", "z"])[np.digitize(y, [0.0, 0.8][: n_classes - 1])]
        model = SGDClassifier(random_state=0)
    model = make_stream_pipeline(ColumnTransformer(PARTS), model)
    by_kernel, by_loop = both_ways(EVALUATORS[place], model, X, y)
    assert by_loop.paths["m"] == "loop" and by_kernel.paths["m"] == "kernel"
    assert by_kernel.scores == by_loop.scores


def test_numbers_may_be_the_target_of_a_classifier() -> None:
    X, y = rows(40)
    y = (y > 0).astype(int)
    model = make_stream_pipeline(
        TargetEncoder(3.0, target_type="continuous"), SGDClassifier(random_state=0)
    )
    results = both_ways(PrequentialEvaluator(), model, X[:, :2], y)
    assert results[0].paths == {"m": "kernel"}
    np.testing.assert_array_equal(*(one.predictions("m", every_row=True) for one in results))


def test_frames_and_names(pd: Any) -> None:
    frame = pd.DataFrame({"city": pd.Categorical(["Rome", "Oslo", None])}, index=[5, 6, 7])
    encoder = TargetEncoder().set_output(transform="pandas")
    shown = encoder.fit_transform(frame, [1.0, 2.0, 3.0])
    assert [*shown.columns] == ["city"] and [*shown.index] == [5, 6, 7]
    row = encoder.partial_fit_transform(frame[:1], [4.0])
    assert [*row.index] == [5] and encoder.categories_[0].tolist() == ["Rome", "Oslo", None]


def test_errors_say_what_to_do() -> None:
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        TargetEncoder(target_type="classes").partial_fit(WORDS, NUMBERS)
    encoder = TargetEncoder().fit(WORDS, list("xyxyxy"))
    with pytest.raises(ValueError, match=r"label 'z' of row 1 is not among the classes \['x', 'y'"):
        encoder.partial_fit(WORDS[:2], ["x", "z"])
    with pytest.raises(ValueError, match=r"Column 0 holds 3, a number, but .* 'a', a text"):
        encoder.partial_fit(np.array([[3]], dtype=object), ["x"])
    with pytest.raises(ValueError, match="X has 2 rows, but y has 1"):
        encoder.partial_fit(WORDS[:2], ["x"])
    with pytest.raises(ValueError, match="requires y to be passed"):
        TargetEncoder().fit(WORDS, None)


def test_labels_where_numbers_belong_are_named() -> None:
    texts = list("xyxyxy")
    first = r"y holds the label 'x': pass classes=\[...\], .* at the first partial_fit"
    for y in (texts, np.array(texts), np.array(texts, dtype=object)):
        with pytest.raises(ValueError, match=first):
            TargetEncoder().partial_fit(WORDS, y)
    with pytest.raises(ValueError, match=first):
        make_stream_pipeline(TargetEncoder(), SGDClassifier()).partial_fit(WORDS, texts)
    with pytest.raises(
        ValueError, match=r"'x': target_type='continuous' takes numbers\. Use 'auto'"
    ):
        TargetEncoder(target_type="continuous").fit(WORDS, texts)
    with pytest.raises(ValueError, match="'x': the targets before it were numbers"):
        TargetEncoder().partial_fit(WORDS, NUMBERS).partial_fit(WORDS, texts, classes=["x", "y"])
    with pytest.raises(ValueError, match="contains NaN"):
        TargetEncoder().partial_fit(WORDS[:1], [np.nan])
