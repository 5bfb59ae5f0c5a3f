"""Kernels of the transformers; importing this module registers them."""

from skstream.engine.kernels import (
    _transformers_range,
    _transformers_standard,
    _transformers_stateless,
)

__all__ = ["_transformers_range", "_transformers_standard", "_transformers_stateless"]
