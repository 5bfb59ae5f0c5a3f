"""Each generator against the definition of its source."""

import numpy as np
import pytest

from skstream.streams import SEA, Drift


def test_sea():
    stream = SEA(4000, noise=0)
    X, y = stream.rows(0, 4000)
    thresholds = np.repeat([8, 9, 7, 9.5], 1000)
    assert np.array_equal(y, X[:, 0] + X[:, 1] > thresholds)
    assert stream.drifts == (Drift(1000, 1000), Drift(2000, 2000), Drift(3000, 3000))
    noisy = SEA(4000, noise=0.1).rows(0, 4000)[1]
    assert 0.08 < np.mean(noisy != y) < 0.12
    assert SEA(noise=0.9).bayes_error() == pytest.approx(0.1)


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
