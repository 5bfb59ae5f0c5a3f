"""How many examples hypothesis tries of a property."""

import math
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

# Of the examples that a test asks for: 0.25 tries a quarter of them, 10 ten times as many.
SCALE = float(os.environ.get("SKSTREAM_TEST_EXAMPLES") or 1)
FEWEST = 2


def scaled(n_examples: int) -> int:
    """Return the number of examples to try where a test asks for `n_examples`."""
    return max(min(n_examples, FEWEST), math.ceil(n_examples * SCALE))


def examples(n_examples: int) -> Callable[[Any], Any]:
    """Let a property be tried on `n_examples`, times what the environment asks for."""
    return settings(max_examples=scaled(n_examples))


#: For long tests in which nothing hangs on the versions of other packages: where few examples are
#: wanted, as with the oldest versions, they are left out.
newest_alone = pytest.mark.skipif(SCALE < 0.25, reason="tried with the newest versions alone")
