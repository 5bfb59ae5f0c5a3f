"""Number of rows to execute at once, chosen by time so that Ctrl-C and progress bars work."""

from collections.abc import Sequence

from skstream.engine.run import Answered

#: Intended duration of one piece, in seconds.
TARGET = 0.2
FIRST_SIZE = 16
#: Largest factor by which the next piece may be longer than this one.
GROWTH = 8


class Pace:
    """Divides rows into pieces that each take about a fifth of a second.

    The first piece is short, because a model may take a second per row. The division changes no
    answer and no score.

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
        """Note how long a step took; steps in which rows only waited are ignored."""
        done = [one.operations for one in answered]
        n_rows = max((max(len(d.ask_rows), len(d.learn_rows)) for d in done), default=0)
        if n_rows:
            self.took(n_rows, seconds)

    def took(self, n_rows: int, seconds: float) -> None:
        """Note how long a piece took."""
        wanted = int(n_rows * TARGET / max(seconds, 1e-9))
        if seconds < TARGET:  # the last piece of a chunk may be short
            wanted = max(self.size, min(wanted, GROWTH * self.size))
        self.size = min(max(1, wanted), self.max_size)
