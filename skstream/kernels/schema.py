"""Columns, classes and parameters that kernels know, or refuse."""

import functools
import pickle
from collections.abc import Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import validate_data

from skstream.core.engine.answers import Task
from skstream.core.engine.block import Block
from skstream.core.engine.kernel import Declined
from skstream.utils._numba import numba_enabled
from skstream.utils._sklearn import output_container
from skstream.utils._validation import is_classifier, is_fitted

#: Reasons that several kernels give.
OTHER_COLUMNS = "rows with other columns than those learnt first have no kernel"
OTHER_PRECISION = "float32 and float64 rows together have no kernel"
DENSE_AND_SPARSE = "dense and sparse rows together have no kernel"
#: Why a fitted model is refused whose labels are others than those of the stream.
OTHER_CLASSES = "other classes_ than the labels of the stream"


class Columns(NamedTuple):
    """Number and names of the columns that a model knows; fixed by the first rows it learns.

    These are the names that scikit-learn keeps: None unless all are texts. The `Schema` of a stream
    also tells containers apart, which mean the same to a model.
    """

    number: int | None = None
    names: tuple[str, ...] | None = None

    @classmethod
    def of(cls, estimator: Any) -> "Columns":
        """Columns that a fitted estimator knows; none for an unfitted one."""
        names = getattr(estimator, "feature_names_in_", None)
        number = getattr(estimator, "n_features_in_", None)
        return cls(number, None if names is None else tuple(names))

    @classmethod
    def of_rows(cls, X: Any) -> "Columns":
        """Columns that an estimator would learn from rows, as scikit-learn sees them."""
        if type(X) is np.ndarray and X.ndim == 2:  # scikit-learn takes long to find that out
            return cls(X.shape[1])
        reader = BaseEstimator()
        try:
            validate_data(reader, X, skip_check_array=True)
        except TypeError as error:  # for the loop to explain
            raise Declined("columns with names of several types have no kernel") from error
        return cls.of(reader)

    def learn(self, seen: "Columns") -> "Columns":
        """Take the columns from the first rows learnt; later, compare."""
        if self.number is None:
            return seen
        self.check(seen)
        return self

    def check(self, seen: "Columns") -> None:
        """Leave rows of another width, or with other names, to scikit-learn's own messages."""
        if seen != self:
            raise Declined(OTHER_COLUMNS)

    def after(self, block: Block) -> "Columns":
        """Columns known after a block whose values a model does not use."""
        known = self.learn(Columns.of_rows(block.learn_X)) if block.n_learns else self
        if block.n_asks and block.ask_X is not block.learn_X:
            known.check(Columns.of_rows(block.ask_X))
        return known

    def export(self, estimator: Any) -> None:
        """Write the attributes that validation by scikit-learn sets."""
        if self.number is not None:  # texts have no columns
            estimator.n_features_in_ = self.number
        if self.names is not None:
            estimator.feature_names_in_ = np.asarray(self.names, dtype=object)


def knows_classes(estimator: Any, task: Task) -> bool:
    """Whether an estimator is unfitted, or fitted with the classes of the task."""
    own = getattr(estimator, "classes_", None) if is_fitted(estimator) else None
    if own is None:
        return True
    return task.classes is not None and np.array_equal(own, class_labels(task))


def refused_task(
    estimator: Any, task: Task, methods: Sequence[str], *, one_by_one: bool = False
) -> str | None:
    """What of the task of a classifier has no kernel, for `Kernel.refusal`.

    Parameters
    ----------
    estimator : estimator
        Fitted or not.
    task : Task
    methods : sequence of str
        Those that the kernel answers.
    one_by_one : bool, default=False
        Whether a batch is one step, so that the kernel knows rows one by one only.
    """
    if task.classes is None:
        return "a regression task"
    if task.method not in methods:
        return f"{task.method} as the answer"
    if one_by_one and task.batch_size > 1:
        return f"batch_size={task.batch_size}"
    if not has_valid_parameters(estimator):
        return "parameters that it refuses"
    return None if knows_classes(estimator, task) else OTHER_CLASSES


def check_classifier(model: Any) -> None:
    """Decline what a meta-classifier refuses to wrap, for the loop to say so."""
    if not is_classifier(model):
        raise Declined(f"{type(model).__name__}, which is no classifier, has no kernel here")


def class_labels(task: Task) -> Any:
    """Class labels as an estimator keeps them."""
    return _unique_labels(pickle.dumps(task.classes)).copy()


@functools.lru_cache(maxsize=64)
def _unique_labels(classes: bytes) -> Any:
    """Of pickled labels: scikit-learn takes long to find out of what kind they are."""
    return unique_labels(pickle.loads(classes))


def refused_seed(estimator: Any) -> str | None:
    """Refuse a seed that would be drawn again, for `Kernel.refusal`."""
    known = is_fitted(estimator) or isinstance(estimator.random_state, Integral)
    return None if known else value_of(estimator, "random_state")


def refused_output(transformer: Any) -> str | None:
    """Refuse a transformer that was asked for data frames, for `TransformKernel.refusal`."""
    container = output_container(transformer)
    return None if container == "default" else f'set_output(transform="{container}")'


def refused_scaler(transformer: Any, task: Task, flags: Sequence[str]) -> str | None:
    """Refuse what no scaler's kernel knows, for `TransformKernel.refusal`.

    Parameters
    ----------
    transformer : estimator
        With a parameter `copy`, which must be True.
    task : Task
    flags : sequence of str
        Parameters that must be True or False.
    """
    if task.batch_size > 1:
        return f"batch_size={task.batch_size}"
    for name in flags:
        if not isinstance(getattr(transformer, name), bool | np.bool_):
            return value_of(transformer, name)
    return refused_output(transformer) if transformer.copy else value_of(transformer, "copy")


def has_valid_parameters(estimator: Any) -> bool:
    """Whether ``fit`` would accept the parameters; if not, the loop shows its error."""
    try:
        estimator._validate_params()
    except (TypeError, ValueError):
        return False
    return True


def decline_uncompiled(n: int, what: str, most: int) -> None:
    """Decline where loops would run uncompiled over more than `most` numbers at every row.

    There the estimator's own loop, whose inner loops are compiled, is no slower.
    """
    if n > most and not numba_enabled():
        raise Declined(f'{n} {what} have a kernel only with numba (pip install "skstream[fast]")')


def value_of(estimator: Any, name: str) -> str:
    """Name and value of a parameter that a kernel refuses."""
    value = repr(getattr(estimator, name))
    return f"{name}={value}" if len(value) <= 40 else f"this {name}"
