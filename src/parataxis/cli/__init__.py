"""The command line: one module for each command, put together in :mod:`parataxis.cli.main`."""
