"""Exact kernels, beside the generic loop; `registry` says which estimator has which."""

from skstream.core.engine.answers import Task
from skstream.core.engine.kernel import Declined, Kernel, TransformKernel
from skstream.kernels.registry import (
    find_kernel,
    find_transform_kernel,
    kernel_of,
    make_kernel,
    make_transform_kernel,
    registered_kernels,
)

__all__ = [
    "Declined",
    "Kernel",
    "Task",
    "TransformKernel",
    "find_kernel",
    "find_transform_kernel",
    "kernel_of",
    "make_kernel",
    "make_transform_kernel",
    "registered_kernels",
]
