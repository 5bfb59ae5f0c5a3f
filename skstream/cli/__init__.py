"""The command line: ``skstream evaluate`` and other commands."""

from skstream.cli._commands import main

__all__ = ["main"]
