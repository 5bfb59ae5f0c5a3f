"""Without matplotlib a display says what to install; nothing else fails."""

import sys
from collections.abc import Callable

import numpy as np
import pytest

from skstream import DelayedEvaluator, KFoldEvaluator, MajorityClass, Persistent
from skstream.plotting import ComparisonDisplay, PrequentialDisplay
from skstream.streams import make_demo_stream

MODELS = {"last": Persistent(), "majority": MajorityClass()}


@pytest.fixture(autouse=True)
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {name for name in sys.modules if name.partition(".")[0] == "matplotlib"}:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: KFoldEvaluator("accuracy", n_folds=2).evaluate(MODELS, make_demo_stream(20)).plot(),
        lambda: DelayedEvaluator("accuracy", delay=2).evaluate(MODELS, make_demo_stream(20)).plot(),
        lambda: ComparisonDisplay.from_losses([0, 1, 1], [1, 0, 1]),
    ],
)
def test_the_error_names_the_extra(draw: Callable[[], object]) -> None:
    with pytest.raises(ImportError, match=r'pip install "skstream\[plot\]"'):
        draw()


def test_a_display_can_be_made_and_printed() -> None:
    display = PrequentialDisplay(
        checkpoints=np.array([10]),
        curves={"a": np.array([[0.5]])},
        metric="accuracy",
        forgetting="cumulative",
    )
    assert "a: 0.5000" in repr(display)
