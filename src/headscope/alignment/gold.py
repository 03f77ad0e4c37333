"""A parallel corpus with its gold links."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

from headscope.alignment.link_files import Side, read_links
from headscope.errors import InputError
from headscope.text import Corpus
from headscope.text.parallel import sentence_lengths


def with_gold(
    corpus: Corpus,
    path: str | Path,
    *,
    format: Literal["auto", "pharaoh", "naacl"] = "auto",
    base: int | None = None,
    first: Side = "source",
) -> Corpus:
    """The documents of a parallel corpus with their gold links (`alignment`), in memory: gold links are few."""
    if corpus.on_error != "stop":
        raise InputError("Gold links go by lines, so that none can be skipped: leave on_error as it is.")
    links = read_links(path, sentence_lengths(corpus), format=format, base=base, first=first)
    return Corpus.from_documents([replace(document, alignment=gold) for document, gold in zip(corpus, links, strict=True)])
