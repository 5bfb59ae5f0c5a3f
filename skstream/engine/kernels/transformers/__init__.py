"""Exact kernels of transformers."""
