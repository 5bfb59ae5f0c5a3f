"""The command line, as ``python -m skstream``."""

import sys

from skstream.cli import main

if __name__ == "__main__":
    sys.exit(main())
