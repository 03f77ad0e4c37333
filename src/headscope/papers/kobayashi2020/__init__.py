"""Attention is not only a weight (Kobayashi, Kuribayashi, Yokoi and Inui, 2020): a text, and word alignments."""

from headscope.papers.kobayashi2020.paper import Kobayashi2020
from headscope.papers.kobayashi2020.settings import Data, Settings

run = Kobayashi2020.run

__all__ = ["Data", "Kobayashi2020", "Settings", "run"]
