"""Exact kernels, beside the generic loop; importing this package registers all of them."""

from skstream.engine.kernels import _baselines, _linear, _pipeline, _temporal
import skstream.engine.kernels._linear  # noqa: F401 - registers its kernels
from skstream.engine.kernels._base import (
    Declined,
    Kernel,
    Task,
    TransformKernel,
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
    "kernel_of",
    "make_kernel",
    "make_transform_kernel",
    "registered_kernels",
]
