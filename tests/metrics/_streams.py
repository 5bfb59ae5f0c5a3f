"""Streams of labels and answers for the tests, and how they are cut and scored."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from hypothesis import strategies as st

from skstream.core.forgetting import as_forgetting
from skstream.core.measures.registry import resolve_metrics
from skstream.core.measures.running import RunningMeasures
from skstream.forgetting import (
    AdaptiveWindow,
    Cumulative,
    FadingFactor,
    SlidingWindow,
    TumblingWindow,
)

MECHANISMS = {
    "all": Cumulative(),
    "last": SlidingWindow(1),
    "window": SlidingWindow(17),
    "tumbling": TumblingWindow(17),
    "faded": FadingFactor(0.97),
    "unfaded": FadingFactor(1.0),
    "adaptive": AdaptiveWindow(0.3),
}


@dataclass(frozen=True)
class Stream:
    y: np.ndarray
    p: np.ndarray
    weight: np.ndarray | None
    n_classes: int

    def __len__(self) -> int:
        return len(self.y)

    @property
    def classes(self) -> np.ndarray:
        return np.arange(self.n_classes)

    def part(self, start: int, stop: int | None) -> "Stream":
        rows = slice(start, stop)
        weight = None if self.weight is None else self.weight[rows]
        return Stream(self.y[rows], self.p[rows], weight, self.n_classes)


def make_stream(
    seed: int,
    n: int = 150,
    n_classes: int = 3,
    *,
    weighted: bool = False,
    gaps: bool = False,
    n_warmup: int = 1,
) -> Stream:
    """Labels with runs, and answers that become worse in the middle.

    With gaps some rows have no label and some were not asked. Weights are dyadic, so that equal
    sums are equal whatever the order.
    """
    rng = np.random.default_rng(seed)
    fresh = np.where(rng.random(n) < rng.random(), np.arange(n), 0)
    y = rng.integers(0, n_classes, n)[np.maximum.accumulate(fresh)]
    right = rng.random(n) < np.where(np.arange(n) < n // 2, 0.9, 0.2)
    p = np.where(right, y, rng.integers(0, n_classes, n))
    p[:n_warmup] = -1
    if gaps:
        p[rng.random(n) < 0.2] = -1
        y = np.where(rng.random(n) < 0.1, -1, y)
    weight = rng.choice([0.0, 0.25, 0.5, 1.0, 3.0], n) if weighted else None
    return Stream(y, p, weight, n_classes)


@st.composite
def streams(draw: Any, max_rows: int = 150, max_classes: int = 5) -> Stream:
    return make_stream(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(1, max_rows)),
        draw(st.integers(1, max_classes)),
        weighted=draw(st.booleans()),
        gaps=draw(st.booleans()),
        n_warmup=draw(st.integers(0, 3)),
    )


def running(
    metrics: Any, forgetting: Any, classes: Any, record_every: int | None = 1, **options: Any
) -> RunningMeasures:
    return RunningMeasures(
        resolve_metrics(metrics, classes=classes),
        as_forgetting(forgetting),
        classes=classes,
        record_every=record_every,
        **options,
    )


def score(
    stream: Stream, metrics: Any, forgetting: Any, record_every: int | None = 1, cuts: Any = ()
) -> RunningMeasures:
    """Measures of a stream that arrives in pieces."""
    measures = running(metrics, forgetting, stream.classes, record_every)
    bounds = [0, *sorted(cuts), len(stream)]
    for start, stop in pairwise(bounds):
        part = stream.part(start, stop)
        measures.update(part.y, part.p, part.weight)
    return measures


def assert_same_curves(first: Any, second: Any, rtol: float = 0.0) -> None:
    np.testing.assert_array_equal(first.checkpoints, second.checkpoints)
    assert first.values.keys() == second.values.keys()
    for forgetting, by_metric in first.values.items():
        for metric, values in by_metric.items():
            np.testing.assert_allclose(
                values,
                second.values[forgetting][metric],
                rtol=rtol,
                atol=rtol,
                err_msg=f"{metric} under {forgetting}",
            )


def assert_models_are_as_alone(
    metrics: Any, forgetting: Any, stream: Stream, tables: Any, record_every: int
) -> dict[str, Any]:
    """Curves of models with some scores each, in one table cut in pieces, are those of one alone.

    Returns the values of the last one.
    """
    options = {"classes": stream.classes, "record_every": record_every}
    running = RunningMeasures(metrics, as_forgetting(forgetting), n_models=len(tables), **options)
    for start, stop in [(0, 1), (1, 40), (40, None)]:
        part = stream.part(start, stop)
        answers = np.tile(part.p, (len(tables), 1))
        running.update(part.y, answers, part.weight, scores=tables[:, start:stop])
        running.curves()
    for number, table in enumerate(tables):
        alone = RunningMeasures(metrics, as_forgetting(forgetting), **options)
        alone.update(stream.y, stream.p, stream.weight, scores=table)
        assert_same_curves(running.curves().of_models(number), alone.curves())
    (values,) = alone.curves().values.values()
    return values
