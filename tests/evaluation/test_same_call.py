"""Run folders go on in the same call alone: what is compared, and not changed by a restart."""

import os
import re
import subprocess
import sys
from collections import OrderedDict, defaultdict
from functools import lru_cache, partial, update_wrapper
from threading import Lock

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import skstream as sk
from skstream.evaluation._folder import _fingerprint
from skstream.evaluation._folder._fingerprint import as_text
from skstream.streams import CSVStream, ParquetStream, Stream, as_stream, take_rows
from skstream.utils._content import content
from tests._examples import newest_alone

N = 60
X = np.random.default_rng(0).normal(size=(N, 2))
y = np.arange(N) % 2


@pytest.fixture(autouse=True)
def short_head(monkeypatch):
    monkeypatch.setattr(_fingerprint, "HEAD", 10)


class Option(sk.MajorityClass):
    """A model with a parameter."""

    def __init__(self, option=None):
        self.option = option


class Plain:
    """An object without parameters."""

    def __init__(self, value):
        self.value = value

    def __call__(self, y_true, y_pred):
        return self.value

    def measure(self, y_true, y_pred):
        return self.value

    def __repr__(self):
        return "Plain()"


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


class NoParameters:
    """A model without get_params."""

    def __init__(self, value):
        self.value = value

    def partial_fit(self, X, y, classes=None):
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


def with_default(value):
    def option(y_true, y_pred, by=value):
        return by

    return option


def with_keyword(value):
    def option(y_true, y_pred, *, by=value):
        return by

    return option


def with_closure(value):
    def option(y_true, y_pred):
        return value

    return option


def masked(value):
    return np.ma.array([1, 2, 3], mask=[value == 1, True, False])


def series(value):
    return pytest.importorskip("pandas").Series([1, 2], index=["a", value])


class Decorator:
    """A function with a memory, that says which one it wraps."""

    def __init__(self, function, value):
        update_wrapper(self, function)
        self.value = value

    def __call__(self, *args):
        return self.value


class Louder(Decorator):
    def __call__(self, *args):
        return -self.value


class Inherits(Louder):
    pass


Inherits.__qualname__ = "Decorator"  # to be told apart by what it does alone


def with_names(value):
    def first(X, a, b):
        return a

    def second(X, b, a):
        return b

    return _called("option", first if value == 1 else second)


def with_flags(value):
    def first(X, *more):
        return X

    def second(X, more):
        return X

    return _called("option", first if value == 1 else second)


def with_handler(value):
    def first(X):
        try:
            return 1 / X
        except ZeroDivisionError:
            return 0

    def second(X):
        try:
            return 1 / X
        except ArithmeticError:
            return 0

    return _called("option", first if value == 1 else second)


def _called(name, function):
    function.__qualname__ = function.__name__ = name
    return function


def with_attribute(made, value):
    made.attribute = value
    return made


def attributes_of(kind, *args):
    """Return what makes a container of a class of its own, with an attribute."""
    return lambda value: with_attribute(OWN[kind](*args), value)


class Unit(float):
    def __new__(cls, value, unit):
        made = float.__new__(cls, value)
        made.unit = unit
        return made


class OwnArray(np.ndarray):
    pass


OWN = {kind: type(f"Own{kind.__name__}", (kind,), {}) for kind in (list, dict, set, tuple)}
globals().update({one.__name__: one for one in OWN.values()})


def numba_option(value):
    numba = pytest.importorskip("numba")
    return numba.njit(fastmath=value == 1)(module_function)


def module_function(value):
    return value


OPTIONS = {
    "RandomState": np.random.RandomState,
    "default_rng": np.random.default_rng,
    "nested": lambda seed: {"rng": [np.random.default_rng(seed)]},
    "object": Plain,
    "slots": Slots,
    "frozen distribution": partial(stats.norm, 0),
    "mask": masked,
    "index": series,
    "set": lambda value: {"a", value},
    "frozenset in a dict": lambda value: {"k": frozenset(["a", value])},
    "array of objects": lambda value: np.array([Plain(value), None], dtype=object),
    "long list": lambda value: [Plain(0)] * 1000 + [Plain(value)],
    "bound method": lambda value: Plain(value).measure,
    "default": with_default,
    "keyword": with_keyword,
    "closure": with_closure,
    "names of arguments": with_names,
    "kinds of arguments": with_flags,
    "exceptions": with_handler,
    "attribute of a function": lambda value: with_attribute(lambda: 0, value),
    "decorator": lambda value: Decorator(module_function, value),
    "inherited call": lambda value: (Decorator if value == 1 else Inherits)(module_function, 0),
    "size of a cache": lambda value: lru_cache(maxsize=value)(module_function),
    "cached function": lambda value: lru_cache(maxsize=9)(with_default(value)),
    "factory": lambda value: defaultdict(int if value == 1 else list),
    **{f"own {kind.__name__}": attributes_of(kind, "a") for kind in (list, set, tuple)},
    "own dict": attributes_of(dict),
    "own float": partial(Unit, 1.0),
    "own array": lambda value: with_attribute(np.arange(3.0).view(OwnArray), value),
    "shape": lambda value: np.ones((1,) * value),
    "vectorizer": lambda value: FrozenEstimator(CountVectorizer().fit([f"{value}{value} ab"])),
    "weights of classes": lambda value: {"up": 1.0, "down": value},
    "weights in an object": lambda value: Plain({"up": 1.0, "down": value}),
    "ordered dict": lambda value: OrderedDict(sorted({"a": 1, "b": 2}.items(), reverse=value == 1)),
    "order of models": lambda value: {k: Plain(0) for k in ("ab" if value == 1 else "ba")},
    "cache": lambda value: {"a": partial(with_default(0), value)},
    "fitted": lambda value: FrozenEstimator(StandardScaler().fit([[value], [3]])),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options_are_compared_by_what_they_hold(name):
    make = OPTIONS[name]
    one, again, other = (as_text(make(value)) for value in (1, 1, 2))
    assert one == again
    assert one != other
    assert " at 0x" not in one
    assert len(one) < 300


def folder_run(folder, model=None, rows=(X, y), **params):
    evaluator = sk.PrequentialEvaluator(**{"metrics": "accuracy", **params}, checkpoint=folder)
    evaluator.set_params(random_state=0)
    return evaluator.evaluate(model or sk.MajorityClass(), *rows)


def test_a_model_without_parameters_is_compared_whole(tmp_path):
    folder_run(tmp_path, NoParameters(0))
    with pytest.raises(ValueError, match=r"run: the state of model 'NoParameters' is"):
        folder_run(tmp_path, NoParameters(1))


def test_what_cannot_be_compared_is_refused_before_the_first_row(tmp_path):
    class Restless(Plain):
        def __reduce__(self):
            return Plain, (next(numbers),)

    numbers = iter(range(100))
    for option, why in [(Lock(), "cannot pickle"), (Restless(1), "another one each time")]:
        model = Option()
        model.option = option
        model.__class__ = Shared
        with pytest.raises(
            TypeError,
            match=rf"the parameter option of model 'Shared' .* cannot be compared: .*{why}",
        ):
            folder_run(tmp_path, model)
    assert os.listdir(tmp_path) == []


class Shared(Option):
    """A model whose copies share its option."""

    def __sklearn_clone__(self):
        return Option()


def texts_of_values():
    """Texts of values that are the same in every process; hashes and addresses are others."""
    words = {f"word {k}" for k in range(20)}
    values = [make(1) for name, make in OPTIONS.items() if name != "index"]
    of_words = dict.fromkeys(words, 1.0)
    values += [of_words, Plain(of_words), type("S", (set,), {})(words)]
    values += [words, {"k": frozenset(words)}, lambda v: v in {"a", "b", "c", "d"}, np.log, np]
    return [as_text(value) for value in values]


@newest_alone
def test_a_restart_changes_no_text():
    script = f"from {__name__} import texts_of_values; print(texts_of_values())"
    other = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert other.stdout.strip() == str(texts_of_values())


def test_only_the_order_of_plain_dicts_does_not_matter():
    assert as_text({"a": 1, "b": 2}) == as_text({"b": 2, "a": 1})
    assert content({"a": 1, "b": 2}) == content({"b": 2, "a": 1})
    assert content({"a": 1, "b": 2}) != content({"a": 2, "b": 1})
    assert content({"a": Plain(1), "b": 2}) != content({"b": 2, "a": Plain(1)})


def test_options_of_compiled_functions_are_compared():
    one, again, other = (as_text(numba_option(value)) for value in (1, 1, 2))
    assert one == again != other


def frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": ["u", "v"] * (N // 2), "b": y})
    types = [pd.CategoricalDtype(values, order) for values, order in KINDS_OF_CATEGORIES]
    return [frame, *(frame.astype({"a": one}) for one in types), frame.astype({"b": "float32"})]


KINDS_OF_CATEGORIES = [(["u", "v"], False), (["v", "u"], False), (["u", "v"], True)]


def test_types_of_columns_are_compared(tmp_path):
    first, *others = frames()
    folder_run(tmp_path / "plain", rows=(first, y))
    folder_run(tmp_path / "categories", rows=(others[0], y))
    assert folder_run(tmp_path / "categories", rows=(frames()[1], y)).scores
    for folder, frame in [
        ("plain", others[0]),
        ("plain", others[3]),
        ("categories", others[1]),
        ("categories", others[2]),
    ]:
        with pytest.raises(ValueError, match=r"run: the types of the columns .* are .*a: "):
            folder_run(tmp_path / folder, rows=(frame, y))


@pytest.mark.parametrize(
    ("given", "now", "said"),
    [
        ({}, {"sample_weight": y}, "weights of the stream are given, and there were none. Make"),
        ({"sample_weight": y}, {}, "no weights of the stream are given, and there were some. Make"),
        ({"classes": [0, 1]}, {"classes": [0, 1, 2]}, "the classes are [0, 1, 2] and were [0, 1]"),
    ],
)
def test_differences_are_said_in_plain_words(given, now, said, tmp_path):
    evaluator = sk.PrequentialEvaluator("accuracy", random_state=0, checkpoint=tmp_path)
    evaluator.evaluate(sk.MajorityClass(), X, y, **given)
    with pytest.raises(ValueError, match=f"run: {re.escape(said)}"):
        evaluator.evaluate(sk.MajorityClass(), X, y, **now)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        (
            (StandardScaler(), SGDClassifier(alpha=0.5)),
            r"run: the parameter sgdclassifier__alpha of model 'm' is 0\.5 and was 0\.0001\. Make",
        ),
        (
            (MinMaxScaler(), SGDClassifier()),
            r"run: the parameter steps of model 'm' is \[\('minmaxscaler', ",
        ),
    ],
)
def test_of_steps_the_innermost_parameter_is_named(steps, said, tmp_path):
    def run(*steps):
        model = sk.make_stream_pipeline(*steps)
        return folder_run(tmp_path, {"m": model})

    run(StandardScaler(), SGDClassifier())
    with pytest.raises(ValueError, match=said):
        run(*steps)


def test_another_class_of_a_step_says_enough(tmp_path):
    def run(scaler):
        return folder_run(
            tmp_path, {"m": sk.StreamPipeline([("s", scaler), ("c", SGDClassifier())])}
        )

    run(StandardScaler())
    with pytest.raises(
        ValueError,
        match=r"run: the parameter s of model 'm' is \S+MinMaxScaler and was \S+Scaler\. Make",
    ):
        run(MinMaxScaler())


def holdout_run(folder, holdout):
    evaluator = sk.HoldoutEvaluator(
        "accuracy", holdout=holdout, every=20, holdout_size=5, random_state=0, checkpoint=folder
    )
    return evaluator.evaluate(sk.MajorityClass(), X, y)


def late(labels):
    return np.where(np.arange(N) == 50, 1 - labels, labels)


@pytest.mark.parametrize("as_chunks", [False, True])
def test_held_out_rows_in_memory_are_compared_to_the_last(as_chunks, tmp_path):
    def stream(labels, size=7):
        made = as_stream(X + 1, labels, chunk_size=size)
        return list(made) if as_chunks else made

    holdout_run(tmp_path, stream(y))
    holdout_run(tmp_path, stream(y, 9))
    with pytest.raises(ValueError, match=r"run: the checksum of the labels of the holdout is"):
        holdout_run(tmp_path, stream(late(y)))


def write(path, **columns):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "z": y, **columns})
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path, index=False)
    return path


def test_held_out_files_are_compared(tmp_path):
    path = write(tmp_path / "h.csv")
    holdout_run(tmp_path / "run", CSVStream(path, "z"))
    holdout_run(tmp_path / "run", CSVStream(path, "z"))
    write(path, z=late(y))
    with pytest.raises(ValueError, match=r"run: the checksum of h\.csv of the holdout is"):
        holdout_run(tmp_path / "run", CSVStream(path, "z"))


def test_held_out_rows_that_come_once_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"needs held-out rows that can be read again"):
        holdout_run(tmp_path, iter([(X, y)]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "fraud"}, r"the parameter target of the stream is 'fraud' and was 'z'\. Make"),
        (
            {"options": {"missing": 5.0}},
            r"the parameter missing of the stream is 5\.0 and was 'nan'\. Make",
        ),
        (
            {"roles": {"sample_weight": "w"}},
            r"parameter sample_weight of the stream is 'w' and was not there",
        ),
        ({"columns": ["a"]}, r"the parameter columns of the stream is \['a'\] and was \['a', 'b"),
        ({"nominal": ["z"]}, r"the parameter target_kind of the stream is "),
        ({"nominal": ["a"]}, r"the parameter kinds of the stream is \{'a': 'category', 'b': 'nu"),
        (
            {"options": {"null_values": ["", "-"]}},
            r"the parameter null_values of the stream is \['', '-'\] and",
        ),
    ],
)
def test_options_of_files_are_compared(options, message, tmp_path):
    path = write(tmp_path / "s.csv", fraud=late(y), w=np.where(np.arange(N) == 50, 9, 1))
    plain = {"target": "z", "columns": ["a", "b"]}
    for kind in (CSVStream, ParquetStream):
        if kind is ParquetStream:
            path = write(tmp_path / "s.parquet", fraud=late(y), w=1.0)
            if "null_values" in str(options) or "nominal" in options:
                continue
        folder = tmp_path / kind.__name__
        first = folder_run(folder, rows=(kind(path, **plain),)).scores
        assert folder_run(folder, rows=(kind(path, **plain, chunk_size=7),)).scores == first
        for stream in (kind(path, **{**plain, **options}),):
            with pytest.raises(ValueError, match=message):
                folder_run(folder, rows=(stream,))
            with pytest.raises(ValueError, match=message):
                folder_run(folder, rows=(take_rows(stream, 10 * N),))


class Generated(Stream):
    """A third party's stream."""

    def __init__(self, shift=0, chunk_size=10):
        self.shift, self.chunk_size = shift, chunk_size

    @property
    def classes(self):
        return np.array([0, 1])

    def chunks(self):
        for first in range(0, N, self.chunk_size):
            part = slice(first, first + self.chunk_size)
            yield X[part], (late(y) if self.shift else y)[part]


def test_parameters_of_other_streams_are_compared(tmp_path):
    folder_run(tmp_path, rows=(Generated(),))
    folder_run(tmp_path, rows=(Generated(chunk_size=20),))
    with pytest.raises(ValueError, match="parameter shift of the stream is 1 and was 0"):
        folder_run(tmp_path, rows=(Generated(1),))
    with pytest.raises(TypeError, match=r"cannot be compared: .* Define the .* method row_options"):
        folder_run(tmp_path, rows=(Generated(Lock()),))


def test_a_folder_of_an_older_format_is_refused(tmp_path):
    folder_run(tmp_path)
    manifest = tmp_path / "manifest.json"
    manifest.write_text(re.sub('"format": [0-9]+', '"format": 6', manifest.read_text()))
    with pytest.raises(ValueError, match=r"has run folder format 6; this version .* reads \d+\."):
        folder_run(tmp_path)


def test_what_holds_itself_has_a_content():
    loop = [1]
    loop.append(loop)
    again = [1]
    again.append(again)
    assert content(loop) == content(again) != content([1, [1]])
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(TypeError, match="nested too deeply"):
        content(deep)
