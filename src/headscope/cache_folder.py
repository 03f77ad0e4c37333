"""Where what can be made again is kept: copies of models, compiled kernels."""

import os
from pathlib import Path

PLACE = "HEADSCOPE_CACHE"  # a folder; empty: nothing is kept


def cache_folder() -> Path | None:
    """HEADSCOPE_CACHE, or ~/.cache/headscope; None where that is empty."""
    named = os.environ.get(PLACE)
    if named == "":
        return None
    return Path(named).expanduser() if named else Path.home() / ".cache" / "headscope"
