"""transformers' own progress bars and advice stay out of our commands."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr

from headscope.later import transformers


@contextmanager
def quiet(everything: bool = False) -> Iterator[None]:
    """No word of transformers inside; `everything`: nothing at all on stderr."""
    level = transformers.utils.logging.get_verbosity()
    bars = transformers.utils.logging.is_progress_bar_enabled()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()) if everything else nullcontext():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers.utils.logging.set_verbosity(level)
        if bars:
            transformers.utils.logging.enable_progress_bar()
