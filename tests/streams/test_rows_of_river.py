"""Rows that come as dictionaries: data sets of River, and any iterable of pairs (dict, y)."""

from typing import ClassVar

import numpy as np
import pytest

from skstream import PrequentialEvaluator, as_stream
from skstream.__main__ import main
from skstream.streams import take_rows
from tests.evaluation.test_laws import assert_same, every_evaluator, made

datasets = pytest.importorskip("river.datasets")
from river import base, linear_model, naive_bayes, preprocessing, tree  # noqa: E402
from river.datasets import synth  # noqa: E402
from river.stream import iter_csv  # noqa: E402

pandas = pytest.importorskip("pandas")
RNG = np.random.default_rng(0)


def features(row):
    """Features come and go, the second half has others than the first, and one is a text."""
    values = RNG.normal(size=6).tolist()
    x = {f"x{i}": one for i, one in enumerate(values) if (i + row // 60) % 6 < 4 and one < 1}
    return x | ({"kind": str(RNG.choice(["a", "b"]))} if row % 3 else {})


SPARSE = [(features(row), bool(RNG.random() < 0.5)) for row in range(120)]


class Diary(base.Classifier):
    """A model of River that notes what it gets."""

    seen: ClassVar = []

    def learn_one(self, x, y):
        self.seen.append((dict(x), y))

    def predict_one(self, x):
        self.seen.append((dict(x), None))
        return True


@pytest.mark.parametrize(
    "rows",
    [
        *(lambda kind=kind: kind() for kind in (datasets.Phishing, datasets.ImageSegments)),
        *(lambda kind=kind: kind() for kind in (datasets.TrumpApproval, datasets.WaterFlow)),
        *(lambda kind=kind: kind(seed=1).take(50) for kind in (synth.SEA, synth.Mv, synth.LED)),
        lambda: iter_csv(datasets.TrumpApproval().path, target="five_thirty_eight"),
        lambda: SPARSE,
    ],
)
def test_it_is_its_frame(rows):
    stream, pairs = as_stream(rows()), list(rows())
    expected = pandas.DataFrame([x for x, _ in pairs])
    pandas.testing.assert_frame_equal(stream.X, expected)
    assert stream.y.tolist() == [y for _, y in pairs]
    assert stream.n_rows == len(pairs)
    for X, y, _ in as_stream(pair for pair in rows()):  # of which nothing is known before
        pandas.testing.assert_frame_equal(X, expected)
        assert y.tolist() == stream.y.tolist()


@every_evaluator
def test_in_every_evaluator(name, options):
    pairs = list(datasets.Phishing().take(60))
    X, y = pandas.DataFrame([x for x, _ in pairs]), np.array([y for _, y in pairs])
    if isinstance(options.get("holdout"), tuple):
        options = options | {"holdout": (X[:9].copy(), y[:9].copy())}
    evaluator = made(name, random_state=0, **{"forgetting": "cumulative"}, **options)
    models = {"tree": tree.HoeffdingTreeClassifier(10), "bayes": naive_bayes.GaussianNB()}
    by_frame = evaluator.evaluate(models, X, y)
    assert_same(by_frame, evaluator.evaluate(models, pairs))
    assert_same(by_frame, evaluator.evaluate(models, datasets.Phishing().take(60)))


def test_models_of_river_get_the_features_that_came():
    Diary.seen.clear()
    PrequentialEvaluator("accuracy").evaluate(Diary(), SPARSE)
    expected = [(SPARSE[0][0], SPARSE[0][1])]
    for x, y in SPARSE[1:]:
        expected += [(x, None), (x, y)]
    assert Diary.seen == expected


@pytest.mark.parametrize(
    "model",
    [
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        naive_bayes.GaussianNB(),
        tree.HoeffdingTreeClassifier(grace_period=10, nominal_attributes=["kind"]),
    ],
)
def test_the_loop_of_river(model):
    rows = [({k: v for k, v in x.items() if k != "kind"}, y) for x, y in SPARSE]
    rows = SPARSE if isinstance(model, tree.HoeffdingTreeClassifier) else rows
    result = PrequentialEvaluator("accuracy", unanswered="wrong").evaluate({"model": model}, rows)
    own, answers = model.clone(), []
    own.learn_one(*rows[0])
    for x, y in rows[1:]:
        answers.append(own.predict_one(x))
        own.learn_one(x, y)
    codes = result.tape.answers["model"].ravel()[-len(answers) :]
    assert [bool(code) for code in codes] == answers


def test_regression_and_meta_data():
    result = PrequentialEvaluator("mae").evaluate(
        preprocessing.StandardScaler() | linear_model.LinearRegression(), datasets.TrumpApproval()
    )
    assert result.n_rows == 1001
    assert np.isfinite(result.scores["LinearRegression"]["mae"])
    stream = as_stream(SPARSE, arrival=np.arange(120))
    assert stream.meta["arrival"].tolist() == list(range(120))
    assert take_rows(datasets.Phishing(), 10).n_rows == 10


class Images(datasets.base.Dataset):
    def __iter__(self):
        yield {"image": np.zeros((3, 3))}, 1


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (Images("Binary classification", 1), "Feature 'image' of row 0 holds a ndarray"),
        ([({"a": 1.0}, 0), ("a text", 1)], "Row 1 is not a pair .dict, y.*contains a str"),
        ([({"a": 1.0}, 0), {"a": 1.0}], "Row 1 is not a pair .dict, y.*contains a dict"),
        ([("a text", 1)], r"pairs \(text, y\). Pass the texts and the labels separately"),
        ([({"a": {"b": 1}}, 0)], "Feature 'a' of row 0 holds a dict"),
        (datasets.SolarFlare(), "Row 0 has several targets"),
        (synth.SEA(seed=1), r"SEA, a data set of River, never ends.*SEA\(...\).take\(1000\)"),
        (datasets.MaliciousURL(), "3,231,961 features, too many"),
        ((pair for pair in SPARSE), r"Pass classes=\[...\]"),
        ([], "The stream is empty|not known"),
    ],
)
def test_bad_rows(rows, message):
    with pytest.raises((TypeError, ValueError), match=message):
        PrequentialEvaluator("accuracy").evaluate(naive_bayes.GaussianNB(), rows)


def test_on_the_command_line(capsys):
    command = ["evaluate", "--generator", "river.datasets:Phishing", "--model", "nb"]
    assert main([*command, "--n-rows", "100"]) == 0
    assert "after 100 rows" in capsys.readouterr().out
    for text, message in {
        "river.datasets.synth:SEA(seed=1)": "never ends",
        "river.tree:HoeffdingTreeClassifier": "is not a generator class",
        "river.datasets:Nothing": "has no Nothing",
    }.items():
        assert main(["evaluate", "--generator", text]) == 2
        assert message in capsys.readouterr().err
