"""River's data sets, and what its ``take`` and ``river.stream`` return, as rows of a stream."""

import gc
from itertools import islice
from typing import Any

from skstream.core.rows.dicts import offer_rows

_DATASETS = "river.datasets.base"


def holds_rows_of_river(source: Any) -> bool:
    """Whether a source is known, unread, to give rows of River and to end.

    Raises
    ------
    ValueError
        If a data set has no end, or too many features.
    """
    if isinstance(source, islice):  # it does not say what it takes rows from
        return any(_home_of(one).startswith("river.") for one in gc.get_referents(source))
    if _home_of(source).startswith("river.stream."):  # such as iter_csv
        return True
    bases = {base.__name__ for base in type(source).__mro__ if base.__module__ == _DATASETS}
    name = type(source).__name__
    if "SyntheticDataset" in bases and source.n_samples is None:
        raise ValueError(
            f"{name}, a data set of River, never ends. Limit it, for example "
            f"{name}(...).take(1000)."
        )
    if bases and source.sparse and source.n_features:
        raise ValueError(
            f"{name}, a data set of River, has {source.n_features:,} features, too many for a "
            "frame. Use only some of its rows, .take(1000), or pass chunks of hashed features."
        )
    return bool(bases)


def _home_of(source: Any) -> str:
    """Name of the module where a generator is defined; empty of anything else."""
    return str(getattr(getattr(source, "gi_frame", None), "f_globals", {}).get("__name__", ""))


offer_rows(holds_rows_of_river)
