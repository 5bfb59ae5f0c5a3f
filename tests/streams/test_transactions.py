"""The generated frame of card payments is what its docstring says."""

import numpy as np
import pytest

from skstream.streams import make_transactions

pd = pytest.importorskip("pandas", reason="the frame is one of pandas")


@pytest.fixture(scope="module")
def frame():
    return make_transactions(10_000)


def test_rows_are_in_time_order_and_labels_come_later(frame):
    assert frame["time"].is_monotonic_increasing
    wait = frame["label_time"] - frame["time"]
    assert (wait[frame["fraud"] == 0] == pd.Timedelta(days=10)).all()
    assert (wait > pd.Timedelta(0)).all()
    assert frame["time"].max() - frame["time"].min() > pd.Timedelta(days=88)


def test_few_rows_are_frauds_and_they_follow_one_another(frame):
    assert 0.03 < frame["fraud"].mean() < 0.05
    thefts = frame[frame["fraud"] == 1].groupby("customer").size()
    assert thefts.mean() > 1.5


def test_categories_appear_late(frame):
    share = np.arange(len(frame)) / len(frame)
    assert not (frame["country"][share < 0.39] == "PT").any()
    assert not (frame["country"][share < 0.69] == "RO").any()
    assert not (frame["channel"][share < 0.49] == "wallet").any()
    assert {"PT", "RO"} <= set(frame["country"])
    assert "wallet" in set(frame["channel"])


def test_gaps_are_where_they_are_said_to_be(frame):
    missing = frame.isna().mean()
    assert 0.01 < missing["channel"] < 0.03
    assert 0.07 < missing["account_age"] < 0.09
    outage = frame["device_score"][3_050:3_250]
    assert outage.isna().all()
    assert 0.04 < frame["device_score"][:2_900].isna().mean() < 0.08
    others = ["time", "customer", "country", "description", "amount", "fraud", "label_time"]
    assert not frame[others].isna().any().any()


def test_frauds_show_and_what_thieves_buy_changes(frame):
    fraud = frame["fraud"] == 1
    assert frame["amount"][fraud].median() > 1.5 * frame["amount"][~fraud].median()
    late = np.arange(len(frame)) >= 5_500
    has = frame["description"].str.contains("parcel fee|crypto")
    assert has[fraud & late].mean() > 0.25
    assert not has[: len(frame) // 2 - 200].any()


def test_the_same_seed_gives_the_same_rows():
    one, same, other = (make_transactions(300, random_state=seed) for seed in (4, 4, 5))
    pd.testing.assert_frame_equal(one, same)
    assert not one["amount"].equals(other["amount"])


def test_rows_are_the_same_everywhere():
    row = make_transactions(1_000).loc[3]
    assert row["time"] == pd.Timestamp("2025-03-01 12:33:36")
    assert row["amount"] == pytest.approx(105.54)


@pytest.mark.parametrize("n_rows", [0, -1, 2.5, "ten"])
def test_a_wrong_number_of_rows_is_refused(n_rows):
    with pytest.raises(ValueError, match="n_rows must be an integer >= 1"):
        make_transactions(n_rows)


def test_one_row():
    assert len(make_transactions(1)) == 1
