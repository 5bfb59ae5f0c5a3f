"""The kernel contract: the answers and attributes of the plain loop, blocks at a time."""

import importlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from skstream.engine.block import Block


@dataclass(frozen=True, slots=True)
class Task:
    """What a kernel is wanted for; `Kernel.refusal` decides on it.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,) or None
        Sorted labels; codes are positions in it. None for regression.
    method : {"predict", "predict_proba", "decision_function"}
        What asks return: codes (int64) or targets (float64) of shape (n_asks,);
        probabilities of shape (n_asks, n_classes); decision values as scikit-learn shapes them.
    batch_size : int
        Rows learnt per ``partial_fit``; 1 unless the user chose the batch protocol.
    n_warmup : int
        Rows learnt before anything is asked.
    late_labels : bool
        Whether labels are delayed, so that rows are asked while those before them wait for theirs.
        In batches they do, too.
    """

    classes: np.ndarray | None
    method: str = "predict"
    batch_size: int = 1
    n_warmup: int = 1
    late_labels: bool = False

    def asking(self, method: str) -> "Task":
        """Return the same task with another kind of answer (for an inner model)."""
        return replace(self, method=method)


class Declined(Exception):
    """There is no kernel, or it cannot execute a block exactly; nothing has been changed.

    Parameters
    ----------
    reason : str
        Why, in a sentence without a full stop, for the user: "float32 rows have no kernel".
    """

    def __init__(self, reason: str):
        super().__init__(reason)
        self.reason = reason


class Kernel(ABC):
    """Exact execution of one type of estimator, many rows at a time.

    Laws (tested for every kernel by introspection): the answers and the fitted attributes are
    those of ``predict`` and ``partial_fit`` called row by row; the cutting into blocks changes
    nothing, to the last bit; `run` either executes the whole block or raises `Declined` with
    the state untouched. The making of a kernel raises `Declined` where a part of the estimator
    has none: whether it applies is found out while it is made, once at every depth.
    """

    #: Sequential models agree to the last bit, models of sufficient statistics within 1e-9.
    bitwise: ClassVar[bool] = True

    def __init__(self, estimator: Any, task: Task):
        self.estimator = estimator
        self.task = task

    @property
    def row_bytes(self) -> int | None:
        """Memory that a row takes while a block is executed; None: a first row will tell.

        Whoever runs a kernel cuts blocks accordingly. Decision values, class weights and scores
        need a number per class and row, several times over.
        """
        return 0 if self.task.classes is None else 64 * len(self.task.classes)

    @classmethod
    @abstractmethod
    def refusal(cls, estimator: Any, task: Task) -> str | None:
        """Return what cannot be executed exactly, such as "average=True"; None: nothing.

        Conservative: whatever is not known to be exact is refused. Called before a kernel is
        made, for this estimator alone: the parts inside are looked at when their kernels are
        made. The estimator may be unfitted or fitted (a warm start); the kernel takes up its
        state.
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

    #: Whether rows may come out wider than they go in.
    expands: ClassVar[bool] = True

    @property
    def row_bytes(self) -> int | None:
        """Memory that a row takes inside, beyond what comes out; None: a first row will tell."""
        return 0

    def __init__(self, transformer: Any, task: Task):
        self.transformer = transformer
        self.task = task

    @classmethod
    @abstractmethod
    def refusal(cls, transformer: Any, task: Task) -> str | None:
        """Return what cannot be executed exactly; None: nothing."""

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


_METHOD_NAMES = (
    *("fit", "partial_fit", "transform", "fit_transform"),
    *("predict", "predict_proba", "predict_log_proba", "decision_function"),
)
#: Methods of every type that has a kernel, from the time of its registration.
_METHODS: dict[type, dict[str, Any]] = {}
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
            _METHODS[estimator_type] = methods_of(estimator_type)
        return kernel

    return register


#: Reasons that several kernels give.
OTHER_COLUMNS = "rows with other columns than those learnt first have no kernel"
OTHER_PRECISION = "float32 and float64 rows together have no kernel"
DENSE_AND_SPARSE = "dense and sparse rows together have no kernel"


def value_of(estimator: Any, name: str) -> str:
    """Name and value of a parameter that a kernel refuses."""
    value = repr(getattr(estimator, name))
    return f"{name}={value}" if len(value) <= 40 else f"this {name}"


def _import_kernels() -> None:
    """Register all kernels, at first use: they bring much of scikit-learn with them."""
    importlib.import_module("skstream.engine.kernels.all")


def find_kernel(estimator: Any, task: Task) -> Kernel:
    """Kernel for an estimator; `Declined` says why only the loop is exact."""
    _import_kernels()
    kernel: Kernel = _made(_KERNELS, estimator, task)
    return kernel


def find_transform_kernel(transformer: Any, task: Task) -> TransformKernel:
    """Kernel for a transformer; `Declined` says why only the loop is exact."""
    _import_kernels()
    kernel: TransformKernel = _made(_TRANSFORM_KERNELS, transformer, task)
    return kernel


def make_kernel(estimator: Any, task: Task) -> Kernel | None:
    """Kernel for an estimator, or None where only the loop is exact."""
    try:
        return find_kernel(estimator, task)
    except Declined:
        return None


def make_transform_kernel(transformer: Any, task: Task) -> TransformKernel | None:
    """Kernel for a transformer, or None where only the loop is exact."""
    try:
        return find_transform_kernel(transformer, task)
    except Declined:
        return None


def _made(registry: dict[type, Any], estimator: Any, task: Task) -> Any:
    estimator_type = type(estimator)
    kernel = registry.get(estimator_type)
    if kernel is None:
        raise Declined(f"{estimator_type.__name__} has no kernel")
    refused = changed_methods(estimator) or kernel.refusal(estimator, task)
    if refused is not None:
        raise Declined(f"{estimator_type.__name__} with {refused} has no kernel")
    return kernel(estimator, task)


def changed_methods(estimator: Any) -> str | None:
    """Name what was put in the place of a method of an estimator, for `Kernel.refusal`.

    A method may be replaced on one instance, or on its class after the kernel was registered.
    Either way the loop calls what the kernel knows nothing of.
    """
    estimator_type = type(estimator)
    for name in getattr(estimator, "__dict__", ()):
        own = inspect.getattr_static(estimator_type, name, None)
        if callable(own) or hasattr(own, "__get__"):
            return f"a {name} of its own"
    for name, known in _METHODS.get(estimator_type, {}).items():
        if inspect.getattr_static(estimator_type, name, None) is not known:
            return f"a changed {name}"
    return None


def methods_of(estimator_type: type) -> dict[str, Any]:
    """Return what answers and learns in instances of a type, as it is now."""
    return {name: inspect.getattr_static(estimator_type, name, None) for name in _METHOD_NAMES}


def registered_kernels() -> dict[type, type]:
    """All registered kernels by estimator type (models and transformers)."""
    _import_kernels()
    return {**_KERNELS, **_TRANSFORM_KERNELS}
