"""The part of CapyMOA's documented interface that is called, in plain Python.

Like MOA, it needs every category before the first row, hands over vectors of numbers, and its
learners can be neither copied nor pickled but by its own functions.
"""

import pickle
from types import ModuleType
from typing import Any

import numpy as np


class Schema:
    def __init__(self, features, target, categories):
        self.features, self.target, self.categories = features, target, categories

    @staticmethod
    def from_custom(features, target, categories=None, name="unnamed"):
        assert target in features and all(isinstance(name, str) for name in features)
        assert all(isinstance(v, str) for values in categories.values() for v in values)
        return Schema(list(features), target, dict(categories))

    def get_num_classes(self):
        return len(self.categories[self.target])


class _Java:
    weight = 1.0

    def setWeight(self, weight):
        self.weight = weight


class Instance:
    y: Any = None

    def __init__(self, schema, x):
        assert isinstance(x, np.ndarray) and x.dtype == np.float64
        assert len(x) == len(schema.features) - 1
        self.schema, self.x, self.java_instance = schema, x.copy(), _Java()

    @classmethod
    def from_array(cls, schema, instance):
        return cls(schema, instance)


class LabeledInstance(Instance):
    @classmethod
    def from_array(cls, schema, x, y_index):
        made = cls(schema, x)
        made.y = int(y_index)
        return made


class RegressionInstance(Instance):
    @classmethod
    def from_array(cls, schema, x, y_value):
        made = cls(schema, x)
        made.y = float(y_value)
        return made


class _Learner:
    writing = False

    def __init__(self, schema=None, random_seed=1, grace=1):
        assert isinstance(schema, Schema), "it needs a schema, as MOA's learners do"
        self.schema, self.random_seed, self.grace = schema, random_seed, grace
        self.rows: list[tuple[Any, Any, float]] = []

    def get_params(self):
        return {"grace": self.grace}

    @classmethod
    def from_params(cls, schema=None, params=None, random_seed=1):
        return cls(schema=schema, random_seed=random_seed, **(params or {}))

    def train(self, instance):
        assert instance.y is not None
        self.rows.append((instance.x, instance.y, instance.java_instance.weight))

    def __reduce_ex__(self, protocol):
        if not _Learner.writing:
            raise TypeError("cannot pickle a Java object")
        return super().__reduce_ex__(protocol)

    def nearest(self, instance):
        """Last learnt rows of the least distance; a missing value is far from any other."""
        assert instance.y is None, "its label is not to be seen"
        gaps = [np.nan_to_num(np.abs(x - instance.x), nan=9.0).sum() for x, _, _ in self.rows]
        return [row for row, gap in zip(self.rows, gaps, strict=True) if gap == min(gaps)]


class Classifier(_Learner):
    """Votes of the nearest rows; none before `grace` rows."""

    def predict_proba(self, instance):
        nearest = self.nearest(instance)
        if len(self.rows) < self.grace:
            return None
        votes = np.zeros(self.schema.get_num_classes())
        for _, label, weight in nearest:
            votes[label] += weight
        return votes / votes.sum()

    def predict(self, instance):
        shares = self.predict_proba(instance)
        return None if shares is None else int(np.argmax(shares))


class NearestClassifier(Classifier):
    """One of MOA's: it takes weights."""

    moa_learner = object()


class PlainClassifier(Classifier):
    """One in Python, without weights."""


class Regressor(_Learner):
    def predict(self, instance):
        return float(np.mean([y for _, y, _ in self.nearest(instance)]))


class NearestRegressor(Regressor):
    pass


def save_model(model, file):
    _Learner.writing = True
    try:
        file.write(pickle.dumps(model))
    finally:
        _Learner.writing = False


def load_model(file):
    return pickle.loads(file.read())


CONTENTS = {
    "capymoa": (),
    "capymoa.base": (Classifier, Regressor),
    "capymoa.classifier": (NearestClassifier, PlainClassifier),
    "capymoa.core": (Instance, LabeledInstance, RegressionInstance),
    "capymoa.core.io": (save_model, load_model),
    "capymoa.regressor": (NearestRegressor,),
    "capymoa.stream": (Schema,),
}


def modules() -> dict[str, ModuleType]:
    """Modules by name; the classes say that they come from there."""
    made = {}
    for name, members in CONTENTS.items():
        module = made[name] = ModuleType(name)
        module.__path__ = []
        for member in members:
            setattr(module, member.__name__, member)
            if isinstance(member, type):
                member.__module__ = name
    return made
