"""Streams of single texts: rows without columns."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import MultinomialNB

import skstream as sk
from skstream.streams import shuffle_rows, shuffle_within_class

rng = np.random.default_rng(0)
WORDS = np.array(["free", "win", "cash", "call", "now", "meet", "home", "later", "lunch", "ok"])
y = rng.integers(0, 2, 24)
TEXTS = [" ".join(rng.choice(WORDS[:6] if label else WORDS[4:], 4)) for label in y]

NB = sk.make_stream_pipeline(
    HashingVectorizer(n_features=64, alternate_sign=False), MultinomialNB()
)
SGD = sk.make_stream_pipeline(HashingVectorizer(n_features=64), SGDClassifier(random_state=0))
MODELS = {
    "nb": NB,
    "sgd": SGD,
    "corrected": sk.TemporalCorrection(NB),
    "noisy": sk.LabelNoise(SGD, noise=0.3, random_state=0),
    "majority": sk.MajorityClass(),
    "window": sk.MajorityWindow(5),
    "persistent": sk.Persistent(),
}

CONTAINERS = {
    "tuple": tuple,
    "str": np.array,
    "object": lambda texts: np.array(texts, dtype=object),
    "bytes": lambda texts: [text.encode() for text in texts],
    "variable": lambda texts: np.array(texts, dtype=np.dtypes.StringDType()),
    "series": lambda texts: pytest.importorskip("pandas").Series(texts),
    "string series": lambda texts: pytest.importorskip("pandas").Series(texts, dtype="string"),
    "categories": lambda texts: pytest.importorskip("pandas").Series(texts, dtype="category"),
    "polars": lambda texts: pytest.importorskip("polars").Series(texts),
    "arrow": lambda texts: pytest.importorskip("pyarrow").array(texts),
    "chunked": lambda texts: pytest.importorskip("pyarrow").chunked_array([texts[:9], texts[9:]]),
}


@pytest.mark.parametrize(
    "evaluator",
    [
        sk.PrequentialEvaluator("accuracy", random_state=0),
        sk.PrequentialEvaluator("accuracy", batch_size=3, random_state=0),
        sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0),
        sk.DelayedEvaluator("accuracy", delay=4, random_state=0),
        sk.HoldoutEvaluator("accuracy", holdout=(TEXTS[:5], y[:5]), random_state=0),
    ],
    ids=lambda evaluator: type(evaluator).__name__,
)
def test_kernel_and_loop_answer_alike_in_every_evaluator(evaluator):
    result = evaluator.evaluate(MODELS, TEXTS, y)
    evaluator.set_params(run__kernels=False)
    loop = evaluator.evaluate(MODELS, TEXTS, y)
    assert result.scores == loop.scores
    assert set(loop.paths.values()) == {"loop"}
    one_by_one = getattr(evaluator, "batch_size", 1) == 1
    assert not one_by_one or set(result.paths.values()) == {"kernel"}


def test_answers_are_those_of_a_bare_loop():
    words, model, expected = HashingVectorizer(n_features=64, alternate_sign=False), None, []
    for text, label in zip(TEXTS, y, strict=True):
        row = words.transform([text])
        if model is None:
            model = MultinomialNB()
        else:
            expected.append(int(model.predict(row)[0]))
        model.partial_fit(row, [label], classes=[0, 1])
    assert sk.prequential_predict(NB, TEXTS, y).tolist() == expected


@pytest.mark.parametrize("container", CONTAINERS)
def test_texts_of_any_container(container):
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0)
    texts = CONTAINERS[container](TEXTS)
    assert evaluator.evaluate(NB, texts, y).scores == evaluator.evaluate(NB, TEXTS, y).scores


def test_a_run_folder_tells_other_texts_apart(tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0, run=tmp_path / "run")
    first = evaluator.evaluate(SGD, TEXTS, y).scores
    assert evaluator.evaluate(SGD, np.array(TEXTS, dtype=object), y).scores == first
    with pytest.raises(ValueError, match="first 24 rows have other features"):
        evaluator.evaluate(SGD, TEXTS[::-1], y)


def test_live_questions_are_texts():
    run = sk.DelayedEvaluator("accuracy", random_state=0).start(NB, classes=[0, 1])
    for i, text in enumerate(TEXTS):
        run.ask([text], [i]) if i else run.ask(np.array([text]), [i])
        run.label([i], y[i : i + 1])
    expected = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(NB, TEXTS, y)
    assert run.result().scores == expected.scores
    with pytest.raises(ValueError, match="that of row 25 is missing"):
        run.ask(["win", None], [98, 99])


def test_a_search_over_texts():
    search = sk.PrequentialSearch(NB, {"multinomialnb__alpha": [0.1, 1.0]})
    search.fit(TEXTS, y)
    assert search.predict(TEXTS[:2]).shape == (2,)
    chunks = sk.PrequentialSearch(NB, {"multinomialnb__alpha": [0.1, 1.0]})
    for begin in (0, 12):
        chunks.partial_fit(TEXTS[begin : begin + 12], y[begin : begin + 12], classes=[0, 1])
    assert chunks.best_params_ == search.best_params_


def test_shuffled_texts_keep_their_labels():
    shuffled, labels = shuffle_rows(TEXTS, y, random_state=0)
    assert sorted(zip(shuffled, labels, strict=True)) == sorted(zip(TEXTS, y, strict=True))
    assert shuffle_within_class(TEXTS, y, random_state=0)[1].tolist() == y.tolist()


@pytest.mark.parametrize("gap", [None, np.nan])
@pytest.mark.parametrize("first", [0, 5])
def test_a_missing_text_is_named_with_its_row(gap, first):
    texts = [*TEXTS[:7], gap, *TEXTS[8:]]
    message = rf"that of row 7 is missing \({gap}\).*use an empty text"
    chunks = [(texts[:first], y[:first]), (texts[first:], y[first:])][first == 0 :]
    with pytest.raises(ValueError, match=message):
        sk.PrequentialEvaluator("accuracy").evaluate(NB, chunks, classes=[0, 1])
    run = sk.PrequentialEvaluator("accuracy").start(NB, classes=[0, 1])
    if first:
        run.update(texts[:first], y[:first])
    with pytest.raises(ValueError, match=message):
        run.update(texts[first:], y[first:])
    assert run.n_rows == first


def test_other_rows_among_texts_are_refused():
    evaluator = sk.PrequentialEvaluator("accuracy")
    with pytest.raises(ValueError, match=r"that of row 1 is of type int \(3\)"):
        evaluator.evaluate(NB, ["win", 3], [0, 1])
    chunks = [(TEXTS[:5], y[:5]), (np.zeros((2, 3)), y[5:7])]
    with pytest.raises(ValueError, match="array in the chunk that starts at row 5, but a one-dim"):
        evaluator.evaluate(NB, chunks, classes=[0, 1])
    with pytest.raises(ValueError, match="one-dimensional array of texts in the chunk that starts"):
        evaluator.evaluate(sk.Persistent(), [chunks[1], chunks[0]], classes=[0, 1])
    with pytest.raises(ValueError, match="holdout rows are a one-dimensional array of texts"):
        sk.HoldoutEvaluator("accuracy", holdout=(TEXTS[:5], y[:5])).evaluate(
            sk.Persistent(), np.zeros((9, 2)), y[:9]
        )
    with pytest.raises(ValueError, match=r"Got shape \(\)\. Put a single text into a list"):
        evaluator.start(NB, classes=[0, 1]).update("win now", [1])
    model = sk.Persistent().partial_fit(np.zeros((2, 3)), [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="Expected 2D array"):
        model.predict(TEXTS[:2])


@pytest.mark.parametrize("engine", ["auto", "loop"])
@pytest.mark.parametrize("model", [SGDClassifier(), MultinomialNB(), sk.TemporallyAugmented(NB)])
def test_a_model_that_needs_columns_names_the_row_of_texts(model, engine):
    message = rf"Model '{type(model).__name__}' failed while training on row 0: .*text|.*string"
    with pytest.raises(sk.ModelError, match=message):
        sk.PrequentialEvaluator("accuracy", run=sk.RunOptions(kernels=engine == "auto")).evaluate(
            model, TEXTS, y
        )
