"""The kernel contract: the answers and attributes of the plain loop, blocks at a time."""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skstream.engine.block import Block


@dataclass(frozen=True, slots=True)
class Task:
    """What a kernel is wanted for; `Kernel.supports` decides on it.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; codes are positions in it. None for regression.
    method : {"predict", "predict_proba", "decision_function"}
        What asks return: codes (int64) or targets (float64) of shape (n_asks,);
        probabilities of shape (n_asks, n_classes); decision values as scikit-learn shapes them.
    batch_size : int
        Rows learnt per ``partial_fit``; 1 unless the user chose the batch protocol.
    """

    classes: np.ndarray | None
    method: str = "predict"
    batch_size: int = 1

    def asking(self, method: str) -> "Task":
        """Return the same task with another kind of answer (for an inner model)."""
        return replace(self, method=method)


class Declined(Exception):
    """A kernel cannot execute a block exactly and has changed nothing; the loop takes over."""


class Kernel(ABC):
    """Exact execution of one type of estimator, many rows at a time.

    Laws (tested for every kernel by introspection): the answers and the fitted attributes are
    those of ``predict`` and ``partial_fit`` called row by row; the cutting into blocks changes
    nothing, to the last bit; `run` either executes the whole block or raises `Declined` with
    the state untouched.
    """

    #: Sequential models agree to the last bit, models of sufficient statistics within 1e-9.
    bitwise: ClassVar[bool] = True

    def __init__(self, estimator: Any, task: Task):
        self.estimator = estimator
        self.task = task

    @classmethod
    @abstractmethod
    def supports(cls, estimator: Any, task: Task) -> bool:
        """Whether this estimator, with these parameters, can be executed exactly.

        Conservative: whatever is not known to be exact is refused. The estimator may be
        unfitted or fitted (a warm start); the kernel takes up its state.
        """

    @abstractmethod
    def run(self, block: Block) -> np.ndarray:
        """Execute the block and return the answers to its asks, in their order."""

    @abstractmethod
    def snapshot(self) -> Any:
        """Return a copy of the state, for `restore`."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot` (which stays usable)."""

    @abstractmethod
    def export(self) -> None:
        """Write the fitted attributes into ``self.estimator`` as ``partial_fit`` would.

        May be called at any point; the kernel can go on afterwards. Does nothing when nothing
        has been learnt.
        """


class TransformKernel(ABC):
    """Exact execution of a transformer ahead of a model in a pipeline.

    `run` maps a block to the block that the next step sees: a learnt row is shown through the
    state that has just learnt it, an asked row through the state of its stamp.
    """

    def __init__(self, transformer: Any, task: Task):
        self.transformer = transformer
        self.task = task

    @classmethod
    @abstractmethod
    def supports(cls, transformer: Any, task: Task) -> bool:
        """Whether this transformer can be executed exactly."""

    @abstractmethod
    def run(self, block: Block) -> Block:
        """Learn and transform; raise `Declined` with the state untouched if it cannot."""

    @abstractmethod
    def snapshot(self) -> Any:
        """Return a copy of the state."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Go back to a state returned by `snapshot`."""

    @abstractmethod
    def export(self) -> None:
        """Write the fitted attributes into ``self.transformer``."""


_KERNELS: dict[type, type[Kernel]] = {}
_TRANSFORM_KERNELS: dict[type, type[TransformKernel]] = {}


def kernel_of(*estimator_types: type) -> Callable[[type], type]:
    """Class decorator: register a kernel for exactly these types (never their subclasses)."""

    def register(kernel: type) -> type:
        registry: dict[type, Any] = _KERNELS
        if issubclass(kernel, TransformKernel):
            registry = _TRANSFORM_KERNELS
        for estimator_type in estimator_types:
            registry[estimator_type] = kernel
        return kernel

    return register


def _import_kernels() -> None:
    """Register all kernels, at first use: they bring much of scikit-learn with them."""
    importlib.import_module("skstream.engine.kernels._all")


def make_kernel(estimator: Any, task: Task) -> Kernel | None:
    """Kernel for an estimator, or None where only the loop is exact."""
    _import_kernels()
    kernel = _KERNELS.get(type(estimator))
    if kernel is None or not kernel.supports(estimator, task):
        return None
    return kernel(estimator, task)


def make_transform_kernel(transformer: Any, task: Task) -> TransformKernel | None:
    """Kernel for a transformer, or None where only the loop is exact."""
    _import_kernels()
    kernel = _TRANSFORM_KERNELS.get(type(transformer))
    if kernel is None or not kernel.supports(transformer, task):
        return None
    return kernel(transformer, task)


def registered_kernels() -> dict[type, type]:
    """All registered kernels by estimator type (models and transformers)."""
    _import_kernels()
    return {**_KERNELS, **_TRANSFORM_KERNELS}
