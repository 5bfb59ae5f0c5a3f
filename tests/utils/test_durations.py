from datetime import timedelta

import pytest

from skstream.utils._times import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("10min", 600),
        (" 1.5 h ", 5400),
        ("7D", 7 * 86400),
        ("1d", 86400),
        ("1D 12h", 1.5 * 86400),
        ("2W1D", 15 * 86400),
        ("250ms", 0.25),
        ("5us", 5e-6),
    ],
)
def test_texts_with_units_of_one_length_are_durations(text, seconds):
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text", ["", " ", "7", "D", "1M", "1Y", "-1D", "1e3s", "1D,2h", "9" * 30 + "W"]
)
def test_other_texts_are_none(text):
    assert parse_duration(text) is None
