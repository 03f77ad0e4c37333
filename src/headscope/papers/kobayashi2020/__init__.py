"""Attention is not only a weight (Kobayashi, Kuribayashi, Yokoi and Inui, 2020): sections 2 to 4, A to D, G."""

from headscope.papers.kobayashi2020.run import Data, Settings, run

__all__ = ["Data", "Settings", "run"]
