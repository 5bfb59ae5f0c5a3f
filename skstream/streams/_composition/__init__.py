"""Composition: streams in, stream out; public as names of `skstream.streams`."""
