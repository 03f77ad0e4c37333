"""Statistics over a corpus of any size: shards, engines, checkpoints, a run directory."""

from headscope.study.repeats import add_repeats
from headscope.study.run import Run, compare, load_run
from headscope.study.study import study

__all__ = ["Run", "add_repeats", "compare", "load_run", "study"]
