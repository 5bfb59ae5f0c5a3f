"""What the golden record holds: estimators × protocols × forgetting × measures on a few rows."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

import skstream as sk
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.neighbors import WindowedKNeighborsClassifier
from skstream.streams import make_demo_stream
from tests._data import data_folder, load_stream

Record = Iterator[tuple[str, str]]

FORGETTING = {
    "all": sk.Cumulative(),
    "window": sk.SlidingWindow(50),
    "fading": sk.FadingFactor(0.98),
    "adwin": sk.AdaptiveWindow(),
}
MEASURES = [
    *("accuracy", "error", "kappa", "kappa_se", "kappa_m", "kappa_temporal", "kappa_plus"),
    *("arithmetic_accuracy", "geometric_accuracy", "harmonic_accuracy"),
    *("f1_macro", "precision_macro", "recall_macro", "mcc"),
]
#: Names that attributes had when the record was made, by the names that they have now.
FORMER = {
    "noise": "q",
    "previous_label_": "last_label_",
    "previous_labels_": "label_history_",
    "previous_target_": "last_target_",
}
REGRESSION_MEASURES = ["mae", "mse", "rmse", "r2", "persistent_skill"]


def fingerprint(*values: Any) -> str:
    digest = hashlib.sha256()
    for value in values:
        array = np.asarray(value)
        if array.dtype == object:
            array = np.array([repr(item) for item in array.ravel().tolist()])
        elif array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.nan, array)  # one bit pattern for every NaN
        digest.update(f"{array.dtype.kind}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:16]


def attributes(model: Any, depth: int = 0) -> Iterator[Any]:
    """Fitted attributes, those of inner models too, in the order of their names."""
    values = {FORMER.get(name, name): value for name, value in vars(model).items()}
    for name, value in sorted(values.items()):
        if isinstance(value, int | float | str | np.ndarray):
            yield name
            yield value
        elif hasattr(value, "get_params") and depth < 4:
            yield from attributes(value, depth + 1)
        elif isinstance(value, list):
            for item in value:
                part = item[1] if isinstance(item, tuple) and len(item) > 1 else item
                if hasattr(part, "get_params") and depth < 4:
                    yield from attributes(part, depth + 1)


def classifiers() -> dict[str, Any]:
    sgd = SGDClassifier(loss="log_loss")
    scaled = sk.make_stream_pipeline(StandardScaler(), SGDClassifier())
    halves = ColumnTransformer(
        [("a", StandardScaler(), slice(0, 2)), ("b", MinMaxScaler(), slice(2, None))]
    )
    return {
        "persistent": sk.Persistent(),
        "majority": sk.MajorityClass(),
        "majority_window": sk.MajorityWindow(20),
        "random": sk.RandomClass(),
        "nearest": WindowedKNeighborsClassifier(3, 20),
        "sgd": sgd,
        "hinge_adaptive": SGDClassifier(learning_rate="adaptive", eta0=0.1, penalty="l1"),
        "averaged": SGDClassifier(average=True),
        "perceptron": Perceptron(),
        "gnb": GaussianNB(),
        "igaussian": IncrementalGaussianNB(),
        "scaled": scaled,
        "columns": sk.make_stream_pipeline(halves, SGDClassifier(loss="log_loss")),
        "bernoulli": sk.make_stream_pipeline(MaxAbsScaler(), BernoulliNB()),
        "corrected": sk.TemporalCorrection(sgd, fading_factor=0.99),
        "augmented": sk.TemporallyAugmented(IncrementalGaussianNB(), n_lags=2),
        "ordinal": sk.TemporallyAugmented(scaled, encoding="ordinal"),
        "both": sk.TemporalCorrection(sk.TemporallyAugmented(BernoulliNB())),
        "noisy": sk.LabelNoise(GaussianNB(), noise=0.1),
        "mlp": MLPClassifier(hidden_layer_sizes=(3,)),
    }


def regressors() -> dict[str, Any]:
    return {
        "persistent": sk.PersistentRegressor(),
        "mean": sk.MeanRegressor(),
        "sgd": sk.make_stream_pipeline(StandardScaler(), SGDRegressor()),
        "huber": SGDRegressor(loss="huber", learning_rate="constant", eta0=1e-4),
    }


def streams() -> dict[str, tuple[Any, np.ndarray]]:
    """Two made streams, and two real ones where they are."""
    rng = np.random.default_rng(5)
    many = rng.normal(size=(300, 5))
    y = np.repeat(np.arange(60), 5) % 4
    many[:, 0] += y
    ((X, labels, _),) = make_demo_stream(300)
    found = {"demo": (X, labels), "four": (many, np.array(list("abcd"))[y])}
    for name in ("electricity", "covertype_head20k"):
        if (data_folder() / f"{name}.parquet").is_file():
            found[name] = load_stream(name, 300)
    return found


def of_result(name: str, result: Any) -> Record:
    for model, by_forgetting in result.values.items():
        for forgetting, by_metric in by_forgetting.items():
            for metric, curve in by_metric.items():
                yield f"{name}/{model}/{forgetting}/{metric}", fingerprint(curve)
        yield f"{name}/{model}/answers", fingerprint(result.tape.answers[model])
        yield f"{name}/{model}/path", fingerprint(result.paths[model].partition(":")[0])
        if result.models is not None:
            models = result.models[model]
            for k, one in enumerate(models if isinstance(models, list) else [models]):
                yield f"{name}/{model}/attributes/{k}", fingerprint(*attributes(one))
    yield f"{name}/tape", fingerprint(result.tape.y)


def all_records(folder: Path) -> Record:
    found = streams()
    for name, (X, y) in found.items():
        yield from _prequential(f"{name}/prequential", X, y)
        yield from _folds(f"{name}/folds", X[:150], y[:150])
        yield from _delayed(f"{name}/delayed", X[:200], y[:200])
        yield from _live(f"{name}/live", X, y, folder)
    X, y = found["four"]
    yield from _regression(X, np.cumsum(X[:, 1]))
    yield from _counts()


def _prequential(name: str, X: Any, y: np.ndarray) -> Record:
    common: dict[str, Any] = dict(forgetting=FORGETTING, random_state=3, record_every=7)
    evaluator = sk.PrequentialEvaluator(MEASURES, **common)
    result = evaluator.evaluate(classifiers(), X, y, return_models=True)
    yield from of_result(name, result)
    yield from of_result(
        f"{name}/rescored", result.rescore(["kappa", "mcc"], forgetting=FORGETTING)
    )
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(y))
    weighted = {key: classifiers()[key] for key in ("persistent", "sgd", "gnb", "scaled")}
    result = evaluator.evaluate(weighted, X, y, sample_weight=weight, return_models=True)
    yield from of_result(f"{name}/weighted", result)
    batches = sk.PrequentialEvaluator(MEASURES, batch_size=16, n_warmup=20, **common)
    result = batches.evaluate(classifiers(), X, y, return_models=True)
    yield from of_result(f"{name}/batches", result)
    loop = sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(kernels=False), **common)
    result = loop.evaluate(weighted, X, y, return_models=True)
    yield from of_result(f"{name}/loop", result)


def _folds(name: str, X: Any, y: np.ndarray) -> Record:
    models = {key: classifiers()[key] for key in ("persistent", "sgd", "gnb", "augmented")}
    for strategy in ("bootstrap", "cross", "split"):
        for test_on in ("all", "held_out", "trained"):
            evaluator = sk.KFoldEvaluator(
                ["accuracy", "kappa_temporal"],
                n_folds=3,
                forgetting=FORGETTING,
                random_state=4,
                strategy=f"{strategy}:{test_on}".removesuffix(":all"),
            )
            result = evaluator.evaluate(models, X, y, classes=np.unique(y), return_models=True)
            yield from of_result(f"{name}/{strategy}/{test_on}", result)


def _delayed(name: str, X: Any, y: np.ndarray) -> Record:
    models = {key: classifiers()[key] for key in ("persistent", "sgd", "gnb", "augmented", "mlp")}
    arrival = np.arange(len(y), dtype=float)
    label_time = arrival + np.random.default_rng(2).integers(0, 30, len(y))
    label_time[::37] = np.inf
    for reduce in ("dominant",):
        evaluator = sk.DelayedEvaluator(
            ["accuracy", "kappa", "kappa_temporal"],
            forgetting=FORGETTING,
            random_state=4,
            run=sk.RunOptions(keep_tape=True),
            polling=sk.Polling(n_bins=4, poll_every=3, reduce=reduce),
        )
        result = evaluator.evaluate(
            models, X, y, arrival=arrival, label_time=label_time, return_models=True
        )
        yield from of_result(f"{name}/{reduce}", result)


def _live(name: str, X: Any, y: np.ndarray, folder: Path) -> Record:
    models = {key: classifiers()[key] for key in ("sgd", "gnb", "corrected", "columns")}
    evaluator = sk.PrequentialEvaluator(
        MEASURES, forgetting=FORGETTING, random_state=3, run=sk.RunOptions(keep_tape=True)
    )
    run = evaluator.start(models, classes=np.unique(y), return_models=True)
    for begin in range(0, 60):
        run.update(X[begin : begin + 1], y[begin : begin + 1])
    path = folder / "run.joblib"
    run.save(path)
    run = sk.load_run(path)
    run.update(X[60:], y[60:])
    result = run.result()
    yield from of_result(name, result)
    saved = result.save(folder / "result.npz")
    yield from of_result(f"{name}/loaded", sk.load(saved))


def _regression(X: Any, y: np.ndarray) -> Record:
    evaluator = sk.PrequentialEvaluator(
        REGRESSION_MEASURES,
        forgetting={key: value for key, value in FORGETTING.items() if key != "adwin"},
        random_state=3,
    )
    yield from of_result("regression", evaluator.evaluate(regressors(), X, y, return_models=True))


def _counts() -> Record:
    rng = np.random.default_rng(8)
    X = rng.poisson(1.0, size=(250, 6)).astype(float)
    y = rng.integers(0, 3, 250)
    models = {
        "multinomial": MultinomialNB(),
        "complement": ComplementNB(),
        "bernoulli": BernoulliNB(),
        "perceptron": Perceptron(eta0=0.1),
        "constant": SGDClassifier(learning_rate="constant", eta0=0.1, penalty=None),
    }
    evaluator = sk.PrequentialEvaluator(MEASURES, random_state=1)
    yield from of_result("counts", evaluator.evaluate(models, X, y, return_models=True))
    words = np.array(["red", "green", "blue", "sky", "sea", "sun"])
    texts = np.array([" ".join(rng.choice(words, 4)) for _ in range(200)], dtype=object)
    hashed = HashingVectorizer(n_features=2**8, alternate_sign=False).transform(texts)
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=1)
    text_models = {"multinomial": MultinomialNB(), "sgd": SGDClassifier()}
    yield from of_result(
        "text", evaluator.evaluate(text_models, hashed, y[:200], return_models=True)
    )
