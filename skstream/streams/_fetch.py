"""Real streams, downloaded once by scikit-learn's fetchers and kept in its cache."""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_covtype, fetch_openml, get_data_home
from sklearn.datasets import fetch_kddcup99 as fetch_kdd

from skstream.core.rows.arrays import ArrayStream
from skstream.utils._optional import optional_import


@dataclass(frozen=True)
class Known:
    """What a stream must be for its rows to be those of the literature, in their order.

    Attributes
    ----------
    name : str
        Its name.
    host : str
        Where it is downloaded from.
    n_rows : int
        Number of rows.
    labels : str or None
        SHA-256 of the labels, as texts, one a line; None where it is not known.
    counts : dict of str to int
        Number of rows of some labels.
    beginning : str
        First labels, each of one character.
    """

    name: str
    host: str
    n_rows: int
    labels: str | None = None
    counts: dict[str, int] = field(default_factory=dict)
    beginning: str = ""

    def check(self, y: NDArray[Any], data_home: Any) -> None:
        """Raise an error unless these are the labels of all rows in their order."""
        texts = [str(label) for label in y.tolist()]
        wrong = ""
        if len(texts) != self.n_rows:
            wrong = f"it has {len(texts):,} rows instead of {self.n_rows:,}"
        elif self.labels not in (None, sha256("\n".join(texts).encode()).hexdigest()):
            wrong = "its labels, or their order, differ"
        elif not self.counts.items() <= Counter(texts).items():
            wrong = f"its labels differ: {dict(Counter(texts))} instead of {self.counts}"
        elif "".join(texts[: len(self.beginning)]) != self.beginning:
            wrong = "its rows are in a different order"
        if wrong:
            raise ValueError(
                f"What {self.host} gave as {self.name!r} is not the stream used in the literature: "
                f"{wrong}. If the download was interrupted, delete its folder in "
                f"{get_data_home(data_home)!r} and try again."
            )

    def fetched(self, fetch: Callable[..., Any], data_home: Any, **options: Any) -> Any:
        """Return what a fetcher of scikit-learn gives; without a network, say what to do."""
        try:
            with warnings.catch_warnings():
                # Those of each attempt to download, which the error below replaces.
                warnings.filterwarnings("ignore", "Retry downloading|A network error occurred")
                return fetch(data_home=data_home, **options)
        except OSError as error:
            raise OSError(
                f"The stream {self.name!r} is not in the folder {get_data_home(data_home)!r} and "
                f"cannot be downloaded from {self.host} ({error}). On a machine with a network, "
                f"call fetch_{self.name}(data_home=folder) once; then copy that folder to this "
                f"machine and pass data_home=."
            ) from error


ELECTRICITY = Known(
    "electricity",
    "openml.org",
    45_312,
    "2d74cb75efdec11cf2805c2656b35794cebd43d448dfb3c3b86c3064f18b4017",
)
POKER = Known(
    "poker",
    "openml.org",
    829_201,
    "558a6f3ebdf64b28ee8c182356384609af58b9f0bb6b941432ba0934e36a2c8b",
)
AIRLINES = Known(
    "airlines", "openml.org", 539_383, None, {"0": 299_119, "1": 240_264}, beginning="11110"
)
COVERTYPE = Known(
    "covertype",
    "ndownloader.figshare.com",
    581_012,
    "5deab11d52c88adecfe82c82e60a1f1a9d3e9a312f3655cb4060d530a7cd4d82",
)
KDDCUP99 = Known(
    "kddcup99",
    "ndownloader.figshare.com",
    494_021,
    "672909a68257e456e5fb96ec2e5d55b7d75ab0830c2fa899ca5dae7f06121483",
)
_OPENML = {"electricity": 151, "poker": 155, "airlines": 1169}


def fetch_electricity(
    *,
    data_home: Any = None,
    as_frame: bool = False,
    chunk_size: int = 65536,
    columns: Sequence[str] | None = None,
) -> ArrayStream:
    """Fetch the Electricity stream: whether a price is above its mean over the day before.

    45,312 half-hours from May 1996 to December 1998, 8 features (normalised, as MOA has them), the
    labels "UP" and "DOWN": whether the price of the row is above its mean over the 48 rows before.

    This is not a forecast: the label can be computed from the column ``nswprice`` itself (in all
    45,264 rows that have 48 before them; "the next price is higher" agrees in 46 %). Experiments in
    the literature use five inputs, ``day``, ``period``, ``nswdemand``, ``vicdemand`` and
    ``transfer``: pass them as `columns`.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder for downloads; None: scikit-learn's, ``~/scikit_learn_data``.
    as_frame : bool, default=False
        If False, `X` is a float64 array, and nominal features are codes: positions among their
        declared values. If True, `X` is a pandas frame, and nominal features are categorical.
    chunk_size : int, default=65536
        Rows per chunk.
    columns : sequence of str, default=None
        Features to keep, in this order; None: all eight.

    Returns
    -------
    ArrayStream
        All rows, in order of time.

    Raises
    ------
    OSError
        If the stream is not in the folder and cannot be downloaded.
    ValueError
        If the download has a different number of rows, other labels, or another order.

    Notes
    -----
    OpenML data set 151, by scikit-learn's ``fetch_openml``, which downloads it once. The labels
    depend on each other: 85.3 % equal the previous one, which `Persistent` predicts (Zliobaite
    2013).

    References
    ----------
    .. [1] Harries (1999), Splice-2 comparative evaluation: electricity pricing.
    .. [2] Gama, Medas, Castillo and Rodrigues (2004), Learning with drift detection.

    Examples
    --------
    >>> from skstream.streams import fetch_electricity
    >>> stream = fetch_electricity()  # doctest: +SKIP
    >>> stream.n_rows, stream.classes.tolist()  # doctest: +SKIP
    (45312, ['DOWN', 'UP'])
    """
    return _from_openml(ELECTRICITY, data_home, as_frame, chunk_size, columns)


def fetch_poker(
    *, data_home: Any = None, as_frame: bool = False, chunk_size: int = 65536
) -> ArrayStream:
    """Fetch the Poker stream: the value of a hand of five cards.

    829,201 hands in MOA's order (poker-lsn: sorted by suit and rank, without duplicates), which
    makes the features drift; 10 features, labels "0" to "9".

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the downloads; see `fetch_electricity`.
    as_frame : bool, default=False
        Whether `X` is a pandas frame, which needs pandas; see `fetch_electricity`.
    chunk_size : int, default=65536
        Rows per chunk.

    Returns
    -------
    ArrayStream
        All rows, in the order of the file.

    Raises
    ------
    OSError
        If the stream is not in the folder and cannot be downloaded.
    ValueError
        If the download has a different number of rows, other labels, or another order.

    Notes
    -----
    OpenML data set 155, by scikit-learn's ``fetch_openml``, which reads the file again at every
    call (about ten seconds). The order is not temporal: 74.5 % of the labels equal the previous
    one.

    References
    ----------
    .. [1] Cattral and Oppacher (2007), Poker Hand, UCI Machine Learning Repository.

    Examples
    --------
    >>> from skstream.streams import fetch_poker
    >>> fetch_poker().n_rows  # doctest: +SKIP
    829201
    """
    return _from_openml(POKER, data_home, as_frame, chunk_size)


def fetch_airlines(
    *, data_home: Any = None, as_frame: bool = False, chunk_size: int = 65536
) -> ArrayStream:
    """Fetch the Airlines stream: whether a flight arrives late.

    539,383 flights in the USA, 7 features (airline, flight, airports, day of the week, time and
    length), labels "0" and "1" (late).

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the downloads; see `fetch_electricity`.
    as_frame : bool, default=False
        Whether `X` is a pandas frame, which needs pandas; see `fetch_electricity`.
    chunk_size : int, default=65536
        Rows per chunk.

    Returns
    -------
    ArrayStream
        All rows, in the order of the file.

    Raises
    ------
    OSError
        If the stream is not in the folder and cannot be downloaded.
    ValueError
        If the download has a different number of rows, other labels, or other first labels.

    Notes
    -----
    OpenML data set 1169, by scikit-learn's ``fetch_openml``, which reads the file again at every
    call (about ten seconds). The number of rows, the frequency of each label and the first labels
    are checked; unlike for the other streams, a hash of all labels is not known.

    References
    ----------
    .. [1] Ikonomovska, Gama and Dzeroski (2011), Learning model trees from evolving data streams.

    Examples
    --------
    >>> from skstream.streams import fetch_airlines
    >>> fetch_airlines().n_rows  # doctest: +SKIP
    539383
    """
    return _from_openml(AIRLINES, data_home, as_frame, chunk_size)


def fetch_covertype(
    *, data_home: Any = None, as_frame: bool = False, chunk_size: int = 65536
) -> ArrayStream:
    """Fetch the Covertype stream: the type of forest on a plot of land.

    581,012 plots of 30 x 30 metres, 54 features, labels 1 to 7, in the order of the file.

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the downloads; see `fetch_electricity`.
    as_frame : bool, default=False
        Whether `X` is a pandas frame, which needs pandas.
    chunk_size : int, default=65536
        Rows per chunk.

    Returns
    -------
    ArrayStream
        All rows, in the order of the file.

    Raises
    ------
    OSError
        If the stream is not in the folder and cannot be downloaded.
    ValueError
        If the download has a different number of rows, other labels, or another order.

    Notes
    -----
    By scikit-learn's ``fetch_covtype``. Neighbouring rows are similar: 95.1 % of the labels equal
    the previous one.

    References
    ----------
    .. [1] Blackard and Dean (1999), Comparative accuracies of artificial neural networks and
       discriminant analysis in predicting forest cover types.

    Examples
    --------
    >>> from skstream.streams import fetch_covertype
    >>> fetch_covertype().n_rows  # doctest: +SKIP
    581012
    """
    found = COVERTYPE.fetched(fetch_covtype, data_home, as_frame=as_frame)
    y = np.asarray(found.target)
    COVERTYPE.check(y, data_home)
    names = list(found.feature_names)
    return ArrayStream(found.data, y, chunk_size=chunk_size, feature_names=names)


def fetch_kddcup99(
    *, data_home: Any = None, as_frame: bool = False, chunk_size: int = 65536
) -> ArrayStream:
    """Fetch the KDD Cup 1999 stream: which connections are attacks.

    494,021 connections (the file of 10 %), 41 features, 23 labels such as "normal." and "smurf.".

    Parameters
    ----------
    data_home : str or path-like, default=None
        Folder of the downloads; see `fetch_electricity`.
    as_frame : bool, default=False
        Whether `X` is a pandas frame, which needs pandas; see `fetch_electricity`.
    chunk_size : int, default=65536
        Rows per chunk.

    Returns
    -------
    ArrayStream
        All rows, in the order of the file.

    Raises
    ------
    OSError
        If the stream is not in the folder and cannot be downloaded.
    ValueError
        If the download has a different number of rows, other labels, or another order.

    Notes
    -----
    By scikit-learn's ``fetch_kddcup99``. Attacks come in long blocks: 99.9 % of the labels equal
    the previous one, so accuracy alone means nothing here.

    References
    ----------
    .. [1] Stolfo, Fan, Lee, Prodromidis and Chan (2000), Cost-based modeling for fraud and
       intrusion detection: results from the JAM project.

    Examples
    --------
    >>> from skstream.streams import fetch_kddcup99
    >>> fetch_kddcup99().n_rows  # doctest: +SKIP
    494021
    """
    found = KDDCUP99.fetched(fetch_kdd, data_home)
    y = _texts(found.target)
    KDDCUP99.check(y, data_home)
    names = list(found.feature_names)
    X = np.empty(found.data.shape)
    categories: dict[str, list[str]] = {}
    for j, values in enumerate(found.data.T):
        if isinstance(values[0], bytes):
            texts, X[:, j] = np.unique(_texts(values).astype(str), return_inverse=True)
            categories[names[j]] = texts.tolist()
        else:
            X[:, j] = values
    return _stream(X, names, categories, y, as_frame=as_frame, chunk_size=chunk_size)


def _from_openml(
    known: Known,
    data_home: Any,
    as_frame: bool,
    chunk_size: int,
    columns: Sequence[str] | None = None,
) -> ArrayStream:
    # The parser that keeps the declared values in their order; that of pandas does not, and pandas
    # 3.1 makes numbers of texts such as "1", at which scikit-learn 1.9 fails.
    found = known.fetched(
        fetch_openml, data_home, data_id=_OPENML[known.name], as_frame=False, parser="liac-arff"
    )
    y = _texts(found.target)
    known.check(y, data_home)
    names = list(found.feature_names)
    X = np.asarray(found.data, dtype=np.float64)
    if columns is not None:
        unknown = [name for name in columns if name not in names]
        if unknown or not len(columns):
            raise ValueError(f"columns= must name some of {names}. Got {list(columns)} instead.")
        X, names = X[:, [names.index(name) for name in columns]], list(columns)
    nominal = {name: values for name, values in (found.categories or {}).items() if name in names}
    return _stream(X, names, nominal, y, as_frame=as_frame, chunk_size=chunk_size)


def _stream(
    X: NDArray[np.float64],
    names: list[str],
    categories: dict[str, list[str]],
    y: NDArray[Any],
    *,
    as_frame: bool,
    chunk_size: int,
) -> ArrayStream:
    """Numbers and codes as a matrix, or as a frame in which codes are categories."""
    if not as_frame:
        return ArrayStream(X, y, chunk_size=chunk_size, feature_names=names)
    pd = optional_import("pandas", "as_frame=True")
    columns: dict[str, Any] = {}
    for name, values in zip(names, X.T, strict=True):
        columns[name] = values
        if name in categories:
            codes = np.where(np.isnan(values), -1, values).astype(np.int64)
            columns[name] = pd.Categorical.from_codes(codes, categories=categories[name])
    return ArrayStream(pd.DataFrame(columns), y, chunk_size=chunk_size)


def _texts(values: NDArray[Any]) -> NDArray[Any]:
    """Labels as texts, which fetchers give as bytes, texts or whole numbers."""
    texts = [
        (value.decode() if isinstance(value, bytes) else str(value)).strip()
        for value in values.tolist()
    ]
    return np.array(texts, dtype=object)
