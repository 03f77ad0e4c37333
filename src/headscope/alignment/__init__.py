"""Word alignments: links between the words of a text and of its translation, their files, and how good they are."""

from headscope.alignment.choice import Choice
from headscope.alignment.eflomal import eflomal_links
from headscope.alignment.gold import with_gold
from headscope.alignment.gradient import gradient_links
from headscope.alignment.link_files import read_links, write_links
from headscope.alignment.linking import link
from headscope.alignment.run import align
from headscope.alignment.symmetrise import SYMMETRISATIONS

__all__ = [
    "SYMMETRISATIONS", "Choice", "align", "eflomal_links", "gradient_links", "link", "read_links", "with_gold",
    "write_links",
]  # fmt: skip
