"""Word alignments out of a decoder-only model: a prompt holds the source and its translation, self attention links them.

A row of the target looks back at the words of the source. Only these are candidates: the first token of a decoder takes
most of the attention wherever there is nothing to look for, and as 'no link' it would win nearly every time. So every
target word gets a link, and AER is not to be compared with that of a model that can decline. AWI reads the row in which
a target piece is input, AWO the row before, which predicts it.
"""

from __future__ import annotations

from collections.abc import Sequence

from headscope.alignment.choice import Choice
from headscope.alignment.linking import choose_words, encode_pair, link_encoded
from headscope.errors import InputError
from headscope.lens.lens import Lens
from headscope.lens.tokens.prompts import Prompt
from headscope.text import Document
from headscope.text.links import Pair


def link_prompts(
    lens: Lens, documents: Sequence[Document], choice: Choice, prompt: Prompt | None = None, batch_size: int = 16
) -> list[frozenset[Pair]]:
    """The links (source word, target word) of each document, by the self attention that `choice` names."""
    _check(lens, choice)
    encoded = [encode_pair(lens, document, prompt or Prompt()) for document in documents]
    return link_encoded(lens, encoded, lambda batch: choose_words(lens, batch, choice), batch_size)


def _check(lens: Lens, choice: Choice) -> None:
    if any(site.stack != "decoder" or site.kind != "self" for site in lens.sites):
        raise InputError(f"{lens.name} is not a decoder-only model, so it reads no prompt; an encoder-decoder needs none.")
    heads = {site.layer: site.heads for site in lens.sites}
    if choice.layer not in heads or (choice.head or 0) not in range(heads[choice.layer]):
        raise InputError(f"{lens.name} has no {choice.label}: it has the layers {min(heads)} to {max(heads)}.")
