"""Exact kernels, beside the generic loop; `all` names them, and is imported at first use."""

from skstream.engine.kernels.base import (
    Declined,
    Kernel,
    Task,
    TransformKernel,
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
