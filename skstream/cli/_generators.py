"""What the generated streams of the command line are called."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

from skstream import streams
from skstream.cli._model_strings import GENERATOR, make_model
from skstream.optimal import BayesOptimal
from skstream.streams import GaussianMixtureStream, GeneratedStream, Stream, load_testbed
from skstream.streams._composition._runs import FirstRows
from skstream.streams._generators._testbed import TESTBED

#: Functions that make a stream of others, which stand in quotes.
COMPOSITIONS: dict[str, str | Callable[..., Any]] = {
    name: getattr(streams, name)
    for name in (
        *("concat", "take_rows", "join_streams", "recurring", "drop_rows"),
        *("with_delay", "with_imbalance", "with_label_noise"),
    )
}
#: Functions that fetch a real stream; each takes `data_home`.
FETCHED: dict[str, str | Callable[..., Any]] = {
    name: getattr(streams, name) for name in streams.__all__ if name.startswith("fetch_")
}


def _of_testbed(name: str) -> Callable[..., Stream]:
    make: Any = partial(load_testbed, name)
    make.__name__ = name
    return make  # type: ignore[no-any-return]


#: Generators by their names, but for that of mixtures, whose components no text describes.
GENERATORS: dict[str, str | Callable[..., Any]] = {
    **{name: _of_testbed(name) for name in TESTBED},
    **{
        name: kind
        for name in streams.__all__
        if inspect.isclass(kind := getattr(streams, name))
        and issubclass(kind, GeneratedStream)
        and kind not in (GeneratedStream, GaussianMixtureStream)
    },
}
#: All streams that a text can describe.
KNOWN_STREAMS = GENERATORS | COMPOSITIONS | FETCHED


def make_stream(text: str) -> Stream:
    """Return the stream that a text describes, such as ``SEA(n_rows=50000, noise=0.2)``."""
    made: Stream = make_model(text, KNOWN_STREAMS, GENERATOR)
    return made


def best_possible(stream: Stream) -> dict[str, Any]:
    """Return the model that no other can beat, by its name, where the truth is known."""
    source = stream.parts[0] if isinstance(stream, FirstRows) else stream
    return {"bayes-optimal": BayesOptimal(source)} if hasattr(source, "posterior") else {}
