"""How many rows to execute at once: by time, so that Ctrl-C and progress bars work."""

from collections.abc import Sequence

from skstream.engine.run import Answered

#: Seconds that one piece is to take.
TARGET = 0.2
FIRST_SIZE = 16
#: Most times by which the next piece is longer than this one.
GROWTH = 8


class Pace:
    """Cuts rows into pieces that each take about a fifth of a second.

    The first piece is short, because a model may take a second per row. How rows are cut changes
    no answer and no score.

    Parameters
    ----------
    max_size : int
        Most rows of a piece.

    Attributes
    ----------
    size : int
        Rows of the next piece.
    """

    def __init__(self, max_size: int) -> None:
        self.max_size = max_size
        self.size = FIRST_SIZE

    def note(self, answered: Sequence[Answered], seconds: float) -> None:
        """Note how long a step took; one in which rows only waited for others says nothing."""
        done = [one.operations for one in answered]
        n_rows = max((max(len(d.ask_rows), len(d.learn_rows)) for d in done), default=0)
        if n_rows:
            self.took(n_rows, seconds)

    def took(self, n_rows: int, seconds: float) -> None:
        """Note how long a piece took."""
        wanted = int(n_rows * TARGET / max(seconds, 1e-9))
        if seconds < TARGET:  # what is left of a chunk may be short
            wanted = max(self.size, min(wanted, GROWTH * self.size))
        self.size = min(max(1, wanted), self.max_size)
