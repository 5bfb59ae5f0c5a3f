"""What the pages "How to add" add is found and passes what every class of the package passes."""

import re
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score

import skstream as sk
from skstream.drift import DriftDetector
from skstream.metrics import Measure
from skstream.streams import make_demo_stream
from tests._examples import examples
from tests.drift._checks import check_cuts

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = [DOCS / "how_to_add.md", DOCS / "protocols_and_kernels.md"]
MOST_LINES = 40
NAME = "added_by_the_page"


def sections() -> dict[str, list[str]]:
    """Blocks of code by the heading above them."""
    text = "".join(page.read_text("utf-8") for page in PAGES)
    _, *parts = re.split(r"^## (.*)$", text, flags=re.M)
    blocks = [
        re.findall(r"^```python\n(.*?)^```$", text, flags=re.M | re.S) for text in parts[1::2]
    ]
    return dict(zip(parts[::2], blocks, strict=True))


def added(heading: str) -> dict[str, Any]:
    """Names that the first block below a heading defines."""
    module = sys.modules[NAME] = ModuleType(NAME)  # pickle and clone look there
    exec(compile(sections()[heading][0], heading, "exec"), module.__dict__)
    return module.__dict__


@pytest.fixture(autouse=True)
def _forgotten() -> Iterator[None]:
    yield
    sys.modules.pop(NAME, None)


@pytest.mark.parametrize("heading", sections())
def test_little_is_written(heading: str) -> None:
    lines = [line for line in sections()[heading][0].splitlines() if line.strip()]
    assert len(lines) < MOST_LINES


def test_a_measure() -> None:
    measure = added("A measure")["YOUDEN"]
    X, y, _ = next(iter(make_demo_stream(600)))
    models = {"majority": sk.MajorityClass(), "persistent": sk.Persistent()}
    evaluator = sk.KFoldEvaluator([measure], n_folds=6, forgetting="window:300", random_state=0)
    result = evaluator.evaluate(models, X, y)
    batch = partial(balanced_accuracy_score, adjusted=True)
    for name in models:
        own = result.curve(name, "youden_j")[-1]
        of_rows = [
            batch(y[-300:], result.predictions(name, fold=fold, every_row=True)[-300:])
            for fold in range(6)
        ]
        np.testing.assert_allclose(own, of_rows, rtol=1e-12, atol=1e-12)
    assert result.measures["youden_j"].higher_is_better is True
    assert result.compare("majority", "persistent").better == "persistent"
    under_another_name = sk.KFoldEvaluator({"error": measure}, n_folds=6, random_state=0)
    assert under_another_name.evaluate(models, X, y).compare(*models).better == "persistent"


def test_a_measure_of_unknown_series_is_refused() -> None:
    with pytest.raises(ValueError, match=r"names 'wrongs'. The kinds of series are \['abs"):
        Measure(name="mine", formula=lambda sums: sums["wrongs"], series={"wrongs"})


def test_a_measure_is_refused_where_its_needs_are_not_met() -> None:
    measure = added("A measure")["YOUDEN"]
    evaluator = sk.PrequentialEvaluator([measure])
    with pytest.raises(ValueError, match="'youden_j' needs labels: it is one of classification"):
        evaluator.evaluate(sk.PersistentRegressor(), [[0.0], [1.0]], [0.5, 0.7])
    with pytest.raises(ValueError, match="'needs' parameter of Measure"):
        Measure(name="odd", formula=lambda sums: sums["wrong"], needs="rows")


def test_a_detector() -> None:
    detector = added("A drift detector")["ErrorsInARow"](longest=2)
    assert isinstance(detector, DriftDetector)
    values = (np.random.default_rng(0).random(500) < 0.5).astype(float)
    check_cuts(detector, np.split(values, [3, 4, 100, 490]))
    with pytest.raises(ValueError, match="'longest' parameter of ErrorsInARow"):
        type(detector)(0).update(1)


def test_a_detector_without_a_state_is_named() -> None:
    faulty = type("Faulty", (DriftDetector,), {"_start": lambda self: None})
    with pytest.raises(TypeError, match=r"Faulty\._start must return a new .*\. Got None"):
        faulty().update(1)


def test_a_protocol() -> None:
    from sklearn.linear_model import SGDClassifier

    evaluator = added("A protocol")["EveryNthEvaluator"](["accuracy", "kappa"], n=7, random_state=0)
    X, y, _ = next(iter(make_demo_stream(400)))
    whole = evaluator.evaluate(SGDClassifier(), X, y)
    run = evaluator.start(SGDClassifier(), classes=np.unique(y))
    for rows in np.split(np.arange(400), [1, 2, 50, 399]):
        run.update(X[rows], y[rows])
    assert run.close().result().scores == whole.scores
    assert str(whole).startswith("every n-th row evaluation after 400 rows")
    evaluator.run = sk.RunOptions(kernels=False)
    assert evaluator.evaluate(SGDClassifier(), X, y).scores == whole.scores
    asked = np.array(
        [answer is not None for answer in whole.predictions("SGDClassifier", every_row=True)]
    )
    assert np.flatnonzero(asked).tolist() == list(range(7, 400, 7))


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ({"late_labels": True, "scored_sets": "rows"}, "scored_sets is 'rows', but .* running mea"),
        ({"_timelines": lambda *_: []}, r"_timelines must return a list .* Got \[\] instead"),
        ({"_timelines": lambda *_: None}, "_timelines must return a list .* Got None instead"),
        ({"_timelines": lambda *_: [3]}, r"_timelines must return a list .* Got \[3\] instead"),
    ],
)
def test_a_faulty_protocol_is_named(attributes: dict[str, Any], words: str) -> None:
    faulty = type("Faulty", (added("A protocol")["EveryNthEvaluator"],), attributes)
    with pytest.raises(TypeError, match=rf"Faulty\.{words}"):
        faulty("accuracy").evaluate(sk.Persistent(), make_demo_stream(20))


@pytest.mark.parametrize("n", [0, "a"])
def test_parameters_of_a_protocol_are_checked(n: Any) -> None:
    evaluator = added("A protocol")["EveryNthEvaluator"]("accuracy", n=n)
    with pytest.raises(ValueError, match="'n' parameter of EveryNthEvaluator must be an int"):
        evaluator.evaluate(sk.Persistent(), make_demo_stream(20))


@examples(20)
@given(st.lists(st.integers(0, 200), max_size=5), st.integers(0, 9))
def test_a_kernel(cuts: list[int], seed: int) -> None:
    model = added("A kernel")["MeanSoFar"]()
    y = np.random.default_rng(seed).normal(size=200)
    X = np.zeros((200, 1))
    found = {}
    for engine in ("auto", "loop"):
        evaluator = sk.PrequentialEvaluator("mae", run=sk.RunOptions(kernels=engine == "auto"))
        run = evaluator.start(model, return_models=True)
        for rows in np.split(np.arange(200), sorted(cuts)):
            run.update(X[rows], y[rows])
        found[engine] = result = run.close().result()
        assert result.paths == {"MeanSoFar": "kernel" if engine == "auto" else "loop"}
    fast, slow = found["auto"], found["loop"]
    assert fast.scores == slow.scores
    assert vars(fast.models["MeanSoFar"]) == vars(slow.models["MeanSoFar"])
    weighted = sk.PrequentialEvaluator("mae").evaluate(
        model, X, y, sample_weight=np.arange(200) + 1.0
    )
    assert "no kernel" in weighted.paths["MeanSoFar"]


def test_a_display(matplotlib: Any, pd: Any) -> None:
    from skstream import PrequentialEvaluator
    from tests.plotting.test_every_display import MODELS, check_display, evaluated

    kind = added("A display")["RegretDisplay"]
    result = evaluated(PrequentialEvaluator("accuracy"))
    check_display(kind, result)
    frame = kind.from_result(result).to_frame()
    assert set(frame["model"]) == set(MODELS)
    assert frame["regret"].min() == 0


def test_a_display_of_a_loss(matplotlib: Any) -> None:
    from matplotlib import pyplot

    from skstream.metrics import Measure
    from tests.plotting.test_every_display import evaluated

    kind = added("A display")["RegretDisplay"]
    result = evaluated(
        sk.PrequentialEvaluator(["accuracy", "error", Measure(lambda y, p: 0.5, name="x")])
    )
    regrets = [kind.from_result(result, metric).regret for metric in ("accuracy", "error")]
    for name, of_accuracy in regrets[0].items():
        np.testing.assert_allclose(of_accuracy, regrets[1][name], rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="not known whether a higher x"):
        kind.from_result(result, "x")
    pyplot.close("all")
