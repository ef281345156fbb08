"""`python -m toprung` is the `toprung` command."""

import sys

from toprung.cli import main

if __name__ == "__main__":
    sys.exit(main())
