"""Exact kernels of linear models learnt by gradient steps."""
