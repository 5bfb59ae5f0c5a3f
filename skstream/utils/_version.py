"""The version of the package; the only place that defines it."""

__version__ = "0.1.0"
