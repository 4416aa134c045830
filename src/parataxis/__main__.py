"""Lets ``python -m parataxis`` do what the command ``parataxis`` does."""

import sys

from parataxis.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
