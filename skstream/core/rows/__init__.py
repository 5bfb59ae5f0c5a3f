"""Rows in time order: streams, chunks, arrays."""
