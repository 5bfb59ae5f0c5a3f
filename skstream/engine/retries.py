"""Retries of kernels that decline: sizes of parts, and times of the next try."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skstream.engine.block import Block, cuts, part_of
from skstream.engine.failures import in_short
from skstream.engine.kernels import Declined, Kernel, Task, find_kernel
from skstream.engine.kernels.base import Looped, NotFittedYet

# Memory that the rows of a part of a block may take in a kernel, and the least number of rows.
_BYTES_AT_ONCE = 1 << 26
_LEAST_ROWS = 64
# Rows of the first part, after which a kernel knows the memory per row.
_FIRST_ROWS = 32
# Rows of the parts in which a kernel is tried again after it declined some; and the largest number
# of parts executed by the loop before the next try.
ROWS_OF_RETRY = 512
# The same where a part is looped, so that the loop of the whole gains little over a kernel.
ROWS_OF_MIXED_RETRY = 16
MOST_ROWS = 1 << 40
_MOST_WAITING = 64


class TooLarge(Exception):
    """A kernel declined a part, but may execute most of it in smaller parts."""


@dataclass(slots=True)
class Retries:
    """Decides when a kernel that declined is tried again: after more rows each time it declines."""

    n_declined: int = 0
    n_waiting: int = 0
    n_rows: int = MOST_ROWS
    #: Rows of the parts in which it is tried again.
    n_rows_of_retry: int = ROWS_OF_RETRY

    @classmethod
    def of(cls, looped: Sequence[Looped]) -> "Retries":
        """Retries of a kernel, some parts of which may be looped."""
        return cls(n_rows_of_retry=ROWS_OF_MIXED_RETRY if looped else ROWS_OF_RETRY)

    def decline(self) -> None:
        """Note that the kernel declined a part: the next are small."""
        self.n_declined += 1
        self.n_waiting = min(2 ** (self.n_declined - 1), _MOST_WAITING) - 1
        self.n_rows = self.n_rows_of_retry

    def succeed(self) -> None:
        """Note that the kernel executed a part: the next may be larger."""
        self.n_declined = self.n_waiting = 0
        self.n_rows = min(2 * self.n_rows, MOST_ROWS)

    def rows_at_once(self, row_bytes: int | None) -> int:
        """Rows that the kernel executes together, by the memory that each takes (None: unknown)."""
        if row_bytes is None:
            return min(_FIRST_ROWS, self.n_rows)
        return min(max(_BYTES_AT_ONCE // max(row_bytes, 1), _LEAST_ROWS), self.n_rows)

    def is_due(self) -> bool:
        """Whether to try the kernel with the next part."""
        self.n_waiting -= 1
        return self.n_waiting < 0


def next_part(block: Block, learns: slice, asks: slice, n_rows: int) -> tuple[slice, slice]:
    """Return the next part of a block, of about `n_rows` rows, after some learns and asks."""
    first, ask = learns.stop, asks.stop
    learns, asks = slice(first, block.n_learns), slice(ask, block.n_asks)
    if max(block.n_learns - first, block.n_asks - ask) <= n_rows:
        return learns, asks
    its_learns, its_asks = next(cuts(part_of(block, learns, asks), n_rows))
    return slice(first, first + its_learns.stop), slice(ask, ask + its_asks.stop)


@dataclass(frozen=True, slots=True)
class Found:
    """A kernel and its state; or why there is none, and whether there is one after the first rows.

    Failures are left to the loop, which shows them at their row.
    """

    kernel: Kernel | None = None
    state: Any = None
    reason: str = ""
    is_not_yet: bool = False

    @classmethod
    def of(cls, estimator: Any, task: Task) -> "Found":
        """Find the kernel of an estimator."""
        try:
            kernel = find_kernel(estimator, task)
            return cls(kernel, kernel.initial_state())
        except Declined as declined:
            return cls(reason=declined.reason, is_not_yet=isinstance(declined, NotFittedYet))
        except Exception as error:
            return cls(reason=f"making its kernel failed with a {in_short(error)}")
