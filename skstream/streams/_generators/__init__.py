"""Generators: streams whose truth is known; public as names of `skstream.streams`."""

from skstream.streams._generators._agrawal import Agrawal
from skstream.streams._generators._base import GeneratedStream
from skstream.streams._generators._bayes_error import BayesError
from skstream.streams._generators._components import Component, Phase
from skstream.streams._generators._hyperplane import RotatingHyperplane
from skstream.streams._generators._led import LED
from skstream.streams._generators._markov import MarkovLabels
from skstream.streams._generators._mixture import GaussianMixtureStream, Moments
from skstream.streams._generators._rbf import RandomRBF
from skstream.streams._generators._sea import SEA
from skstream.streams._generators._sine import Sine
from skstream.streams._generators._stagger import STAGGER
from skstream.streams._generators._testbed import load_testbed
from skstream.streams._generators._tree import RandomTree
from skstream.streams._generators._waveform import Waveform

__all__ = [
    "LED",
    "SEA",
    "STAGGER",
    "Agrawal",
    "BayesError",
    "Component",
    "GaussianMixtureStream",
    "GeneratedStream",
    "MarkovLabels",
    "Moments",
    "Phase",
    "RandomRBF",
    "RandomTree",
    "RotatingHyperplane",
    "Sine",
    "Waveform",
    "load_testbed",
]
