"""The command line: ``skstream demo`` and ``skstream evaluate``."""

from skstream.cli._commands import main

__all__ = ["main"]
