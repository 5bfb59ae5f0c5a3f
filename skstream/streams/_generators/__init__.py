"""Generators: streams whose truth is known; public as names of `skstream.streams`."""

from skstream.streams._generators._agrawal import Agrawal
from skstream.streams._generators._base import GeneratedStream
from skstream.streams._generators._led import LED
from skstream.streams._generators._sea import SEA
from skstream.streams._generators._sine import Sine
from skstream.streams._generators._stagger import STAGGER

__all__ = ["LED", "SEA", "STAGGER", "Agrawal", "GeneratedStream", "Sine"]
