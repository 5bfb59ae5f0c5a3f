"""The pages about streams show what is there."""

import contextlib
import inspect
import io
import re

import skstream.streams
from skstream.streams import RandomRBF, Stream
from tests._programs import PROJECT

NAMES = ("streams", "generators", "testbed", "composed_streams")
PAGES = "".join((PROJECT / "docs" / f"{name}.md").read_text("utf-8") for name in NAMES)


def test_the_table_of_generators_is_what_its_block_prints(monkeypatch):
    # It integrates for more than a second.
    monkeypatch.setattr(RandomRBF, "bayes_error", lambda stream: 0.05)
    ((block, shown),) = re.findall(
        r"^```python\n(from skstream import streams\n.*?)^```$\n+^```\n(.*?)^```$",
        PAGES,
        re.DOTALL | re.MULTILINE,
    )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(block, {})
    assert printed.getvalue() == shown


def test_every_kind_of_stream_and_every_function_is_named():
    exported = [getattr(skstream.streams, name) for name in skstream.streams.__all__]
    named = [
        one.__name__
        for one in exported
        if inspect.isfunction(one) or (inspect.isclass(one) and issubclass(one, Stream))
    ]
    bases = {"Stream", "GeneratedStream", "ArrayStream", "ChunkStream"}
    missing = [name for name in named if name not in bases and name not in PAGES]
    assert not missing
