"""A result can be checked: the stream is known again, and what has changed is named."""

import shutil
from collections import namedtuple
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import parallel_config
from sklearn.linear_model import SGDClassifier

import skstream as sk
from skstream.core.rows.stream import as_drifts
from skstream.core.run.input import PassChecksums
from skstream.evaluation import verify
from skstream.metrics import Measure
from skstream.naive_bayes import IncrementalGaussianNB
from skstream.reports import _verify
from skstream.reports._verify import NOT_COMPARED
from skstream.streams import CSVStream, ParquetStream, as_stream, make_demo_stream
from skstream.streams._open import open_files
from tests._crafted import crafted
from tests._examples import examples, newest_alone
from tests.evaluation._models import FailsLater

NUMBERS = st.floats(allow_nan=False, allow_infinity=False, width=32) | st.integers(-1000, 1000)


def checksums(stream):
    found = PassChecksums()
    list(found.noted(stream))
    return found.sums()


@examples(40)
@given(
    rows=st.lists(st.tuples(NUMBERS, NUMBERS, st.booleans()), min_size=2, max_size=30),
    cuts=st.lists(st.integers(1, 29), max_size=4),
)
def test_the_same_values_are_the_same_from_every_source_and_in_any_chunks(
    tmp_path_factory, rows, cuts
):
    X = np.array([row[:2] for row in rows], dtype=np.float64)
    y = np.array(["up" if row[2] else "down" for row in rows])
    expected = checksums(as_stream(X, y))
    parts = sorted({cut for cut in cuts if cut < len(y)})
    chunks = list(zip(np.split(X, parts), np.split(y, parts), strict=True))
    assert checksums(as_stream(chunks)) == expected
    assert checksums(as_stream(np.asfortranarray(X), y.astype(object))) == expected
    assert checksums(as_stream(X.tolist(), y.tolist())) == expected
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert checksums(as_stream(frame, y)) == expected
    pieces = [(frame.iloc[part], y[part]) for part in np.split(np.arange(len(y)), parts)]
    assert checksums(as_stream(pieces)) == expected
    pytest.importorskip("pyarrow")
    folder = tmp_path_factory.mktemp("files")
    frame.assign(y=y).to_csv(folder / "rows.csv", index=False)
    frame.assign(y=y).to_parquet(folder / "rows.parquet")
    quantities = {"target": "y", "numeric": ["a", "b"]}  # no identifiers that lose digits
    assert checksums(CSVStream(folder / "rows.csv", **quantities)) == expected
    assert checksums(ParquetStream(folder / "rows.parquet", target="y", chunk_size=7)) == expected
    pl = pytest.importorskip("polars")
    assert checksums(as_stream(pl.from_pandas(frame), y)) == expected


def test_texts_and_gaps_are_the_same_in_every_frame(pd, pl):
    columns = {"a": [1.5, None, 2.0], "b": ["x", None, "zebra"], "c": [1, 2, 3]}
    y = [0, 1, 0]
    frame = pd.DataFrame(columns)
    expected = checksums(as_stream(frame, y))
    for other in (
        frame.astype({"b": "category", "c": "float32"}),
        frame.astype({"b": object, "c": "Int64"}),
        pl.DataFrame(columns),
    ):
        assert checksums(as_stream(other, y)) == expected
    assert checksums(as_stream(frame.assign(b=["x", None, "zebrb"]), y)) != expected


def models(**parameters):
    return {"sgd": SGDClassifier(**parameters), "bayes": IncrementalGaussianNB()}


def rows():
    stream = make_demo_stream(400, random_state=3)
    X, y = (np.concatenate(parts) for parts in zip(*(chunk[:2] for chunk in stream), strict=True))
    return X, y, ["a", *(f"x{k}" for k in range(1, X.shape[1]))]


@pytest.fixture(scope="module")
def evaluated(pd):
    X, y, names = rows()
    evaluator = sk.PrequentialEvaluator(["accuracy", "kappa"], record_every=50)
    return evaluator.evaluate(models(), pd.DataFrame(X, columns=names), y)


@pytest.fixture
def saved(evaluated, tmp_path):
    return evaluated.save(tmp_path / "result.npz")


def test_a_result_is_verified_from_its_file_with_rows_of_any_source(saved):
    X, y, _ = rows()
    result = sk.load(saved)
    found = verify(result, models(), X, y)
    assert found.identical
    said = "Seconds, sizes and paths are not compared."
    assert str(found) == f"identical: 798 predictions and the curves of 2 models. {said}"
    assert str(verify(result, {"sgd": SGDClassifier()}, X, y)).startswith(
        "identical: 399 predictions and the curves of 1 model."
    )
    with pytest.raises(ValueError, match=r"no model 'tree'; it has sgd, bayes"):
        verify(result, {"tree": SGDClassifier()}, X, y)


def planted(name):
    """Arguments of `verify` with one change, and what is said of it."""
    import pandas as pd

    X, y, names = rows()
    X, y = X.copy(), y.copy()
    arguments = {"models": models()}
    words = "other data: features is "
    if name == "a bit":
        X.ravel().view(np.uint64)[7] ^= np.uint64(1)
    elif name == "a swapped row":
        X[[100, 101]], y[[100, 101]] = X[[101, 100]], y[[101, 100]]
    elif name == "a column renamed":
        names[0], words = "b", "names is ['b', "
    elif name == "a label":
        y[200] = next(label for label in y if label != y[200])
        words = "labels is "
    elif name == "a row less":
        X, y, words = X[:-1], y[:-1], "rows is 399 and was 400"
    elif name == "weights":
        arguments["sample_weight"] = np.r_[np.ones(399), 2.0]
        words = "weights is "
    elif name == "a parameter":
        arguments["models"] = models(alpha=1e-3)
        words = "another model 'sgd': alpha is 0.001 and was 0.0001"
    elif name == "another class":
        arguments["models"]["bayes"] = sk.Persistent()
        words = "class is skstream.baselines.Persistent"
    elif name == "a setting":
        arguments["evaluator"] = sk.PrequentialEvaluator(["accuracy"], n_warmup=2)
        words = "n_warmup is 2 and was 1"
    elif name == "a batch":
        arguments["evaluator"] = sk.PrequentialEvaluator(["accuracy"], batch_size=3)
        words = "batch_size is 3 and was 1"
    return (pd.DataFrame(X, columns=names), y), arguments, words


@pytest.mark.parametrize(
    "name",
    [
        *("a bit", "a swapped row", "a column renamed", "a label", "a row less", "weights"),
        *("a parameter", "another class", "a setting", "a batch"),
    ],
)
def test_every_planted_change_is_found_and_named(name, saved):
    data, arguments, words = planted(name)
    found = verify(sk.load(saved), arguments.pop("models"), *data, **arguments)
    assert not found.identical
    assert words in "; ".join(found.reasons)
    assert str(found).startswith("different: ")


@pytest.mark.parametrize("part", ["tape/answers/1", "values/0/0/1"])
def test_a_changed_file_is_found_by_its_first_row(part, saved):
    X, y, _ = rows()
    with np.load(saved) as file:
        array = file[part].copy()
    if part.startswith("tape"):
        array[0, 123] = 1 - array[0, 123]
    else:
        array[2] = np.nextafter(array[2], 1)
    crafted(saved, {part: array})
    found = verify(sk.load(saved), models(), X, y)
    assert not found.identical
    words = {
        "tape/answers/1": "the prediction of 'bayes' at row 123 (counted from 0) is",
        "values/0/0/1": "kappa (all rows so far) of 'sgd' at the checkpoint after 150 rows is",
    }
    assert words[part] in found.first
    assert "no recorded cause" in str(found)


def test_other_versions_and_machines_are_named_and_change_nothing_alone(saved):
    X, y, _ = rows()
    result = sk.load(saved)
    record = result.details.record
    other = {
        **record,
        "versions": {**record["versions"], "numpy": "1.0"},
        "platform": {**record["platform"], "machine": "vax"},
    }
    result = replace(result, details=replace(result.details, record=other))
    found = verify(result, models(), X, y)
    assert found.identical
    assert "other versions: numpy is" in str(found)
    assert "another machine's arithmetic: machine is" in str(found)


def test_a_file_without_a_record_is_verified_by_its_labels(saved):
    X, y, _ = rows()
    crafted(saved, details__record={})
    result = sk.load(saved)
    assert verify(result, models(), X, y).identical
    assert verify(result, models(), X, y[::-1]).first


@pytest.mark.parametrize(
    "evaluator",
    [
        sk.PrequentialEvaluator(forgetting={"recent": "window:50"}, random_state=4),
        sk.KFoldEvaluator("accuracy", n_folds=3, strategy="split"),
        sk.HoldoutEvaluator("accuracy", holdout="next", every=100),
        sk.DelayedEvaluator("accuracy", delay=20, polling=sk.Polling(n_bins=4)),
        sk.PrequentialEvaluator(run=sk.RunOptions(keep_tape=False)),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_protocol_is_made_again_from_what_was_recorded(evaluator, tmp_path):
    X, y, _ = rows()
    result = sk.load(evaluator.evaluate(models(), X, y).save(tmp_path / "result.npz"))
    found = verify(result, models(), X, y)
    assert found.identical, found
    assert (found.n_answers > 0) == (evaluator.run is None)
    assert not verify(result, models(), X, y[::-1]).identical


def test_another_seed_is_found(tmp_path):
    X, y, _ = rows()
    evaluator = sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0)
    path = evaluator.evaluate(models(), X, y).save(tmp_path / "result.npz")
    crafted(path, parameters={**sk.load(path).parameters, "seed": 1})
    assert " in fold " in verify(sk.load(path), models(), X, y).first


def test_a_part_of_a_result_is_compared_with_the_same_part():
    X, y, _ = rows()
    folds = sk.KFoldEvaluator("accuracy", n_folds=3, random_state=0).evaluate(models(), X, y)
    part = folds.select(folds=[2, 1], models="sgd")
    assert verify(part, {"sgd": models()["sgd"]}, X, y).identical
    late = sk.DelayedEvaluator("accuracy", delay=20, polling=sk.Polling(n_bins=4)).evaluate(
        models(), X, y
    )
    assert verify(late.select(bins=[0, 3]), models(), X, y).identical


def test_what_was_recorded_as_a_text_only_is_asked_for(tmp_path):
    X, y, _ = rows()
    evaluator = sk.HoldoutEvaluator("accuracy", holdout=(X[:50], y[:50]))
    X, y, held, labels = X[60:], y[60:], X[1:51], y[1:51]
    result = evaluator.evaluate(models(), X.copy(), y.copy())
    with pytest.raises(ValueError, match="pass it, evaluator="):
        verify(result, models(), X.copy(), y.copy())
    assert verify(result, models(), X.copy(), y.copy(), evaluator=evaluator).identical
    other = sk.HoldoutEvaluator("accuracy", holdout=(held, labels))
    found = verify(result, models(), X.copy(), y.copy(), evaluator=other)
    assert "other data: held-out features is " in found.reasons[0]
    assert "held-out labels is " in found.reasons[0]


@newest_alone
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_run_folders_and_workers_note_the_same_stream(n_jobs, tmp_path):
    X, y, _ = rows()
    alone = sk.PrequentialEvaluator("accuracy", random_state=0).evaluate(models(), X, y)
    other = sk.PrequentialEvaluator(
        "accuracy",
        random_state=0,
        n_jobs=n_jobs,
        run=sk.RunOptions(checkpoint=tmp_path / "run", kernels=False),
    )
    with parallel_config(backend="threading"):
        result = other.evaluate(models(), X, y)
    assert result.details.record == alone.details.record


def test_the_given_evaluator_writes_nothing_again(tmp_path):
    X, y, _ = rows()
    evaluator = sk.PrequentialEvaluator("accuracy", run=tmp_path / "run")
    result = evaluator.evaluate(models(), X, y)
    shutil.rmtree(tmp_path / "run")
    assert verify(result, models(), X, y, evaluator=evaluator).identical
    assert not (tmp_path / "run").exists()


def test_under_delay_the_first_bin_that_differs_is_named_alone(tmp_path):
    X, y, _ = rows()
    result = sk.DelayedEvaluator("accuracy", delay=9, run=sk.RunOptions(keep_tape=True)).evaluate(
        models(), X, y
    )
    path = result.save(tmp_path / "late.npz")
    with np.load(path) as file:
        answers, curve = file["tape/answers/0"].copy(), file["values/0/0/0"].copy()
    answers[0, 123, [40, 44]] = 1 - answers[0, 123, [40, 44]]
    crafted(path, {"tape/answers/0": answers})
    found = verify(sk.load(path), models(), X, y).first
    assert "the prediction of 'sgd' in bin 40 at row 123 (counted from 0) is " in found
    assert len(found) < 100
    answers[0, 123, [40, 44]] = 1 - answers[0, 123, [40, 44]]
    curve[-1, 0, 7:] = np.nextafter(curve[-1, 0, 7:], 2)
    crafted(path, {"tape/answers/0": answers, "values/0/0/0": curve})
    found = verify(sk.load(path), models(), X, y).first
    assert "accuracy (all rows so far) of 'sgd' in bin 7 at the checkpoint after" in found
    assert len(found) < 140


@pytest.mark.parametrize("kind", ["csv", "arff", "parquet"])
def test_rows_of_files_are_named_by_their_file(kind, tmp_path, pd, pa):
    path = tmp_path / f"rows.{kind}"

    def write(label_of_5):
        y = ["a", "b", "a", "b", "a", label_of_5, "b", "a"]
        lines = [f"{k},{label}" for k, label in enumerate(y)]
        if kind == "parquet":
            pd.DataFrame({"x": np.arange(8), "y": y}).to_parquet(path)
        head = ["x,y", ""]  # an empty line is no row
        if kind == "arff":
            head = ["@relation r", "@attribute x numeric", "@attribute y {a,b}", "@data"]
        if kind != "parquet":
            path.write_text("\n".join([*head, *lines, ""]))
        return open_files([str(path)], "y")

    last = {"last": sk.Persistent()}
    result = sk.PrequentialEvaluator("accuracy").evaluate(last, write("b"))
    found = verify(result, last, write("a")).first
    assert found == f"the label at row 5 (row 5 of {path}) is 'a' and was 'b'"


def everything():
    """A result with all that a file can hold."""
    X, y, _ = rows()
    X, y = X[:150], y[:150].astype(object)
    y[9] = None
    evaluator = sk.KFoldEvaluator(
        ["accuracy", "kappa"],
        n_folds=2,
        forgetting={"all": "cumulative", "new": "window:50"},
        record_every=50,
        missing_labels="skip",
        unanswered="wrong",
        error_score=0.0,
        random_state=0,
    )
    several = {"sgd": SGDClassifier(), "last": sk.Persistent(), "fails": FailsLater(60)}
    stream = as_stream(X, y, sample_weight=np.arange(150) % 2 + 1.0)
    with pytest.warns(Warning, match="no more"):
        result = evaluator.evaluate(several, stream, classes=["DOWN", "UP"])
    assert result.failures and result.n_unlabelled
    return replace(result, drifts=as_drifts([70]))


def forged(value, name=""):
    """Copies of a value in which one part is another, and what part it is."""
    if isinstance(value, Measure):
        yield f"{name}.higher_is_better", replace(value, higher_is_better=False)
        yield f"{name}.bounds", replace(value, bounds=(-7.0, 7.0))
    elif is_dataclass(value):
        for one in fields(value):
            if one.name not in (*NOT_COMPARED, "record", "parameters", "why_no_tape", "generator"):
                for what, other in forged(getattr(value, one.name), f"{name}.{one.name}"):
                    yield what, replace(value, **{one.name: other})
    elif isinstance(value, dict):
        for key in value:
            for what, other in forged(value[key], f"{name}.{key}"):
                yield what, {**value, key: other}
        if value:
            yield f"{name} (shorter)", dict(list(value.items())[:-1])
    elif isinstance(value, list | tuple):
        for k, item in enumerate(value):
            for what, other in forged(item, f"{name}.{k}"):
                make = getattr(value, "_make", type(value))
                yield what, make([*value[:k], other, *value[k + 1 :]])
        if len(value) and not hasattr(value, "_make"):
            yield f"{name} (shorter)", value[:-1]
    elif isinstance(value, np.ndarray) and value.size:
        yield f"{name} (shorter)", value[:-1]
        yield f"{name} (longer)", np.concatenate([value, value[-1:]])
        if value.dtype.kind in "if":
            other = value.copy()
            other[-1] = 1 - np.nan_to_num(other[-1])
            yield name, other
    elif isinstance(value, str):
        yield name, f"{value}x"
    elif isinstance(value, bool):
        yield name, not value
    elif isinstance(value, int | float):
        yield name, value + 1 if value == value else 0.5


def test_whatever_is_forged_is_not_identical(monkeypatch):
    result = everything()
    several = {name: sk.Persistent() for name in result.model_names}
    monkeypatch.setattr(_verify, "_again", lambda *_: Answers(result))
    assert verify(result, several, [[0.0]], [0], classes=[0, 1]).identical
    names = []
    for name, other in forged(result):
        names.append(name)
        try:
            found = verify(other, several, [[0.0]], [0], classes=[0, 1])
        except Exception:  # its parts do not fit together: it is refused
            continue
        assert not found.identical, name
    tried = {name.split(".")[1].split(" ")[0] for name in names}
    untried = {*NOT_COMPARED, "times", "parameters"}  # there are none; and see below
    assert {one.name for one in fields(result)} - tried == untried
    other = replace(result, parameters={**result.parameters, "n_warmup": 7})
    assert not verify(other, several, [[0.0]], [0], classes=[0, 1]).identical


class Answers:
    """An evaluator that gives a certain result."""

    def __init__(self, result):
        self.result = result

    def evaluate(self, models, *_, **__):
        return self.result


def test_final_scores_that_were_added_are_found(saved):
    """Not only checkpoints of both sides are compared."""
    X, y, _ = rows()
    result = sk.load(saved)
    values = {
        model: {
            "cumulative": {
                metric: np.concatenate([curve, [[0.99]]]) for metric, curve in by_metric.items()
            }
        }
        for model, by_forgetting in result.values.items()
        for by_metric in by_forgetting.values()
    }
    result = replace(result, values=values, checkpoints=np.append(result.checkpoints, 401))
    found = verify(result, models(), X, y)
    assert not found.identical
    assert found.first.startswith("the result: checkpoints is ")


@pytest.mark.parametrize("name", ["sgd", "other"])
def test_failures_that_did_not_happen_are_no_identical_result(name):
    X, y, _ = rows()
    models = {"sgd": SGDClassifier(), "last": sk.Persistent()}
    result = sk.PrequentialEvaluator("accuracy", random_state=1).evaluate(models, X[:200], y[:200])
    found = verify(replace(result, failures={name: "boom"}), models, X[:200], y[:200])
    assert not found.identical and found.first == f"the result: failures: {name} is missing"


def test_refits_that_were_not_made_are_no_identical_result():
    X, y, _ = rows()
    refitted = sk.PeriodicRefit(SGDClassifier(), every=50)
    result = sk.PrequentialEvaluator("accuracy").evaluate({"m": refitted}, X[:200], y[:200])
    cost = replace(result.costs["m"], n_failed_refits=3)
    found = verify(replace(result, costs={"m": cost}), {"m": refitted}, X[:200], y[:200])
    assert found.first == "the refits: m: 1 is 0 and was 3"


# -- what two passes through a stream read is compared value by value


class Own:
    def __init__(self, value):
        self.value = value


class Unpicklable(Own):
    def __reduce__(self):
        raise TypeError("no")


Pair = namedtuple("Pair", "a b")


def objects(values):
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


def sums(*chunks):
    found = PassChecksums()
    for X in chunks:
        found.add(X, np.zeros(len(X)), {})
    return found.sums()


VALUES = [
    *(1, 2, "1", "2", b"1", "", None, np.nan, np.datetime64("NaT"), "None", "nan"),
    *(Decimal("1"), Decimal("1.0"), Fraction(1, 3), 1 / 3, 2**53 + 1, 2**53, 10**400, 1j),
    *(date(2020, 1, 1), date(2020, 1, 2), datetime(2020, 1, 1), timedelta(1), timedelta(2)),
    *((1,), (2,), ("1",), (1, 2), ((1,), 2), (1, (2,)), Pair(1, 2), [1], [2], {"a": 1}, {"a": 2}),
    *(Own(1), Own(2), frozenset([1]), frozenset([2]), "\ud800", np.float64(0.1), np.str_("0.1")),
]


def test_every_value_is_told_apart():
    found = [sums(objects([value, "x"]))["features"] for value in VALUES]
    for (one, a), (other, b) in combinations(zip(VALUES, found, strict=True), 2):
        assert a != b, (one, other)
    assert found == [sums(objects([value]), objects(["x"]))["features"] for value in VALUES]


@pytest.mark.parametrize("dtype", ["Int64", "int64[pyarrow]", "polars"])
def test_large_numbers_among_missing_ones_are_the_same_in_any_chunks(dtype):
    large = [2**53 + 1, None, 3, 2**53 + 3]
    if dtype == "polars":
        pl = pytest.importorskip("polars")
        frame, other = (pl.DataFrame({"a": values}) for values in (large, [2**53, *large[1:]]))
        cut = frame.__getitem__
    else:
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        frame, other = (
            pd.DataFrame({"a": pd.array(values, dtype=dtype)})
            for values in (large, [2**53, *large[1:]])
        )
        cut = frame.iloc.__getitem__
    assert sums(frame) != sums(other)
    for k in range(1, 4):
        assert sums(cut(slice(k)), cut(slice(k, None))) == sums(frame)


def test_values_that_cannot_be_compared_are_known_by_their_class():
    assert sums(objects([Unpicklable(1)])) == sums(objects([Unpicklable(2)]))
    assert sums(objects([Unpicklable(1)])) != sums(objects([Lock]))


Lock = type("Lock", (), {})
