"""Real files: counts, categories and figures as their description states them."""

import numpy as np
import pytest

from skstream.streams import ParquetStream, label_profile
from tests._data import data_path, load_stream


def real_stream(name, **options):
    pytest.importorskip("pyarrow")
    return ParquetStream(data_path(name), "class", **options)


def test_electricity():
    stream = real_stream("electricity", chunk_size=10_000)
    assert stream.n_rows == 45_312
    assert stream.classes.tolist() == ["DOWN", "UP"]
    assert stream.categories == {"day": list("1234567")}
    expected_X, expected_y = load_stream("electricity")
    chunks = list(stream)
    assert [len(y) for _, y, _ in chunks] == [10_000] * 4 + [5_312]
    np.testing.assert_array_equal(np.concatenate([X for X, _, _ in chunks]), expected_X)
    np.testing.assert_array_equal(np.concatenate([y for _, y, _ in chunks]), expected_y)
    with pytest.warns(UserWarning, match="'nswprice'"):
        profile = label_profile(stream)
    assert profile.persistence == 38_664 / 45_311
    assert round(profile.majority_prior, 4) == 0.5755
    assert profile.succession == profile.persistence
    assert "compare models with Persistent" in profile.advice


def test_kdd99_categories_are_those_declared():
    stream = real_stream("kdd99_10pct")
    assert len(stream.classes) == 23
    nominal = ["protocol_type", "service", "flag", "land", "logged_in"]
    assert list(stream.categories) == [*nominal, "is_host_login", "is_guest_login"]
    assert stream.categories["protocol_type"] == ["icmp", "tcp", "udp"]
    # Constant in the file, declared with both values.
    assert stream.categories["is_host_login"] == ["0", "1"]
    X, y, _ = next(iter(stream))
    assert y[0] == "normal."
    assert X[0, 1] == 1


def test_gmsc_missing_values():
    missing = sum(int(np.isnan(X).sum()) for X, _, _ in real_stream("gmsc"))
    assert missing == 33_654
    assert not any(np.isnan(X).any() for X, _, _ in real_stream("gmsc", options={"missing": -1}))
    with pytest.raises(ValueError, match="Row 6 has no value in column 'MonthlyIncome'"):
        list(real_stream("gmsc", options={"missing": "error"}))


def test_ozone_and_bike_sharing_leave_out_what_is_no_feature():
    assert len(real_stream("ozone_eighthr").feature_names) == 72
    days = real_stream("ozone_eighthr", columns=["Date"])
    X, _, _ = next(iter(days))
    assert (np.diff(X[:, 0]) > 0).all()
    assert "cnt" not in real_stream("bike_sharing_hour").feature_names


@pytest.mark.parametrize(
    ("name", "majority", "persistent"),
    [
        ("covertype_labels", 0.4876, 0.9506),
        ("powersupply", 0.0417, 0.0),
        ("ozone_eighthr", 0.9369, 0.9155),
        ("usenet1", 0.5333, 0.3302),
    ],
)
def test_profiles(name, majority, persistent):
    profile = label_profile(real_stream(name))
    assert round(profile.majority_prior, 4) == majority
    assert round(profile.persistence, 4) == persistent
