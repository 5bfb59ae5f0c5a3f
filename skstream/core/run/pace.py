"""Number of rows to execute at once, chosen by time so that Ctrl-C and progress bars work."""

#: Intended duration of one piece, in seconds.
TARGET = 0.2
FIRST_SIZE = 16
#: Largest factor by which the next piece may be longer than this one.
GROWTH = 8
#: A piece is at least so many times as long as what it takes to begin one.
WORTH = 4
#: Weight of the pieces before the last, when costs are estimated.
FADING = 0.7


class Pace:
    """Divides rows into pieces that each take about a fifth of a second.

    The first piece is short, because a model may take a second per row. Pieces are longer where
    beginning one takes long by itself, as it does for kernels of data frames with many columns. The
    division changes no answer and no score.

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
        self._sums = [0.0] * 5

    def took(self, n_rows: int, seconds: float) -> None:
        """Note how long a piece took.

        From all pieces follow the seconds of a piece however short it is, and of each of its rows.
        Without the first, pieces that are slow to begin with would become shorter and shorter, and
        slower on the whole.
        """
        if n_rows < self.size and seconds < TARGET:
            return  # a short piece says little
        before = self._sums
        if before[0]:
            fixed, per_row = _line(*before)
            # A shorter piece may take as long as those before, but not longer.
            rows = max(n_rows, before[1] / before[0])
            if seconds > 2 * (fixed + per_row * rows):
                before = [0.0] * 5  # rows take longer than they did: what was is of no use
        new = [1.0, n_rows, seconds, n_rows * n_rows, n_rows * seconds]
        self._sums = [FADING * old + one for old, one in zip(before, new, strict=True)]
        fixed, per_row = _line(*self._sums)
        target = max(TARGET, WORTH * fixed)
        wanted = int((target - fixed) / max(per_row, 1e-9))
        if seconds < target:
            wanted = max(self.size, wanted)
        # Costs estimated from pieces of about the same size may be far off.
        growth = GROWTH if seconds < TARGET / 2 else 2
        self.size = min(max(1, min(wanted, growth * self.size)), self.max_size)


def _line(n: float, x: float, y: float, xx: float, xy: float) -> tuple[float, float]:
    """Fixed seconds and seconds per row, from sums over pieces."""
    spread = xx * n - x * x
    slope = (xy * n - x * y) / spread if spread > 1e-3 * xx * n else y / x
    per_row = min(max(slope, 0.05 * y / x), y / x)
    return (y - per_row * x) / n, per_row
