"""Laws of all splitters, found by introspection, and what each refuses."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_validate,
    learning_curve,
    validation_curve,
)

import skstream
import skstream.model_selection as module
from skstream.model_selection import PrequentialSplit
from skstream.model_selection._splitter import Splitter
from tests._examples import examples

SPLITTERS = [
    value
    for value in (getattr(module, name) for name in module.__all__)
    if isinstance(value, type) and issubclass(value, Splitter)
]


@st.composite
def prequential(draw):
    parts = {
        "n_warmup": draw(st.integers(1, 10)),
        "n_splits": draw(st.integers(1, 4)),
        "test_size": draw(st.none() | st.integers(1, 5)),
        "gap": draw(st.integers(0, 3)),
    }
    tested = parts["n_splits"] * (parts["test_size"] or 1)
    return PrequentialSplit(**parts), parts["n_warmup"] + parts["gap"] + tested


# A splitter with any parameters, and the fewest rows that it takes.
SETTINGS = {PrequentialSplit: prequential()}
DEFAULT = {PrequentialSplit: PrequentialSplit(20, n_splits=3, test_size=10, gap=2)}

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
y = (X[:, 0] > 0).astype(int)

every_splitter = pytest.mark.parametrize(
    "splitter", DEFAULT.values(), ids=lambda s: type(s).__name__
)


def test_every_splitter_is_tested():
    assert {*SETTINGS} == {*DEFAULT} == {*SPLITTERS}
    assert {s.__name__ for s in SPLITTERS} <= {*skstream.__all__}


def check_laws(splits, n_rows):
    """No row twice in a part, none trained on at or after a row tested on, in order."""
    begins = []
    for train, test in splits:
        for part in (train, test):
            assert part.dtype.kind == "i"
            assert len(part)
            assert 0 <= part[0]
            assert part[-1] < n_rows
            assert (np.diff(part) > 0).all()
        assert train[-1] < test[0]
        begins.append(test[0])
    assert begins == sorted(begins)


@pytest.mark.parametrize("make", SPLITTERS)
@examples(60)
@given(data=st.data(), more=st.integers(0, 30))
def test_laws(make, data, more):
    splitter, fewest = data.draw(SETTINGS[make])
    n_rows = fewest + more
    splits = list(splitter.split(np.zeros((n_rows, 1)), np.zeros(n_rows)))
    check_laws(splits, n_rows)
    assert splits
    assert len(splits) == splitter.get_n_splits(np.zeros((n_rows, 1)))
    for again in (clone(splitter), pickle.loads(pickle.dumps(splitter)), eval(repr(splitter))):
        assert again.get_params() == splitter.get_params()
        for (train, test), (other_train, other_test) in zip(
            splits, again.split(np.zeros((n_rows, 1))), strict=True
        ):
            assert np.array_equal(train, other_train)
            assert np.array_equal(test, other_test)


@examples(60)
@given(case=prequential(), more=st.integers(0, 30))
def test_prequential_blocks(case, more):
    splitter, fewest = case
    splits = list(splitter.split(np.zeros((fewest + more, 1))))
    tested = np.concatenate([test for _, test in splits])
    first = splitter.n_warmup + splitter.gap
    assert np.array_equal(tested, np.arange(first, first + len(tested)))
    assert all(np.array_equal(train, np.arange(test[0] - splitter.gap)) for train, test in splits)
    assert len(splits[0][0]) == splitter.n_warmup
    sizes = {len(test) for _, test in splits}
    if splitter.test_size is None:
        assert tested[-1] == fewest + more - 1
        assert max(sizes) - min(sizes) <= 1
    else:
        assert sizes == {splitter.test_size}


def test_one_row_too_few_is_refused():
    splitter = PrequentialSplit(10, n_splits=2, test_size=5, gap=1)
    assert len(list(splitter.split(X[:21]))) == 2
    with pytest.raises(ValueError, match=r"needs at least 21 rows, but X has 20.* leave 9 rows"):
        splitter.split(X[:20])
    with pytest.raises(ValueError, match=r"PrequentialSplit\(n_warmup=100\) needs at least 101"):
        PrequentialSplit(100).split(X)
    with pytest.raises(ValueError, match=r"needs at least 14 rows, but X has 13"):
        PrequentialSplit(10, n_splits=4).split(X[:13])


@every_splitter
def test_search_and_cross_validation(splitter):
    model, grid = SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2]}
    n_splits = splitter.get_n_splits(X)
    by_hand = [
        SGDClassifier(random_state=0).fit(X[train], y[train]).score(X[test], y[test])
        for train, test in splitter.split(X)
    ]
    search = GridSearchCV(model, grid, cv=splitter).fit(X, y)
    assert search.n_splits_ == n_splits
    found = [search.cv_results_[f"split{i}_test_score"][0] for i in range(n_splits)]
    assert found == by_hand == cross_validate(model, X, y, cv=splitter)["test_score"].tolist()
    RandomizedSearchCV(model, grid, n_iter=1, cv=splitter, random_state=0).fit(X, y)
    validation_curve(model, X, y, param_name="alpha", param_range=[1e-3], cv=splitter)
    _sizes, _, scores = learning_curve(model, X, y, cv=splitter, train_sizes=[1.0])
    assert scores.shape == (1, n_splits)
    assert clone(search).cv.get_params() == splitter.get_params()


@every_splitter
def test_groups_are_not_used(splitter):
    with pytest.warns(UserWarning, match="does not use groups"):
        splitter.split(X, y, groups=y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        splitter.split(X, y[:-1])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_warmup": 0}, r"'n_warmup' parameter of PrequentialSplit must be an int in .*\[1, inf"),
        ({"n_warmup": 2.5}, "Got 2.5 instead"),
        ({"n_warmup": 5, "gap": -1}, r"'gap' parameter .*\[0, inf\). Got -1 instead"),
        ({"n_warmup": 5, "n_splits": 0}, "'n_splits' parameter"),
        ({"n_warmup": 5, "test_size": 0}, "'test_size' parameter"),
        ({"n_warmup": 5, "test_size": True}, "Got True instead"),
    ],
)
def test_parameters_of_the_prequential_split_are_checked(params, message):
    with pytest.raises(ValueError, match=message):
        PrequentialSplit(**params).split(X)
