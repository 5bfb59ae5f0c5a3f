"""Exact kernels, beside the generic loop; importing this package registers all of them."""

import skstream.engine.kernels._baselines
import skstream.engine.kernels._linear
import skstream.engine.kernels._noise
import skstream.engine.kernels._pipeline
import skstream.engine.kernels._temporal  # noqa: F401 - registers its kernels
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
