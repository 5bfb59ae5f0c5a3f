"""Generators: streams whose truth is known; public as names of `skstream.streams`."""
