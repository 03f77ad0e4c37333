"""transformers' own progress bars and advice stay out of our commands."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stderr

from transformers.utils import logging as transformers_logging


@contextmanager
def quiet(everything: bool = False) -> Iterator[None]:
    """No word of transformers inside; `everything`: nothing at all on stderr."""
    level = transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()) if everything else nullcontext():
            warnings.simplefilter("ignore")
            yield
    finally:
        transformers_logging.set_verbosity(level)
        if bars:
            transformers_logging.enable_progress_bar()
