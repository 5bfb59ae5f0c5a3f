"""The usual preprocessing of a data frame, chosen by its columns."""

import re
import reprlib
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from skstream.pipeline import make_stream_pipeline
from skstream.preprocessing._base import holds
from skstream.preprocessing._categories import StreamOneHotEncoder, kind_of
from skstream.preprocessing._datetimes import DatetimeFeatures
from skstream.preprocessing._imputer import StreamImputer
from skstream.streams._values import (
    ONE_VALUE,
    column_lists,
    is_missing,
    is_several,
    object_array,
)
from skstream.utils._rows import check_names_of_one_type, check_no_name_twice, is_frame
from skstream.utils._warnings import warn


def numbers_of_booleans(X: Any) -> NDArray[np.float64]:
    """Columns of truth values as 1, 0, and NaN where they are missing."""
    out = np.full(X.shape, np.nan)
    for place, column in enumerate(column_lists(X)):
        for row, value in enumerate(column):
            if is_missing(value):
                continue
            is_bool = isinstance(value, bool | np.bool_)
            if not is_bool and not (isinstance(value, Real) and value in (0, 1)):
                raise ValueError(
                    f"{holds(X, place, value, row)}, which is neither True, False nor missing. "
                    "Choose another kind for it with kinds=."
                )
            out[row, place] = value
    return out


#: Kinds of columns, in the order in which their parts stand.
KINDS = ("number", "boolean", "category", "datetime", "many categories", "text", "drop")
_KIND_OF_DTYPE = {**dict.fromkeys("iuf", "number"), "b": "boolean", "M": "datetime", "m": "drop"}
# A text has at least so many words on average; a category is rarely longer.
_WORDS_OF_TEXT = 3
_HASHED_CATEGORIES = 1024
_DATE = r"([0-3]?\d([-/.])[0-3]?\d\2\d{4}|\d\d([-/.])\d\d\3\d\d|\d{4}([-/.])\d\d?\4\d\d?)"
_OTHER_DATE = re.compile(rf"\s*{_DATE}([T ]+\d?\d:\d\d.*)?\s*")
_DATE_AS_TEXT = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")


def make_stream_preprocessor(
    X: Any,
    *,
    kinds: Mapping[str, str] | None = None,
    max_categories: int = 20,
    n_text_features: int | None = None,
    sparse_output: bool = True,
    verbose: bool = True,
) -> Any:
    """Make a default `ColumnTransformer` for a stream of data frames.

    Every column is prepared according to its kind:

    ================= ==============================================================
    number            `StreamImputer` (the mean so far), `StandardScaler`
    boolean           `StreamImputer` (the most frequent value so far)
    category          `StreamOneHotEncoder`
    datetime          `DatetimeFeatures`
    many categories   `HashingVectorizer` of the whole value, a text or an integer
    text              `HashingVectorizer` of the words
    drop              left out
    ================= ==============================================================

    Parameters
    ----------
    X : dataframe
        The first rows of the stream (pandas or polars), from which the kinds are chosen. Nothing
        else is taken from them; missing values and new categories may appear later.
    kinds : mapping of str to str, default=None
        Kinds of columns to set yourself, such as ``{"zip": "category"}``.
    max_categories : int, default=20
        Output columns for a column of categories. Text columns with at least this many different
        values are "many categories", unless they have several words.
    n_text_features : int, default=None
        Output columns for a text column. None: 65,536; 256 if the output is dense.
    sparse_output : bool, default=True
        Whether to return CSR rows if there are categories or texts, which suits linear models;
        otherwise arrays.
    verbose : bool, default=True
        Whether to print which kind was chosen for each column.

    Returns
    -------
    ColumnTransformer
        Unfitted, with parts named "numbers", "booleans", "categories", "datetimes", and one for
        each hashed column.

    Raises
    ------
    TypeError
        If `X` is not a data frame, only some column names are texts, or values are lists, dicts or
        complex numbers.
    ValueError
        If `X` has no rows, no column is left, two have the same name, `kinds` names unknown columns
        or kinds or treats as text what is neither text nor integer, or a category has texts and
        other values.

    See Also
    --------
    skstream.pipeline.make_stream_pipeline : Combines it with a model.

    Notes
    -----
    Columns of numbers, booleans and dates are recognised by their dtype; dates also by their
    values, as objects or as texts such as "2026-03-01". Others are categories if they have fewer
    than `max_categories` different values, each at least twice on average, or if they contain
    anything but texts. The rest are texts if they have three words on average; else categories,
    "many" if there are at least `max_categories`. Durations are left out.

    Examples
    --------
    >>> import pandas
    >>> from sklearn.linear_model import SGDClassifier
    >>> from skstream import make_stream_pipeline
    >>> from skstream.preprocessing import make_stream_preprocessor
    >>> first = pandas.DataFrame({"amount": [3.5, None], "country": ["DE", None]})
    >>> preprocessor = make_stream_preprocessor(first)
    number: 'amount' -> StreamImputer, StandardScaler
    category: 'country' -> StreamOneHotEncoder(max_categories=20)
    >>> model = make_stream_pipeline(preprocessor, SGDClassifier(random_state=0))
    """
    from sklearn.compose import ColumnTransformer  # slow to import, and wanted only here

    if not is_frame(X):
        raise TypeError(
            f"X is a {type(X).__name__}, but the kinds of columns are chosen from a data frame "
            "(pandas or polars). Pass the first rows of the stream as one."
        )
    if not len(X):
        raise ValueError(
            "X has no rows, but the kinds of columns are chosen from their values. Pass the first "
            "rows of the stream, a few hundred if possible."
        )
    check_no_name_twice([*X.columns], "X")
    check_names_of_one_type(X)
    chosen = _chosen_kinds(X, kinds or {})
    for place, name in enumerate(X.columns):
        if name not in chosen:
            chosen[name] = _kind_of(X, place, max_categories)
    _check_values(X, chosen)
    columns_of = {kind: [name for name in X.columns if chosen[name] == kind] for kind in KINDS}
    if n_text_features is None:
        n_text_features = 2**16 if sparse_output else 2**8
    parts = []
    for kind, names in columns_of.items():
        if kind in ("many categories", "text"):
            parts += _hashed_parts(X, kind, names, n_text_features)
        elif kind == "category" and names:
            encoder = StreamOneHotEncoder(max_categories, sparse_output=sparse_output)
            parts.append(("categories", encoder, names))
        elif kind == "datetime" and names:
            parts.append(("datetimes", DatetimeFeatures(), names))
        elif kind in ("number", "boolean"):
            parts += _number_parts(X, kind, names)
    if not parts:
        raise ValueError(f"No column is left to prepare: {[*X.columns]} are all left out.")
    if verbose:
        print("\n".join(_in_words(columns_of, parts)))
    if not all(isinstance(name, str) for name in X.columns):
        # ColumnTransformer takes numbers for places, and columns may have numbers for names.
        place_of = {name: place for place, name in enumerate(X.columns)}
        parts = [(title, part, [place_of[name] for name in names]) for title, part, names in parts]
    return ColumnTransformer(parts, sparse_threshold=float(sparse_output))


def _chosen_kinds(X: Any, kinds: Mapping[str, str]) -> dict[Any, str]:
    """Kinds that the user has chosen."""
    unknown = [name for name in kinds if name not in [*X.columns]]
    if unknown:
        raise ValueError(
            f"kinds names {unknown}, which X does not have. Its columns: {[*X.columns]}."
        )
    wrong = {name: kind for name, kind in kinds.items() if kind not in KINDS}
    if wrong:
        raise ValueError(f"kinds has {wrong}. A kind is one of {', '.join(map(repr, KINDS))}.")
    return dict(kinds)


def _check_values(X: Any, kinds: Mapping[Any, str]) -> None:
    """Raise an error if a category has values of two types, which the encoder would refuse."""
    for place, name in enumerate(X.columns):
        if kinds[name] == "category":
            known = [value for value in _values_of(X, place) if not is_missing(value)]
            other = next((one for one in known if kind_of(one) != kind_of(known[0])), None)
            if other is not None:
                raise ValueError(
                    f"Column {name!r} holds {known[0]!r}, {kind_of(known[0])}, and {other!r}, "
                    f"{kind_of(other)}. Use one type throughout, such as astype(str)."
                )


def _values_of(X: Any, place: int) -> list[Any]:
    """Values of a column; an error if one of them is a list or the like."""
    values = column_lists(X.iloc[:, [place]] if hasattr(X, "iloc") else X[:, [place]])[0]
    several = next((row for row, value in enumerate(values) if is_several(value)), None)
    if several is not None:
        raise TypeError(
            f"Column {[*X.columns][place]!r} holds {reprlib.repr(values[several])} in row "
            f"{several} of these rows. {ONE_VALUE}"
        )
    return values


def _kind_of(X: Any, place: int, max_categories: int) -> str:
    """Return the kind of a column, from its dtype, or else from its values."""
    kind = _number_or_time(X.iloc[:, [place]] if hasattr(X, "iloc") else X[:, [place]])
    if kind is not None:
        return kind
    values = [value for value in _values_of(X, place) if not is_missing(value)]
    if values and all(isinstance(value, Decimal) for value in values):
        return "number"
    different = list(dict.fromkeys(values))
    if different and all(map(_is_date, different)):
        return "datetime"
    if different and all(isinstance(v, str) and _OTHER_DATE.fullmatch(v) for v in different):
        column = f"X[{[*X.columns][place]!r}]"
        warn(
            f"{column} looks like dates, such as {different[0]!r}, but texts of this form are "
            f"taken as categories. Convert them in all rows, {column} = pd.to_datetime({column}, "
            "dayfirst=True) (or False), leave the column out, or choose its kind with kinds=."
        )
    is_few = len(different) < max_categories
    if (is_few and 2 * len(different) <= len(values)) or not all(
        isinstance(value, str) for value in different
    ):
        return "category"
    n_words = [len(text.split()) for text in different]
    if different and np.mean(n_words) >= _WORDS_OF_TEXT:
        return "text"
    return "category" if is_few else "many categories"


def _is_date(value: Any) -> bool:
    """Whether a value is a date, perhaps with a time, or a text of one."""
    if isinstance(value, str):
        return _DATE_AS_TEXT.fullmatch(value) is not None
    return isinstance(value, date)


def _number_or_time(X: Any) -> str | None:
    """Kind of the dtype of a single column; None for texts, categories, objects."""
    (dtype,) = X.dtypes
    if not hasattr(dtype, "kind"):  # of polars
        if str(dtype) == "Boolean":
            return "boolean"
        if dtype.is_numeric():
            return "number"
        if not dtype.is_temporal():
            return None
        return "datetime" if str(dtype).startswith("Date") else "drop"
    return _KIND_OF_DTYPE.get(dtype.kind)


def _number_parts(X: Any, kind: str, names: list[Any]) -> list[tuple[str, Any, list[Any]]]:
    """Parts of the column transformer for numbers or booleans; some booleans are read first."""
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    if kind == "number":
        part = make_stream_pipeline(StreamImputer(), StandardScaler())
        return [("numbers", part, names)] if names else []
    imputer = StreamImputer("most_frequent", fill_value=False)
    read = [name for name in names if _number_or_time(X[[name]]) is None]
    plain = [name for name in names if name not in read]
    parts = [("booleans", imputer, plain)] if plain else []
    if read:
        steps = FunctionTransformer(numbers_of_booleans), clone(imputer)
        parts.append(("booleans_read", make_stream_pipeline(*steps), read))
    return parts


def _hashed_parts(
    X: Any, kind: str, names: list[Any], n_text_features: int
) -> list[tuple[str, Any, list[Any]]]:
    """Parts of the column transformer for columns of texts, one each.

    An imputer makes empty texts of gaps; of integers, texts are made first.
    """
    from sklearn.feature_extraction.text import HashingVectorizer
    from sklearn.preprocessing import FunctionTransformer

    options: dict[str, Any] = {"n_features": n_text_features}
    word = "text"
    if kind == "many categories":
        n_features = min(_HASHED_CATEGORIES, n_text_features)
        whole = {"token_pattern": r"(?s).+", "lowercase": False, "norm": None}
        word, options = "hashed", {"n_features": n_features, **whole}
    # scikit-learn takes double underscores for a separator of names.
    titles = [str(name).replace("__", "_") for name in names]
    if len(set(titles)) < len(titles):
        titles = [*map(str, range(len(titles)))]
    parts = []
    for title, name in zip(titles, names, strict=True):
        filled: Any = StreamImputer("constant", fill_value="")
        if not _are_texts(X, kind, name):
            filled = FunctionTransformer(texts_of_integers)
        vectorizer = HashingVectorizer(**options)
        part = make_stream_pipeline(filled, FunctionTransformer(np.ravel), vectorizer)
        parts.append((f"{word}_{title}", part, [name]))
    return parts


def _are_texts(X: Any, kind: str, name: Any) -> bool:
    """Whether a column shows texts alone; False if there are integers, an error for all else."""
    known = [value for value in column_lists(X[[name]])[0] if not is_missing(value)]
    other = [value for value in known if not isinstance(value, str)]
    for value in other:
        if isinstance(value, bool) or not isinstance(value, Real) or value != value // 1:
            raise ValueError(
                f"kinds has {{{name!r}: {kind!r}}}, but column {name!r} holds {value!r}, which is "
                "neither a text nor an integer. Convert the column first with astype(str), or "
                "choose another kind."
            )
    return not other and _number_or_time(X[[name]]) is None


def texts_of_integers(X: Any) -> Any:
    """One column of integers and texts as texts, the same ones with gaps and without them.

    pandas makes floats of integers as soon as one of them is missing.
    """
    texts = ["" if is_missing(value) else _text_of(value) for value in column_lists(X)[0]]
    return object_array([texts], len(texts))


def _text_of(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _in_words(columns_of: Mapping[str, list[Any]], parts: Iterable[Any]) -> list[str]:
    """Which kind each column is, and what prepares it."""
    prepared_by = {name: part for _, part, names in parts for name in names}
    lines = []
    for kind, names in columns_of.items():
        if kind == "drop":
            lines += [f"left out: {', '.join(map(repr, names))}"] if names else []
            continue
        listed: dict[str, list[str]] = {}
        for name in names:
            listed.setdefault(_steps_in_words(prepared_by[name]), []).append(repr(name))
        lines += [f"{kind}: {', '.join(of)} -> {steps}" for steps, of in listed.items()]
    return lines


def _steps_in_words(part: Any) -> str:
    steps = [step for _, step in getattr(part, "steps", [("", part)])]
    shown = []
    for step in steps:
        name = type(step).__name__
        if name == "StreamOneHotEncoder":
            name += f"(max_categories={step.max_categories})"
        if name == "HashingVectorizer":
            name += f"(n_features={step.n_features})"
        if name == "FunctionTransformer" and step.func is numbers_of_booleans:
            shown.append(step.func.__name__)
        elif name != "FunctionTransformer":
            shown.append(name)
    return ", ".join(shown)
