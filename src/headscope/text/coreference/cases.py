"""Case: a mention that is judged, and the antecedents that it is to be resolved to (clark2019, section 4.3)."""

from collections.abc import Iterator
from typing import NamedTuple

from headscope.text.coreference.head_words import head_word
from headscope.text.coreference.mention_kinds import kinds_of
from headscope.text.document import Document
from headscope.text.mention import Kind, Mention


class Case(NamedTuple):
    """One judged mention; words are indices into its document's words."""

    mention: Mention
    kind: Kind
    head: int  # its head word
    earlier: tuple[Mention, ...]  # all mentions before it, of any cluster, in reading order
    earlier_heads: tuple[int, ...]  # their head words

    @property
    def antecedents(self) -> frozenset[int]:
        """The head words of the earlier mentions of its cluster; its own head word is none."""
        pairs = zip(self.earlier, self.earlier_heads, strict=True)
        return frozenset(head for mention, head in pairs if mention.cluster == self.mention.cluster) - {self.head}


def cases(document: Document) -> Iterator[Case]:
    """Every mention that ends behind the document's context and has an antecedent.

    Mentions are in reading order: by their first word, of two that begin alike the shorter first.
    """
    given = zip(document.mentions or (), kinds_of(document), strict=True)
    ordered = sorted(given, key=lambda pair: (pair[0].start, pair[0].stop))
    mentions = tuple(mention for mention, _ in ordered)
    heads = tuple(head_word(document, mention) for mention in mentions)
    for place, (mention, kind) in enumerate(ordered):
        case = Case(mention, kind, heads[place], mentions[:place], heads[:place])
        if mention.stop > document.context and case.antecedents:
            yield case
