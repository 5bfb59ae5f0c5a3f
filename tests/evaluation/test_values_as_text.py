"""Values are compared by what they hold, in the same way in every process."""

import os
import subprocess
import sys
from collections import OrderedDict, defaultdict
from functools import lru_cache, partial, update_wrapper

import numpy as np
import pytest
from scipy import stats
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler

from skstream.core.evaluators.record import as_text
from skstream.utils._content import content
from tests._examples import newest_alone

N = 60
X = np.random.default_rng(0).normal(size=(N, 2))
y = np.arange(N) % 2


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
