"""Analyzing the structure of attention in a Transformer language model (Vig and Belinkov, 2019), for any model."""

from headscope.papers.vig2019.run import Data, Settings, run

__all__ = ["Data", "Settings", "run"]
