"""Whether streams can follow each other in one."""

from collections.abc import Callable
from typing import Any

import numpy as np

from skstream.core.rows.arrays import ArrayStream, ChunkStream
from skstream.core.rows.stream import Stream
from skstream.streams._composition._base import ComposedStream
from skstream.streams._generators._base import GeneratedStream
from skstream.utils._warnings import warn


def check_parts(parts: tuple[Stream, ...]) -> None:
    """Raise an error for streams that cannot follow each other; warn of equal random numbers."""
    _refuse_same_iterator(parts)
    widths = [(k, width) for k, part in enumerate(parts) if (width := _width(part)) is not None]
    _refuse_others(widths, "{} and {} features", lambda *_: "the same features")
    names = [(k, found) for k, one in _sources(parts) if (found := one.feature_names) is not None]
    _refuse_others(names, "the features {} and {}", _order_of_features)
    _check_categories(parts)
    known = [(k, part.classes) for k, part in enumerate(parts)]
    classes = [(k, found.tolist()) for k, found in known if found is not None]
    _refuse_others(classes, "the classes {} and {}", lambda *_: "the same classes")
    seen: dict[tuple[type, int], Stream] = {}
    for part in parts:
        if isinstance(part, GeneratedStream):
            other = seen.setdefault((type(part), part.random_state), part)
            if other is not part:
                warn(
                    f"Two of the {type(part).__name__} streams have random_state="
                    f"{part.random_state}, so that one repeats the random numbers of the other. "
                    f"Give them different ones."
                )


def _width(stream: Stream) -> int | None:
    if isinstance(stream, ArrayStream) and np.ndim(stream.X) != 1:
        width: int = stream.X.shape[1]
        return width
    names = stream.feature_names
    if names is None and isinstance(stream, ComposedStream):
        widths = map(_width, stream.parts)
        return next((width for width in widths if width is not None), None)
    return None if names is None else len(names)


def _sources(parts: tuple[Stream, ...]) -> list[tuple[int, Stream]]:
    """Return the streams of which parts are made in the end, each with the number of its part."""
    return [(k, source) for k, part in enumerate(parts) for source in part.source_streams()]


def _refuse_same_iterator(parts: tuple[Stream, ...]) -> None:
    """Raise an error if two parts read one iterator, of which each would get other rows."""
    seen: dict[int, int] = {}
    for k, source in _sources(parts):
        if source.reiterable:
            continue
        iterator: Any = source.source if isinstance(source, ChunkStream) else source
        other = seen.setdefault(id(iterator), k)
        if other != k:
            raise ValueError(
                f"Streams {other} and {k} read the same one-shot iterator "
                f"({type(iterator).__name__}): the same iterator is given twice, and what one "
                f"takes the other does not get. Pass the generator function itself instead of its "
                f"result, a list of chunks, or files."
            )


def _refuse_others(
    known: list[tuple[int, Any]], what: str, same: Callable[[Any, Any], str]
) -> None:
    """Raise an error if a part has something else than the first part that is known."""
    for k, found in known:
        first, expected = known[0]
        if found != expected:
            raise ValueError(
                f"Streams {first} and {k} have {what.format(expected, found)}, and cannot be "
                f"joined. Give streams with {same(expected, found)}."
            )


def _order_of_features(expected: list[str], found: list[str]) -> str:
    same = "" if sorted(expected) == sorted(found) else "of the same names "
    return f"features {same}in the same order"


def _check_categories(parts: tuple[Stream, ...]) -> None:
    """Raise an error if a nominal feature has other codes in one stream than in another.

    Categories may follow those of the other: all codes that both have are the same then.
    """
    known = [(k, found) for k, one in _sources(parts) if (found := _coded(one)) is not None]
    seen: dict[str, tuple[int, list[Any]]] = {}
    for k, categories in known:
        if categories.keys() != known[0][1].keys():
            name = next(iter(categories.keys() ^ known[0][1].keys()))
            with_codes, without = (k, known[0][0]) if name in categories else (known[0][0], k)
            raise ValueError(
                f"Feature {name!r} holds codes of categories in stream {with_codes} and numbers "
                f"in stream {without}. {_ONE_READER}"
            )
        for name, values in categories.items():
            first, expected = seen.setdefault(name, (k, values))
            if any(one != other for one, other in zip(values, expected, strict=False)):
                raise ValueError(
                    f"The codes of feature {name!r} are positions in {_shown(expected)} in stream "
                    f"{first}, and in {_shown(values)} in stream {k}. {_ONE_READER}"
                )
            if len(values) > len(expected):
                seen[name] = k, values


_ONE_READER = (
    "Read the files as one stream, of a list of paths, which gives them the same codes; or as "
    "frames, as_frame=True."
)


def _coded(source: Stream) -> dict[str, list[Any]] | None:
    """Return the values of nominal features that a stream gives as codes; None: it has no codes."""
    if getattr(source, "as_frame", True):
        return None
    return getattr(source, "categories", None)


def _shown(values: list[Any]) -> str:
    return str(values) if len(values) <= 20 else f"[{', '.join(map(repr, values[:20]))}, ...]"
