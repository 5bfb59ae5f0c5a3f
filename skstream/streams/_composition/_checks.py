"""Whether streams can follow each other in one."""

from typing import Any

import numpy as np

from skstream.streams._arrays import ArrayStream, ChunkStream
from skstream.streams._composition._base import ComposedStream, sources_of
from skstream.streams._generators import GeneratedStream
from skstream.streams._stream import Stream
from skstream.utils._warnings import warn


def check_parts(parts: tuple[Stream, ...]) -> None:
    """Raise an error for streams that cannot follow each other; warn of equal random numbers."""
    _refuse_same_iterator(parts)
    widths = {k: width for k, part in enumerate(parts) if (width := _width(part)) is not None}
    for k, width in widths.items():
        first = next(iter(widths))
        if width != widths[first]:
            raise ValueError(
                f"Streams {first} and {k} have {widths[first]} and {width} features, and cannot be "
                f"joined. Give streams with the same features."
            )
    _check_names(parts)
    _check_categories(parts)
    known = {k: found for k, part in enumerate(parts) if (found := part.classes) is not None}
    for k, classes in known.items():
        first = next(iter(known))
        if classes.tolist() != known[first].tolist():
            raise ValueError(
                f"Streams {first} and {k} have the classes {known[first].tolist()} and "
                f"{classes.tolist()}, and cannot be joined. Give streams with the same classes."
            )
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
    return [(k, source) for k, part in enumerate(parts) for source in sources_of(part)]


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


def _check_names(parts: tuple[Stream, ...]) -> None:
    """Raise an error if features that have names have others, or in another order."""
    known = [(k, found) for k, one in _sources(parts) if (found := one.feature_names) is not None]
    for k, names in known:
        first, expected = known[0]
        if list(names) != list(expected):
            same = sorted(names) == sorted(expected)
            how = "in the same order" if same else "of the same names in the same order"
            raise ValueError(
                f"Streams {first} and {k} have the features {list(expected)} and {list(names)}, "
                f"and cannot be joined. Give streams with features {how}."
            )


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
