"""Part: some consecutive words of a document with all of its layers, and what they are a part of."""

import zlib
from dataclasses import KW_ONLY, dataclass
from typing import Any

from headscope.text.document import Document
from headscope.text.layers import ONE_PER_WORD


@dataclass(frozen=True)
class Part(Document):
    """A part of a longer document: it is read, and counted, as a document of its own."""

    _: KW_ONLY
    start: int = 0  # which of the whole document's words is its first
    origin: int = 0  # a number for the whole document: all of its parts have the same


def cut(document: Document, start: int, stop: int, *, name: str = "", context: int = 0, origin: int = 0) -> Part:
    """The words from start to stop.

    Mentions and multiword tokens that cross an edge are left out, sentences that do are shortened. A head outside becomes
    -1, as of a root; the relation to it stays, so that it is seen to be none.
    """
    assert document.words is not None
    known = [layer for layer in ONE_PER_WORD if getattr(document, layer) is not None]
    layers: dict[str, Any] = {layer: getattr(document, layer)[start:stop] for layer in known}
    if document.parents is not None:
        layers["parents"] = [parent - start if start <= parent < stop else -1 for parent in layers["parents"]]
    for layer in ("mentions", "multiwords"):
        spans = getattr(document, layer)
        if spans is not None:
            inside = (span for span in spans if start <= span.start and span.stop <= stop)
            layers[layer] = [span._replace(start=span.start - start, stop=span.stop - start) for span in inside]
    if document.sentences is not None:
        shortened = ((max(first, start) - start, min(last, stop) - start) for first, last in document.sentences)
        layers["sentences"] = [(first, last) for first, last in shortened if first < last]
    words = document.words[start:stop]
    return Part(words=words, name=name, context=context, start=start, origin=origin, **layers)


def origin_of(document: Document) -> int:
    """A number for a document that depends on its words only, so that it is the same everywhere."""
    if isinstance(document, Part):
        return document.origin
    return zlib.crc32((" ".join(document.words) if document.words is not None else document.text or "").encode())


def half_of(document: Document) -> int:
    """0 or 1: in which half of its corpus a document is. All parts of one are in the same."""
    return origin_of(document) % 2
