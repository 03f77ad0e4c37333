"""Statistics over a corpus of any size: shards, engines, checkpoints, a run directory."""

from headscope.study.study import Run, study
from headscope.study.tables import load_table

__all__ = ["Run", "load_table", "study"]
