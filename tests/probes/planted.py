"""Sentences and maps made up: a word's head is known, and a head of the model that finds it can be planted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from headscope.probes.maps import WordMaps, written_whole
from headscope.text import Document

WORDS = ["the", "unbelievable", "cat", "sat", "on", "mat", "a", "dog", ",", "two", "dogs", "end", "."]


def documents(count: int, seed: int = 0, longest: int = 9) -> list[Document]:
    """Random sentences with random trees: every word hangs on one that came into the tree before it."""
    drawn = random.Random(seed)
    return [_document(drawn, drawn.randint(1, longest), f"sentence {index}") for index in range(count)]


def _document(drawn: random.Random, length: int, name: str) -> Document:
    words = [drawn.choice(WORDS) for _ in range(length)]
    order = drawn.sample(range(length), length)
    heads = [-1] * length
    for place, word in enumerate(order[1:], 1):
        heads[word] = drawn.choice(order[:place])
    relations = ["root" if head < 0 else "punct" if word in ",." else "dep" for word, head in zip(words, heads, strict=True)]
    return Document(words=words, parents=heads, relations=relations, name=name)


def noise(sentences: Sequence[Document], heads: int, seed: int = 0) -> list[np.ndarray]:
    """For each sentence random rows of attention: (from, to, head)."""
    random = np.random.default_rng(seed)
    made = []
    for document in sentences:
        length = len(document.words or ())
        rows = random.dirichlet(np.ones(length), (heads, length))
        made.append(rows.transpose(1, 2, 0).astype(np.float16))
    return made


def plant(sentences: Sequence[Document], maps: Sequence[np.ndarray], head: int, backwards: bool = False) -> None:
    """Make `head` attend from every word to its syntactic head (or backwards: from the syntactic head to the word)."""
    for document, alpha in zip(sentences, maps, strict=True):
        alpha[:, :, head] = 0
        for word, gold in enumerate(document.parents or ()):
            if gold >= 0:
                alpha[(gold, word, head) if backwards else (word, gold, head)] = 1


def stored(folder: Path, maps: Sequence[np.ndarray]) -> WordMaps:
    """The maps on the disk."""
    lengths, heads = [len(alpha) for alpha in maps], maps[0].shape[-1]
    with written_whole(folder, {}, lengths, heads) as writer:
        for index, alpha in enumerate(maps):
            writer.write(index, alpha)
    return WordMaps(folder, lengths, heads)
