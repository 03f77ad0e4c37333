"""Analyzing the structure of attention in a Transformer language model (Vig and Belinkov, 2019), for any model."""

from headscope.papers.vig2019.paper import Vig2019
from headscope.papers.vig2019.settings import Data, Settings

run = Vig2019.run

__all__ = ["Data", "Settings", "Vig2019", "run"]
