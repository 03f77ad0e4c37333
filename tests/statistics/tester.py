"""The trials that every statistic goes through, and a way to feed it numbers by hand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import torch

import headscope
from headscope.lens.block import AttentionBlock, KeySide
from headscope.lens.site import Site
from headscope.lens.tokens.batch import Batch
from headscope.lens.tokens.encoding import TokenSequence
from headscope.lens.word_blocks import WordRows
from headscope.statistics.base import Statistic
from headscope.text import Document
from tests.tiny import tiny
from tests.tiny_tokenizers import tiny_tokenizer

TEXTS = ["the unbelievable cats sat on the mat .", "a dog , two dogs", "the end", "one cat", "unbelievable , unbelievable ."]


@cache
def lens_for(family: str) -> headscope.Lens:
    tokenizer = tiny_tokenizer("wordpiece" if family == "bert" else "bpe")
    return headscope.open(tiny(family), tokenizer)


def documents(family: str) -> list[Document]:
    if family == "marian":
        return [Document(text, target=text[::-1]) for text in TEXTS]
    return [Document(text) for text in TEXTS]


def counted(
    statistic: Statistic, family: str, chosen: Sequence[Document], batch_size: int = 2, rows: int | None = None
) -> Statistic:
    """The statistic over some documents, in batches of a size and blocks of some rows."""
    lens = lens_for(family)
    fresh = statistic.start(lens.sites)
    words = WordRows([statistic.measure], fresh.update)
    receive = words if statistic.level == "word" else fresh.update
    for start in range(0, len(chosen), batch_size):
        lens.run(lens.encoder.batch(chosen[start : start + batch_size]), receive, rows=rows)
    return fresh


def assert_same(one: Statistic, other: Statistic, tolerance: float = 1e-4) -> None:
    """Sums of float32 numbers in another order agree to float32 rounding."""
    assert one.state.keys() == other.state.keys()
    for name in one.state:
        np.testing.assert_allclose(one.state[name], other.state[name], rtol=tolerance, atol=tolerance, err_msg=name)


SITE = Site(index=0, stack="encoder", kind="self", layer=0, heads=1, key_value_heads=1, head_size=1)


def block_by_hand(
    weights: list[list[float]], tokens: list[str], special: list[bool] | None = None, site: Site = SITE
) -> AttentionBlock:
    """One text, one head: the weights are the numbers given."""
    length = len(tokens)
    special = special or [False] * length
    sequence = TokenSequence(list(range(length)), tokens, tokens, list(range(length)), special, [0] * length)
    batch = Batch({"input_ids": torch.arange(length)[None]}, [sequence], [], [Document("by hand")])
    key_side = KeySide(site, torch.ones(1, 1, length, 1), None, None, None)
    return AttentionBlock(site, range(len(weights)), torch.tensor(weights)[None, None], None, key_side, batch)


def columns_by_hand(statistic: Statistic, block: AttentionBlock) -> dict[str, float]:
    fresh = statistic.start([block.site])
    fresh.update(block)
    row = fresh.table().iloc[0]
    return {name: float(row[name]) for name in fresh.columns(fresh.state)}
