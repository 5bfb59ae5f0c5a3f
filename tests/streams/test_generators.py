"""Each generator against the definition of its source."""

import numpy as np
import pytest

from skstream.streams import LED, SEA, STAGGER, Agrawal, Drift, Sine


def test_sea():
    stream = SEA(4000, noise=0)
    X, y = stream.rows(0, 4000)
    thresholds = np.repeat([8, 9, 7, 9.5], 1000)
    assert np.array_equal(y, X[:, 0] + X[:, 1] > thresholds)
    assert stream.drifts == (Drift(1000, 1000), Drift(2000, 2000), Drift(3000, 3000))
    noisy = SEA(4000, noise=0.1).rows(0, 4000)[1]
    assert 0.08 < np.mean(noisy != y) < 0.12
    assert SEA(noise=0.9).bayes_error() == pytest.approx(0.1)


def test_stagger():
    stream = STAGGER(3000)
    X, y = stream.rows(0, 3000)
    size, colour, shape = X.T
    assert [set(column) for column in (size, colour, shape)] == [{0, 1, 2}] * 3
    rules = [(size == 0) & (colour == 0), (colour == 1) | (shape == 0), size >= 1]
    assert np.array_equal(y, np.choose(np.repeat([0, 1, 2], 1000), rules))
    shares = [y[part : part + 1000].mean() for part in (0, 1000, 2000)]
    assert shares == pytest.approx([1 / 9, 5 / 9, 2 / 3], abs=0.05)
    assert stream.drifts == (Drift(1000, 1000), Drift(2000, 2000))
    assert STAGGER(900, functions=(1, 1, 2)).drifts == (Drift(600, 600),)
    assert stream.bayes_error() == 0


def test_sine():
    stream = Sine(4000, functions=(1, 2, 3, 4), n_irrelevant=2)
    X, y = stream.rows(0, 4000)
    x, height = X[:, 0], X[:, 1]
    below = [height < np.sin(x), height < 0.5 + 0.3 * np.sin(3 * np.pi * x)]
    rules = [below[0], ~below[0], below[1], ~below[1]]
    assert np.array_equal(y, np.choose(np.repeat([0, 1, 2, 3], 1000), rules))
    # The area below the curves: 1 - cos(1), and .5 + .2 / pi.
    shares = [0.4597, 1 - 0.4597, 0.5637, 1 - 0.5637]
    assert y.reshape(4, 1000).mean(axis=1) == pytest.approx(shares, abs=0.05)
    assert stream.drifts == tuple(Drift(row, row) for row in (1000, 2000, 3000))


SEGMENTS = "1110111 0010010 1011101 1011011 0111010 1101011 1101111 1010010 1111111 1111011"


def test_led():
    segments = np.array([[int(c) for c in word] for word in SEGMENTS.split()])
    X, y = LED(20_000, noise=0).rows(0, 20_000)
    assert np.array_equal(X[:, :7], segments[y])
    assert np.bincount(y) / 20_000 == pytest.approx(np.full(10, 0.1), abs=0.01)
    assert X[:, 7:].mean(axis=0) == pytest.approx(np.full(17, 0.5), abs=0.02)
    noisy = LED(20_000).rows(0, 20_000)[0][:, :7]
    assert (noisy != segments[y]).mean(axis=0) == pytest.approx(np.full(7, 0.1), abs=0.01)


def test_features_of_led_change_places():
    stream = LED(3000, n_drifting=(0, 3, 7), noise=0, n_irrelevant=40)
    X, _ = stream.rows(0, 3000)
    still, _ = LED(3000, noise=0, n_irrelevant=40).rows(0, 3000)
    for concept, n_drifting in enumerate((0, 3, 7)):
        part = slice(1000 * concept, 1000 * (concept + 1))
        moved = np.flatnonzero((X[part] != still[part]).any(axis=0))
        assert (moved < 7).sum() == (moved >= 7).sum() == n_drifting
        # No feature is lost, and none is there twice.
        columns = [sorted(map(tuple, rows[part].T.tolist())) for rows in (X, still)]
        assert columns[0] == columns[1]
    assert stream.drifts == (Drift(1000, 1000), Drift(2000, 2000))


def test_bayes_error_of_led():
    stream = LED(200_000, n_irrelevant=0)
    X, y = stream.rows(0, 200_000)
    counts = np.zeros((128, 10), dtype=int)
    np.add.at(counts, (X.astype(int) @ 2 ** np.arange(7), y), 1)
    # The error of the best table, which knows the rows, is only a little too low.
    assert stream.bayes_error() == pytest.approx(1 - counts.max(axis=1).sum() / 200_000, abs=4e-3)
    assert stream.bayes_error() == pytest.approx(0.26, abs=5e-4)
    assert LED(noise=0).bayes_error() == 0
    assert LED(noise=0.5).bayes_error() == pytest.approx(0.9)


def in_group_a(function, row):
    """The source's ten rules, for one row."""
    salary, commission, age, elevel, _, _, hvalue, hyears, loan = row
    group = 0 if age < 40 else 1 if age < 60 else 2
    money = {1: (50, 100), 2: (75, 125), 3: (25, 75)}
    k = 1000
    if function == 1:
        return group != 1
    if function in (2, 6):
        low, high = money[group + 1]
        return low * k <= salary + (commission if function == 6 else 0) <= high * k
    if function == 3:
        return elevel in ({0, 1}, {1, 2, 3}, {2, 3, 4})[group]
    if function == 4:
        known = elevel in ({0, 1}, {1, 2, 3}, {2, 3, 4})[group]
        low, high = money[((1, 3), (2, 1), (3, 1))[group][known]]
        return low * k <= salary <= high * k
    if function == 5:
        low, high = money[group + 1]
        known = low * k <= salary <= high * k
        low = ((2, 1), (3, 2), (1, 3))[group][known] * 100 * k
        return low <= loan <= low + 200 * k
    equity = hvalue * (hyears - 20) / 10 if hyears >= 20 else 0
    left = 0.67 * (salary + commission)
    left -= {7: loan / 5 + 20 * k, 8: 5 * k * elevel + 20 * k}.get(function, 0)
    left -= {9: 5 * k * elevel + loan / 5 + 10 * k}.get(function, 0)
    left -= {10: 5 * k * elevel - equity / 5 + 10 * k}.get(function, 0)
    return left > 0


def test_agrawal():
    X, y = Agrawal(3000, functions=range(1, 11)).rows(0, 3000)
    groups = [in_group_a(1 + row // 300, values) for row, values in enumerate(X.tolist())]
    assert np.array_equal(y == 0, groups)
    salary, commission, age, elevel, car, zipcode, hvalue, hyears, loan = X.T
    assert set(elevel) == set(range(5))
    assert set(car) == set(range(1, 21))
    assert set(zipcode) == set(range(9))
    assert set(age) == set(range(20, 81))
    assert set(hyears) == set(range(1, 31))
    assert np.all((commission == 0) == (salary >= 75_000))
    for column, low, high in [
        (salary, 20_000, 150_000),
        (commission[commission > 0], 10_000, 75_000),
        (hvalue / (9 - zipcode), 50_000, 150_000),
        (loan, 0, 500_000),
    ]:
        assert low <= column.min() < low + 0.01 * (high - low)
        assert high - 0.01 * (high - low) < column.max() <= high


def test_perturbation_of_agrawal():
    X, y = Agrawal(2000).rows(0, 2000)
    moved_X, same_y = Agrawal(2000, perturbation=0.1).rows(0, 2000)
    assert np.array_equal(y, same_y)
    largest = np.abs(moved_X - X).max(axis=0)
    half = 0.05 * np.array([130_000, 65_000, 60, 0, 0, 0, 1_300_000, 29, 500_000])
    assert np.all(largest <= half + 1e-6)
    assert np.all(largest >= 0.95 * half)
    assert np.all(moved_X[X[:, 1] == 0, 1] == 0)
    assert Agrawal().bayes_error() == 0
    assert Agrawal(perturbation=0.1).bayes_error() is None


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: STAGGER(functions=(1, 4)), "functions must be a sequence of integers from 1 to 3"),
        (lambda: STAGGER(functions=2), "one for each concept. Got 2 instead"),
        (lambda: Sine(functions=()), "functions must be a sequence of integers from 1 to 4"),
        (lambda: Sine(n_irrelevant=-1), "n_irrelevant must be an integer >= 0. Got -1"),
        (lambda: Agrawal(functions=(0,)), "functions must be a sequence of integers from 1 to 10"),
        (lambda: Agrawal(perturbation=2), "perturbation must be a number from 0 to 1"),
        (lambda: LED(n_drifting=(0, 8)), "n_drifting must be a sequence of integers from 0 to 7"),
        (lambda: LED(n_irrelevant=2, n_drifting=(3,)), "integers from 0 to 2"),
        (lambda: LED(None, n_drifting=(0, 1)), "An endless stream of 2 concepts"),
    ],
)
def test_bad_parameters(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"noise": 1.5}, "noise must be a number from 0 to 1. Got 1.5"),
        ({"thresholds": []}, "thresholds must be a sequence of finite numbers"),
        ({"change_rows": [5]}, "change_rows must be 3 increasing row numbers"),
        ({"n_rows": None}, "An endless stream of 4 concepts needs change_rows="),
    ],
)
def test_bad_input_of_sea(bad, words):
    with pytest.raises(ValueError, match=words):
        SEA(**bad)
