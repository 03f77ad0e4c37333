"""Statistics over a corpus of any size: shards, engines, checkpoints, a run directory."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
    from headscope.study.repeats import add_repeats
    from headscope.study.run import Run, compare, load_run
    from headscope.study.study import study

__all__ = ["Run", "add_repeats", "compare", "load_run", "study"]

if not TYPE_CHECKING:
    __getattr__ = doors(
        __name__,
        {
            "repeats": "add_repeats",
            "run": "Run compare load_run",
            "study": "study",
        },
    )
