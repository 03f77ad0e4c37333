"""Word alignments: links between the words of a text and of its translation, their files, and how good they are."""

from typing import TYPE_CHECKING

from headscope.later import doors

if TYPE_CHECKING:
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

if not TYPE_CHECKING:
    __getattr__ = doors(
        __name__,
        {
            "choice": "Choice",
            "eflomal": "eflomal_links",
            "gold": "with_gold",
            "gradient": "gradient_links",
            "link_files": "read_links write_links",
            "linking": "link",
            "run": "align",
            "symmetrise": "SYMMETRISATIONS",
        },
    )
