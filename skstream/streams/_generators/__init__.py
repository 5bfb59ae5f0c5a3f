"""Generators: streams whose truth is known; public as names of `skstream.streams`."""

from skstream.streams._generators._base import GeneratedStream
from skstream.streams._generators._sea import SEA

__all__ = ["SEA", "GeneratedStream"]
