"""StreamImputer: what it fills in, its names, and its errors."""

import copy
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import BernoulliNB

from skstream import PrequentialEvaluator, RunOptions, make_stream_pipeline
from skstream.core.engine.answers import ModelError
from skstream.kernels import Task, make_transform_kernel
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.preprocessing import StreamImputer, StreamOrdinalEncoder
from tests.preprocessing._rows import rows_of


@pytest.mark.parametrize("strategy", ["mean", "most_frequent", "constant"])
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_after_any_rows_it_fills_as_scikit_learn_does(strategy: str, n: int) -> None:
    X = rows_of("numbers", 40, np.random.default_rng(0))
    batch = SimpleImputer(strategy=strategy, keep_empty_features=True).fit(X[:n])
    stream = StreamImputer(strategy)
    for row in X[:n]:
        stream.partial_fit(row[None])
    np.testing.assert_allclose(stream.transform(X), batch.transform(X), rtol=1e-14)


def test_the_most_frequent_text_is_the_smallest_of_several() -> None:
    rows = np.array([["b"], ["c"], ["a"], [None], ["c"], ["b"], ["a"]], dtype=object)
    seen = [StreamImputer("most_frequent").fit(rows[:n]).statistics_[0] for n in range(1, 8)]
    assert seen == ["b", "b", "a", "a", "c", "b", "a"]


def test_the_last_value_is_known_until_the_next_one() -> None:
    imputer = StreamImputer("last", fill_value=9.0)
    shown = []
    for value in (np.nan, 1.0, np.nan, 2.0, np.nan):
        imputer.partial_fit([[value]])
        shown.append(imputer.transform([[np.nan]]).item())
    assert shown == [9.0, 1.0, 1.0, 2.0, 2.0]


def test_missing_is_whatever_no_value_is(pd: Any) -> None:
    rows = np.array([[None], [np.nan], [pd.NA], [pd.NaT], ["word"]], dtype=object)
    filled = StreamImputer("constant").fit_transform(rows)
    assert filled[:, 0].tolist() == ["missing"] * 4 + ["word"]


def test_names_of_columns_and_indicators(pd: Any) -> None:
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": [np.nan, 2.0]})
    imputer = StreamImputer(add_indicator=True).set_output(transform="pandas")
    shown = imputer.fit_transform(frame)
    assert list(shown) == ["a", "b", "missingindicator_a", "missingindicator_b"]
    assert shown.to_numpy().tolist() == [[1.0, 2.0, 0.0, 1.0], [1.0, 2.0, 1.0, 0.0]]


def test_a_text_among_numbers_is_named(pd: Any) -> None:
    frame = pd.DataFrame({"day": [1, 2], "amount": [3.0, "three"]})
    with pytest.raises(ValueError, match="Column 'amount' holds 'three' in row 1 of these rows"):
        StreamImputer().fit(frame)
    numbers = StreamImputer("last").fit([[1.0, 2.0]])
    with pytest.raises(
        ValueError, match=r"Column 1 holds 'x' in row 0 .* numbers only in the rows"
    ):
        numbers.partial_fit([[1.0, "x"], [1.0, 2.0]])
    with pytest.raises(ValueError, match="Column 0 holds inf"):
        StreamImputer().fit([[np.inf]])


@pytest.mark.parametrize(
    "form", ["datetime64", "timedelta64", "objects", "lists", "pandas", "tz", "pandas, numbers"]
)
def test_dates_and_durations_are_no_numbers(form: str) -> None:
    days = np.array([["2026-03-01"], ["NaT"]], dtype="M8[ns]")
    X: Any = days - days[0] if form == "timedelta64" else days
    if form in ("objects", "lists"):
        X = np.empty((2, 1), dtype=object)
        X[:, 0] = list(days[:, 0])
        X = X.tolist() if form == "lists" else X
    if form in ("pandas", "tz", "pandas, numbers"):
        pandas = pytest.importorskip("pandas")
        X = pandas.DataFrame({"0": days[:, 0]})
        if form == "tz":
            X["0"] = X["0"].dt.tz_localize("Europe/Rome")
        if form == "pandas, numbers":
            X["1"] = [1.0, 2.0]
    with pytest.raises(
        TypeError, match=r"Column '?0'? holds .* in row 0 .* needs numbers\. Use"
    ) as told:
        StreamImputer().fit(X)
    assert "DType" not in str(told.value)
    numbers = StreamImputer("last").fit(np.ones((1, np.shape(X)[1])))
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    with pytest.raises(TypeError, match="numbers only in the rows before them"):
        numbers.transform(X)
    # Other strategies know them, and what is missing of them.
    imputer = StreamImputer("last", add_indicator=True).fit(X)
    assert imputer.transform(X)[:, np.shape(X)[1]].tolist() == [False, True]


def test_dates_of_polars_are_no_numbers(pl: Any) -> None:
    frame = pl.DataFrame({"amount": [1.0, 2.0], "day": [None, date(2026, 3, 1)]})
    for X in (frame, frame[["day"]]):
        with pytest.raises(
            TypeError, match=r"Column 'day' holds .* in row 1 .* mean needs numbers"
        ):
            StreamImputer().fit(X)
    with pytest.raises(TypeError, match="dates or durations, all missing"):
        StreamImputer().fit(frame[:1, ["day"]])


def test_the_kernel_takes_durations_for_no_numbers() -> None:
    X = np.array([[1], [2], [np.iinfo(np.int64).min], [4]]).astype("m8[s]")
    model = make_stream_pipeline(StreamImputer(), IncrementalGaussianNB())
    with pytest.raises(ModelError, match=r"holds np\.timedelta64"):
        PrequentialEvaluator().evaluate({"nb": model}, X, np.array([0, 1, 0, 1]))


def test_a_text_cannot_fill_numbers() -> None:
    with pytest.raises(ValueError, match="fill_value='none' cannot fill rows of numbers"):
        StreamImputer("constant", fill_value="none").fit([[1.0]])


def test_sparse_rows_are_refused_with_a_way_out() -> None:
    from scipy import sparse

    for strategy in ("mean", "last"):
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            StreamImputer(strategy).fit(sparse.csr_array([[1.0]]))


@pytest.mark.parametrize("strategy", ["mean", "most_frequent"])
def test_a_strategy_cannot_go_on_from_another_one(strategy: str) -> None:
    imputer = StreamImputer("last").fit([[1.0]]).set_params(strategy=strategy)
    assert make_transform_kernel(imputer, Task(np.arange(2))) is None
    for call in (imputer.partial_fit, imputer.transform):
        with pytest.raises(ValueError, match=f"strategy='{strategy}' was set after training"):
            call([[2.0]])
    assert imputer.set_params(strategy="last").transform([[np.nan]]).item() == 1.0
    imputer.set_params(strategy=strategy)
    assert imputer.fit([[2.0]]).transform([[np.nan]]).item() == 2.0
    filling = StreamImputer("constant", fill_value=1.0).fit([[1.0]]).set_params(fill_value=5.0)
    with pytest.raises(ValueError, match=r"fill_value=5.0 was set after .* with fill_value=1.0"):
        filling.transform([[np.nan]])


@pytest.mark.parametrize("strategy", ["most_frequent", "last"])
def test_a_column_that_changes_its_type_is_refused(strategy: str, pd: Any) -> None:
    rows = pd.DataFrame({"city": ["Bonn", None, "Ulm", 53111], "n": [1, 2.5, True, 4]})
    imputer = StreamImputer(strategy)
    said = "Column 'city' holds 53111 in row {} of these rows, a number, but earlier rows had '"
    with pytest.raises(ValueError, match=said.format(3)):
        imputer.fit(rows)
    imputer.fit(rows[:2])
    before = copy.deepcopy(vars(imputer))
    for call in (imputer.partial_fit, imputer.transform):
        with pytest.raises(ValueError, match=said.format(1)):
            call(rows[2:])
    assert repr(vars(imputer)) == repr(before)
    assert imputer.partial_fit(rows[2:], sample_weight=[1.0, 0.0]).transform(rows[1:2]).tolist()
    assert StreamImputer("constant").fit(rows).transform(rows)[3, 0] == 53111
    for engine in ("auto", "loop"):
        model = make_stream_pipeline(
            StreamImputer(strategy), StreamOrdinalEncoder(4), BernoulliNB()
        )
        with pytest.raises(ModelError, match=r"predicting row 3: .*'city' holds 53111, a number"):
            PrequentialEvaluator("accuracy", run=RunOptions(kernels=engine == "auto")).evaluate(
                model, rows, [0, 1, 0, 1]
            )


def test_a_type_is_not_known_before_the_first_value() -> None:
    """A gap is filled with "missing" then, which is no value of the column."""
    imputer = StreamImputer("last").fit(np.array([["a", None]], dtype=object))
    imputer.partial_fit(np.array([["b", 3.0]], dtype=object))
    assert imputer.transform(np.array([[None, None]], dtype=object)).tolist() == [["b", 3.0]]


@pytest.mark.parametrize("strategy", ["mean", "most_frequent", "last"])
@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_a_missing_value_of_pandas_among_numbers_is_a_gap(strategy, engine, pd):
    y = np.array([0, 1] * 4)
    X = pd.DataFrame({"a": pd.array([1, 2, None, 4, None, 6, 7, 8], dtype="Int64")})
    later = X.astype(object)  # as where a chunk is made of lists
    model = make_stream_pipeline(StreamImputer(strategy), SGDClassifier(random_state=0))
    evaluator = PrequentialEvaluator(
        "accuracy", random_state=0, run=RunOptions(kernels=engine == "auto", keep_tape=True)
    )
    expected = evaluator.evaluate(model, X, y).predictions("StreamPipeline", every_row=True)
    run = evaluator.start(model, classes=[0, 1])
    run.update(X[:2], y[:2])
    run.update(later[2:], y[2:])
    assert run.result().predictions("StreamPipeline", every_row=True).tolist() == expected.tolist()


def test_gaps_among_decimals_of_arrow_are_filled() -> None:
    pandas, pyarrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    values = [Decimal("1.50"), None, Decimal("2.50")]
    X = pandas.DataFrame({"a": pandas.array(values, pandas.ArrowDtype(pyarrow.decimal128(9, 2)))})
    assert StreamImputer().fit(X).transform(X).tolist() == [[1.5], [2.0], [2.5]]
    assert StreamImputer().fit(X).transform(X.iloc[[1]]).tolist() == [[2.0]]
