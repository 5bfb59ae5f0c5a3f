"""Predictions made elsewhere are scored as the answers of an evaluation."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDRegressor

import skstream as sk
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.reports._answer import answer

FORGETTING = {"all": "cumulative", "window": "window:50", "fading": "fading:0.9", "adwin": "adwin"}
OF_SHARES = ["accuracy", "kappa_plus", "kappa_temporal", "auc", "log_loss"]


def assert_same(result: sk.EvaluationResult, other: sk.EvaluationResult) -> None:
    np.testing.assert_array_equal(result.checkpoints, other.checkpoints)
    assert result.model_names == other.model_names
    for model in result.model_names:
        for forgetting in result.forgetting_names:
            for metric in result.metric_names:
                curves = [r.curve(model, metric, forgetting=forgetting) for r in (result, other)]
                np.testing.assert_array_equal(*curves, err_msg=f"{model} {forgetting} {metric}")


def data(n: int = 400, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, n_classes, n)
    return np.c_[y + rng.normal(0, 0.8, n), rng.normal(size=n)], y


@pytest.fixture(scope="module")
def evaluated() -> sk.EvaluationResult:
    X, y = data()
    models = {"nb": IncrementalGaussianNB(), "majority": sk.MajorityClass()}
    weight = np.arange(len(y)) % 3 + 0.5
    return sk.PrequentialEvaluator(OF_SHARES, forgetting=FORGETTING).evaluate(
        models, X, y, sample_weight=weight
    )


def columns(result: sk.EvaluationResult) -> dict[str, Any]:
    tape = result.tape
    assert tape is not None and tape.classes is not None
    found: dict[str, Any] = {"y": tape.classes[tape.y], "weight": tape.weight}
    for name in result.model_names:
        found[name] = tape.predictions(name)
        for place, label in enumerate(tape.classes):
            found[f"{name} {label}"] = tape.probabilities(name)[:, place]
    return found


def names(result: sk.EvaluationResult) -> dict[str, Any]:
    assert result.classes is not None
    models = result.model_names
    return {
        "predictions": {name: name for name in models},
        "probabilities": {name: {c: f"{name} {c}" for c in result.classes} for name in models},
    }


def test_answers_of_an_evaluation_score_alike(evaluated: sk.EvaluationResult) -> None:
    table, by_name = columns(evaluated), names(evaluated)
    result = sk.score_predictions(
        table["y"],
        {name: table[name] for name in by_name["predictions"]},
        probabilities={
            name: {label: table[column] for label, column in by_class.items()}
            for name, by_class in by_name["probabilities"].items()
        },
        metrics=OF_SHARES,
        forgetting=FORGETTING,
        sample_weight=table["weight"],
        unanswered="skip",
    )
    assert_same(result, evaluated)
    assert_same(result.rescore(OF_SHARES, forgetting=FORGETTING), evaluated)
    assert result.n_unanswered == {"nb": 1, "majority": 1}  # the first row was not asked
    tapes = [one.tape for one in (result, evaluated)]
    for name in result.model_names:
        np.testing.assert_array_equal(*[tape.predictions(name) for tape in tapes if tape])


@pytest.mark.parametrize(
    ("kind", "chunk_size"),
    [("frame", 400), ("frames", 1), ("stream", 7), ("parquet", 7), ("parquet", 400), ("csv", 7)],
)
def test_no_score_depends_on_container_or_chunks(evaluated, tmp_path, kind, chunk_size, pd):
    frame = pd.DataFrame(columns(evaluated))
    source: Any = frame
    options: dict[str, Any] = {"target": "y", "sample_weight": "weight"}
    if kind == "frames":
        source = lambda: (frame[k : k + chunk_size] for k in range(0, 400, chunk_size))  # noqa: E731
    elif kind == "stream":
        source = sk.as_stream(frame, target="y", sample_weight="weight", chunk_size=chunk_size)
        options = {}
    elif kind != "frame":
        pytest.importorskip("pyarrow")
        source = tmp_path / f"log.{kind}"
        frame["note"] = "none of the columns that are needed"
        if kind == "csv":
            frame.to_csv(source, index=False, float_format="%.17g")
        else:
            frame.to_parquet(source)
        options["options"] = {"chunk_size": chunk_size}
    log = sk.PredictionLog(source, **options, **names(evaluated))
    result = log.score(OF_SHARES, forgetting=FORGETTING, unanswered="skip")
    assert_same(result, evaluated)
    np.testing.assert_array_equal(log.column("nb 0"), frame["nb 0"])


def test_texts_are_labels_in_every_container(tmp_path: Path, pd: Any, pa: Any) -> None:
    frame = pd.DataFrame(
        {"y": ["1", "2", None, "2"], "said": ["1", "1", "1", "2"], "p": [0.2, 0.1, 0.5, 0.9]}
    )
    frame.to_parquet(tmp_path / "log.parquet")
    for source in (frame, tmp_path / "log.parquet"):
        log = sk.PredictionLog(source, target="y", predictions="said", probabilities={"said": "p"})
        result = log.score(["accuracy", "auc"])
        assert result.scores == {"said": {"accuracy": pytest.approx(2 / 3), "auc": 0.5}}
        assert result.n_unlabelled == 1


def test_numbers_are_scored_as_those_of_regressors() -> None:
    X, _ = data()
    y = X @ [1.0, 2.0] + 0.5
    forgetting = {name: one for name, one in FORGETTING.items() if name != "adwin"}
    expected = sk.PrequentialEvaluator(forgetting=forgetting).evaluate(
        {"sgd": SGDRegressor()}, X, y
    )
    assert expected.tape is not None
    made = {"sgd": expected.tape.predictions("sgd")}
    result = sk.score_predictions(y, made, forgetting=forgetting, unanswered="skip")
    assert_same(result, expected)
    whole = sk.score_predictions([1, 2, 3], [1.5, 2.0, 3.0])
    assert whole.metric_names[0] == "mae" and whole.scores["model"]["mae"] == pytest.approx(0.5 / 3)


@pytest.mark.parametrize("n_chunks", [1, 3, 40])
def test_late_labels_are_scored_as_by_the_delayed_evaluator(n_chunks: int, pd: Any) -> None:
    X, y = data()
    rng = np.random.default_rng(1)
    arrival = np.cumsum(rng.integers(0, 3, len(y))).astype(float)
    label_time = arrival + rng.integers(0, 40, len(y))
    metrics = ["accuracy", "kappa_temporal"]
    evaluator = sk.DelayedEvaluator(
        metrics, forgetting=FORGETTING, polling=sk.Polling(previous_label="known_at_arrival")
    )
    expected = evaluator.evaluate(
        {"nb": IncrementalGaussianNB()}, X, y, arrival=arrival, label_time=label_time
    )
    tape = expected.tape
    assert tape is not None and tape.classes is not None and tape.row is not None
    first = np.full(len(y), None)
    codes = tape.answers["nb"][0][:, 0]
    first[tape.row] = [tape.classes[code] if code >= 0 else None for code in codes]
    frame = pd.DataFrame({"y": y, "nb": first, "came": arrival, "known": label_time})
    parts = np.array_split(np.arange(len(y)), n_chunks)
    log = sk.PredictionLog(
        lambda: (frame.iloc[part] for part in parts),
        target="y",
        predictions={"nb": "nb"},
        arrival="came",
        label_time="known",
    )
    known = log.score(metrics, forgetting=FORGETTING, view="as_known", unanswered="skip")
    np.testing.assert_array_equal(known.checkpoints, expected.checkpoints)
    for forgetting in FORGETTING:
        for metric in metrics:
            np.testing.assert_array_equal(
                known.curve("nb", metric, forgetting=forgetting)[:, 0],
                expected.curve("nb", metric, forgetting=forgetting)[:, 0, 0],
            )
    assert known.tape is not None
    np.testing.assert_array_equal(known.tape.row, tape.row)
    hindsight = log.score(metrics, unanswered="skip")
    assert hindsight.scores["nb"]["accuracy"] == known.scores["nb"]["accuracy"]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6)), min_size=2, max_size=30),
    st.integers(1, 5),
)
def test_baseline_repeats_the_newest_label_that_was_known(steps, size):
    gaps, delays = np.array(steps).T
    arrival = np.cumsum(gaps)
    known = arrival + delays
    y = np.arange(len(steps)) % 3
    rows = range(len(steps))
    previous = [
        max(((known[k], k) for k in rows if (known[k], k) < (arrival[row], row)), default=(0, -1))[
            1
        ]
        for row in rows
    ]
    said = [None if k < 0 else int(y[k]) for k in previous]
    frame_of = pytest.importorskip("pandas").DataFrame
    frame = frame_of({"y": y, "m": y, "a": arrival, "t": known})
    chunks = [frame[k : k + size] for k in range(0, len(y), size)]
    log = sk.PredictionLog(
        lambda: chunks, target="y", predictions="m", arrival="a", label_time="t", classes=[0, 1, 2]
    )
    result = log.score("accuracy")
    assert result.tape is not None
    expected = [-1 if one is None else one for one in said]
    assert np.asarray(result.tape.previous).tolist() == expected


def test_a_large_log_keeps_no_tape_and_says_so(monkeypatch: pytest.MonkeyPatch, pd: Any) -> None:
    monkeypatch.setattr("skstream.logs._log.BYTES_OF_LARGE_TAPE", 200)
    frame = pd.DataFrame({"y": np.arange(300) % 2, "m": np.arange(300) % 3 % 2})
    log = sk.PredictionLog(
        lambda: (frame[k : k + 50] for k in range(0, 300, 50)), target="y", predictions="m"
    )
    with pytest.warns(UserWarning, match="keep_tape=True"):
        result = log.score("accuracy")
    assert result.tape is None
    with pytest.raises(ValueError, match="Score the log again"):
        result.rescore("kappa")
    assert_same(log.score("accuracy", keep_tape=True), result)
    assert log.score("accuracy", keep_tape=False).tape is None


KINDS: dict[str, list[Any]] = {
    "texts": ["legit", "fraud", "other"],
    "numbers": [3, 1, 2],
    "floats": [3.0, 1.0, 2.0],
    "truth": [False, True],
}


def as_source(kind: str, table: dict[str, Any], folder: Path) -> Any:
    """The same rows as a dict, as chunks of a function, or in a file."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(table)
    if kind in ("csv", "parquet"):
        pytest.importorskip("pyarrow")
        path = folder / f"log.{kind}"
        frame.to_csv(path, index=False) if kind == "csv" else frame.to_parquet(path)
        return path
    return table if kind == "dict" else lambda: (frame[k : k + 7] for k in range(0, len(frame), 7))


@pytest.mark.parametrize("source", ["arrays", "dict", "chunks", "csv", "parquet"])
@pytest.mark.parametrize("labels", KINDS)
def test_classes_come_from_labels_predictions_and_names(labels, source, tmp_path, rng):
    known, *others = KINDS[labels]
    n = 40
    classes = np.unique(np.array(KINDS[labels]))
    y = [known] * n
    shares = rng.dirichlet(np.ones(len(classes)), n)
    columns: dict[str, Any] = {f"p{k}": shares[:, k] for k in range(len(classes))}
    made = [others[0] if k % 4 == 1 else known for k in range(n)]
    whole = classes.astype(int) if labels == "floats" else classes
    by_name = {str(label): f"p{k}" for k, label in enumerate(whole.tolist())}
    found = []
    for way in (  # what names the classes that no label has yet
        {"predictions": {"m": "made"}},
        {"probabilities": {"m": by_name}},
        {"predictions": {"m": "made"}, "probabilities": {"m": by_name}},
        {"probabilities": {"m": list(columns)}, "classes": KINDS[labels][::-1]},
    ):
        given: dict[str, Any] = dict(way)
        expected = {known, others[0]} if "probabilities" not in given else set(KINDS[labels])
        metrics = ["accuracy", "log_loss"] if "probabilities" in given else ["accuracy"]
        if "classes" in given:  # probabilities by position are in the order of the list
            order = [classes.tolist().index(label) for label in given["classes"]]
            given["probabilities"] = {"m": [f"p{k}" for k in order]}
        if source == "arrays":
            table = {"made": made, **columns}
            of_model = given.get("probabilities", {}).get("m")
            tables = (
                {label: table[one] for label, one in of_model.items()}
                if isinstance(of_model, dict)
                else of_model and np.column_stack([table[one] for one in of_model])
            )
            result = sk.score_predictions(
                y,
                {"m": made} if "predictions" in given else None,
                probabilities=None if of_model is None else {"m": tables},
                classes=given.get("classes"),
                metrics=metrics,
            )
        else:
            rows = as_source(source, {"y": y, "made": made, **columns}, tmp_path)
            result = sk.PredictionLog(rows, target="y", **given).score(metrics)
        assert result.classes is not None
        assert result.classes.tolist() == sorted(expected)
        found.append(result.scores["m"])
    of_label = shares[:, classes.tolist().index(known)]
    for scores in found[1:]:
        assert scores["log_loss"] == pytest.approx(-np.log(of_label).mean(), rel=1e-9)
    assert found[0]["accuracy"] == found[2]["accuracy"] == 0.75
    assert (
        found[1]["accuracy"]
        == found[3]["accuracy"]
        == np.mean(shares.argmax(axis=1) == classes.tolist().index(known))
    )


def in_order(n: int, n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels, the predictions of a model that is often right, and its probabilities."""
    rng = np.random.default_rng(seed)
    names = np.array(["legit", "fraud", "other", "new"][:n_classes])  # not sorted
    y = rng.integers(0, n_classes, n)
    shares = rng.dirichlet(np.ones(n_classes), n) + np.eye(n_classes)[y]
    shares /= shares.sum(axis=1, keepdims=True)
    return names[y], names[shares.argmax(axis=1)], shares


@pytest.mark.parametrize("way", ["arrays", "column", "log", "frames", "estimate"])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_probabilities_in_another_order_than_the_predictions_are_said(n_classes, way):
    y, made, shares = in_order(300, n_classes)
    order = ["legit", "fraud", "other", "new"][:n_classes]
    by_name = dict(zip(order, shares.T, strict=True))
    if way == "column" and n_classes > 2:
        return
    given = shares[:, 1] if way == "column" else shares
    clock = {"arrival": np.arange(300.0), "label_time": np.arange(300.0) + 5}
    names = [f"p{k}" for k in range(n_classes)]
    table = {"y": y, "made": made, **dict(zip(names, shares.T, strict=True)), **clock}

    def scored(**more: Any) -> Any:
        if way in ("arrays", "column"):
            return sk.score_predictions(y, made, probabilities=given, metrics="log_loss", **more)
        if way == "estimate":
            return sk.estimate_unlabelled(
                y[:290].tolist() + [None] * 10, given, predictions=made, **clock, **more
            )
        chunks = pytest.importorskip("pandas").DataFrame(table)
        source = (lambda: (chunks[k : k + 30] for k in range(0, 300, 30))) if way == "frames" else 0
        columns = {"predictions": "made", "probabilities": names, **more}
        return sk.PredictionLog(source or table, target="y", **columns).score("log_loss")

    used, right = sorted(order), order
    with pytest.warns(UserWarning, match="are read in the order") as caught:
        scored()
    (said,) = [str(one.message) for one in caught if "in the order" in str(one.message)]
    assert f"in the order {used}" in said
    assert f"in the order {right} they are in 100%" in said
    assert f"pass classes={right}" in said
    followed = scored(classes=right)  # without a warning: it is an error in these tests
    if way != "estimate":
        (scores,) = followed.scores.values()
        named = sk.score_predictions(y, made, probabilities=by_name, metrics="log_loss")
        assert scores == pytest.approx(named.scores["model"])


@pytest.mark.parametrize("metric", ["accuracy", "log_loss"])
@pytest.mark.parametrize(
    "order", [["low", "mid", "high"], ["yes", "no"], [str(k) for k in range(11)]]
)
def test_labels_that_are_probable_in_another_order_alone_are_said(order, metric, rng):
    codes = rng.integers(0, len(order), 400)
    shares = rng.dirichlet(np.ones(len(order)), 400) + 1.5 * np.eye(len(order))[codes]
    shares /= shares.sum(axis=1, keepdims=True)
    y = np.array(order, dtype=object)[codes]
    y[:5] = None
    log = sk.PredictionLog(
        {"y": y, **{f"p{k}": column for k, column in enumerate(shares.T)}},
        target="y", probabilities=[f"p{k}" for k in range(len(order))],
    )  # fmt: skip
    for scored in (
        lambda **more: sk.score_predictions(y, probabilities=shares, metrics=metric, **more),
        lambda **more: log.score(metric) if not more else None,
    ):
        with pytest.warns(UserWarning, match="in which the labels are the most prob") as caught:
            scored()
        assert len(caught) == 1
        assert f"in the order {sorted(order)}" in str(caught[0].message)
        assert f"pass classes={order}" in str(caught[0].message)
        scored(classes=order)  # without a warning


@given(st.integers(0, 10_000), st.integers(2, 6), st.floats(0.0, 1.0), st.booleans())
def test_models_that_are_wrong_in_the_order_of_the_classes_are_not_told_another(
    seed, n_classes, skill, says_one
):
    """Random ones, ones that always say the same, ones of few rows, and good ones."""
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(0.5, rng.integers(5, 300)) - 1, n_classes - 1)
    y[: n_classes if len(y) >= n_classes else 0] = np.arange(n_classes)[: len(y)]
    codes = np.where(rng.random(len(y)) < skill, y, rng.integers(0, n_classes, len(y)))
    if says_one:
        codes[:] = rng.integers(0, n_classes)
    shares = np.full((len(y), n_classes), 0.1 / n_classes) + 0.9 * np.eye(n_classes)[codes]
    sk.score_predictions(y, probabilities=shares, metrics="accuracy", classes=range(n_classes))


def test_predictions_by_another_threshold_are_no_other_order() -> None:
    y, _, shares = in_order(300, 2)
    rare = np.where(shares[:, 1] > 0.15, "fraud", "legit")
    assert 0.1 < np.mean((shares[:, 1] > 0.5) != (rare == "fraud")) < 0.9
    sk.score_predictions(y, rare, probabilities=shares, metrics="auc", classes=["legit", "fraud"])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rounded_probabilities_are_scored_with_one_warning(n_classes: int) -> None:
    y, made, shares = in_order(300, n_classes)
    order = ["legit", "fraud", "other"][:n_classes]
    exact = sk.score_predictions(y, probabilities=shares, metrics="log_loss", classes=order)
    rounded = np.floor(shares * 1000) / 1000
    above = shares.copy()
    above[7] = np.eye(n_classes)[0] * 1.0000001
    for table in (rounded, above):
        with pytest.warns(UserWarning, match="off by at most 0.01 are normalised") as caught:
            found = sk.score_predictions(
                y, {"a": made, "b": made}, probabilities={"a": table, "b": table},
                metrics=["log_loss", "brier", "auc"], classes=order,
            )  # fmt: skip
        assert len(caught) == 1
        assert found.tape is not None
        kept = found.tape.probabilities("a")
        assert kept.min() >= 0.0 and kept.max() <= 1.0
        np.testing.assert_allclose(kept.sum(axis=1), 1.0, rtol=1e-12)
        if table is rounded:
            assert found.scores["a"]["log_loss"] == pytest.approx(
                exact.scores["model"]["log_loss"], abs=0.01
            )
        with pytest.raises(ValueError, match="only rounded, pass a larger tolerance="):
            sk.score_predictions(
                y, probabilities=table, metrics="log_loss", classes=order, tolerance=0.0
            )
        sk.score_predictions(y, made, probabilities=table, classes=order)  # no measure reads them
    coarse = np.round(shares, 1)
    with pytest.warns(UserWarning, match="off by at most 0.2"):
        sk.score_predictions(
            y, probabilities=coarse + 0.03, metrics="brier", classes=order, tolerance=0.2
        )


def test_probabilities_that_no_measure_needs_are_not_checked_nor_scored_later() -> None:
    y, made, shares = in_order(60, 3)
    order = ["legit", "fraud", "other"]
    wrong = shares * 3.0
    result = sk.score_predictions(y, made, probabilities=wrong, metrics="accuracy", classes=order)
    assert result.scores["model"]["accuracy"] == np.mean(y == made)
    most = sk.score_predictions(y, probabilities=shares / 2, metrics="accuracy", classes=order)
    assert most.scores == result.scores
    assert np.isnan(result.rescore(["log_loss"]).scores["model"]["log_loss"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_of_predictions_has_a_column_for_each_model(library: str) -> None:
    made = {"a": BINARY, "b": BINARY[::-1]}
    frame = pytest.importorskip(library).DataFrame(made)
    one = sk.score_predictions(BINARY, frame, metrics="accuracy")
    assert one.scores == sk.score_predictions(BINARY, made, metrics="accuracy").scores
    assert list(sk.score_predictions(BINARY, frame[["b"]], metrics="accuracy").scores) == ["b"]
    with pytest.raises(ValueError, match="y_true is a frame, but one column is needed"):
        sk.score_predictions(frame, BINARY)
    with pytest.raises(ValueError, match="'m' is a frame, but one column is needed"):
        sk.score_predictions(BINARY, {"m": frame})


BINARY = ["no", "yes", "no", "yes"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"predictions": ["no", "Yes", "no", "no"]},
            "'Yes' is predicted, but 'yes' is a label: use the same spelling",
        ),
        (
            {"predictions": ["no", "Yes", "no", "no"], "classes": ["no", "yes"]},
            "Row 1 has the prediction of 'model' 'Yes'",
        ),
        (
            {"predictions": [0, 1, 0, 0]},
            "y_true contains strings and predictions of 'model' numbers",
        ),
        ({"predictions": [0, 1, 0, 0], "classes": ["no", "yes"]}, "use the same type for both"),
        ({"predictions": ["no", None, "no", "no"]}, "Row 1 has no prediction of 'model'"),
        ({"predictions": ["no"] * 3}, "same number of rows"),
        ({"predictions": None}, "pass predictions="),
        ({"predictions": {}}, "empty dict"),
        (
            {"probabilities": [0.5, 1.2, 0.1, 0.2], "metrics": "brier"},
            r"row 1 are \[-0.2, 1.2\], not in \[0, 1\]",
        ),
        (
            {"probabilities": np.full((4, 2), 0.6), "metrics": "auc"},
            r"row 0 are \[0.6, 0.6\], not in \[0, 1\] with the sum 1",
        ),
        (
            {"probabilities": np.full((4, 2), 0.52), "metrics": "auc"},
            "with the sum 1. If they are only rounded, pass a larger tolerance=",
        ),
        *(
            ({"predictions": None, "probabilities": p, "metrics": "accuracy"}, message)
            for p, message in (
                ([10.0, 80.0, 20.0, 70.0], "Divide percentages by 100"),
                ([[90.0, 10.0], [20.0, 80.0], [5.0, 95.0], [50.0, 50.0]], "Divide percentages"),
                ({"model": {"yes": [1.0, 80.5, 20.0, 100.0]}}, "row 1 are .* Divide percentages"),
                ([-2.5, 0.3, -4.0, 1.0], r"row 0 are \[3.5, -2.5\].* logits, pass predictions="),
                ([0.1, 0.9, 0.2, 1.02], r"row 3 are \[-0.02, 1.02\]"),
            )
        ),
        *(
            ({"predictions": made, "probabilities": p}, r"are needed, but these are times \(")
            for made in (BINARY, None)
            for days in (np.arange(4).astype("M8[D]"), np.arange(4).astype("m8[s]"))
            for p in (days, np.column_stack([days, days]), {"model": {"yes": days}})
        ),
        ({"tolerance": 1.5}, "tolerance must be a number from 0 to 1"),
        ({"probabilities": np.full((4, 3), 1 / 3)}, r"must be \(4, 2\)"),
        (
            {"probabilities": {"model": {"maybe": [0.5] * 4}}},
            "no column of the class 'no'. The classes are",
        ),
        (
            {"probabilities": {"model": {"maybe": [0.5] * 4}}, "classes": ["no", "yes"]},
            "'maybe', which is not one of the classes",
        ),
        (
            {"predictions": None, "probabilities": {"yes": [0.5] * 4}},
            "Also name the model of these columns",
        ),
        (
            {"predictions": {"a": BINARY}, "probabilities": {"other": [0.5] * 4}},
            "Name each model in both",
        ),
        (
            {"predictions": None, "probabilities": {"no": [0.5] * 4, "yes": [0.5] * 4}},
            "Also name the model of these columns",
        ),
        ({"predictions": {"a": BINARY}, "probabilities": [0.5] * 4}, "as a dict by model"),
        ({"metrics": "auc"}, "'auc' needs probabilities: pass probabilities="),
        ({"y_true": [None] * 4}, "no label at all"),
        ({"y_true": [], "predictions": []}, "no rows"),
        ({"y_true": [0, 1, 0, None], "predictions": [0.2, 0.7, 0.1, 1.0]}, "as probabilities="),
        ({"view": "later"}, "'hindsight' or 'as_known'"),
        ({"view": "as_known"}, "pass arrival= and label_time="),
        ({"unanswered": "drop"}, "'error', 'skip' or 'wrong'"),
        ({"label_time": [1, 2, 3, 4]}, "label_time= needs arrival="),
        ({"arrival": [1, 3, 2, 4]}, "goes back at row 2, from 3 to 2"),
        ({"arrival": [1, 3, None, 4]}, "arrival is missing at row 2"),
        ({"arrival": ["1", "2", "3", "4"]}, "Convert texts first"),
        ({"arrival": [1, 2, 3, 4], "label_time": [1, 1, 3, 4]}, r"label_time\[1\] is 1, before"),
        ({"arrival": [1, 2, 3, 4], "label_time": [1, None, 3, 4]}, "Row 1 has a label but no"),
        (
            {"arrival": [1, 2, 3, 4], "label_time": np.full(4, "2024-01-01", "M8[s]")},
            "arrival contains numbers, but label_time datetimes",
        ),
        ({"sample_weight": [1, 1, -1, 1]}, "sample_weight of row 2"),
        (
            {"y_true": [0.5, 1.0, 2.0, 3.0], "predictions": [1.0] * 4, "unanswered": "wrong"},
            "for classification",
        ),
    ],
)
def test_bad_input_is_said(given: dict[str, Any], message: str) -> None:
    given = {"y_true": BINARY, "predictions": BINARY} | given
    with pytest.raises(ValueError, match=message):
        sk.score_predictions(given.pop("y_true"), **given)


def test_rows_of_errors_are_counted_from_the_first_of_all(pd: Any) -> None:
    frame = pd.DataFrame({"y": [0, 1] * 5, "m": [0, 1] * 5, "when": [*range(9), 3]})
    chunks = [frame[:9], frame[9:]]
    log = sk.PredictionLog(chunks, target="y", predictions="m", arrival="when")
    with pytest.raises(ValueError, match="goes back at row 9, from 8 to 3"):
        log.score("accuracy")
    chunks = [frame[:9], frame[9:].assign(m=7)]
    with pytest.raises(ValueError, match="Row 9 has the prediction of 'm' 7"):
        sk.PredictionLog(chunks, target="y", predictions="m", classes=[0, 1]).score("accuracy")


def test_columns_that_are_not_there_are_said(pd: Any) -> None:
    frame = pd.DataFrame({"y": [0, 1], "gbm": [0, 1]})
    with pytest.raises(ValueError, match="target is missing"):
        sk.PredictionLog(frame, predictions="gbm")
    with pytest.raises(ValueError, match=r"no column 'gmb'. Did you mean 'gbm'"):
        sk.PredictionLog(frame, target="y", predictions="gmb").score()
    with pytest.raises(ValueError, match="can be read only once"):
        sk.PredictionLog(iter([frame]), target="y", predictions="gbm").score()
    known = sk.PredictionLog(iter([frame]), target="y", predictions="gbm", classes=[0, 1]).score()
    assert known.scores["gbm"]["accuracy"] == 1.0


def test_missing_predictions_are_errors_or_left_out_or_wrong() -> None:
    y, made = [0, 1, 0, 1], {"a": [0, None, 0, 0], "b": [0, 1, 0, 0]}
    with pytest.warns(UserWarning, match="'a' of 3 rows, 'b' of 4 rows"):
        skipped = sk.score_predictions(y, made, metrics="accuracy", unanswered="skip")
    wrong = sk.score_predictions(y, made, metrics="accuracy", unanswered="wrong")
    assert [one.scores["a"]["accuracy"] for one in (skipped, wrong)] == [pytest.approx(2 / 3), 0.5]
    assert wrong.n_unanswered == {"a": 1, "b": 0}
    with pytest.raises(ValueError, match="no prediction of 'a' at all"):
        sk.score_predictions(y, {"a": [None] * 4}, metrics="accuracy", unanswered="skip")


def test_one_column_of_probabilities_is_that_of_the_second_class_or_of_a_named_one() -> None:
    y, p = ["a", "b", "b"], [0.2, 0.9, 0.4]
    second = sk.score_predictions(y, probabilities=p, metrics="log_loss")
    named = sk.score_predictions(y, probabilities={"model": {"b": p}}, metrics="log_loss")
    first = sk.score_predictions(
        y, probabilities={"model": {"a": [1 - one for one in p]}}, metrics="log_loss"
    )
    lists = sk.score_predictions(
        y, probabilities=np.c_[1 - np.array(p), p].tolist(), metrics="log_loss"
    )
    assert_same(named, second)
    assert_same(lists, second)
    expected = -np.mean(np.log([0.8, 0.9, 0.4]))
    for one in (second, first):
        assert one.scores["model"]["log_loss"] == pytest.approx(expected)
    assert second.tape is not None
    assert second.tape.predictions("model").tolist() == ["a", "b", "a"]


def test_the_first_fraction_may_be_in_a_later_row(tmp_path: Path, pa: Any, pd: Any) -> None:
    frame = pd.DataFrame({"y": [1.0, 2.0, 3.0, 4.5], "m": [1.0, 2.0, 3.0, 4.0]})
    frame.to_parquet(tmp_path / "log.parquet")
    log = sk.PredictionLog(
        tmp_path / "log.parquet", target="y", predictions="m", options={"chunk_size": 2}
    )
    assert log.score().scores["m"]["mae"] == 0.125


def test_labels_of_which_some_are_missing_are_whole_numbers_again() -> None:
    result = sk.score_predictions([0.0, 1.0, np.nan, 1.0], [0.0, 1.0, 1.0, 0.0])
    assert result.classes is not None and result.classes.tolist() == [0, 1]
    assert result.classes.dtype.kind == "i"


def test_probabilities_of_the_only_class_are_not_those_of_another() -> None:
    shares = {"m": {"a": [1.0, 1.0]}}
    result = sk.score_predictions(["a", "a"], probabilities=shares, metrics=["brier", "accuracy"])
    assert result.scores == {"m": {"brier": 0.0, "accuracy": 1.0}}


def different_rows() -> tuple[np.ndarray, dict[str, Any]]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    made = {"a": np.where(rng.random(400) < 0.8, y, 1 - y).astype(object)}
    made["b"] = np.where(np.arange(400) < 273, y, None)
    return y, made


@pytest.mark.filterwarnings("ignore:The models have predictions for different rows")
def test_scores_of_different_rows_have_no_winner_without_a_word(tmp_path: Path) -> None:
    """Wherever the scores stand: printed, as a page, and as tables of papers."""
    y, made = different_rows()
    result = sk.score_predictions(y, made, unanswered="skip")
    said = "The models have predictions for different rows ('a' of 400 rows, 'b' of 273 rows)"
    assert said in str(result)
    assert f"1.0000. {said}" in answer(result).headline
    assert said in result.to_markdown().replace("\\", "")
    assert said in result.to_latex()
    assert "**" not in result.to_markdown()
    page = result.report(tmp_path / "page").read_text()
    assert said in page.replace("&#x27;", "'")
    assert "Bold" not in page
    loaded = sk.load(result.save(tmp_path / "result.npz"))
    assert said in str(loaded)
    assert "different rows" not in str(result.select(models="b"))
    made["a"][273:] = None  # the same rows
    same = sk.score_predictions(y, made, unanswered="skip")
    assert "different rows" not in str(same) + same.to_markdown() + answer(same).headline
    assert "**1.0000**" in same.to_markdown()


def test_models_whose_names_are_the_same_text_are_refused():
    with pytest.raises(ValueError, match=r"differ as text, and \[1, '1'\] do not"):
        sk.score_predictions([0, 1], {1: [0, 1], "1": [1, 0]}, metrics="accuracy")
