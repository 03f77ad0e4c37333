"""A document as notebooks show it: what it says, what is annotated on it, and its first words one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headscope.html_table import html_table

if TYPE_CHECKING:
    from headscope.text.document import Document

SHOWN = 24  # words
_LAYERS = {"tags": "tag", "fine_tags": "fine tag", "relations": "relation"}


def document_html(document: Document) -> str:
    """Two small tables: the texts and how much is annotated, then the words with their layers, where there are some."""
    facts = html_table(_facts(document), title=document.name or "Document")
    layers = [name for name in _LAYERS if getattr(document, name) is not None]
    words, parents = document.words or (), document.parents
    if not layers and parents is None:
        return facts
    header = ["word", *(_LAYERS[name] for name in layers), *(["head"] if parents is not None else [])]
    rows = []
    for place, word in enumerate(words[:SHOWN]):
        of_parent = [] if parents is None else ["(root)" if parents[place] < 0 else words[parents[place]]]
        rows.append([word, *(getattr(document, name)[place] for name in layers), *of_parent])
    more = f"and {len(words) - SHOWN:,} more words" if len(words) > SHOWN else ""
    return facts + html_table(rows, header, below=more)


def _facts(document: Document) -> list[tuple[str, str]]:
    texts = {
        "text": (document.text, document.words),
        "pair": (document.pair, document.pair_words),
        "target": (document.target, document.target_words),
    }
    facts = [(name, text or " ".join(words or ())) for name, (text, words) in texts.items() if text or words]
    counts = {
        "words": document.words,
        "sentences": document.sentences,
        "mentions": document.mentions,
        "gold links": None if document.alignment is None else document.alignment.possible,
    }
    return facts + [(name, f"{len(layer):,}") for name, layer in counts.items() if layer is not None]
