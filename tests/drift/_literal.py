"""ADWIN as one would write it from its description: slow, and exact but for square roots.

A bucket is a tuple of values. These are whole multiples of `UNIT`, kept as ints, so that no
rounding hides in their sums.
"""

import math
from itertools import accumulate

UNIT = 2**-10


class LiteralADWIN:
    def __init__(
        self,
        delta=0.002,
        clock=32,
        min_window=7,
        bound="moa",
        direction="both",
        after_alarm="shrink",
    ):
        self.delta = delta
        self.clock = clock
        self.min_window = min_window
        self.bound = bound
        self.direction = direction
        self.after_alarm = after_alarm
        self.rows = [[]]  # rows[r]: buckets of 2**r values, oldest first
        self.n_seen = 0
        self.start = 0
        self.alarms = []
        self.shrinks = []  # (position, start of the window from then on)
        self.narrowest = math.inf  # how near any difference came to its bound, relatively

    @property
    def buckets(self):
        return [bucket for row in reversed(self.rows) for bucket in row]

    @property
    def values(self):
        return [value for bucket in self.buckets for value in bucket]

    @property
    def width(self):
        return self.n_seen - self.start

    @property
    def mean(self):
        return sum(self.values) / self.width * UNIT

    @property
    def variance(self):
        values, n = self.values, self.width
        return (n * sum(value * value for value in values) - sum(values) ** 2) / n**2 * UNIT**2

    def boundaries(self):
        ends = accumulate(len(bucket) for bucket in self.buckets)
        return [
            self.start + end - len(bucket) for end, bucket in zip(ends, self.buckets, strict=True)
        ]

    def update(self, x):
        multiple = int(x / UNIT)
        assert multiple * UNIT == x
        if self.after_alarm == "restart" and self.alarms[-1:] == [self.n_seen - 1]:
            self.rows, self.start = [[]], self.n_seen
        self.insert((multiple,))
        self.n_seen += 1
        if self.n_seen % self.clock == 0:  # an alarm comes at a check, so that this holds after it
            self.check()

    def insert(self, bucket, row=0):
        if row == len(self.rows):
            self.rows.append([])
        self.rows[row].append(bucket)
        if len(self.rows[row]) > 5:
            older, newer = self.rows[row][:2]
            del self.rows[row][:2]
            self.insert(older + newer, row + 1)

    def check(self):
        before = self.mean
        shrunk = False
        while self.width > 10 and self.some_boundary_cuts():
            self.drop_oldest()
            shrunk = True
        if shrunk:
            self.shrinks.append((self.n_seen - 1, self.start))
            if self.direction in ("both", "up" if self.mean > before else "down"):
                self.alarms.append(self.n_seen - 1)

    def drop_oldest(self):
        while not self.rows[-1]:
            self.rows.pop()
        self.start += len(self.rows[-1].pop(0))

    def some_boundary_cuts(self):
        buckets = [(len(bucket), sum(bucket)) for bucket in self.buckets]
        n, total = self.width, sum(sum_ for _, sum_ in buckets)
        variance = self.variance
        n0, sum0 = 0, 0
        for size, sum_ in buckets:
            n0, sum0 = n0 + size, sum0 + sum_
            n1, sum1 = n - n0, total - sum0
            if n0 >= self.min_window and n1 >= self.min_window:
                gap = abs(sum0 * n1 - sum1 * n0) / (n0 * n1) * UNIT
                limit = self.limit(n0, n1, variance)
                self.narrowest = min(self.narrowest, abs(gap / limit - 1))
                if gap > limit:
                    return True
        return False

    def limit(self, n0, n1, variance):
        n = n0 + n1
        if self.bound == "theorem":
            m = 1 / (1 / n0 + 1 / n1)
            return math.sqrt(math.log(4 * n / self.delta) / (2 * m))
        m = 1 / (n0 - 4) + 1 / (n1 - 4)
        log = math.log(2 * math.log(n) / self.delta)
        return math.sqrt(2 * m * variance * log) + 2 / 3 * m * log
