"""A generated data frame with the difficulties of real data: texts, gaps, late labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from skstream.streams._generators._base import normal_rows
from skstream.utils._choices import check_count
from skstream.utils._optional import optional_import
from skstream.utils._seeds import uniform

_Numbers = NDArray[np.float64]

_DAYS = 90
_ROWS_PER_CUSTOMER = 40
_DAY = 86_400.0  # seconds
#: Days after which a payment that was not disputed counts as good.
_DISPUTE_DAYS = 10.0
#: Share of rows at which a card is stolen; it is then used for some of the rows that follow.
_THEFTS = 0.012
_MOST_USES, _DISTANCE = 6, 12
#: Share of the frauds that look like any other payment.
_HIDDEN = 0.2

_COUNTRIES = ("DE", "FR", "ES", "IT", "PL")
_LATE_COUNTRIES = (("PT", 0.4), ("RO", 0.7))  # and the share of the rows before they are there
_CHANNELS = ("chip", "online", "contactless")
_WALLET_FROM, _OUTAGE = 0.5, (0.30, 0.33)

_SHOPS = (
    *("corner bakery", "green market", "city pharmacy", "north station", "petrol point"),
    *("book cellar", "sports world", "cinema palace", "noodle bar", "garden centre"),
)
_GOODS = (
    *("groceries", "lunch", "tickets", "fuel", "books", "shoes", "medicine", "plants", "coffee"),
    *("subscription", "gift card", "phone credit"),
)
#: What thieves buy, before and after the half of the rows.
_LOOT = (("gift card", "game credit", "phone credit"), ("crypto coins", "parcel fee", "gift card"))


def make_transactions(n_rows: int = 20_000, *, random_state: int = 0) -> Any:
    """Make a data frame of card payments, some of them frauds, like real-world data.

    It has texts, numbers with gaps, categories that appear late, irregular times, customers with
    individual habits, few positives, and labels that become known days after the payment.

    Parameters
    ----------
    n_rows : int, default=20_000
        Number of payments, over 90 days.
    random_state : int, default=0
        Seed. The same seed gives the same rows.

    Returns
    -------
    pandas.DataFrame
        One row per payment, oldest first, with the columns

        - "time": time of the payment (datetime64[ns]);
        - "customer": owner of the card, such as "c0042" (text);
        - "country": country of the payment; "PT" appears after 40 %, "RO" after 70 % of the rows
          (text);
        - "channel": "chip", "online", "contactless", from half-way on also "wallet"; 2 % missing;
        - "description": shop and goods (text of several words);
        - "amount": money (float);
        - "device_score": a number between 0 and 1; 6 % missing, and all of an outage (rows of 30
          to 33 %);
        - "account_age": days since the account was opened; 8 % missing (float);
        - "fraud": the label, 0 or 1 (int);
        - "label_time": when the label became known: for a fraud some days after the payment, for
          any other payment after ten days without a dispute (datetime64[ns]).

    Raises
    ------
    ImportError
        If pandas is not installed.
    ValueError
        If `n_rows` is not an integer of at least 1.

    Notes
    -----
    At 1.2 % of the rows a card is stolen and then used for up to six of the following payments:
    about 4 % of all rows. Thieves pay more than the customer usually does, more often online, at
    night and abroad, and buy other goods, which change half-way (a drift). One fraud in five looks
    like any other payment, so no model can find all of them.

    Examples
    --------
    >>> from skstream.streams import make_transactions
    >>> frame = make_transactions(1000)
    >>> frame.shape
    (1000, 10)
    >>> frame.loc[3, ["customer", "channel", "description"]].tolist()
    ['c0002', 'online', 'cinema palace shoes']
    """
    check_count(n_rows, "n_rows", 1)
    pandas = optional_import("pandas", "make_transactions")
    draw = _Draws(random_state, int(n_rows))
    customer, fraud = _cards(draw)
    shows = fraud & (draw.uniform("hidden") >= _HIDDEN)
    seconds = _times(draw, shows)
    columns = {
        "time": _datetimes(seconds),
        "customer": np.char.add("c", np.char.zfill(customer.astype(str), 4)).astype(object),
        "country": _countries(draw, customer, shows),
        "channel": _channels(draw, shows),
        "description": _descriptions(draw, shows),
        "amount": _amounts(draw, customer, shows),
        "device_score": _device_scores(draw, shows),
        "account_age": _account_ages(draw, customer, seconds),
        "fraud": fraud.astype(np.int64),
        "label_time": _datetimes(seconds + _delays(draw, fraud)),
    }
    order = np.argsort(seconds, kind="stable")
    return pandas.DataFrame(columns).iloc[order].reset_index(drop=True)


class _Draws:
    """Random numbers for every row, each sort by its name."""

    def __init__(self, seed: int, n_rows: int) -> None:
        self._seed = seed
        self.n_rows = n_rows
        #: Share of the rows that came before each.
        self.progress = np.arange(n_rows) / n_rows

    def uniform(self, name: str, n: int | None = None) -> _Numbers:
        """Numbers from 0 to 1, one for each row or each of `n` customers."""
        n = self.n_rows if n is None else n
        return uniform(self._seed, f"transactions {name}", 0, n)

    def normal(self, name: str, n: int | None = None) -> _Numbers:
        """Numbers of mean 0 and deviation 1, never infinite."""
        n = self.n_rows if n is None else n
        return normal_rows(self._seed, f"transactions {name}", 0, n, 1)[:, 0]

    def choice(self, name: str, values: Sequence[str]) -> NDArray[Any]:
        """One of some values for every row, all equally likely."""
        return np.array(values, dtype=object)[(self.uniform(name) * len(values)).astype(np.intp)]

    @property
    def n_customers(self) -> int:
        """Number of customers."""
        return max(20, self.n_rows // _ROWS_PER_CUSTOMER)


def _cards(draw: _Draws) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Whose card each payment was made with, and whether by a thief."""
    n = draw.n_rows
    # Some customers pay often, most seldom.
    customer = (draw.n_customers * draw.uniform("customer") ** 1.7).astype(np.int64)
    fraud = np.zeros(n, dtype=bool)
    uses = 1 + (draw.uniform("uses") * _MOST_USES).astype(np.int64)
    distance = draw.uniform("distance")
    for row in np.flatnonzero(draw.uniform("theft") < _THEFTS).tolist():
        step = 1 + int(distance[row] * _DISTANCE)
        used = np.arange(row, min(row + step * int(uses[row]), n), step)
        customer[used], fraud[used] = customer[row], True
    return customer, fraud


def _times(draw: _Draws, shows: NDArray[np.bool_]) -> _Numbers:
    """Seconds since the first midnight: by day as they come, by night if a fraud shows."""
    day = np.floor(draw.progress * _DAYS)
    place = draw.progress * _DAYS - day  # thieves stay close to the rows before and after
    by_day = np.clip(15 + 4 * ndtri(np.clip(place, 0.001, 0.999)), 5, 23.9)
    by_day += 0.1 * (draw.uniform("minute") - 0.5)
    hour = np.where(shows, np.abs(2.5 + 2 * draw.normal("night")), by_day)
    return np.round(_DAY * day + 3600.0 * hour)


def _datetimes(seconds: _Numbers) -> NDArray[np.datetime64]:
    first = np.datetime64("2025-03-01T00:00:00", "ns")
    return first + seconds.astype("timedelta64[s]").astype("timedelta64[ns]")


def _countries(draw: _Draws, customer: NDArray[np.int64], shows: NDArray[np.bool_]) -> NDArray[Any]:
    home = np.array(_COUNTRIES, dtype=object)[customer % len(_COUNTRIES)]
    abroad = draw.uniform("abroad") < np.where(shows, 0.45, 0.06)
    country = np.where(abroad, draw.choice("country", _COUNTRIES), home)
    for name, first in _LATE_COUNTRIES:
        goes = draw.uniform(name) < np.where(shows, 0.25, 0.04)
        country = np.where((draw.progress >= first) & goes, name, country)
    return country


def _channels(draw: _Draws, shows: NDArray[np.bool_]) -> NDArray[Any]:
    online = draw.uniform("online") < np.where(shows, 0.75, 0.25)
    channel = np.where(online, "online", draw.choice("channel", _CHANNELS))
    wallet = (draw.progress >= _WALLET_FROM) & (draw.uniform("wallet") < 0.2)
    channel = np.where(wallet, "wallet", channel).astype(object)
    channel[draw.uniform("no channel") < 0.02] = None
    return channel


def _descriptions(draw: _Draws, shows: NDArray[np.bool_]) -> NDArray[Any]:
    early, late = (draw.choice(f"loot {k}", loot) for k, loot in enumerate(_LOOT))
    loot = np.where(draw.progress < 0.5, early, late)
    # Honest customers buy such things, too, if seldom; and thieves not only these.
    takes = draw.uniform("takes loot") < np.where(shows, 0.7, 0.03)
    goods = np.where(takes, loot, draw.choice("goods", _GOODS))
    shops = draw.choice("shop", _SHOPS)
    return np.array([f"{a} {b}" for a, b in zip(shops, goods, strict=True)], dtype=object)


def _amounts(draw: _Draws, customer: NDArray[np.int64], shows: NDArray[np.bool_]) -> _Numbers:
    usual = 3.2 + 0.7 * draw.normal("usual", draw.n_customers)
    return np.exp(usual[customer] + 0.6 * draw.normal("amount") + 1.1 * shows).round(2)


def _device_scores(draw: _Draws, shows: NDArray[np.bool_]) -> _Numbers:
    normal = draw.normal("device") + np.where(shows, -0.8, 0.8)
    score: _Numbers = np.round(1 / (1 + np.exp(-normal)), 3)
    out = (draw.progress >= _OUTAGE[0]) & (draw.progress < _OUTAGE[1])
    score[out | (draw.uniform("no device") < 0.06)] = np.nan
    return score


def _account_ages(draw: _Draws, customer: NDArray[np.int64], seconds: _Numbers) -> _Numbers:
    opened = -2000 * draw.uniform("opened", draw.n_customers)
    age: _Numbers = np.floor(seconds / _DAY - opened[customer])
    age[draw.uniform("no age") < 0.08] = np.nan
    return age


def _delays(draw: _Draws, fraud: NDArray[np.bool_]) -> _Numbers:
    """Seconds until the label is known."""
    disputed = 3600 - 3 * _DAY * np.log(1 - draw.uniform("dispute"))
    return np.where(fraud, disputed, _DISPUTE_DAYS * _DAY).round()
