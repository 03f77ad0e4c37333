"""How tests count a statistic on tiny models, and a way to feed it numbers by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TypeVar

import numpy as np
import pytest
import torch
from torch import nn

import headscope
from headscope.lens.block import AttentionBlock, KeySide
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoder import AS_WRITTEN, BY_WORD, AsWritten
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.tokens.losses import own_loss
from headscope.lens.watching.projection import Projection
from headscope.lens.word_blocks import WordRows
from headscope.statistics import Statistic
from headscope.text import Document
from tests.lens import language_models
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXTS = ["the unbelievable cats sat on the mat .", "a dog , two dogs", "the end", "one cat", "unbelievable , unbelievable ."]

Kind = TypeVar("Kind", bound=Statistic)


@cache
def lens_for(family: str) -> headscope.Lens:
    tokenizer = tiny_tokenizer("wordpiece" if family == "bert" else "bpe")
    return headscope.open(tiny(family), tokenizer)


def lens_of(statistic: Statistic, family: str) -> headscope.Lens:
    """One with a language-model head, for gradients."""
    return language_models.lens_for(family) if statistic.gradients else lens_for(family)


def encoding_of(statistic: Statistic) -> AsWritten:
    """Words one by one, where gold links count them."""
    return BY_WORD if "alignment" in statistic.needs else AS_WRITTEN


def documents(family: str) -> list[Document]:
    if family == "marian":
        return [Document(text, target=text[::-1]) for text in TEXTS]
    return [Document(text) for text in TEXTS]


def counted(statistic: Kind, family: str, chosen: Sequence[Document], batch_size: int = 2, rows: int | None = None) -> Kind:
    """The statistic over some documents, in batches of a size and blocks of some rows."""
    lens = lens_of(statistic, family)
    fresh = statistic.start(lens.sites)
    receive = WordRows([statistic.measure], fresh.update) if statistic.level == "word" else fresh.update
    encoded = [lens.encoder.encode(document, encoding=encoding_of(statistic)) for document in chosen]
    for start in range(0, len(chosen), batch_size):
        batch = lens.encoder.collate(encoded[start : start + batch_size])
        if statistic.gradients:
            lens.run_gradients(batch, receive, loss=own_loss(lens, statistic.settings()["seed"]), rows=rows)
        else:
            lens.run(batch, receive, rows=rows)
    return fresh


def assert_same(one: Statistic, other: Statistic, tolerance: float = 1e-4) -> None:
    """Sums of float32 numbers in another order agree to float32 rounding."""
    assert one.state.keys() == other.state.keys()
    for name in one.state:
        np.testing.assert_allclose(one.state[name], other.state[name], rtol=tolerance, atol=tolerance, err_msg=name)


# By hand

SITE = Site(index=0, stack="encoder", kind="self", layer=0, heads=1, key_value_heads=1, head_size=1)


def block_by_hand(
    weights: list[list[float]],
    tokens: list[str],
    special: list[bool] | None = None,
    site: Site = SITE,
    norms: list[float] | None = None,
) -> AttentionBlock:
    """One text, one head: the weights are the numbers given, and so are the norms of its keys: the head's W_O is 1."""
    length = len(tokens)
    special = special or [False] * length
    sequence = TokenSequence(list(range(length)), tokens, tokens, list(range(length)), special, [0] * length)
    batch = Batch({"input_ids": torch.arange(length)[None]}, [sequence], [], [Document("by hand")])
    values, projection = torch.ones(1, 1, length, 1), None
    if norms is not None:
        linear = nn.Linear(1, 1, bias=False)
        nn.init.ones_(linear.weight)
        values, projection = torch.tensor(norms).view(1, 1, -1, 1), Projection(linear, heads=1, head_size=1)
    key_side = KeySide(site, values, None, None, projection)
    return AttentionBlock(site, range(len(weights)), torch.tensor(weights)[None, None], None, key_side, batch)


def columns_by_hand(statistic: Statistic, block: AttentionBlock) -> dict[str, float]:
    fresh = statistic.start([block.site])
    fresh.update(block)
    row = fresh.table().iloc[0]
    return {name: float(row[name]) for name in fresh.columns(fresh.state)}


def approx(**columns: float) -> dict[str, float]:
    return {name: pytest.approx(value) for name, value in columns.items()}


WEIGHTS = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]
BLOCK = block_by_hand(WEIGHTS, ["[CLS]", "Ġ,", "."], [True, False, False])


def null_block(document: Document | None = None) -> AttentionBlock:
    """Three tokens of a decoder, the first of which is null."""
    weights = [[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.5, 0.25]]
    made = block_by_hand(weights, ["a", "b", "c"], site=replace(SITE, stack="decoder"))
    made.batch.documents = [document or Document(words=["a", "b", "c"], tags=["DET", "NOUN", "VERB"], parents=[1, 2, -1])]
    return made
