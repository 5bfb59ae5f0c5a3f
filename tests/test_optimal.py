"""BayesOptimal: the best answers by the number of rows learnt, as an estimator and as a kernel."""

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from skstream import KFoldEvaluator, LabelNoise, PrequentialEvaluator
from skstream.engine.kernels import Task
from skstream.optimal import BayesOptimal
from skstream.streams import Component, GaussianMixtureStream, load_testbed, make_demo_stream
from skstream.testing import check_stream_estimator
from tests.kernels._reference import (
    TIMELINES,
    assert_same_state,
    cut,
    make_block,
    random_cuts,
    run_kernel,
    run_literally,
    running,
)

STREAM = load_testbed("NSCX")
X, Y = STREAM.rows(0, 400)


def test_the_answer_is_that_of_the_row():
    result = PrequentialEvaluator("error").evaluate(BayesOptimal(STREAM), STREAM)
    assert result.paths == {"BayesOptimal": "kernel"}
    all_X, all_y = STREAM.rows(0, 10_001)
    best = STREAM.bayes_predict(all_X, np.arange(10_001))
    assert np.array_equal(result.predictions("BayesOptimal")[1:], best[1:])
    assert result.scores["BayesOptimal"]["error"] == pytest.approx(np.mean((best != all_y)[1:]))


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("timeline", TIMELINES)
def test_the_kernel_is_the_loop(timeline, method):
    rng = np.random.default_rng(0)
    task = Task(STREAM.classes, method)
    block = make_block(X[:50], np.searchsorted(STREAM.classes, Y[:50]), timeline, rng)
    literal = BayesOptimal(STREAM)
    expected = run_literally(literal, block, task)
    model = BayesOptimal(STREAM)
    kernel = running(model, task)
    answers = run_kernel(kernel, cut(block, random_cuts(block, rng)))
    np.testing.assert_array_equal(answers, expected)
    kernel.kernel.export(kernel.state)
    assert model.n_rows_learnt_ == literal.n_rows_learnt_
    model.stream = literal.stream
    assert_same_state(model, literal)


def test_contract():
    model = BayesOptimal(STREAM)
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X[:100], Y[:100])
    assert model.partial_fit(X[100:150], Y[100:150]).n_rows_learnt_ == 150
    before = joblib.hash(model)
    posterior = model.predict_proba(X)
    assert np.array_equal(posterior, STREAM.posterior(X, 150))
    assert np.array_equal(model.predict(sparse.csr_array(X)), model.predict(X))
    assert joblib.hash(model) == before
    assert model.fit(X[:10], Y[:10]).n_rows_learnt_ == 10


def test_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=STREAM.feature_names)
    framed = BayesOptimal(STREAM).partial_fit(frame, Y)
    assert framed.feature_names_in_.tolist() == ["x1", "x2"]
    assert np.array_equal(framed.predict_proba(frame), STREAM.posterior(X, 400))


def test_stream_contract():
    """All checks but those that choose the labels: these are the stream's own."""
    parts = [Component(label, 1, (3 * label, 0), (1, 1)) for label in (0, 1, 2)]
    stream = GaussianMixtureStream(parts, n_rows=240)
    own = "The labels are those of the stream, known before any row."
    expected = dict.fromkeys(("check_labels_keep_their_type", "check_bad_labels_are_refused"), own)
    check_stream_estimator(
        BayesOptimal(stream),
        *stream.rows(0, 240),
        batch_split=True,
        n_learns=1000,
        expected_failed_checks=expected,
    )


def test_with_another_model_around_it():
    noisy = LabelNoise(BayesOptimal(STREAM), noise=0.0, random_state=0)
    result = PrequentialEvaluator("error").evaluate({"a": noisy, "b": BayesOptimal(STREAM)}, STREAM)
    assert result.paths["a"] == "kernel"
    assert result.scores["a"] == result.scores["b"]


def test_rows_of_another_stream():
    with pytest.raises(ValueError, match="the stream of BayesOptimal has 2"):
        BayesOptimal(STREAM).fit(np.ones((4, 3)), Y[:4])
    with pytest.raises(ValueError, match="never generates the label 'C': its labels are"):
        BayesOptimal(STREAM).fit(X[:2], ["A", "C"])
    with pytest.raises(ValueError, match="takes no sample_weight"):
        BayesOptimal(STREAM).partial_fit(X, Y, sample_weight=np.ones(400))
    with pytest.raises(ValueError, match="The 'stream' parameter of BayesOptimal must be"):
        BayesOptimal(make_demo_stream(10)).fit(X, Y)
    evaluator = KFoldEvaluator("error", n_folds=2, random_state=0)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        evaluator.evaluate(BayesOptimal(STREAM), X, Y)
