"""The base of statistics that try heads on annotated words: they count in words, where an annotated text is read."""

from collections.abc import Sequence
from dataclasses import dataclass

from headscope.lens import Site
from headscope.statistics.base import Statistic


@dataclass
class OfAnnotatedWords(Statistic):
    """A statistic of self attention over the annotated text: an encoder-decoder's decoder reads the target."""

    level: str = "word"

    usual = False
    levels = ("word",)

    def counted_sites(self, sites: Sequence[Site]) -> list[Site]:
        encoders = [site for site in sites if site.stack == "encoder"]
        return [site for site in encoders or sites if site.kind == "self"]
