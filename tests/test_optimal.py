"""BayesOptimal: the best answers by the number of rows learnt, as an estimator and as a kernel."""

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

import skstream as sk
from skstream.kernels import Task
from skstream.optimal import BayesOptimal
from skstream.streams import (
    GaussianMixtureStream,
    concat,
    drop_rows,
    load_testbed,
    make_demo_stream,
    take_rows,
)
from skstream.streams._generators._components import Component
from skstream.testing import check_stream_estimator
from tests.kernels import _reference as ref

STREAM = load_testbed("NSCX")
X, Y = STREAM.rows(0, 400)


def test_the_answer_is_that_of_the_row():
    result = sk.PrequentialEvaluator("error").evaluate(BayesOptimal(STREAM), STREAM)
    assert result.paths == {"BayesOptimal": "kernel"}
    all_X, all_y = STREAM.rows(0, 10_001)
    best = STREAM.bayes_predict(all_X, np.arange(10_001))
    assert np.array_equal(result.predictions("BayesOptimal", every_row=True)[1:], best[1:])
    assert result.scores["BayesOptimal"]["error"] == pytest.approx(np.mean((best != all_y)[1:]))


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("timeline", ref.TIMELINES)
def test_the_kernel_is_the_loop(timeline, method, rng):
    task = Task(STREAM.classes, method)
    block = ref.make_block(X[:50], np.searchsorted(STREAM.classes, Y[:50]), timeline, rng)
    literal = BayesOptimal(STREAM)
    expected = ref.run_literally(literal, block, task)
    model = BayesOptimal(STREAM)
    kernel = ref.running(model, task)
    answers = ref.run_kernel(kernel, ref.cut(block, ref.random_cuts(block, rng)))
    np.testing.assert_array_equal(answers, expected)
    kernel.kernel.export(kernel.state)
    assert model.n_rows_learnt_ == literal.n_rows_learnt_
    model.stream = literal.stream
    ref.assert_same_state(model, literal)


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


def test_rows_of_another_stream():
    with pytest.raises(ValueError, match="the stream of BayesOptimal has 2"):
        BayesOptimal(STREAM).fit(np.ones((4, 3)), Y[:4])
    with pytest.raises(ValueError, match="never generates the label 'C': its labels are"):
        BayesOptimal(STREAM).fit(X[:2], ["A", "C"])
    with pytest.raises(ValueError, match="takes no sample_weight"):
        BayesOptimal(STREAM).partial_fit(X, Y, sample_weight=np.ones(400))
    with pytest.raises(ValueError, match="The 'stream' parameter of BayesOptimal must be"):
        BayesOptimal(make_demo_stream(10)).fit(X, Y)
    evaluator = sk.KFoldEvaluator("error", n_folds=2, random_state=0)
    with pytest.raises(
        ValueError, match=r"\(model 'BayesOptimal'\) takes .* cannot be used with folds"
    ):
        evaluator.evaluate(BayesOptimal(STREAM), X, Y)
    bag = sk.OnlineBagging(BayesOptimal(STREAM), n_estimators=2, random_state=0)
    with pytest.raises(ValueError, match="ensemble around it, such as OnlineBagging, or by folds"):
        bag.fit(X, Y)


def test_rows_without_a_label_are_no_time():
    half = [label if k % 2 else None for k, label in enumerate(Y)]
    words = 'missing_labels="skip" a row without a label is not used for training'
    evaluator = sk.PrequentialEvaluator("error", missing_labels="skip")
    with pytest.raises(ValueError, match=words):
        evaluator.evaluate(BayesOptimal(STREAM), X, half, classes=["A", "B"])
    with pytest.raises(ValueError, match=words):
        evaluator.start({"a": sk.LabelNoise(BayesOptimal(STREAM))}, classes=["A", "B"])
    with pytest.raises(ValueError, match=words):
        sk.prequential_predict(BayesOptimal(STREAM), X, half, missing_labels="skip")
    whole = evaluator.evaluate(BayesOptimal(STREAM), take_rows(STREAM, 50))  # a label in every row
    assert whole.n_rows == 50


def test_rows_with_another_number_are_refused():
    evaluator = sk.PrequentialEvaluator("error")
    later = drop_rows(STREAM, 9950)
    with pytest.raises(
        ValueError, match=r"Row 0 of the stream evaluated is row 9,950 .* drop_rows\("
    ):
        evaluator.evaluate(BayesOptimal(STREAM), later, warm_start=True)
    with pytest.raises(ValueError, match="Row 0 of the stream evaluated is row 9,950"):
        sk.prequential_predict(BayesOptimal(STREAM), later)
    twice = concat(take_rows(STREAM, 30), take_rows(STREAM, 30))
    with pytest.raises(ValueError, match="Row 59 of the stream evaluated is row 29 of"):
        evaluator.evaluate(BayesOptimal(STREAM), twice, warm_start=True)
    at_its_beginning = BayesOptimal(STREAM).fit(*STREAM.rows(0, 9950))
    result = evaluator.evaluate(at_its_beginning, later, warm_start=True)
    best = STREAM.bayes_predict(STREAM.rows(9950, 10_001)[0], np.arange(9950, 10_001))
    assert np.array_equal(result.predictions("BayesOptimal", every_row=True)[1:], best[1:])


def test_a_stream_of_other_components_is_refused():
    evaluator = sk.PrequentialEvaluator("error")
    with pytest.raises(ValueError, match="comes from another GaussianMixtureStream than that of"):
        evaluator.evaluate(BayesOptimal(STREAM), take_rows(load_testbed("NSGT"), 50))
    other_rows = take_rows(load_testbed("NSCX", random_state=3), 50)  # of the same mixture
    assert evaluator.evaluate(BayesOptimal(STREAM), other_rows).n_rows == 50


@pytest.mark.parametrize("engine", ["auto", "loop"])
def test_columns_in_another_order_are_refused(engine, pd):
    frame = pd.DataFrame(X, columns=STREAM.feature_names)
    evaluator = sk.PrequentialEvaluator("error", run=sk.RunOptions(kernels=engine == "auto"))
    expected = evaluator.evaluate(BayesOptimal(STREAM), X[:150], Y[:150]).scores
    for rows in (frame[:150], frame[:150].set_axis(["a", "b"], axis=1)):
        assert evaluator.evaluate(BayesOptimal(STREAM), rows, Y[:150]).scores == expected
    with pytest.raises(Exception, match=r"columns are \['x2', 'x1'\].* order of the stream"):
        evaluator.evaluate(BayesOptimal(STREAM), frame[frame.columns[::-1]], Y)


@pytest.mark.parametrize(
    "model",
    [
        sk.DriftReset(BayesOptimal(STREAM)),
        sk.DynamicWeightedMajority(BayesOptimal(STREAM)),
        sk.LabelNoise(sk.DriftReset(sk.LabelNoise(BayesOptimal(STREAM)))),
    ],
    ids=["reset", "majority", "nested"],
)
def test_fresh_models_that_would_count_from_the_first_row_are_refused(model):
    with pytest.raises(ValueError, match="counts its rows from the start again"):
        sk.PrequentialEvaluator("error").evaluate(model, STREAM)
    with pytest.raises(ValueError, match="counts its rows from the start again"):
        model.partial_fit(X[:1], Y[:1], classes=STREAM.classes)
