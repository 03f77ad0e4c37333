"""Attention is not only a weight (Kobayashi, Kuribayashi, Yokoi and Inui, 2020): a text, and word alignments."""

from headscope.papers.kobayashi2020.alignment.run import Pairs
from headscope.papers.kobayashi2020.run import Data, Settings, run

__all__ = ["Data", "Pairs", "Settings", "run"]
