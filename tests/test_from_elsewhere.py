"""What the page for users of other libraries computes is what a loop by hand gives."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.stats import friedmanchisquare
from sklearn.base import clone
from sklearn.cluster import MiniBatchKMeans
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import (
    average_precision_score,
    classification_report,
    f1_score,
    recall_score,
    roc_auc_score,
)

from skstream import PrequentialEvaluator, make_stream_pipeline
from skstream.drift import DDM
from tests._programs import PROJECT
from tests.test_docs import BLOCK


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """Names that the blocks of the page define."""
    for extra in ("pandas", "river"):
        pytest.importorskip(extra, reason="the page has their models")
    names: dict[str, Any] = {"__name__": "page"}
    for block in BLOCK.findall((PROJECT / "docs" / "from_elsewhere.md").read_text("utf-8")):
        exec(block, names)
    return names


def blocks(first: int, n: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, n)) for start in range(first, n, size))


def values(result: Any, metric: str = "accuracy", model: str | None = None) -> np.ndarray:
    curve = result.curve(model or result.model_names[0], metric).ravel()
    return curve[~np.isnan(curve)]


def river_answers(model: Any, rows: list[dict[Any, Any]], y: Any, delay: int = 0) -> list[Any]:
    """Answers of a River model from the first row on before which it has learnt one."""
    model, answers = model.clone(), []
    for row in range(len(rows) + delay):
        if delay and row >= delay:  # the label comes first
            model.learn_one(rows[row - delay], y[row - delay])
        if max(delay, 1) <= row < len(rows):
            answers.append(model.predict_one(rows[row]))
        if not delay:
            model.learn_one(rows[row], y[row])
    return answers


def test_several_models_of_river(page: dict[str, Any]) -> None:
    y, rows = page["fraud"].tolist(), [dict(enumerate(row)) for row in page["payments"].tolist()]
    for name, model in page["river_models"].items():
        answers = np.array(river_answers(model, rows, y), dtype=bool)
        recalls = [recall_score(y[1:], answers, pos_label=label) for label in (False, True)]
        scores = page["frauds"].scores[name]
        assert scores["recall:True"] == pytest.approx(recalls[1])
        assert scores["gmean"] == pytest.approx(np.sqrt(recalls[0] * recalls[1]))


def test_late_targets_and_a_feature_of_their_means(page: dict[str, Any]) -> None:
    rows, free = page["bikes"].to_dict("records"), page["free"]
    answers = river_answers(page["late_model"], rows, free.tolist(), delay=3)
    found = page["bikes_result"].select(bins=0).scores["LinearRegression"]["mae"]
    assert found == pytest.approx(np.mean(np.abs(answers - free[3:])))


def test_a_live_regressor(page: dict[str, Any]) -> None:
    X, load = page["payments"][:300].tolist(), page["load"][:300].tolist()
    model = page["linear_model"].LinearRegression()
    answers = river_answers(model, [dict(enumerate(row)) for row in X], load)
    found = np.concatenate(page["forecasts"])
    assert np.isnan(found[0])  # learnt unasked
    np.testing.assert_array_equal(found[1:], answers)
    error = np.mean(np.abs(np.array(answers) - load[1:]))
    assert page["live"].result().scores["line"]["mae"] == pytest.approx(error)


def test_gradual_drift_prequential_and_on_fresh_rows(page: dict[str, Any]) -> None:
    (X, y), (held_X, held_y) = (
        map(np.concatenate, zip(*((chunk.X, chunk.y) for chunk in stream), strict=True))
        for stream in (page["head"], page["fresh"])
    )
    model = page["trees"]["adaptive tree"].clone()
    right = []
    for row in range(3_000):
        if row:
            right.append(model.predict_one(dict(enumerate(X[row].tolist()))) == y[row])
        model.learn_one(dict(enumerate(X[row].tolist())), y[row].item())
    asked = zip(held_X[2_500:].tolist(), held_y[2_500:].tolist(), strict=True)
    expected = np.mean([model.predict_one(dict(enumerate(one))) == label for one, label in asked])
    assert page["windowed"].scores["adaptive tree"]["accuracy"] == np.mean(right[-500:])
    assert page["held_out"].scores["adaptive tree"]["accuracy"] == expected


def test_a_report_of_classes(page: dict[str, Any]) -> None:
    X, y, p = page["image"], page["segment"], []
    model = SGDClassifier(random_state=0)
    for row in range(1_000):
        p += list(model.predict(X[row : row + 1])) if row >= 200 else []
        model.partial_fit(X[row : row + 1], y[row : row + 1], classes=range(4))
    twin = classification_report(y[200:], p, output_dict=True)
    report = page["class_report"](page["segments"])
    np.testing.assert_allclose(report.scores["f1"], [twin[str(k)]["f1-score"] for k in range(4)])
    assert report.averages["macro avg"]["recall"] == pytest.approx(twin["macro avg"]["recall"])


def test_stream_learn_test_then_train(page: dict[str, Any]) -> None:
    X, y, result = page["X"], page["y"], page["test_then_train"]
    model = SGDClassifier(random_state=0).partial_fit(X[:500], y[:500], classes=np.unique(y))
    found: list[list[float]] = []
    for block in blocks(500, 3_000, 500):
        p = model.predict(X[block])
        recalls = [np.mean(p[y[block] == label] == label) for label in np.unique(y[block])]
        f1 = f1_score(y[block], p, average="macro")
        found.append([np.mean(p == y[block]), f1, np.prod(recalls) ** (1 / len(recalls))])
        model.partial_fit(X[block], y[block])
    for place, metric in enumerate(["accuracy", "f1_macro", "gmean"]):
        np.testing.assert_allclose(values(result, metric), [one[place] for one in found])
        assert result.mean_scores["SGDClassifier"][metric] == pytest.approx(
            np.mean([one[place] for one in found])
        )


@pytest.mark.parametrize("kind", ["batch", "landmark", "window"])
def test_horizons_of_spotriver(page: dict[str, Any], kind: str) -> None:
    X, y, horizon = page["X"], page["y"], page["horizon"]
    model = clone(page["tree"]).fit(X[:1_000], y[:1_000])
    found = []
    for block in blocks(1_000, 3_000, horizon):
        found.append(np.mean(model.predict(X[block]) == y[block]))
        if kind != "batch":
            first = block.stop - 1_000 if kind == "window" else 0
            model = clone(page["tree"]).fit(X[first : block.stop], y[first : block.stop])
    np.testing.assert_array_equal(values(page["by_horizon"], model=kind), found)


def test_costs_of_horizons(page: dict[str, Any]) -> None:
    """Refits on all rows so far keep these; what is fitted once needs none of them."""
    costs, result = page["by_horizon"].costs_to_frame(), page["by_horizon"]
    last = costs[costs.row == 3_000].set_index("model")
    assert last["size"]["batch"] < last["size"]["window"] < last["size"]["landmark"]
    for name, cost in result.costs.items():
        assert (last["size"][name], last["seconds"][name]) == (cost.size, cost.seconds)
        assert (np.diff(costs.seconds[costs.model == name]) >= 0).all()


def test_click_rates_in_a_growing_test_set(page: dict[str, Any]) -> None:
    X, y, result = page["ads"], page["click"], page["clicks"]
    for fold in (7,):
        held_out, _ = result.predictions("SGDClassifier", fold=fold)
        model, losses = SGDClassifier(loss="log_loss", random_state=0), {}
        for row in range(2_000):
            if row in held_out:
                p = model.predict_proba(X[row])[0, int(y[row])]
                losses[row] = -np.log(max(p, np.finfo(float).eps))
            else:
                model.partial_fit(X[row], y[row : row + 1], classes=[False, True])
        found = [
            np.mean([loss for row, loss in losses.items() if row < end])
            for end in result.checkpoints
        ]
        curve = result.select(folds=fold).curve("SGDClassifier").ravel()
        np.testing.assert_allclose(curve, found)
        assert 100 < len(losses) < 300


def test_accuracies_over_data_sets(page: dict[str, Any]) -> None:
    table: list[list[Any]] = []
    for X, y in page["data_sets"].values():
        table.append([])
        for model in map(clone, page["compared"].values()):
            right = []
            for row in range(len(y)):
                one = X[row : row + 1]
                right += [model.predict(one)[0] == y[row]] if row else []
                model.partial_fit(one, y[row : row + 1], classes=np.unique(y))
            table[-1].append(np.mean(right))
    ranked, study = page["study"].rank(), page["study"]
    expected = friedmanchisquare(*np.transpose(table))
    assert (ranked.chi2, ranked.chi2_pvalue) == pytest.approx(tuple(expected))
    latex = study.to_latex(label="tab:accuracies")
    for name, accuracies in zip(study.stream_names, table, strict=True):
        line = next(one for one in latex.splitlines() if one.startswith(name.replace("_", r"\_")))
        for accuracy in accuracies:
            assert f"{accuracy:.4f}" in line
        assert rf"\textbf{{{max(accuracies):.4f} (1)}}" in line


def test_minibatches_with_a_fixed_test_set(page: dict[str, Any]) -> None:
    texts, label = page["texts"], page["label"]
    hashed = page["HashingVectorizer"](n_features=2**10).transform(texts)
    model, found = SGDClassifier(random_state=0), []
    for block in blocks(0, 1_500, 100):
        model.partial_fit(hashed[block], label[block], classes=[0, 1])
        found.append(np.mean(model.predict(hashed[1_500:]) == label[1_500:]))
    np.testing.assert_array_equal(values(page["out_of_core"]), found)


def test_a_detector_that_replaces_the_model(page: dict[str, Any]) -> None:
    """The model is fitted to the first 100 rows, then at alarms to the rows since the last one."""
    X, y, result = page["X"], page["y"], page["refitted"]
    _, p = result.predictions("PeriodicRefit")
    scored = slice(100, len(y))
    assert np.mean(p == y[scored]) == result.scores["PeriodicRefit"]["accuracy"]
    first = page["DecisionTreeClassifier"](random_state=0).fit(X[:100], y[:100])
    right = first.predict(X) == y
    alarm = DDM().update_many((~right[scored]).astype(float))[0]
    in_use = alarm // 50 * 50 + 50  # to the end of the batch in which the alarm is
    np.testing.assert_array_equal(p[:in_use], first.predict(X[scored][:in_use]))
    assert np.any(p[in_use:][:50] != first.predict(X[scored][in_use:][:50]))


def test_clusterers_and_targets_of_two_dimensions_are_refused(page: dict[str, Any]) -> None:
    evaluator = PrequentialEvaluator("accuracy", n_warmup=20, batch_size=20)
    for model in (MiniBatchKMeans(2), make_stream_pipeline(MiniBatchKMeans(2))):
        with pytest.raises(TypeError, match="is a clusterer: it predicts cluster numbers"):
            evaluator.evaluate(model, page["X"], np.arange(3_000) % 2)
    with pytest.raises(ValueError, match=r"y must be one-dimensional. Got shape \(3000, 2\)"):
        evaluator.evaluate(SGDClassifier(), page["X"], np.zeros((3_000, 2)))


def test_an_anomaly_detector_is_ranked(page: dict[str, Any]) -> None:
    points, rare, model = page["points"], page["rare"], page["ByDistance"]()
    score = np.empty(len(rare))
    for row in range(len(rare)):
        one = points[row : row + 1]
        score[row] = model.predict_proba(one)[0, 1] if row else np.nan
        model.partial_fit(one, rare[row : row + 1])
    scores = page["anomalies"].scores["distance"]
    assert scores["auc"] == pytest.approx(roc_auc_score(rare[1:], score[1:]))
    assert scores["average_precision"] == pytest.approx(
        average_precision_score(rare[1:], score[1:])
    )
