"""The command line: a door, not a room."""

from headscope.cli.main import main

__all__ = ["main"]
