"""Tokens by category: which keys of a block are special, a period or comma, or anything a caller names."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from headscope.lens.block import AttentionBlock

# Marks of tokenizers: GPT-2's and sentencepiece's leading space, BERT's continuation, BPE's end of word.
_MARKS = ("Ġ", "▁", "##")


def surface(token: str) -> str:
    """A token without its tokenizer's marks.

    >>> surface("Ġ,"), surface("##s"), surface("▁.")
    (',', 's', '.')
    """
    for mark in _MARKS:
        if token != mark:
            token = token.removeprefix(mark)
    return token.removesuffix("</w>")


def keys_where(block: AttentionBlock, name: str, chosen: Callable[[str, bool], bool]) -> Tensor:
    """(batch, key): 1 where `chosen(label, is special)`, else 0; made once a batch under `name`."""

    def compute() -> Tensor:
        mask = torch.zeros(block.weights.shape[0], block.weights.shape[-1])
        for row, (labels, special) in enumerate(zip(block.key_labels, block.key_special, strict=True)):
            found = [index for index, pair in enumerate(zip(labels, special, strict=True)) if chosen(*pair)]
            mask[row, found] = 1
        return mask.to(block.weights.device)

    return block.batch.once(f"{block.level} {block.key_side_name} keys: {name}", compute)


def separators(block: AttentionBlock, side: str) -> Tensor:
    """(batch, key) or (batch, query): 1 at special tokens that do not start a text, nor are like those that do."""
    labels, special = (block.key_labels, block.key_special) if side == "key" else (block.query_labels, block.query_special)

    def compute() -> Tensor:
        mask = torch.zeros(len(labels), max(map(len, labels)))
        for row, (tokens, is_special) in enumerate(zip(labels, special, strict=True)):
            mask[row, : len(tokens)] = torch.tensor(
                [float(special and token != tokens[0]) for token, special in zip(tokens, is_special, strict=True)]
            )
        return mask.to(block.weights.device)

    side_name = block.key_side_name if side == "key" else block.query_side_name
    return block.batch.once(f"{block.level} {side_name} separators", compute)


def special_labels(block: AttentionBlock) -> list[str]:
    """The special tokens among a block's keys, each once."""
    pairs = [pair for texts in zip(block.key_labels, block.key_special, strict=True) for pair in zip(*texts, strict=True)]
    return list(dict.fromkeys(label for label, special in pairs if special))
