"""Papers: their tables and figures for any model, with their own numbers beside. A folder each, listed here."""

from typing import Any

from headscope.papers import clark2019, kobayashi2020, vig2019
from headscope.papers.paper import Paper

PAPERS: tuple[type[Paper[Any, Any]], ...] = (clark2019.Clark2019, vig2019.Vig2019, kobayashi2020.Kobayashi2020)

__all__ = ["PAPERS", "Paper", "clark2019", "kobayashi2020", "vig2019"]
